//! `stack`: YAML files, one on top of the other. Configuration files list them; both are templates that see what is there
//! so far as `stack`, and say with the key `__` how they are merged.

use super::{Source, Wanted, minion_id};
use crate::fileserver::client::FileClient;
use crate::templates::Templates;
use halite_core::host::own;
use halite_core::{Ctx, Fault};
use halite_lang::jinja::{Environment, Loaded, Loader, Options, UndefinedPolicy};
use halite_lang::target::fnmatch::fnmatch;
use halite_lang::yaml;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

pub const SOURCE: Source = Source { name: "stack", run, directories };

fn run(ctx: &Ctx, wanted: &Wanted) -> Result<Map, Fault> {
    let mut stack = Map::new();
    for file in files(ctx, wanted)? {
        let file = Path::new(&file);
        if !own::is_file(file) {
            log::info!("Ignoring pillar stack cfg \"{}\": file does not exist", file.display());
            continue;
        }
        stack = Configuration::new(ctx, wanted, file).apply(stack)?;
    }
    Ok(stack)
}

/// The directories of all configuration files that are named somewhere in the settings: what they list lies below.
fn directories(_: &Map, settings: &Value) -> Vec<PathBuf> {
    match settings {
        Value::Str(file) => above(Path::new(file.split("__env__").next().unwrap_or(file))).into_iter().collect(),
        Value::List(items) => items.iter().flat_map(|item| directories(&Map::new(), item)).collect(),
        Value::Map(map) => map.values().flat_map(|value| directories(&Map::new(), value)).collect(),
        _ => Vec::new(),
    }
}

fn above(file: &Path) -> Option<PathBuf> {
    file.parent().map(Path::to_owned).filter(|directory| directory.is_absolute())
}

/// The configuration files: those that are listed, then those that a value of the minion chooses.
fn files(ctx: &Ctx, wanted: &Wanted) -> Result<Vec<String>, Fault> {
    let saltenv = wanted.asked.pillarenv.as_deref().or(wanted.asked.saltenv.as_deref()).unwrap_or("base");
    let by_value = match wanted.settings {
        Value::Str(file) => return Ok(vec![file.to_string()]),
        Value::List(files) => return Ok(files.iter().map(Value::to_text).collect()),
        Value::Map(by_value) => by_value,
        _ => return Err(Fault::invocation("it wants a file, a list of files, or a map of values that choose files")),
    };
    let mut all = Vec::new();
    for (matcher, choices) in by_value {
        let matcher = matcher.to_text();
        let (kind, path) = matcher.split_once(':').unwrap_or((&matcher, ""));
        let data = match kind {
            "pillar" => wanted.pillar,
            "grains" => ctx.grains,
            "opts" => ctx.opts,
            other => {
                let message = format!("Unknown traverse option \"{other}\", should be one of pillar, grains, opts");
                return Err(Fault::invocation(message));
            }
        };
        let Some(value) = Value::Map(data.clone()).traverse(path, ":").cloned() else { continue };
        let choices = choices.as_map().into_iter().flat_map(Map::iter);
        for (_, files) in choices
            .filter(|(key, _)| **key == value || (key.as_str() == Some("__env__") && value.as_str() == Some(saltenv)))
        {
            let single = [files.clone()];
            all.extend(
                files.as_list().unwrap_or(&single).iter().map(|file| file.to_text().replace("__env__", saltenv)),
            );
        }
    }
    Ok(all)
}

/// A configuration file, and the templates beside it.
struct Configuration<'c> {
    ctx: &'c Ctx<'c>,
    directory: PathBuf,
    file: PathBuf,
    context: Map,
}

impl<'c> Configuration<'c> {
    fn new(ctx: &'c Ctx<'c>, wanted: &Wanted, file: &Path) -> Configuration<'c> {
        let mut context = Map::from_iter([
            ("__opts__", Value::Map(ctx.opts.clone())),
            ("__grains__", ctx.grains.clone().into()),
            ("minion_id", minion_id(ctx).into()),
            ("pillar", wanted.pillar.clone().into()),
        ]);
        context.insert("__stack__", Map::from_iter([("cfg_path", file.to_string_lossy().as_ref())]));
        context.insert("pillarenv", wanted.asked.pillarenv.clone());
        let directory = file.parent().map(Path::to_owned).unwrap_or_default();
        Configuration { ctx, directory, file: file.to_owned(), context }
    }

    /// Puts what the file lists on top of the stack.
    fn apply(&self, mut stack: Map) -> Result<Map, Fault> {
        let text = self.rendered(&self.file, &stack, None)?;
        for item in listed(&text) {
            let paths = self.matching(&item);
            if paths.is_empty() {
                log::info!(
                    "Ignoring pillar stack template \"{item}\": can't find from root dir \"{}\"",
                    self.directory.display()
                );
            }
            for path in paths {
                let text = self.rendered(&path, &stack, Some(&path))?;
                let data = yaml::load(&text).map_err(|error| {
                    let place = path.display();
                    Fault::execution(format!("Stack pillar yaml parsing error in {place}: line {}", error.line))
                })?;
                if let Value::Map(data) = data {
                    stack = merged(stack, data)?;
                }
            }
        }
        Ok(stack)
    }

    fn rendered(&self, path: &Path, stack: &Map, yml: Option<&Path>) -> Result<String, Fault> {
        let failed = |why: String| {
            let place = path.display();
            Fault::execution(format!("Stack pillar template render error in {place}:\n\"{why}\""))
        };
        let text = own::read_text(path).map_err(|error| failed(error.to_string()))?;
        let mut context = self.context.clone();
        context.insert("stack", stack.clone());
        if let Some(yml) = yml {
            context.insert("ymlpath", yml.to_string_lossy().as_ref());
        }
        let client = FileClient::new(self.ctx);
        let functions = Templates::of(self.ctx, &client, "base");
        let options = Options { undefined: UndefinedPolicy::Lenient, ..Options::default() };
        let beside = Beside(&self.directory);
        let environment = Environment::new(options, &beside, &functions);
        environment.render(&path.to_string_lossy(), &text, &context).map_err(|error| failed(error.to_string()))
    }

    /// The files that a name or a pattern means, sorted.
    fn matching(&self, item: &str) -> Vec<PathBuf> {
        let item = item.trim();
        let mut found = vec![if item.starts_with('/') { PathBuf::from("/") } else { self.directory.clone() }];
        for step in item.split('/').filter(|step| !step.is_empty()) {
            found = found.iter().flat_map(|directory| below(directory, step)).collect();
        }
        found.retain(|path| own::is_file(path));
        found.sort();
        found
    }
}

/// The entries of a directory that a step of a pattern means; hidden ones only where it begins with a dot.
fn below(directory: &Path, step: &str) -> Vec<PathBuf> {
    if !step.contains(['*', '?', '[']) {
        return vec![directory.join(step)];
    }
    let names = own::entries(directory).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| fnmatch(name, step) && (step.starts_with('.') || !name.starts_with('.')))
        .map(|name| directory.join(name))
        .collect()
}

/// A configuration file is a YAML list, else a line each.
fn listed(text: &str) -> Vec<String> {
    match yaml::load(text) {
        Ok(Value::List(items)) => items.iter().map(Value::to_text).collect(),
        _ => text.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect(),
    }
}

/// Templates of the directory of the configuration file.
struct Beside<'b>(&'b Path);

impl Loader for Beside<'_> {
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault> {
        let path = self.0.join(name);
        match own::read_text(&path) {
            Ok(text) => Ok(Some(Loaded { text, path: path.to_string_lossy().into_owned() })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Fault::execution(format!("{}: {error}", path.display()))),
        }
    }
}

/// How data goes onto the stack, named by its key `__`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Last,
    First,
    Overwrite,
    Remove,
}

impl Way {
    fn named(name: Option<&Value>) -> Result<Way, Fault> {
        match name.map(Value::to_text).as_deref() {
            None | Some("merge-last") => Ok(Way::Last),
            Some("merge-first") => Ok(Way::First),
            Some("overwrite") => Ok(Way::Overwrite),
            Some("remove") => Ok(Way::Remove),
            Some(other) => Err(Fault::execution(format!(
                "Unknown strategy \"{other}\", should be one of overwrite, merge-first, merge-last, remove"
            ))),
        }
    }
}

fn merged(mut stack: Map, mut data: Map) -> Result<Map, Fault> {
    let way = Way::named(data.remove("__").as_ref())?;
    if way == Way::Overwrite {
        return Ok(data.into_iter().map(|(key, value)| (key, clean(value))).collect());
    }
    for (key, value) in data {
        if way == Way::Remove {
            let name = key;
            stack.retain(|key, _| *key != name);
            continue;
        }
        let Some(place) = stack.at_value_mut(&key) else {
            stack.insert(key, clean(value));
            continue;
        };
        let there = std::mem::take(place);
        // The other way round, what is there goes on top of what is new.
        let (below, above) = if way == Way::First { (clean(value), there) } else { (there, value) };
        *place = match (below, above) {
            (Value::Map(below), Value::Map(above)) => merged(below, above)?.into(),
            (Value::List(below), Value::List(above)) => Value::List(joined(below, above)?),
            (_, above) => clean(above),
        };
    }
    Ok(stack)
}

fn joined(below: Vec<Value>, mut above: Vec<Value>) -> Result<Vec<Value>, Fault> {
    let way = Way::named(above.first().and_then(|first| first.as_map()?.at("__")))?;
    if above.first().is_some_and(is_mark) {
        above.remove(0);
    }
    Ok(match way {
        Way::Overwrite => above,
        Way::Remove => below.into_iter().filter(|item| !above.contains(item)).collect(),
        Way::First => above.into_iter().chain(below).collect(),
        Way::Last => below.into_iter().chain(above).collect(),
    })
}

fn is_mark(item: &Value) -> bool {
    item.as_map().is_some_and(|map| map.contains("__"))
}

/// Data without what says how it is merged.
fn clean(value: Value) -> Value {
    match value {
        Value::Map(map) => {
            let entries = map.into_iter().filter(|(key, _)| key.as_str() != Some("__"));
            Value::Map(entries.map(|(key, value)| (key, clean(value))).collect())
        }
        Value::List(mut items) if items.first().is_some_and(is_mark) => {
            items.remove(0);
            Value::List(items)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_strategy_has_its_way() {
        let map = |text: &str| yaml::load(text).unwrap().as_map().unwrap().clone();
        let stack = "{a: {x: 1, l: [1, 2]}, b: 1}";
        for (data, expected) in [
            ("{a: {y: 2, l: [3]}, b: 2}", "{a: {x: 1, l: [1, 2, 3], y: 2}, b: 2}"),
            ("{__: merge-first, a: {x: 5, l: [3]}, b: 2, c: 3}", "{a: {x: 1, l: [3, 1, 2]}, b: 1, c: 3}"),
            ("{__: overwrite, c: {__: remove, d: 4}}", "{c: {d: 4}}"),
            ("{__: remove, b: ''}", "{a: {x: 1, l: [1, 2]}}"),
            ("{a: {__: overwrite, z: 1}}", "{a: {z: 1}, b: 1}"),
            ("{a: {l: [{__: remove}, 1]}}", "{a: {x: 1, l: [2]}, b: 1}"),
            ("{a: {l: [{__: overwrite}, 9]}}", "{a: {x: 1, l: [9]}, b: 1}"),
            ("{a: [1], b: {x: 1}}", "{a: [1], b: {x: 1}}"),
        ] {
            assert_eq!(merged(map(stack), map(data)).unwrap(), map(expected), "{data}");
        }
        assert!(merged(map(stack), map("{__: nonsense}")).is_err());
    }
}
