//! Options: grains.

use crate::roles::config::option::{Default, Opt, Section};

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
        Opt::list("grains_blacklist", &[], "Grains that are left out, as patterns."),
        Opt::truth("grains_cache", false, "Keep grains in a file."),
        Opt::seconds("grains_cache_expiration", 300, "Seconds that kept grains are good."),
        Opt::truth("grains_deep_merge", false, "Merge grains that are maps, rather than replace them."),
        Opt::seconds("grains_refresh_every", 0, "Minutes between looks for changed grains; 0 never."),
        Opt::truth("grains_refresh_pre_exec", false, "Look for changed grains before every job.").or(Default::Null),
        Opt::list("grains_dirs", &[], "Folders with more grains."),
        Opt::truth("enable_fqdns_grains", false, "Ask for the names of all addresses."),
        ENABLE_GPU_GRAINS,
        Opt::truth("enable_lspci", false, "Run lspci to look for graphics cards.").or(Default::Null),
        Opt::any("fibre_channel_grains", Default::Null, "Look for Fibre Channel adapters."),
        Opt::any("iscsi_grains", Default::Null, "Look for the iSCSI name."),
        Opt::any("nvme_grains", Default::Null, "Look for the NVMe name."),
        Opt::any("metadata_server_grains", Default::Null, "Ask the cloud's metadata server."),
    ],
};
