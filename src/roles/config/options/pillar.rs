//! Options: pillar.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Pillar",
    options: &[
        Opt::map("pillar_roots", "Directories of the pillar, by environment.")
            .or(Default::Yaml("{\"base\": [\"/srv/pillar\", \"/srv/spm/pillar\"]}")),
        Opt::list(
            "on_demand_ext_pillar",
            &["libvirt", "virtkey"],
            "External pillars that a minion may ask for with `pillar.ext`.",
        ),
        Opt::text("pillarenv", "", "Environment of the pillar.").or(Default::Null),
        Opt::truth("pillarenv_from_saltenv", false, "Use the environment of the states for the pillar."),
        Opt::truth("pillar_opts", false, "Put the master's configuration into the pillar."),
        Opt::any("pillar_raise_on_missing", Default::Null, "Make `pillar.get` fail for what is not there."),
        Opt::text(
            "pillar_source_merging_strategy",
            "smart",
            "How sources go together: smart, recurse, list, aggregate, overwrite or none.",
        ),
        Opt::truth("pillar_merge_lists", false, "Join lists instead of replacing them."),
        Opt::truth("pillar_includes_override_sls", false, "Let what is included win over what includes it."),
        Opt::truth("pillar_cache", false, "Keep compiled pillar on the master."),
        Opt::seconds("pillar_cache_ttl", 3600, "Seconds that compiled pillar is kept."),
        Opt::text("pillar_cache_backend", "disk", "Where compiled pillar is kept: disk or memory.")
            .without_effect("compiled pillar, with the secrets in it, is kept in memory and nowhere else"),
        Opt::text("pillar.cache_driver", "", "Cache that compiled pillar is kept in.")
            .or(Default::Null)
            .without_effect("compiled pillar is kept in memory only"),
        Opt::list("decrypt_pillar", &[], "Parts of the pillar that are decrypted."),
        Opt::text("decrypt_pillar_delimiter", ":", "Character between the parts of a path in `decrypt_pillar`."),
        Opt::text("decrypt_pillar_default", "gpg", "Renderer that decrypts where none is named."),
        Opt::list("decrypt_pillar_renderers", &["gpg"], "Renderers that may decrypt."),
        Opt::text(
            "gpg_keydir",
            "",
            "Directory of the keys that `gpg` decrypts with; `gpgkeys` beside the file without it.",
        ),
        Opt::truth("gpg_decrypt_must_succeed", true, "Make what cannot be decrypted an error."),
        Opt::truth("gpg_cache", false, "Keep decrypted text.")
            .without_effect("decrypted text is kept for one rendering, and nowhere else"),
        Opt::seconds("gpg_cache_ttl", 86_400, "Seconds that decrypted text is kept.")
            .without_effect("decrypted text is kept for one rendering, and nowhere else"),
        Opt::text("gpg_cache_backend", "disk", "Where decrypted text is kept: disk or memory.")
            .without_effect("decrypted text is kept for one rendering, and nowhere else"),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Pillar",
    options: &[
        Opt::list("ext_pillar", &[], "Where pillar comes from beside the files."),
        Opt::any("ext_pillar_first", Default::Null, "Ask `ext_pillar` before the files are read."),
        Opt::truth("pillar_safe_render_error", true, "Hide from minions why their pillar did not render."),
        Opt::text("pass_dir", "", "Directory of the password store.").awaits("the renderer pass"),
        Opt::text("pass_gnupghome", "", "Directory of the keys of the password store.").awaits("the renderer pass"),
        Opt::truth("pass_strict_fetch", false, "Make a missing password an error.").awaits("the renderer pass"),
        Opt::text("pass_variable_prefix", "", "Beginning of values that name a password.").awaits("the renderer pass"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Pillar",
    options: &[
        Opt::any(
            "pass_to_ext_pillars",
            Default::Null,
            "Options of the minion that external pillars are told, as paths (`a:b`); `extra_minion_data_in_pillar` shows them.",
        ),
        Opt::any(
            "minion_pillar_cache",
            Default::Null,
            "Keep a copy of the pillar in `cachedir`, below `pillar`, for `salt-call --local --pillar-root` when the master is away.",
        ),
        Opt::text("resource_pillar_key", "resources", "Key of the pillar that holds resources.").awaits("resources"),
        Opt::truth("ssh_merge_pillar", true, "Merge pillar given on the command line of salt-ssh.").awaits("salt-ssh"),
    ],
};
