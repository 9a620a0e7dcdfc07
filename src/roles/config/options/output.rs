//! Options: output.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Output",
    options: &[
        Opt::any("output", Default::Null, "Outputter of commands that name none."),
        Opt::list("outputter_dirs", &[], "Directories with more outputters.").awaits("modules in Python"),
        Opt::any("color", Default::Null, "Print in colours on a terminal; unset is yes."),
        Opt::any(
            "color_theme",
            Default::Null,
            "File with colours in the place of others: a map of their names to codes, such as `RED: 0;31`.",
        ),
        Opt::truth("state_verbose", true, "Show states that changed nothing too."),
        Opt::text("state_output", "full", "How much is shown of each state: full, terse, mixed, changes or filter."),
        Opt::truth("state_output_diff", false, "Show states with changes alone."),
        Opt::truth("state_output_pct", false, "Show how many of a hundred states succeeded.").or(Default::Null),
        Opt::truth("state_output_profile", true, "Show when each state began and how long it took."),
        Opt::truth("state_compress_ids", false, "Show one line for states of the same name and result.")
            .or(Default::Null),
        Opt::truth("pillar_mask_output", true, "Hide pillar values in output."),
    ],
};

/// Of the master.
pub const MASTER: Section =
    Section { title: "Output", options: &[Opt::any("output_file", Default::Null, "File that output goes to.")] };
