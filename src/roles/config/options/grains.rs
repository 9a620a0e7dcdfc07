//! Options: grains.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const ENABLE_GPU_GRAINS: Opt = Opt::truth("enable_gpu_grains", true, "Look for graphics cards.");

/// Of the master.
pub const MASTER: Section = Section {
    title: "Grains",
    options: &[
        Opt::any("skip_grains", Default::Null, "Work out no grains on the master."),
        ENABLE_GPU_GRAINS.or(Default::Truth(false)),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Grains",
    options: &[
        Opt::map("grains", "Grains of this minion, by hand."),
        Opt::list("grains_blacklist", &[], "Grains that are left out of what is found, as globs or expressions."),
        Opt::truth(
            "grains_cache",
            false,
            "Keep grains in a file below `cachedir`; a minion or salt-call that starts takes them from there.",
        ),
        Opt::seconds("grains_cache_expiration", 300, "Seconds that the grains of `grains_cache` are good."),
        Opt::truth(
            "grains_deep_merge",
            false,
            "Merge grains that are maps with those that come over them, rather than replace them.",
        ),
        Opt::seconds(
            "grains_refresh_every",
            0,
            "Minutes between looks for changed grains, which the master is told and the pillar compiled by; 0 never.",
        ),
        Opt::truth("grains_refresh_pre_exec", false, "Look at the grains before every job.").or(Default::Null),
        Opt::list("grains_dirs", &[], "Directories with more grains.").awaits("modules in Python"),
        Opt::truth("enable_fqdns_grains", false, "Ask the resolver for the names of all addresses: the grain `fqdns`."),
        ENABLE_GPU_GRAINS,
        Opt::truth("enable_lspci", false, "Run lspci to look for graphics cards.").or(Default::Null),
        Opt::any(
            "fibre_channel_grains",
            Default::Null,
            "Look for the names of Fibre Channel adapters: the grain `fc_wwn`.",
        ),
        Opt::any("iscsi_grains", Default::Null, "Look for the name of the iSCSI initiator: the grain `iscsi_iqn`."),
        Opt::any("nvme_grains", Default::Null, "Look for the name of the NVMe host: the grain `nvme_nqn`."),
        Opt::any("metadata_server_grains", Default::Null, "Ask the cloud's metadata server.")
            .without_effect("Salt 3008 no longer has these grains either"),
    ],
};
