//! `state.*`: the states of this minion, shown and run.

mod apply;
mod begin;
mod disable;
mod event;
mod high;
mod one;
mod pause;
mod pkg;
mod request;
mod settings;
mod show;

use halite_core::module::{Function, Module, Run, function};

pub const MODULE: Module = Module {
    name: "state",
    doc: "Bring the minion into the state that its SLS files declare, or show what they declare.",
    functions: FUNCTIONS,
};

const FUNCTIONS: &[Function] = &[
    function::<apply::Apply>("apply"),
    function::<request::CheckRequest>("check_request"),
    function::<show::ClearCache>("clear_cache"),
    function::<request::ClearRequest>("clear_request"),
    function::<disable::Disable>("disable"),
    function::<disable::Enable>("enable"),
    function::<event::Event>("event"),
    function::<pause::Pauses>("get_pauses"),
    function::<show::Graph>("graph"),
    function::<show::GraphHighstate>("graph_highstate"),
    function::<high::High>("high"),
    function::<apply::Highstate>("highstate"),
    function::<show::IdExists>("id_exists"),
    function::<disable::ListDisabled>("list_disabled"),
    function::<one::Low>("low"),
    function::<pause::Pause>("pause"),
    function::<pkg::Pkg>("pkg"),
    function::<request::Request>("request"),
    function::<pause::Resume>("resume"),
    function::<request::RunRequest>("run_request"),
    function::<begin::Running>("running"),
    function::<show::ShowHighstate>("show_highstate"),
    function::<show::ShowLowSls>("show_low_sls"),
    function::<show::ShowLowstate>("show_lowstate"),
    function::<show::ShowSls>("show_sls"),
    function::<show::ShowStateUsage>("show_state_usage"),
    function::<show::ShowStates>("show_states"),
    function::<show::ShowTop>("show_top"),
    function::<one::Single>("single"),
    function::<apply::Sls>("sls"),
    function::<show::SlsExists>("sls_exists"),
    function::<one::SlsId>("sls_id"),
    function::<pause::SoftKill>("soft_kill"),
    function::<high::Template>("template"),
    function::<high::TemplateStr>("template_str"),
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
