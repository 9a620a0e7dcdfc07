//! `state.*`: the states of this minion, shown and run.

mod apply;
mod settings;
mod show;

use super::{Function, Module, Run, function};

pub const MODULE: Module = Module {
    name: "state",
    doc: "Bring the minion into the state that its SLS files declare, or show what they declare.",
    functions: FUNCTIONS,
};

const FUNCTIONS: &[Function] = &[
    function::<apply::Apply>("apply"),
    function::<apply::High>("high"),
    function::<apply::Highstate>("highstate"),
    function::<show::IdExists>("id_exists"),
    function::<apply::Low>("low"),
    function::<show::ShowHighstate>("show_highstate"),
    function::<show::ShowLowSls>("show_low_sls"),
    function::<show::ShowLowstate>("show_lowstate"),
    function::<show::ShowSls>("show_sls"),
    function::<show::ShowStateUsage>("show_state_usage"),
    function::<show::ShowStates>("show_states"),
    function::<show::ShowTop>("show_top"),
    function::<apply::Single>("single"),
    function::<apply::Sls>("sls"),
    function::<show::SlsExists>("sls_exists"),
    function::<apply::SlsId>("sls_id"),
    function::<apply::Test>("test"),
    function::<apply::Top>("top"),
];

/// The exit codes of Salt for what can go wrong with states.
mod code {
    /// They do not compile.
    pub const COMPILER: i32 = 1;
    /// One has failed.
    pub const FAILURE: i32 = 2;
    /// The pillar is broken.
    pub const PILLAR: i32 = 5;
}
