//! Targeting: which minions a job is for. The same code on both ends.
//!
//! [`Target::parse`] reads a target once, patterns and all; [`Target::matches`] then judges one minion after another.
//! Errors name the place in the expression: a job with a target that nobody understands goes to nobody.

mod address;
mod compound;
pub mod fnmatch;
mod grain;
mod pattern;

pub use grain::DELIMITER;

use halite_value::{Map, Value};
use indexmap::IndexSet;
use pattern::Pattern;

/// Which minions a job is for.
#[derive(Clone, Debug)]
pub struct Target(Expression);

/// What is known of a minion when a target is judged.
#[derive(Clone, Copy, Debug)]
pub struct Minion<'a> {
    pub id: &'a str,
    pub grains: &'a Map,
    pub pillar: &'a Map,
}

/// What somebody must know of the minions to judge a target for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    Ids,
    Grains,
    Pillar,
}

/// A target that cannot be understood: the caller's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    pub message: String,
    /// The expression in which the fault is: the target, or a nodegroup of the configuration.
    pub expression: String,
    /// The character at which it is found, counted from 0.
    pub position: usize,
}

impl std::fmt::Display for TargetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "target '{}', character {}: {}", self.expression, self.position + 1, self.message)
    }
}

impl std::error::Error for TargetError {}

/// How a target is read; nodegroups and compounds are made of the same parts.
#[derive(Clone, Debug)]
enum Expression {
    Id(Pattern),
    List(IndexSet<String>),
    Grain(grain::Path),
    Pillar(grain::Path),
    Address(address::Network),
    Not(Box<Expression>),
    /// True when all are; the empty one is true.
    All(Vec<Expression>),
    /// True when one is; the empty one is false.
    Any(Vec<Expression>),
}

impl Target {
    /// Reads a target as it is published: `kind` is what Salt calls `tgt_type` (`glob`, `pcre`, `list`, `grain`,
    /// `grain_pcre`, `pillar`, `pillar_exact`, `pillar_pcre`, `ipcidr`, `nodegroup`, `compound`; empty is a glob).
    /// Lists may be values or text with commas.
    pub fn parse(kind: &str, tgt: &Value, nodegroups: Option<&Map>) -> Result<Target, TargetError> {
        Target::parse_with(kind, tgt, nodegroups, DELIMITER)
    }

    /// The same, with another delimiter than `:` between the steps of a grain's path (`--delimiter`).
    pub fn parse_with(
        kind: &str,
        tgt: &Value,
        nodegroups: Option<&Map>,
        delimiter: &str,
    ) -> Result<Target, TargetError> {
        let reader = compound::Reader { nodegroups, delimiter };
        if let (Value::List(items), "list" | "glob" | "") = (tgt, kind) {
            return Ok(Target(Expression::List(items.iter().map(Value::to_text).collect())));
        }
        if let (Value::List(words), "compound") = (tgt, kind) {
            return reader.words(words).map(Target);
        }
        let text = tgt.to_text();
        let at_start = |message: String| TargetError { message, expression: text.clone(), position: 0 };
        let expression = match kind {
            "compound" => reader.compound(&text)?,
            "nodegroup" => reader.nodegroup(&text).map_err(at_start)?,
            _ => reader.simple(Kind::named(kind).map_err(at_start)?, &text, delimiter).map_err(at_start)?,
        };
        Ok(Target(expression))
    }

    /// Whether the job is for this minion.
    pub fn matches(&self, minion: &Minion) -> bool {
        self.0.matches(minion)
    }

    /// What must be known to judge it.
    pub fn needs(&self) -> Needs {
        self.0.needs()
    }

    /// The ids that the target names one by one, known or not; nothing when it is a pattern or an expression.
    pub fn named(&self) -> Option<&IndexSet<String>> {
        match &self.0 {
            Expression::List(ids) => Some(ids),
            _ => None,
        }
    }
}

/// The kinds that a single text can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Glob,
    Pcre,
    List,
    Grain,
    GrainPcre,
    Pillar,
    PillarPcre,
    PillarExact,
    Address,
}

impl Kind {
    fn named(kind: &str) -> Result<Kind, String> {
        Ok(match kind {
            "glob" | "" => Kind::Glob,
            "pcre" => Kind::Pcre,
            "list" => Kind::List,
            "grain" => Kind::Grain,
            "grain_pcre" => Kind::GrainPcre,
            "pillar" => Kind::Pillar,
            "pillar_pcre" => Kind::PillarPcre,
            "pillar_exact" => Kind::PillarExact,
            "ipcidr" => Kind::Address,
            "range" => {
                return Err("ranges need a range server, which this version does not ask: use -L or -C".to_owned());
            }
            other => return Err(format!("'{other}' is not a kind of target")),
        })
    }
}

impl Expression {
    fn matches(&self, minion: &Minion) -> bool {
        match self {
            Expression::Id(pattern) => pattern.matches(minion.id),
            Expression::List(ids) => ids.contains(minion.id),
            Expression::Grain(path) => path.matches(minion.grains),
            Expression::Pillar(path) => path.matches(minion.pillar),
            Expression::Address(network) => network.has(minion.grains),
            Expression::Not(inner) => !inner.matches(minion),
            Expression::All(parts) => parts.iter().all(|part| part.matches(minion)),
            Expression::Any(parts) => parts.iter().any(|part| part.matches(minion)),
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Expression::Id(_) | Expression::List(_) => Needs::Ids,
            Expression::Grain(_) | Expression::Address(_) => Needs::Grains,
            Expression::Pillar(_) => Needs::Pillar,
            Expression::Not(inner) => inner.needs(),
            Expression::All(parts) | Expression::Any(parts) => {
                parts.iter().map(Expression::needs).max().unwrap_or(Needs::Ids)
            }
        }
    }
}

#[cfg(test)]
mod tests;
