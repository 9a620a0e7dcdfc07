//! `match.*`: whether a target means this minion.
//!
//! A target that cannot be understood matches nobody: these functions answer, as templates expect it, and the log says
//! why.

mod choose;

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::{DELIMITER, Minion, Target};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;

pub const MODULE: Module = Module {
    name: "match",
    doc: "Say whether a target means this minion.",
    functions: &[
        function::<Compound>("compound"),
        function::<Data>("data"),
        function::<choose::FilterBy>("filter_by"),
        function::<Glob>("glob"),
        function::<Grain>("grain"),
        function::<GrainPcre>("grain_pcre"),
        function::<choose::Ifelse>("ifelse"),
        function::<Ipcidr>("ipcidr"),
        function::<List>("list"),
        function::<Pcre>("pcre"),
        function::<Pillar>("pillar"),
        function::<PillarPcre>("pillar_pcre"),
        function::<choose::SearchBy>("search_by"),
    ],
};

/// Whether a target of a kind means this minion; nothing where it cannot be understood.
fn judge(ctx: &Ctx, kind: &str, tgt: &Value, id: &Value, delimiter: &str) -> Option<bool> {
    let own = ctx.opts.str_at("id").or(ctx.grains.str_at("id")).unwrap_or_default();
    let id = if id.truthy() { id.to_text() } else { own.to_owned() };
    let nodegroups = ctx.opt("nodegroups").and_then(Value::as_map);
    match Target::parse_with(kind, tgt, nodegroups, delimiter) {
        Ok(target) => Some(target.matches(&Minion { id: &id, grains: ctx.grains, pillar: ctx.pillar })),
        Err(error) => {
            log::error!("match.{kind}: {error}");
            None
        }
    }
}

fn matches(ctx: &Ctx, kind: &str, tgt: &Value, id: &Value) -> Reply {
    let is_readable = tgt.as_str().is_some() || (kind == "compound" && tgt.as_list().is_some());
    Ok((is_readable && judge(ctx, kind, tgt, id, DELIMITER).unwrap_or(false)).into())
}

fn matches_path(ctx: &Ctx, kind: &str, tgt: &Value, delimiter: &str) -> Reply {
    Ok((tgt.as_str().is_some() && judge(ctx, kind, tgt, &Value::Null, delimiter).unwrap_or(false)).into())
}

record! {
    /// Shows whether a compound target means this minion.
    ///
    ///   salt '*' match.compound 'L@cheese,foo and *'
    pub struct Compound {
        /// The target, or a list of its words.
        tgt: Value,
        /// Another id than the minion's.
        minion_id: Value = (),
    }
}

impl Run for Compound {
    fn run(self, ctx: &Ctx) -> Reply {
        matches(ctx, "compound", &self.tgt, &self.minion_id)
    }
}

record! {
    /// Shows whether one of the minion's addresses is this one, or in this network. An empty list where it is neither an
    /// address nor a network.
    ///
    ///   salt '*' match.ipcidr 192.168.44.0/24
    pub struct Ipcidr {
        /// The address or network.
        tgt: Value,
    }
}

impl Run for Ipcidr {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = judge(ctx, "ipcidr", &self.tgt, &Value::Null, DELIMITER);
        Ok(found.map_or(Value::List(Vec::new()), Value::from).into())
    }
}

record! {
    /// Shows whether a value of the pillar, as text, is fitted by a regular expression.
    ///
    ///   salt '*' match.pillar_pcre 'cheese:(swiss|american)'
    pub struct PillarPcre {
        /// The path in the pillar, then the expression.
        tgt: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for PillarPcre {
    fn run(self, ctx: &Ctx) -> Reply {
        matches_path(ctx, "pillar_pcre", &self.tgt, &self.delimiter)
    }
}

record! {
    /// Shows whether a value of the pillar, as text, is fitted by a pattern.
    ///
    ///   salt '*' match.pillar 'cheese:foo'
    pub struct Pillar {
        /// The path in the pillar, then the pattern.
        tgt: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for Pillar {
    fn run(self, ctx: &Ctx) -> Reply {
        matches_path(ctx, "pillar", &self.tgt, &self.delimiter)
    }
}

record! {
    /// Shows whether a value of the minion's data store is fitted by a pattern.
    ///
    ///   salt '*' match.data 'spam:eggs'
    pub struct Data {
        /// The key in the store, a colon, the pattern.
        tgt: String,
    }
}

impl Run for Data {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some((key, wanted)) = self.tgt.split_once(':') else { return Ok(false.into()) };
        // More steps than two are not looked at.
        let wanted = wanted.split(':').next().unwrap_or_default();
        let fits = |text: &str, pattern: &str| halite_lang::target::fnmatch::fnmatch(text, pattern);
        let found = match ctx.run("data.getval", Arguments::positional([key])) {
            Ok(found) => found,
            // No store, no match.
            Err(Fault::Unknown { .. }) => Value::Null,
            Err(fault) => return Err(fault),
        };
        let does = match &found {
            Value::List(items) => items.iter().any(|item| fits(&item.to_text().to_lowercase(), &wanted.to_lowercase())),
            Value::Map(map) => map.contains(wanted),
            Value::Str(text) => fits(text, wanted),
            _ => false,
        };
        Ok(does.into())
    }
}

record! {
    /// Shows whether a grain, as text, is fitted by a regular expression.
    ///
    ///   salt '*' match.grain_pcre 'os:Fedo.*'
    ///   salt '*' match.grain_pcre 'ipv6|2001:.*' delimiter='|'
    pub struct GrainPcre {
        /// The path of the grain, then the expression.
        tgt: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for GrainPcre {
    fn run(self, ctx: &Ctx) -> Reply {
        matches_path(ctx, "grain_pcre", &self.tgt, &self.delimiter)
    }
}

record! {
    /// Shows whether a grain, as text, is fitted by a pattern.
    ///
    ///   salt '*' match.grain 'os:Ubuntu'
    ///   salt '*' match.grain 'ipv6|2001:db8::ff00:42:8329' delimiter='|'
    pub struct Grain {
        /// The path of the grain, then the pattern.
        tgt: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for Grain {
    fn run(self, ctx: &Ctx) -> Reply {
        matches_path(ctx, "grain", &self.tgt, &self.delimiter)
    }
}

record! {
    /// Shows whether the minion's id is in a list.
    ///
    ///   salt '*' match.list 'server1,server2'
    pub struct List {
        /// The ids, with commas between them or as a list.
        tgt: Value,
        /// Another id than the minion's.
        minion_id: Value = (),
    }
}

impl Run for List {
    fn run(self, ctx: &Ctx) -> Reply {
        let is_readable = matches!(self.tgt, Value::Str(_) | Value::List(_));
        Ok((is_readable && judge(ctx, "list", &self.tgt, &self.minion_id, DELIMITER).unwrap_or(false)).into())
    }
}

record! {
    /// Shows whether the minion's id begins with what a regular expression says.
    ///
    ///   salt '*' match.pcre '.*'
    pub struct Pcre {
        /// The expression.
        tgt: Value,
        /// Another id than the minion's.
        minion_id: Value = (),
    }
}

impl Run for Pcre {
    fn run(self, ctx: &Ctx) -> Reply {
        matches(ctx, "pcre", &self.tgt, &self.minion_id)
    }
}

record! {
    /// Shows whether the minion's id is fitted by a pattern.
    ///
    ///   salt '*' match.glob '*'
    pub struct Glob {
        /// The pattern.
        tgt: Value,
        /// Another id than the minion's.
        minion_id: Value = (),
    }
}

impl Run for Glob {
    fn run(self, ctx: &Ctx) -> Reply {
        matches(ctx, "glob", &self.tgt, &self.minion_id)
    }
}
