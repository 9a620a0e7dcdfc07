//! `iptables.*`: the rules of the kernel's packet filter, by iptables(8) and ip6tables(8).

mod change;
mod parse;
mod rule;
mod saved;
#[cfg(test)]
mod tests;

use halite_core::module::{Module, function};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault};
use halite_lang::words;

pub const MODULE: Module = Module {
    name: "iptables",
    doc: "The rules of the kernel's packet filter.",
    functions: &[
        function::<change::Append>("append"),
        function::<rule::BuildRule>("build_rule"),
        function::<change::Check>("check"),
        function::<change::CheckChain>("check_chain"),
        function::<change::Delete>("delete"),
        function::<change::DeleteChain>("delete_chain"),
        function::<change::Flush>("flush"),
        function::<saved::GetPolicy>("get_policy"),
        function::<saved::GetRules>("get_rules"),
        function::<saved::GetSavedPolicy>("get_saved_policy"),
        function::<saved::GetSavedRules>("get_saved_rules"),
        function::<change::Insert>("insert"),
        function::<change::NewChain>("new_chain"),
        function::<saved::Save>("save"),
        function::<change::SetPolicy>("set_policy"),
        function::<rule::Version>("version"),
    ],
};

/// The program of a family: `ipv6` has its own.
fn program(family: &str) -> &'static str {
    if family == "ipv6" { "ip6tables" } else { "iptables" }
}

/// Whether this version of the program has an option.
fn has_option(ctx: &Ctx, family: &str, option: &str) -> Result<bool, Fault> {
    Ok(Program::new([program(family), "--help"]).query(ctx)?.stdout.contains(option))
}

/// A command on a table, which waits for others that hold the lock.
fn on_table(ctx: &Ctx, family: &str, table: &str) -> Result<Program, Fault> {
    let mut command = Program::new([program(family)]);
    if has_option(ctx, family, "--wait")? {
        command = command.arg("--wait");
    }
    Ok(command.args(["-t", table]))
}

/// A rule as a user writes it, in words.
fn split(rule: &str) -> Result<Vec<String>, Fault> {
    words::split(rule).map_err(|error| Fault::invocation(format!("the rule {rule:?}: {error}")))
}

/// The rules that the kernel has.
fn listed(ctx: &Ctx, family: &str, table: Option<&str>) -> Result<String, Fault> {
    let mut command = Program::new([format!("{}-save", program(family))]);
    if let Some(table) = table {
        command = command.args(["-t", table]);
    }
    command.query_raw(ctx)
}

/// What the program complains about; empty: nothing.
fn complaint(answer: Answer) -> String {
    answer.stderr
}

const NO_CHAIN: &str = "Error: Chain needs to be specified";
const NO_RULE: &str = "Error: Rule needs to be specified";
