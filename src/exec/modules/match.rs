//! `match.*`: whether a target means this minion.

use super::{Function, Module, Run, function};
use crate::exec::target::{Minion, Target};
use crate::exec::{Ctx, Fault, Reply};
use crate::record;
use crate::wire::record::{ArgumentError, Bound, Info, Record};
use crate::wire::value::Value;

pub const MODULE: Module =
    Module { name: "match", doc: "See whether a target means this minion.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    function::<Matches<COMPOUND>>("compound"),
    function::<Matches<GLOB>>("glob"),
    function::<Matches<GRAIN>>("grain"),
    function::<Matches<GRAIN_PCRE>>("grain_pcre"),
    function::<Matches<IPCIDR>>("ipcidr"),
    function::<Matches<LIST>>("list"),
    function::<Matches<NODEGROUP>>("nodegroup"),
    function::<Matches<PCRE>>("pcre"),
    function::<Matches<PILLAR>>("pillar"),
    function::<Matches<PILLAR_PCRE>>("pillar_pcre"),
];

/// The kinds of targets, each with a function of its name.
const KINDS: [&str; 10] =
    ["compound", "glob", "grain", "grain_pcre", "ipcidr", "list", "nodegroup", "pcre", "pillar", "pillar_pcre"];
const COMPOUND: usize = 0;
const GLOB: usize = 1;
const GRAIN: usize = 2;
const GRAIN_PCRE: usize = 3;
const IPCIDR: usize = 4;
const LIST: usize = 5;
const NODEGROUP: usize = 6;
const PCRE: usize = 7;
const PILLAR: usize = 8;
const PILLAR_PCRE: usize = 9;

record! {
    /// Returns whether a target of the kind that the function is named after means this minion.
    ///
    ///   salt '*' match.compound 'L@cheese,foo and *'
    ///   salt '*' match.glob 'web*'
    ///   salt '*' match.grain 'os:Ubuntu'
    ///   salt '*' match.grain_pcre 'os:Fedo.*'
    ///   salt '*' match.ipcidr 192.168.44.0/24
    ///   salt '*' match.list 'server1,server2'
    ///   salt '*' match.nodegroup webservers
    ///   salt '*' match.pcre 'web[0-9]+'
    ///   salt '*' match.pillar 'cheese:foo'
    ///   salt '*' match.pillar_pcre 'cheese:(swiss|american)'
    pub struct Asked {
        /// The target.
        tgt: Value,
        /// Another id than this minion's, with its own grains and pillar all the same.
        minion_id: Option<String> = (),
        /// What stands between the keys of grains and pillar.
        delimiter: String = ":",
    }
}

/// The question for one kind, by its place among [`KINDS`].
pub struct Matches<const KIND: usize>(Asked);

impl<const KIND: usize> Record for Matches<KIND> {
    const INFO: &'static Info = Asked::INFO;

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Asked::take(from).map(Matches)
    }
}

impl<const KIND: usize> Run for Matches<KIND> {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = KINDS.get(KIND).copied().unwrap_or("compound");
        let Asked { tgt, minion_id, delimiter } = self.0;
        let nodegroups = ctx.opts.at("nodegroups").and_then(Value::as_map);
        let target = Target::parse_with(kind, &tgt, nodegroups, &delimiter);
        let target = target.map_err(|error| Fault::Invocation(error.to_string()))?;
        let id = minion_id.as_deref().or_else(|| ctx.opts.str_at("id")).unwrap_or_default();
        Ok(target.matches(&Minion { id, grains: ctx.grains, pillar: ctx.pillar }).into())
    }
}

#[cfg(test)]
mod tests {
    use crate::exec::context::NoMaster;
    use crate::exec::modules::call;
    use crate::exec::modules::tests::World;
    use crate::wire::record::Arguments;
    use crate::wire::value::Map;

    #[test]
    fn each_kind_is_asked_by_its_name() {
        let world = World {
            opts: Map::from_iter([("id", "web1")]),
            grains: Map::from_iter([("os", "Debian")]),
            pillar: Map::from_iter([("role", "web")]),
            ..World::new()
        };
        let matches = |fun: &str, target: &str| {
            call(&world.ctx(&NoMaster), &format!("match.{fun}"), Arguments::positional([target]))
                .unwrap()
                .value
                .truthy()
        };
        for (fun, yes, no) in [
            ("glob", "web*", "db*"),
            ("pcre", "web[0-9]", "db"),
            ("list", "db1,web1", "db1"),
            ("grain", "os:Deb*", "os:Red*"),
            ("grain_pcre", "os:(Debian|Ubuntu)", "os:x"),
            ("pillar", "role:web", "role:db"),
            ("compound", "G@os:Debian and not E@db", "not web1"),
        ] {
            assert!(matches(fun, yes) && !matches(fun, no), "{fun}");
        }
    }
}
