//! `iptables.append`, `insert`, `delete`: rules.

use super::{Place, done, failure, save};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that a chain has a rule; where it has none it is put at the end.
    ///
    ///   ssh:
    ///     iptables.append:
    ///       - chain: INPUT
    ///       - match: state
    ///       - connstate: NEW
    ///       - dport: 22
    ///       - protocol: tcp
    ///       - jump: ACCEPT
    ///       - save: True
    pub struct Append {
        /// An ID.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
        /// `chain`, `save`, and the options of the rule by their long names; or `rules`, a list of such maps.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that a chain has a rule; where it has none it is put at a position.
    ///
    ///   ssh:
    ///     iptables.insert:
    ///       - position: 1
    ///       - chain: INPUT
    ///       - dport: 22
    ///       - protocol: tcp
    ///       - jump: ACCEPT
    pub struct Insert {
        /// An ID.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
        /// `position`, `chain`, `save`, and the options of the rule; or `rules`, a list of such maps.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that a chain does not have a rule.
    ///
    ///   ssh:
    ///     iptables.delete:
    ///       - chain: INPUT
    ///       - dport: 22
    ///       - protocol: tcp
    ///       - jump: ACCEPT
    pub struct Delete {
        /// An ID.
        name: String,
        /// The table.
        table: String = "filter",
        /// ipv4 or ipv6.
        family: String = "ipv4",
        /// `position` or the options of the rule, `chain`, `save`; or `rules`, a list of such maps.
        kwargs: Keywords,
    }
}

/// What is wanted of a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Append,
    Insert,
    Delete,
}

impl State for Append {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        plan(Verb::Append, context.ctx, self.name, self.table, self.family, self.kwargs.0)
    }
}

impl State for Insert {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        plan(Verb::Insert, context.ctx, self.name, self.table, self.family, self.kwargs.0)
    }
}

impl State for Delete {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        plan(Verb::Delete, context.ctx, self.name, self.table, self.family, self.kwargs.0)
    }
}

fn plan(verb: Verb, ctx: &Ctx, name: String, table: String, family: String, mut words: Map) -> Result<Plan, Fault> {
    let Some(Value::List(rules)) = words.remove("rules") else {
        return one(verb, ctx, name, table, family, words);
    };
    let mut plans = Vec::new();
    let mut file = Value::Null;
    for rule in rules {
        let Value::Map(mut rule) = rule else {
            return Err(Fault::invocation("rules wants a list of maps"));
        };
        let mut text = |key: &str, default: &str| rule.remove(key).map_or(default.to_owned(), |value| value.to_text());
        let (name, table, own) = (text("name", &name), text("table", &table), text("family", &family));
        // Once, when all are set.
        if let Some(asked) = rule.remove("save").filter(Value::truthy) {
            file = asked;
        }
        plans.push(one(verb, ctx, name, table, own, rule)?);
    }
    let shown = |plan: &Plan| match plan {
        Plan::Stands(outcome) | Plan::Changes { would: outcome, .. } => outcome.clone(),
    };
    let would = together(plans.iter().map(shown).collect());
    if plans.iter().all(|plan| matches!(plan, Plan::Stands(_))) {
        return Ok(Plan::Stands(would));
    }
    let apply = move |ctx: &Ctx| {
        let mut outcomes = Vec::new();
        for plan in plans {
            outcomes.push(match plan {
                Plan::Stands(outcome) => outcome,
                Plan::Changes { apply, .. } => apply(ctx)?,
            });
        }
        if file.truthy() {
            save(ctx, &file, &family)?;
        }
        Ok(together(outcomes))
    };
    Ok(Plan::Changes { would, apply: Box::new(apply) })
}

/// What several rules came to: as bad as the worst.
fn together(outcomes: Vec<Outcome>) -> Outcome {
    let results: Vec<Option<bool>> = outcomes.iter().map(|outcome| outcome.result).collect();
    let result = match results {
        results if results.contains(&Some(false)) => Some(false),
        results if results.contains(&None) => None,
        _ => Some(true),
    };
    let comments: Vec<&str> = outcomes.iter().map(|outcome| outcome.comment.as_str()).collect();
    let changed: Vec<Value> = outcomes.iter().filter_map(|outcome| outcome.changes.at("locale").cloned()).collect();
    let changes = if changed.is_empty() { Map::new() } else { halite_core::state::single("locale", changed) };
    Outcome::new(result, comments.join("\n")).with_changes(changes)
}

fn one(verb: Verb, ctx: &Ctx, name: String, table: String, family: String, mut words: Map) -> Result<Plan, Fault> {
    let Some(chain) = words.at("chain").map(Value::to_text) else {
        return Err(Fault::invocation("chain is missing: which chain is the rule of?"));
    };
    let file = words.at("save").cloned().unwrap_or_default();
    let position = words.at("position").cloned();
    words.insert("name", name.as_str());
    words.insert("table", table.as_str());
    words.insert("family", family.as_str());
    let rule = ctx.run("iptables.build_rule", Arguments::keywords(words.clone()))?.to_text();
    words.insert("full", true);
    words.insert(
        "command",
        match verb {
            Verb::Append => "A",
            Verb::Insert => "I",
            Verb::Delete => "D",
        },
    );
    let command = ctx.run("iptables.build_rule", Arguments::keywords(words))?.to_text().trim().to_owned();
    let place = Place { table, chain, family: family.clone() };
    let there = place.ask(ctx, "iptables.check", [("rule", rule.as_str().into())])? == Value::Bool(true);
    let would = match (verb, there) {
        (Verb::Append, true) => format!("iptables rule for {name} already set ({command}) for {family}"),
        (Verb::Insert, true) => format!("iptables rule for {name} already set for {family} ({command})"),
        (Verb::Append, false) => format!("iptables rule for {name} needs to be set ({command}) for {family}"),
        (Verb::Insert, false) => format!("iptables rule for {name} needs to be set for {family} ({command})"),
        (Verb::Delete, false) if position.is_none() => {
            return Ok(already(format!("iptables rule for {name} already absent for {family} ({command})")));
        }
        (Verb::Delete, _) => format!("iptables rule for {name} needs to be deleted for {family} ({command})"),
    };
    if there && verb != Verb::Delete {
        if !file.truthy() || is_saved(ctx, &file, &family)? {
            return Ok(already(would));
        }
        let done = would.clone();
        let apply = move |ctx: &Ctx| {
            let said = save(ctx, &file, &family)?;
            Ok(Outcome::done(format!("{done}\nSaved iptables rule {name} for {family}\n{command}\n{said}")))
        };
        return Ok(Plan::Changes { would: Outcome::done(would), apply: Box::new(apply) });
    }
    if verb == Verb::Insert && position.is_none() {
        return Err(Fault::invocation("position is missing: where in the chain is the rule to be?"));
    }
    let apply = move |ctx: &Ctx| {
        let rule = Value::from(rule.as_str());
        let answer = match verb {
            Verb::Append => place.ask(ctx, "iptables.append", [("rule", rule)])?,
            Verb::Insert => place.ask(ctx, "iptables.insert", [("rule", rule), ("position", position.into())])?,
            Verb::Delete => match position {
                Some(position) => place.ask(ctx, "iptables.delete", [("position", position)])?,
                None => place.ask(ctx, "iptables.delete", [("rule", rule)])?,
            },
        };
        // `append` says whether it has worked, the others what went wrong.
        let failed = match verb {
            Verb::Append => (!answer.truthy()).then(String::new),
            _ => failure(&answer),
        };
        if let Some(why) = failed {
            let (what, end) = match verb {
                Verb::Append => ("set", format!(" for {family}")),
                Verb::Insert => ("set", String::new()),
                Verb::Delete => ("delete", String::new()),
            };
            let why = if why.is_empty() { why } else { format!("\n{why}") };
            let comment = format!("Failed to {what} iptables rule for {name}.\nAttempted rule was {command}{end}{why}");
            return Ok(Outcome::failed(comment));
        }
        if file.truthy() {
            let said = save(ctx, &file, &family)?;
            let what = if verb == Verb::Delete { "Deleted" } else { "Set" };
            return Ok(done(&name, format!("{what} and saved iptables rule {name} for {family}\n{command}\n{said}")));
        }
        Ok(done(
            &name,
            match verb {
                Verb::Delete => format!("Delete iptables rule for {name} {command}"),
                _ => format!("Set iptables rule for {name} to: {command} for {family}"),
            },
        ))
    };
    Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
}

/// Whether the file that is read at boot has the rules that are loaded.
fn is_saved(ctx: &Ctx, file: &Value, family: &str) -> Result<bool, Fault> {
    let loaded = ask(ctx, "iptables.get_rules", [("family", family.into())])?;
    let words = [("conf_file", file.as_str().into()), ("family", family.into())];
    let saved = ask(ctx, "iptables.get_saved_rules", words)?;
    let rules = |tables: &Value| -> Vec<Value> {
        let chains = tables.as_map().into_iter().flat_map(Map::values).filter_map(Value::as_map).flat_map(Map::values);
        chains.map(|chain| chain.at("rules").cloned().unwrap_or_default()).collect()
    };
    Ok(rules(&loaded) == rules(&saved))
}
