//! `iptables.chain_*`, `set_policy`, `flush`: chains.

use super::{Place, done, failure, save};
use halite_core::state::{Outcome, Plan, PlanContext, State, already};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Keywords;

record! {
    /// Makes sure that there is a chain.
    ///
    ///   LOGGING:
    ///     iptables.chain_present:
    ///       - table: filter
    pub struct ChainPresent {
        /// The chain.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

record! {
    /// Makes sure that there is no chain of a name.
    ///
    ///   LOGGING:
    ///     iptables.chain_absent:
    ///       - table: filter
    pub struct ChainAbsent {
        /// The chain.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

record! {
    /// Makes sure that a chain has a policy: what becomes of packets that no rule of it matches.
    ///
    ///   closed:
    ///     iptables.set_policy:
    ///       - chain: INPUT
    ///       - policy: DROP
    pub struct SetPolicy {
        /// An ID.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
        /// The chain.
        chain: String,
        /// The policy: ACCEPT or DROP.
        policy: String,
        /// True or a file: keep it for the next boot.
        save: Value = (),
        kwargs: Keywords,
    }
}

record! {
    /// Removes all rules of a chain, or of a table.
    ///
    ///   empty:
    ///     iptables.flush:
    ///       - table: filter
    pub struct Flush {
        /// An ID.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
        /// The chain; all, if this is not given.
        chain: String = "",
        kwargs: Keywords,
    }
}

impl State for ChainPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ChainPresent { name, table, family } = self;
        let place = Place { table: table.clone(), chain: name.clone(), family: family.clone() };
        if place.ask(context.ctx, "iptables.check_chain", [])? == Value::Bool(true) {
            return Ok(already(format!("iptables {name} chain is already exist in {table} table for {family}")));
        }
        let would = format!("iptables {name} chain in {table} table needs to be set for {family}");
        let apply = move |ctx: &Ctx| {
            let answer = place.ask(ctx, "iptables.new_chain", [])?;
            Ok(match failure(&answer) {
                None => done(&name, format!("iptables {name} chain in {table} table create success for {family}")),
                Some(why) => {
                    Outcome::failed(format!("Failed to create {name} chain in {table} table: {why} for {family}"))
                }
            })
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

impl State for ChainAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ChainAbsent { name, table, family } = self;
        let place = Place { table: table.clone(), chain: name.clone(), family: family.clone() };
        if !place.ask(context.ctx, "iptables.check_chain", [])?.truthy() {
            return Ok(already(format!("iptables {name} chain is already absent in {table} table for {family}")));
        }
        let would = format!("iptables {name} chain in {table} table needs to be removed {family}");
        let apply = move |ctx: &Ctx| {
            let flushed = place.ask(ctx, "iptables.flush", [])?;
            if let Some(why) = failure(&flushed) {
                let comment = format!("Failed to flush {name} chain in {table} table: {why} for {family}");
                return Ok(Outcome::failed(comment));
            }
            let answer = place.ask(ctx, "iptables.delete_chain", [])?;
            Ok(match failure(&answer) {
                None => done(&name, format!("iptables {name} chain in {table} table delete success for {family}")),
                Some(why) => {
                    Outcome::failed(format!("Failed to delete {name} chain in {table} table: {why} for {family}"))
                }
            })
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

impl State for SetPolicy {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let SetPolicy { name, table, family, chain, policy, save: file, .. } = self;
        let place = Place { table: table.clone(), chain: chain.clone(), family: family.clone() };
        let subject = format!("iptables default policy for chain {chain} on table {table} for {family}");
        if place.ask(context.ctx, "iptables.get_policy", [])?.as_str() == Some(&policy) {
            return Ok(already(format!("{subject} already set to {policy}")));
        }
        let would = Outcome::new(None, format!("{subject} needs to be set to {policy}"));
        let apply = move |ctx: &Ctx| {
            let answer = place.ask(ctx, "iptables.set_policy", [("policy", policy.as_str().into())])?;
            if let Some(why) = failure(&answer) {
                return Ok(Outcome::failed(format!("Failed to set iptables default policy: {why}")));
            }
            let mut verb = "Set";
            if file.truthy() {
                save(ctx, &file, &family)?;
                verb = "Set and saved";
            }
            Ok(done(&name, format!("{verb} default policy for {chain} to {policy} family {family}")))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl State for Flush {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let Flush { name, table, family, chain, .. } = self;
        let would = format!("iptables rules in {name} table {table} chain {family} family needs to be flushed");
        let place = Place { table: table.clone(), chain: chain.clone(), family: family.clone() };
        let apply = move |ctx: &Ctx| {
            let answer = place.ask(ctx, "iptables.flush", [])?;
            Ok(match failure(&answer) {
                None => done(&name, format!("Flush iptables rules in {table} table {chain} chain {family} family")),
                Some(why) => Outcome::failed(format!("Failed to flush iptables rules: {why}")),
            })
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}
