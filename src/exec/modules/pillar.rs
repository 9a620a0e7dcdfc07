//! `pillar.*`: the data that this minion was given.

use halite_core::host::own;
use halite_core::module::{Function, Module, Run, function};
use halite_core::pillar_request::Asked;
use halite_core::{Audience, Ctx, Fault, Reply};
use halite_lang::merge;
use halite_lang::merge::Lists;
use halite_lang::yaml;
use halite_node::pillar::{decrypted, gather};
use halite_value::record;
use halite_value::record::{ArgumentError, Bound, Info, Keywords, Record, Rest};
use halite_value::{Map, Value};
use std::path::Path;

pub const MODULE: Module =
    Module { name: "pillar", doc: "Look at the data that the minion was given.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    function::<Items>("data"),
    function::<Ext>("ext"),
    function::<Get>("fetch"),
    function::<FileExists>("file_exists"),
    function::<FilterBy>("filter_by"),
    function::<Get>("get"),
    function::<Item>("item"),
    function::<Items>("items"),
    function::<Keys>("keys"),
    function::<Ls>("ls"),
    function::<Obfuscate>("obfuscate"),
    function::<Raw>("raw"),
];

record! {
    /// Returns one value of the pillar. It is the one that the minion has in memory; with an environment, the pillar is
    /// compiled anew.
    ///
    ///   salt '*' pillar.get pkg:apache
    ///   salt '*' pillar.fetch pkg:apache
    ///   salt '*' pillar.get abc::def|ghi delimiter='|'
    pub struct Get {
        /// The path of the value: keys with colons between them.
        key: String,
        /// What is returned where there is none; an empty text if this is not given.
        default: Value = NOT_GIVEN,
        /// Merge the value into the default: maps into maps, lists into lists.
        merge: bool = false,
        /// Whether lists inside of maps are joined; as the option `pillar_merge_lists` says if not given.
        merge_nested_lists: Option<bool> = (),
        /// What stands between the keys.
        delimiter: String = ":",
        /// The environment of the pillar.
        pillarenv: Option<String> = (),
        /// The environment of states.
        saltenv: Option<String> = (),
        /// Whether values are shown. If not given, people get `**********` in their place, unless the option
        /// `pillar_mask_output` is off; templates and functions get the values.
        unmask: Option<bool> = (),
    }
}

/// Stands for a default that was not given.
const NOT_GIVEN: &str = "__unset__";

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        let mask = Mask::of(ctx, self.unmask);
        self.find(ctx).map(|found| mask.put_on(found).into())
    }
}

impl Get {
    fn find(self, ctx: &Ctx) -> Result<Value, Fault> {
        let pillar = of(ctx, self.pillarenv, self.saltenv)?;
        let found = pillar.traverse(&self.key, &self.delimiter);
        let raises = ctx.opts.at("pillar_raise_on_missing").is_some_and(Value::truthy);
        let default = match self.default.as_str() == Some(NOT_GIVEN) {
            true => Value::from(""),
            false => self.default.clone(),
        };
        if self.merge {
            match (default.clone(), found) {
                (Value::Map(mut all), None | Some(Value::Map(_))) => {
                    let joined = ctx.opts.at("pillar_merge_lists").is_some_and(Value::truthy);
                    let lists = Lists::joined(self.merge_nested_lists.unwrap_or(joined));
                    if let Some(Value::Map(map)) = found {
                        merge::update(&mut all, map.clone(), lists);
                    }
                    return Ok(Value::Map(all));
                }
                (Value::List(mut all), None | Some(Value::List(_))) => {
                    merge::join(&mut all, found.and_then(Value::as_list).unwrap_or_default().to_vec());
                    return Ok(Value::List(all));
                }
                (default, _) => {
                    let kind = default.type_name();
                    log::error!(
                        "pillar.get {}: a default of type {kind} cannot be merged with what is there",
                        self.key
                    );
                }
            }
        }
        match found {
            Some(found) => Ok(found.clone()),
            None if raises && self.default.as_str() == Some(NOT_GIVEN) => Err(missing(&self.key)),
            None => Ok(default),
        }
    }
}

/// What stands for a value of the pillar that is not shown.
const HIDDEN: &str = "**********";

/// Whether the values of an answer are hidden. Names, and values that are empty or false, are never.
#[derive(Clone, Copy)]
enum Mask {
    On,
    Off,
}

impl Mask {
    /// As the call says, else as whoever gets the answer needs it.
    fn of(ctx: &Ctx, unmask: Option<bool>) -> Mask {
        let is_on = || ctx.opt("pillar_mask_output").is_none_or(Value::truthy);
        match unmask {
            Some(true) => Mask::Off,
            Some(false) => Mask::On,
            None if ctx.audience.get() == Audience::Person && is_on() => Mask::On,
            None => Mask::Off,
        }
    }

    fn put_on(self, value: Value) -> Value {
        match value {
            value if matches!(self, Mask::Off) => value,
            Value::Map(map) => map.into_iter().map(|(key, value)| (key, self.put_on(value))).collect::<Map>().into(),
            Value::List(items) => Value::list(items.into_iter().map(|item| self.put_on(item))),
            value if value.truthy() => HIDDEN.into(),
            empty => empty,
        }
    }
}

fn missing(key: &str) -> Fault {
    Fault::Raised { kind: "KeyError".to_owned(), message: format!("Pillar key not found: {key}") }
}

/// The pillar in memory, or anew for an environment.
fn of(ctx: &Ctx, pillarenv: Option<String>, saltenv: Option<String>) -> Result<Value, Fault> {
    match (pillarenv, saltenv) {
        (None, None) => Ok(ctx.pillar.clone().into()),
        (pillarenv, saltenv) => anew(ctx, pillarenv, saltenv, Map::new()).map(Value::from),
    }
}

fn anew(ctx: &Ctx, pillarenv: Option<String>, saltenv: Option<String>, over: Map) -> Result<Map, Fault> {
    let mut asked = Asked::of(ctx.opts);
    asked.saltenv = saltenv.or(asked.saltenv);
    asked.pillarenv = pillarenv.or(asked.pillarenv);
    asked.over = over;
    gather(ctx, &asked)
}

record! {
    /// Returns the pillar, compiled anew; with keys, these values only.
    ///
    ///   salt '*' pillar.items
    ///   salt '*' pillar.data
    ///   salt '*' pillar.items pillar='{color: red}'
    pub struct Items {
        args: Rest,
        /// Data that is put on top.
        pillar: Value = (),
        /// How that data is encrypted: `gpg`.
        pillar_enc: Value = (),
        /// The environment of the pillar.
        pillarenv: Option<String> = (),
        /// The environment of states.
        saltenv: Option<String> = (),
        /// Whether values are shown. If not given, people get `**********` in their place, unless the option
        /// `pillar_mask_output` is off; templates and functions get the values.
        unmask: Option<bool> = (),
    }
}

impl Items {
    fn collect(self, ctx: &Ctx) -> Result<Map, Fault> {
        let over = match self.pillar {
            Value::Null => Map::new(),
            data if self.pillar_enc.truthy() => decrypted(ctx, data, &self.pillar_enc)?,
            Value::Map(over) => over,
            _ => return Err(Fault::invocation("pillar wants a map")),
        };
        if !self.args.0.is_empty() {
            let pillar = of(ctx, self.pillarenv, self.saltenv)?;
            return Ok(picked(&pillar, self.args.0, ":", &"".into()));
        }
        anew(ctx, self.pillarenv, self.saltenv, over)
    }
}

impl Run for Items {
    fn run(self, ctx: &Ctx) -> Reply {
        let mask = Mask::of(ctx, self.unmask);
        self.collect(ctx).map(|items| mask.put_on(items.into()).into())
    }
}

record! {
    /// Returns the pillar with one more external source: one that the option `on_demand_ext_pillar` names, of the master
    /// or, with `file_client: local`, of the minion.
    ///
    ///   salt '*' pillar.ext '{nodegroups: _}'
    ///   salt '*' pillar.ext '{stack: /srv/stack/stack.cfg}'
    pub struct Ext {
        /// The source as the option `ext_pillar` has it: a map of its name and its settings, or the text of such a map.
        external: Value,
        /// Data that is put on top.
        pillar: Option<Map> = (),
        /// Whether values are shown, as in `pillar.items`.
        unmask: Option<bool> = (),
    }
}

impl Run for Ext {
    fn run(self, ctx: &Ctx) -> Reply {
        let external = match self.external {
            Value::Str(text) => yaml::load(&text).map_err(|error| Fault::invocation(format!("external: {error}")))?,
            other => other,
        };
        let Value::Map(ext) = external else {
            return Err(Fault::invocation("external: a map of a source and its settings is wanted"));
        };
        let asked = Asked { over: self.pillar.unwrap_or_default(), ext, ..Asked::of(ctx.opts) };
        let mask = Mask::of(ctx, self.unmask);
        let pillar = gather(ctx, &asked)?;
        Ok(mask.put_on(pillar.into()).into())
    }
}

fn picked(pillar: &Value, keys: Vec<Value>, delimiter: &str, default: &Value) -> Map {
    let value = |key: &Value| pillar.traverse(&key.to_text(), delimiter).unwrap_or(default).clone();
    keys.into_iter()
        .map(|key| {
            let value = value(&key);
            (key, value)
        })
        .collect()
}

record! {
    /// Returns some values of the pillar in memory.
    ///
    ///   salt '*' pillar.item foo
    ///   salt '*' pillar.item foo:bar baz default=none
    pub struct Item {
        args: Rest,
        /// What stands for values that there are not.
        default: Value = "",
        /// What stands between keys.
        delimiter: String = ":",
        /// The environment of the pillar.
        pillarenv: Option<String> = (),
        /// The environment of states.
        saltenv: Option<String> = (),
        /// Whether values are shown. If not given, people get `**********` in their place, unless the option
        /// `pillar_mask_output` is off; templates and functions get the values.
        unmask: Option<bool> = (),
    }
}

impl Run for Item {
    fn run(self, ctx: &Ctx) -> Reply {
        let pillar = of(ctx, self.pillarenv, self.saltenv)?;
        let items = picked(&pillar, self.args.0, &self.delimiter, &self.default);
        Ok(Mask::of(ctx, self.unmask).put_on(items.into()).into())
    }
}

record! {
    /// Returns the pillar in memory, or the value under one key of it.
    ///
    ///   salt '*' pillar.raw
    ///   salt '*' pillar.raw key='roles'
    pub struct Raw {
        /// The key, without a path.
        key: Option<String> = (),
        /// Whether values are shown, or `**********` in their place.
        unmask: bool = true,
    }
}

impl Run for Raw {
    fn run(self, ctx: &Ctx) -> Reply {
        let raw = match self.key.filter(|key| !key.is_empty()) {
            Some(key) => ctx.pillar.at(&key).cloned().unwrap_or_else(|| Map::new().into()),
            None => ctx.pillar.clone().into(),
        };
        Ok(Mask::of(ctx, Some(self.unmask)).put_on(raw).into())
    }
}

record! {
    /// Returns the names below a key of the pillar.
    ///
    ///   salt '*' pillar.keys web:sites
    pub struct Keys {
        /// The path.
        key: String,
        /// What stands between keys.
        delimiter: String = ":",
        /// Taken, not used: names are never hidden.
        unmask: Value = (),
    }
}

impl Run for Keys {
    fn run(self, ctx: &Ctx) -> Reply {
        let pillar = Value::Map(ctx.pillar.clone());
        match pillar.traverse(&self.key, &self.delimiter) {
            Some(Value::Map(map)) => Ok(Value::list(map.keys().cloned()).into()),
            Some(_) => Err(Fault::Raised {
                kind: "ValueError".to_owned(),
                message: format!("Pillar value in key {} is not a dict", self.key),
            }),
            None => Err(missing(&self.key)),
        }
    }
}

/// `pillar.ls`.
pub struct Ls(Items);

impl Record for Ls {
    const INFO: &'static Info = &Info {
        doc: &[" Returns the names on the first level of the pillar, compiled anew.", "", "   salt '*' pillar.ls"],
        fields: Items::INFO.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Items::take(from).map(Ls)
    }
}

impl Run for Ls {
    fn run(self, ctx: &Ctx) -> Reply {
        let items = self.0.collect(ctx)?;
        Ok(Value::list(items.keys().cloned()).into())
    }
}

/// `pillar.obfuscate`.
pub struct Obfuscate(Items);

impl Record for Obfuscate {
    const INFO: &'static Info = &Info {
        doc: &[
            " Returns the pillar, compiled anew, with the kind of each value in its place: to show it to somebody.",
            "",
            "   salt '*' pillar.obfuscate",
        ],
        fields: Items::INFO.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Items::take(from).map(Obfuscate)
    }
}

impl Run for Obfuscate {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(obfuscated(&self.0.collect(ctx)?.into()).into())
    }
}

fn obfuscated(value: &Value) -> Value {
    match value {
        Value::Map(map) => Value::Map(map.iter().map(|(key, value)| (key.clone(), obfuscated(value))).collect()),
        Value::List(items) => Value::List(items.iter().map(obfuscated).collect()),
        other => format!("<{}>", other.type_name()).into(),
    }
}

record! {
    /// Returns whether the directories of the pillar have a file.
    ///
    ///   salt '*' pillar.file_exists foo/bar.sls
    pub struct FileExists {
        /// Its path below the directories.
        path: String,
        /// The environment; else all are looked at.
        saltenv: Option<String> = (),
    }
}

impl Run for FileExists {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(Value::Map(roots)) = ctx.opts.at("pillar_roots").filter(|roots| roots.truthy()) else {
            return Err(Fault::execution("No pillar_roots found. Are you running this on the master?"));
        };
        let wanted = |name: &Value| self.saltenv.as_deref().is_none_or(|saltenv| name.as_str() == Some(saltenv));
        let mut directories = roots
            .iter()
            .filter(|(name, _)| wanted(name))
            .flat_map(|(_, directories)| directories.as_list().unwrap_or_default());
        Ok(directories.any(|directory| own::is_file(&Path::new(&directory.to_text()).join(&self.path))).into())
    }
}

record! {
    /// Returns the entry of a map that is named by a value of the pillar.
    ///
    ///   salt '*' pillar.filter_by '{web: Serve it up, db: I query}' role
    pub struct FilterBy {
        /// The map.
        lookup_dict: Map,
        /// The path of the value.
        pillar: String,
        /// A map that is put on top of the entry.
        merge: Value = (),
        /// The key that counts where the value names none.
        default: String = "default",
        /// The key of an entry that lies below.
        base: Option<String> = (),
        kwargs: Keywords,
    }
}

impl Run for FilterBy {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut arguments = halite_value::record::Arguments::positional([Value::Map(self.lookup_dict)]);
        let grains = ctx.pillar;
        arguments = arguments.with("grain", self.pillar).with("default", self.default);
        if self.merge.truthy() {
            arguments = arguments.with("merge", self.merge);
        }
        if let Some(base) = self.base {
            arguments = arguments.with("base", base);
        }
        // The same choice as by grains, with the pillar in their place.
        let inner = Ctx { grains, scratch: Default::default(), audience: ctx.audience.clone(), ..*ctx };
        inner.run("grains.filter_by", arguments).map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_lang::yaml;
    use halite_value::record::Arguments;

    fn world() -> World {
        let pillar = "{app: {port: 80, tags: [a, b], sub: {x: 1}}, role: web, name: n, list: [1, 2]}";
        World { pillar: yaml::load(pillar).unwrap().as_map().unwrap().clone(), ..World::new() }
    }

    fn answer_for(audience: Audience, fun: &str, arguments: &str) -> String {
        let given = yaml::load(arguments).unwrap();
        let keywords = given.as_map().cloned().unwrap_or_default();
        let positional = given.as_list().map(<[Value]>::to_vec).unwrap_or_default();
        let world = world();
        let answered = world.ctx(&NoMaster).run_for(audience, fun, Arguments { positional, keywords });
        answered.map_or_else(|fault| fault.to_string(), |value| value.repr())
    }

    fn answer(fun: &str, arguments: &str) -> String {
        answer_for(Audience::Function, fun, arguments)
    }

    #[test]
    fn values_are_hidden_from_people_and_from_nobody_else() {
        for (fun, arguments, shown) in [
            (
                "get",
                "[app]",
                "{'port': '**********', 'tags': ['**********', '**********'], 'sub': {'x': '**********'}}",
            ),
            ("get", "[none, given]", "'**********'"),
            ("get", "[none, '']", "''"),
            ("get", "{key: role, unmask: true}", "'web'"),
            ("item", "[role]", "{'role': '**********'}"),
            ("raw", "[role]", "'web'"),
            ("raw", "{key: role, unmask: false}", "'**********'"),
            ("keys", "[app]", "['port', 'tags', 'sub']"),
        ] {
            assert_eq!(answer_for(Audience::Person, &format!("pillar.{fun}"), arguments), shown, "{fun} {arguments}");
        }
        assert_eq!(answer("pillar.get", "[role]"), "'web'");
        assert_eq!(answer("pillar.get", "{key: role, unmask: false}"), "'**********'");
        let mut world = world();
        world.opts.insert("pillar_mask_output", false);
        let answer = world.ctx(&NoMaster).run_for(Audience::Person, "pillar.get", Arguments::positional(["role"]));
        assert_eq!(answer.unwrap(), "web".into());
    }

    #[test]
    fn a_source_is_asked_only_where_the_options_allow_it() {
        let mut world = world();
        world.opts.insert("file_client", "local");
        world.opts.insert("on_demand_ext_pillar", Value::list(["cmd_json"]));
        let ask = |text: &str| {
            let answer = world.ctx(&NoMaster).run("pillar.ext", Arguments::positional([text]));
            answer.map_or_else(|fault| fault.to_string(), |value| value.repr())
        };
        let refused = |name: &str| {
            format!("{{'_errors': ['ext_pillar {name} cannot be asked for: on_demand_ext_pillar allows cmd_json']}}")
        };
        assert_eq!(ask("cmd_yaml: id"), refused("cmd_yaml"));
        assert_eq!(ask("{cmd_json: id, libvirt: _}"), refused("libvirt"));
        assert!(ask("[]").starts_with("external: a map"));
    }

    #[test]
    fn get_finds_merges_and_falls_back() {
        for (arguments, expected) in [
            ("[app:port]", "80"),
            ("[app:tags:1]", "'b'"),
            ("[app:none]", "''"),
            ("[app:none, 5]", "5"),
            ("{key: app|port, delimiter: '|'}", "80"),
            ("{key: 'app:sub', default: {y: 2}, merge: true}", "{'y': 2, 'x': 1}"),
            ("{key: 'app:tags', default: [b, c], merge: true}", "['b', 'c', 'a']"),
            ("{key: nope, default: [b], merge: true}", "['b']"),
            ("{key: role, default: {y: 2}, merge: true}", "'web'"),
        ] {
            assert_eq!(answer("pillar.get", arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn parts_of_the_pillar_are_shown() {
        assert_eq!(answer("pillar.item", "[role, app:port, none]"), "{'role': 'web', 'app:port': 80, 'none': ''}");
        assert_eq!(answer("pillar.raw", "[role]"), "'web'");
        assert_eq!(answer("pillar.keys", "[app]"), "['port', 'tags', 'sub']");
        assert_eq!(answer("pillar.keys", "[role]"), "ValueError: Pillar value in key role is not a dict");
        assert_eq!(answer("pillar.keys", "[nope]"), "KeyError: Pillar key not found: nope");
        assert_eq!(answer("pillar.filter_by", "[{web: 1, db: 2}, role]"), "1");
        let shown = obfuscated(&yaml::load("{a: [1, x], b: {c: true}}").unwrap()).repr();
        assert_eq!(shown, "{'a': ['<int>', '<str>'], 'b': {'c': '<bool>'}}");
    }
}
