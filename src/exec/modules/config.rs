//! `config.*`: options, wherever they are set: configuration, grains, pillar.

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::fnmatch::Pattern;
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "config",
    doc: "Look options up in the configuration, the grains and the pillar.",
    functions: &[
        function::<BackupMode>("backup_mode").inline(),
        function::<DotVals>("dot_vals").inline(),
        function::<Get>("get").inline(),
        function::<Items>("items").inline(),
        function::<ManageMode>("manage_mode").inline(),
        function::<Merge>("merge").inline(),
        function::<Opt>("option").inline(),
        function::<ValidFileproto>("valid_fileproto").inline(),
    ],
};

/// Options that have a value even when nobody sets them.
const DEFAULTS: [(&str, &str); 3] =
    [("aliases.file", "/etc/aliases"), ("hosts.file", "/etc/hosts"), ("test.foo", "unconfigured")];

fn defaults() -> Map {
    Map::from_iter(DEFAULTS)
}

/// The master's configuration, where it puts it into the pillar (`pillar_opts`).
fn master(ctx: &Ctx) -> Map {
    ctx.pillar.at("master").and_then(Value::as_map).cloned().unwrap_or_default()
}

record! {
    /// Looks a value up in the minion's configuration, then its grains, its pillar, and the master's configuration.
    ///
    ///   salt '*' config.get pkg:apache default=httpd
    pub struct Get {
        /// The path of the value: keys, and indices of lists, with the delimiter between them.
        key: String,
        /// What to answer when nobody has it.
        default: Value = "",
        /// What stands between the steps of the path.
        delimiter: String = ":",
        /// Look it up in all of them put together: `recurse` merges maps, `overwrite` takes the first map whole.
        merge: Option<String> = (),
        /// Pass over the configuration.
        omit_opts: bool = false,
        /// Pass over the pillar.
        omit_pillar: bool = false,
        /// Pass over the master's configuration.
        omit_master: bool = false,
        /// Pass over the grains.
        omit_grains: bool = false,
    }
}

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.delimiter.is_empty() {
            return Err(Fault::invocation("the delimiter is empty"));
        }
        let merged = match self.merge.as_deref() {
            None => return Ok(self.first(ctx).into()),
            Some("overwrite") => self.merged(ctx, overwrite),
            Some("recurse") => self.merged(ctx, merge_into),
            Some(other) => return Err(Fault::invocation(format!("merge is recurse or overwrite, not '{other}'"))),
        };
        Ok(merged.traverse(&self.key, &self.delimiter).cloned().unwrap_or(self.default).into())
    }
}

impl Get {
    fn first(self, ctx: &Ctx) -> Value {
        let sources: [(bool, &dyn Fn() -> Map); 5] = [
            (self.omit_opts, &|| ctx.opts.clone()),
            (self.omit_grains, &|| ctx.grains.clone()),
            (self.omit_pillar, &|| ctx.pillar.clone()),
            (self.omit_master, &|| master(ctx)),
            (false, &defaults),
        ];
        let mut sources = sources.iter().filter(|(is_omitted, _)| !is_omitted);
        let found = sources.find_map(|(_, source)| Value::Map(source()).traverse(&self.key, &self.delimiter).cloned());
        found.unwrap_or(self.default)
    }

    fn merged(&self, ctx: &Ctx, put: fn(&mut Map, &Map)) -> Value {
        let mut all = defaults();
        for source in [&master(ctx), ctx.pillar, ctx.grains, ctx.opts] {
            put(&mut all, source);
        }
        Value::Map(all)
    }
}

fn overwrite(all: &mut Map, over: &Map) {
    all.extend(over.clone());
}

/// Puts `over` over `all`, map by map.
pub fn merge_into(all: &mut Map, over: &Map) {
    for (key, value) in over.iter() {
        match (all.at_value_mut(key), value) {
            (Some(Value::Map(inner)), Value::Map(over)) => merge_into(inner, over),
            _ => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
}

record! {
    /// Looks an option up by its whole name, in the order of config.get.
    ///
    ///   salt '*' config.option redis.host
    ///   salt '*' config.option 'hosts.*' wildcard=True
    pub struct Opt {
        /// The option's name, or with `wildcard` a pattern.
        value: String,
        /// What to answer when nobody has it.
        default: Value = (),
        /// Pass over the configuration.
        omit_opts: bool = false,
        /// Pass over the grains.
        omit_grains: bool = false,
        /// Pass over the pillar.
        omit_pillar: bool = false,
        /// Pass over the master's configuration.
        omit_master: bool = false,
        /// Look among the defaults alone.
        omit_all: bool = false,
        /// Answer with all options that fit the pattern.
        wildcard: bool = false,
    }
}

impl Run for Opt {
    fn run(self, ctx: &Ctx) -> Reply {
        let master = master(ctx);
        let sources = [
            (self.omit_opts, ctx.opts),
            (self.omit_grains, ctx.grains),
            (self.omit_pillar, ctx.pillar),
            (self.omit_master, &master),
        ];
        let sources: Vec<&Map> =
            sources.into_iter().filter(|(is_omitted, _)| !is_omitted && !self.omit_all).map(|(_, map)| map).collect();
        let defaults = defaults();
        let all = || sources.iter().copied().chain([&defaults]);
        if !self.wildcard {
            let found = all().find_map(|source| source.at(&self.value)).cloned();
            let default = if self.default.is_null() { "".into() } else { self.default };
            return Ok(found.unwrap_or(default).into());
        }
        let pattern = Pattern::new(&self.value);
        let mut found = Map::new();
        for source in all().rev() {
            let fitting = source.iter().filter(|(key, _)| key.as_str().is_some_and(|key| pattern.matches(key)));
            found.extend(fitting.map(|(key, value)| (key.clone(), value.clone())).collect());
        }
        let default = if self.default.is_null() { Map::new().into() } else { self.default };
        Ok(if found.is_empty() { default } else { found.into() }.into())
    }
}

record! {
    /// Looks an option up like config.option, and merges what configuration, master and pillar have of it.
    ///
    ///   salt '*' config.merge schedule
    pub struct Merge {
        /// The option's name.
        value: String,
        /// What to answer when nobody has it.
        default: Value = "",
        /// Pass over the configuration.
        omit_opts: bool = false,
        /// Pass over the master's configuration.
        omit_master: bool = false,
        /// Pass over the pillar.
        omit_pillar: bool = false,
    }
}

impl Run for Merge {
    fn run(self, ctx: &Ctx) -> Reply {
        let master = master(ctx);
        let mut found: Option<Value> = None;
        for (is_omitted, source) in
            [(self.omit_opts, ctx.opts), (self.omit_master, &master), (self.omit_pillar, ctx.pillar)]
        {
            let Some(value) = source.at(&self.value).filter(|_| !is_omitted) else {
                continue;
            };
            match (&mut found, value) {
                (None, value) => found = Some(value.clone()),
                (Some(Value::Map(have)), Value::Map(more)) => {
                    let mut all = more.clone();
                    all.extend(have.clone());
                    *have = all;
                }
                (Some(Value::List(have)), Value::List(more)) => have.extend(more.iter().cloned()),
                _ => {}
            }
            if matches!(found, Some(Value::Str(_))) {
                break;
            }
        }
        Ok(found.or_else(|| defaults().at(&self.value).cloned()).unwrap_or(self.default).into())
    }
}

record! {
    /// Shows the options whose names begin with a word and a dot.
    ///
    ///   salt '*' config.dot_vals mysql
    pub struct DotVals {
        /// The word.
        value: String,
    }
}

impl Run for DotVals {
    fn run(self, ctx: &Ctx) -> Reply {
        let start = format!("{}.", self.value);
        let mut found = Map::new();
        for source in [&master(ctx), ctx.opts] {
            let fitting = source.iter().filter(|(key, _)| key.as_str().is_some_and(|key| key.starts_with(&start)));
            found.extend(fitting.map(|(key, value)| (key.clone(), value.clone())).collect());
        }
        Ok(found.into())
    }
}

record! {
    /// Shows the whole configuration of the minion.
    ///
    ///   salt '*' config.items
    pub struct Items {}
}

impl Run for Items {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.opts.clone().into())
    }
}

record! {
    /// Shows how files are backed up: the argument, else the option `backup_mode`.
    ///
    ///   salt '*' config.backup_mode
    pub struct BackupMode {
        /// A mode that comes before the option.
        backup: String = "",
    }
}

impl Run for BackupMode {
    fn run(self, ctx: &Ctx) -> Reply {
        match self.backup.is_empty() {
            true => Ok(ctx.opt("backup_mode").cloned().unwrap_or("".into()).into()),
            false => Ok(self.backup.into()),
        }
    }
}

record! {
    /// Writes a file mode the way that file functions do: four digits, without quotes.
    ///
    ///   salt '*' config.manage_mode 644
    pub struct ManageMode {
        /// The mode.
        mode: Value,
    }
}

impl Run for ManageMode {
    fn run(self, _: &Ctx) -> Reply {
        if self.mode.is_null() {
            return Ok(().into());
        }
        let text = self.mode.to_text();
        let digits = text.trim_start_matches("0o").trim_matches(['"', '\'']).trim_start_matches('0');
        Ok(format!("{digits:0>4}").into())
    }
}

record! {
    /// Shows whether files can be fetched from such an address.
    ///
    ///   salt '*' config.valid_fileproto salt://path/to/file
    pub struct ValidFileproto {
        /// The address.
        uri: String,
    }
}

impl Run for ValidFileproto {
    fn run(self, _: &Ctx) -> Reply {
        let protocols = ["salt", "http", "https", "ftp", "s3", "swift", "file"];
        Ok(self.uri.split_once(':').is_some_and(|(protocol, _)| protocols.contains(&protocol)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::module::call;
    use halite_value::parse_json;
    use halite_value::record::Arguments;

    fn json(text: &str) -> Value {
        parse_json(text).unwrap()
    }

    fn map(text: &str) -> Map {
        json(text).as_map().unwrap().clone()
    }

    fn world() -> World {
        World {
            opts: map(r#"{"port": 1, "m.a": 1, "sched": {"x": 1}, "deep": {"o": 1}}"#),
            grains: map(r#"{"port": 2, "os": "X", "deep": {"g": 1}}"#),
            pillar: map(r#"{"port": 3, "app": {"name": "shop", "l": [{"k": "v"}]}, "sched": {"x": 2, "y": 3},
                "master": {"top": 9, "m.b": 2}, "deep": {"p": 1}}"#),
            ..World::new()
        }
    }

    fn value(fun: &str, arguments: Arguments) -> Value {
        call(&world().ctx(&NoMaster), fun, arguments).unwrap().value
    }

    #[test]
    fn the_first_that_has_it_answers() {
        let get = |key: &str| value("config.get", Arguments::positional([key]));
        assert_eq!((get("port"), get("os"), get("app:name")), (1.into(), "X".into(), "shop".into()));
        assert_eq!((get("app:l:0:k"), get("app:l:k"), get("top")), ("v".into(), "v".into(), 9.into()));
        assert_eq!((get("hosts.file"), get("none")), ("/etc/hosts".into(), "".into()));
        let omitting = Arguments::positional(["port"]).with("omit_opts", true).with("omit_grains", true);
        assert_eq!(value("config.get", omitting), 3.into());
        assert_eq!(value("config.get", Arguments::positional(["no", "default"])), "default".into());
        let merged = |how: &str| value("config.get", Arguments::positional(["deep"]).with("merge", how));
        assert_eq!(merged("recurse"), json(r#"{"p": 1, "g": 1, "o": 1}"#));
        assert_eq!(merged("overwrite"), json(r#"{"o": 1}"#));
        assert!(call(&world().ctx(&NoMaster), "config.get", Arguments::positional(["a"]).with("merge", "no")).is_err());
    }

    #[test]
    fn options_are_looked_up_by_their_whole_name() {
        assert_eq!(value("config.option", Arguments::positional(["app:name"])), "".into());
        let wild = Arguments::positional(["m.*"]).with("wildcard", true);
        assert_eq!(value("config.option", wild), json(r#"{"m.b": 2, "m.a": 1}"#));
        assert_eq!(value("config.dot_vals", Arguments::positional(["m"])), json(r#"{"m.b": 2, "m.a": 1}"#));
        assert_eq!(value("config.merge", Arguments::positional(["sched"])), json(r#"{"x": 1, "y": 3}"#));
        let all = Arguments::positional(["port"]).with("omit_all", true).with("default", "d");
        assert_eq!(value("config.option", all), "d".into());
    }

    #[test]
    fn modes_and_addresses_are_judged() {
        let mode = |mode: Value| value("config.manage_mode", Arguments::positional([mode])).to_text();
        assert_eq!(
            (mode(644.into()), mode("0755".into()), mode("4755".into())),
            ("0644".into(), "0755".into(), "4755".into())
        );
        assert_eq!(value("config.valid_fileproto", Arguments::positional(["salt://x"])), true.into());
        assert_eq!(value("config.valid_fileproto", Arguments::positional(["gopher://x"])), false.into());
    }
}
