//! What is added to chains and taken from them.

use super::saved::rules;
use super::{NO_CHAIN, NO_RULE, complaint, listed, on_table, program, split};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::Value;
use halite_value::record;

record! {
    /// Sets what becomes of packets for which a chain has no rule. Returns what is wrong, or an empty text.
    ///
    ///   salt '*' iptables.set_policy filter INPUT ACCEPT
    ///   salt '*' iptables.set_policy filter INPUT ACCEPT family=ipv6
    pub struct SetPolicy {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// ACCEPT or DROP.
        policy: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for SetPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = given(self.chain) else { return Ok(NO_CHAIN.into()) };
        let Some(policy) = given(self.policy) else { return Ok("Error: Policy needs to be specified".into()) };
        Ok(complaint(on_table(ctx, &self.family, &self.table)?.args(["-P", &chain, &policy]).run(ctx)?).into())
    }
}

fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

record! {
    /// Shows whether a chain has a rule.
    ///
    ///   salt '*' iptables.check filter INPUT rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'
    pub struct Check {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// The rule, as iptables(8) reads it.
        rule: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Check {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = given(self.chain) else { return Ok(NO_CHAIN.into()) };
        let Some(rule) = given(self.rule) else { return Ok(NO_RULE.into()) };
        Ok(has(ctx, &self.family, &self.table, &chain, &rule)?.into())
    }
}

fn has(ctx: &Ctx, family: &str, table: &str, chain: &str, rule: &str) -> Result<bool, Fault> {
    let command = Program::new([program(family), "-t", table, "-C", chain]).args(split(rule)?);
    Ok(command.query(ctx)?.is_success())
}

record! {
    /// Shows whether there is a chain.
    ///
    ///   salt '*' iptables.check_chain filter INPUT
    pub struct CheckChain {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for CheckChain {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = given(self.chain) else { return Ok(NO_CHAIN.into()) };
        Ok(listed(ctx, &self.family, Some(&self.table))?.contains(&format!(":{chain} ")).into())
    }
}

record! {
    /// Makes a chain. True, or what is wrong.
    ///
    ///   salt '*' iptables.new_chain filter CUSTOM_CHAIN
    pub struct NewChain {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for NewChain {
    fn run(self, ctx: &Ctx) -> Reply {
        on_chain(ctx, &self.family, &self.table, "-N", self.chain)
    }
}

record! {
    /// Removes a chain. True, or what is wrong.
    ///
    ///   salt '*' iptables.delete_chain filter CUSTOM_CHAIN
    pub struct DeleteChain {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for DeleteChain {
    fn run(self, ctx: &Ctx) -> Reply {
        on_chain(ctx, &self.family, &self.table, "-X", self.chain)
    }
}

fn on_chain(ctx: &Ctx, family: &str, table: &str, option: &str, chain: Option<String>) -> Reply {
    let Some(chain) = given(chain) else { return Ok(NO_CHAIN.into()) };
    let complaint = complaint(on_table(ctx, family, table)?.args([option, &chain]).run(ctx)?);
    Ok(if complaint.is_empty() { true.into() } else { Value::from(complaint) }.into())
}

record! {
    /// Adds a rule to the end of a chain, unless the chain has it. False: it has it, or something is wrong.
    ///
    ///   salt '*' iptables.append filter INPUT rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'
    pub struct Append {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// The rule, as iptables(8) reads it.
        rule: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Append {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = given(self.chain) else { return Ok(NO_CHAIN.into()) };
        let Some(rule) = given(self.rule) else { return Ok(NO_RULE.into()) };
        if has(ctx, &self.family, &self.table, &chain, &rule)? {
            return Ok(false.into());
        }
        let command = on_table(ctx, &self.family, &self.table)?.args(["-A", &chain]).args(split(&rule)?);
        Ok(complaint(command.run(ctx)?).is_empty().into())
    }
}

record! {
    /// Puts a rule into a chain, unless the chain has it. Returns what is wrong, or an empty text; False: it has it.
    ///
    ///   salt '*' iptables.insert filter INPUT position=3 rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'
    pub struct Insert {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// The number that it will have; below zero: counted from the end.
        position: Option<i64> = (),
        /// The rule, as iptables(8) reads it.
        rule: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Insert {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = given(self.chain) else { return Ok(NO_CHAIN.into()) };
        let Some(mut position) = self.position.filter(|position| *position != 0) else {
            return Ok("Error: Position needs to be specified or use append (-A)".into());
        };
        let Some(rule) = given(self.rule) else { return Ok(NO_RULE.into()) };
        if position < 0 {
            let tables = rules(ctx, &self.family)?;
            let list = tables.at(&self.table).and_then(|table| table.at(&chain)).and_then(|chain| chain.at("rules"));
            let list = list.and_then(Value::as_list);
            let size =
                list.ok_or_else(|| Fault::execution(format!("there is no chain {chain} in {}", self.table)))?.len();
            position = i64::try_from(size).unwrap_or(i64::MAX).saturating_add(position).saturating_add(1);
            position = if position == 0 { 1 } else { position };
        }
        if has(ctx, &self.family, &self.table, &chain, &rule)? {
            return Ok(false.into());
        }
        let command = on_table(ctx, &self.family, &self.table)?;
        let command = command.args(["-I", &chain, &position.to_string()]).args(split(&rule)?);
        Ok(complaint(command.run(ctx)?).into())
    }
}

record! {
    /// Takes a rule from a chain, by its number or as it is written. Returns what is wrong, or an empty text.
    ///
    ///   salt '*' iptables.delete filter INPUT position=3
    ///   salt '*' iptables.delete filter INPUT rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'
    pub struct Delete {
        /// The table.
        table: String,
        /// The chain.
        chain: Option<String> = (),
        /// The rule's number.
        position: Option<i64> = (),
        /// The rule, as iptables(8) reads it.
        rule: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Delete {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = given(self.chain) else { return Ok(NO_CHAIN.into()) };
        let position = self.position.filter(|position| *position != 0);
        let rule = match (position, given(self.rule)) {
            (Some(_), Some(_)) => return Ok("Error: Only specify a position or a rule, not both".into()),
            (Some(position), None) => vec![position.to_string()],
            (None, Some(rule)) => split(&rule)?,
            (None, None) => return Ok(NO_RULE.into()),
        };
        let command = on_table(ctx, &self.family, &self.table)?.args(["-D", &chain]).args(rule);
        Ok(complaint(command.run(ctx)?).into())
    }
}

record! {
    /// Takes all rules from a chain, or from all chains of a table. Returns what is wrong, or an empty text.
    ///
    ///   salt '*' iptables.flush filter INPUT
    ///   salt '*' iptables.flush filter family=ipv6
    pub struct Flush {
        /// The table.
        table: String = "filter",
        /// The chain; empty: all.
        chain: String = "",
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Flush {
    fn run(self, ctx: &Ctx) -> Reply {
        let command = on_table(ctx, &self.family, &self.table)?.arg("-F");
        let command = if self.chain.is_empty() { command } else { command.arg(self.chain) };
        Ok(complaint(command.run(ctx)?).into())
    }
}
