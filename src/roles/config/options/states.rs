//! Options: states.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "States",
    options: &[
        Opt::text("renderer", "jinja|yaml", "Renderers of SLS files that name none."),
        Opt::list("renderer_whitelist", &[], "Renderers that may be used, and no others."),
        Opt::list("renderer_blacklist", &[], "Renderers that may not be used."),
        Opt::text("state_top", "top.sls", "Name of the top file."),
        Opt::text("state_top_saltenv", "", "Environment whose top file is the only one.").or(Default::Null),
        Opt::text(
            "top_file_merging_strategy",
            "merge",
            "How the top files of environments go together: merge, same or merge_all.",
        ),
        Opt::list("env_order", &[], "Order of the environments."),
        Opt::text("default_top", "base", "Environment whose top file counts with `same`."),
        Opt::text("saltenv", "", "Environment of states that name none.").or(Default::Null),
        Opt::any("environment", Default::Null, "Old name of `saltenv`."),
        Opt::truth("lock_saltenv", false, "Refuse another environment than `saltenv`."),
        Opt::truth("failhard", false, "Stop at the first state that fails."),
        Opt::truth("state_auto_order", true, "Run states in the order in which they are written."),
        Opt::truth("state_aggregate", false, "Let states of a kind, such as packages, be done in one go."),
        Opt::integer("state_max_parallel", 0, "States that run at the same time with `parallel`; 0 is no limit."),
        Opt::truth("master_tops_first", false, "Put the data of `master_tops` before that of the top file.")
            .awaits("master tops"),
        Opt::list("optimization_order", &[], "Levels of Python's compiled files.")
            .or(Default::Yaml("[0, 1, 2]"))
            .without_effect("modules are compiled in; Python runs in a process of its own"),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "States",
    options: &[
        Opt::map("jinja_env", "Settings of Jinja for files."),
        Opt::map("jinja_sls_env", "Settings of Jinja for SLS."),
        Opt::truth("jinja_lstrip_blocks", false, "Old way to set `lstrip_blocks`."),
        Opt::truth("jinja_trim_blocks", false, "Old way to set `trim_blocks`."),
        Opt::any("yaml_utf8", Default::Null, "Allow text beyond ASCII.").without_effect("YAML is UTF-8"),
        Opt::map("master_tops", "Where top data comes from beside the top file.").awaits("master tops"),
        Opt::integer("pillar_version", 2, "Version of how pillar is compiled.")
            .without_effect("nothing used it in Salt either"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "States",
    options: &[
        Opt::text("top_file", "", "Top file that `startup_states: top` runs."),
        Opt::text(
            "startup_states",
            "",
            "States that the minion runs whenever it starts: `highstate`, `sls` (`sls_list`) or `top` (`top_file`).",
        ),
        Opt::list("sls_list", &[], "SLS files that `startup_states: sls` runs."),
        Opt::any("state_queue", Default::Truth(false), "Let a state run wait for the one before it."),
        Opt::list("disabled_requisites", &[], "Requisites that are left out."),
        Opt::map("global_state_conditions", "Conditions on grains for whole state modules.").or(Default::Null),
        Opt::truth("snapper_states", false, "Take a snapshot before and after states.").awaits("snapper"),
        Opt::text("snapper_states_config", "root", "Snapper configuration for `snapper_states`.").awaits("snapper"),
    ],
};
