//! SLS files: the tree that they come from, and how one becomes data. States and pillar have a tree each.

use super::fileserver::client::FileClient;
use super::keyring::Keyring;
use super::templates::{Settings, Templates};
use halite_core::files::{Files, Listing};
use halite_core::host::own;
use halite_core::{Ctx, Fault};
use halite_lang::jinja::excerpt;
use halite_lang::pipe;
use halite_lang::pipe::{RenderError, Rendered, Rendering};
use halite_lang::secrets::masked;
use halite_lang::target::fnmatch::Pattern;
use halite_lang::yaml::{Stage, YamlError};
use halite_value::{Map, Value};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::rc::Rc;

/// The SLS files of all environments.
pub struct Tree<'a> {
    client: FileClient<'a>,
    names: RefCell<HashMap<String, Rc<Names>>>,
}

/// The names of an environment's SLS files, sorted.
#[derive(Debug, Default)]
pub struct Names {
    sorted: Vec<String>,
    known: HashSet<String>,
}

/// An SLS file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it can be read.
    pub path: String,
    /// It is the `init.sls` of a directory.
    pub is_init: bool,
}

impl<'a> Tree<'a> {
    /// The tree of states: the files of the configuration or of the master.
    pub fn of_states(ctx: &'a Ctx<'a>) -> Tree<'a> {
        Tree { client: FileClient::new(ctx), names: RefCell::default() }
    }

    pub fn of_files(ctx: &'a Ctx<'a>, files: Box<dyn Files + 'a>) -> Tree<'a> {
        Tree { client: FileClient::of(ctx, files), names: RefCell::default() }
    }

    /// The environments that have files.
    pub fn environments(&self) -> Result<Vec<String>, Fault> {
        self.client.files()?.environments()
    }

    /// What an environment has. Read once.
    pub fn names(&self, saltenv: &str) -> Result<Rc<Names>, Fault> {
        if let Some(names) = self.names.borrow().get(saltenv) {
            return Ok(names.clone());
        }
        let files = self.client.files()?.list(Listing::Files, saltenv, "")?;
        let names = Rc::new(Names::of(files.iter().map(|(path, _)| path.as_str())));
        self.names.borrow_mut().insert(saltenv.to_owned(), names.clone());
        Ok(names)
    }

    /// The SLS files that a name in a top file, an include or a call means: those that it fits as a pattern, else itself,
    /// whether it is there or not. The files of an environment are listed for a pattern only.
    pub fn meant(&self, name: &str, saltenv: &str) -> Vec<String> {
        let found = match is_pattern(name) {
            true => self.names(saltenv).map(|names| names.matching(name)).unwrap_or_default(),
            false => Vec::new(),
        };
        if found.is_empty() { vec![name.to_owned()] } else { found }
    }

    /// The file of an SLS: `a.b` is `a/b.sls`, else `a/b/init.sls`.
    pub fn find(&self, sls: &str, saltenv: &str) -> Result<Option<Found>, Fault> {
        let path = sls.replace('.', "/");
        for (path, is_init) in [(format!("{path}.sls"), false), (format!("{path}/init.sls"), true)] {
            if let Some(path) = self.client.readable(&path, saltenv)? {
                return Ok(Some(Found { path, is_init }));
            }
        }
        Ok(None)
    }

    /// The file with this path, such as a top file.
    pub fn file(&self, path: &str, saltenv: &str) -> Result<Option<String>, Fault> {
        self.client.readable(path, saltenv)
    }

    /// Renders a text that stands in no file, to data.
    pub fn render_text(&self, ctx: &Ctx, name: &str, text: &str, saltenv: &str) -> Result<Value, String> {
        let source = Source { path: name, text, sls: "", saltenv, pipe: None };
        render_source(ctx, &self.client, &source, Map::new()).map(data_of).map_err(|refused| refused.to_string())
    }

    /// Renders a file of the tree, or any other, to data; an empty one is an empty map. The error is what to tell whoever
    /// wrote it.
    pub fn render(&self, ctx: &Ctx, path: &str, sls: &str, saltenv: &str, more: Map) -> Result<Value, String> {
        let bytes = own::read(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line =
                error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            format!("{path} is not text in UTF-8; line {}", line + 1)
        })?;
        let source = Source { path, text: &text, sls, saltenv, pipe: None };
        let rendered = render_source(ctx, &self.client, &source, more);
        rendered.map(data_of).map_err(|refused| refused.as_salt_tells_it())
    }
}

/// What was rendered, as data: an empty text is an empty map.
pub fn data_of(rendered: Rendered) -> Value {
    match rendered {
        Rendered::Data(Value::Null) => Map::new().into(),
        Rendered::Data(value) => value,
        Rendered::Text(text) => Value::from(text),
    }
}

/// A text that is to be rendered.
pub struct Source<'s> {
    /// Where it was read from: what errors name.
    pub path: &'s str,
    pub text: &'s str,
    /// Its name as an SLS; empty where it has none.
    pub sls: &'s str,
    pub saltenv: &'s str,
    /// The pipe of a text that names none, in place of that of the option `renderer`.
    pub pipe: Option<&'s str>,
}

/// Renders a text by the pipe that it names, else by its own or the one of the option `renderer`. An empty text is an
/// empty map.
pub fn render_source(ctx: &Ctx, client: &FileClient, source: &Source, more: Map) -> Result<Rendered, Refused> {
    let Source { path, text, sls, saltenv, .. } = *source;
    if text.trim().is_empty() {
        return Ok(Rendered::Data(Map::new().into()));
    }
    let own = || source.pipe.unwrap_or_else(|| ctx.opts.str_at("renderer").unwrap_or("jinja|yaml"));
    let pipe = pipe::wanted(text).unwrap_or_else(own);
    permitted(ctx, pipe)?;
    let templates = Templates::of(ctx, client, saltenv);
    let environment = templates.environment(Settings::Sls);
    let mut context = templates.context();
    context.extend(places(path, sls));
    context.extend(more);
    let keys = Keyring::of(ctx);
    let rendering = Rendering { name: path, environment: &environment, keys: &keys, context };
    let rendered = pipe::render(text, pipe, &rendering).map_err(|error| described(&error, text, ctx.pillar, path))?;
    match rendered {
        Rendered::Data(value) => checked(value).map(Rendered::Data).map_err(Refused::from),
        text => Ok(text),
    }
}

/// The renderers that the options `renderer_blacklist` and `renderer_whitelist` leave.
fn permitted(ctx: &Ctx, pipe: &str) -> Result<(), String> {
    let listed = |option: &str| ctx.opts.at(option).and_then(Value::as_list).unwrap_or_default();
    let (black, white) = (listed("renderer_blacklist"), listed("renderer_whitelist"));
    for step in pipe.split('|') {
        let name = Value::from(step.split_whitespace().next().unwrap_or_default());
        if black.contains(&name) || (!white.is_empty() && !white.contains(&name)) {
            return Err(format!("The renderer \"{name}\" is disallowed by the configuration"));
        }
    }
    Ok(())
}

/// Why a text could not be rendered, for whoever wrote it. Secrets of the pillar are masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    told: String,
    /// File, line, column and the way there, where what is told does not say all of it.
    place: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    text: String,
    /// It was reached by way of other templates, which Salt names none of.
    by_way: bool,
}

impl Refused {
    /// In Salt's words, which programs compare. Line and excerpt are in them; the column is for the log, but for what was
    /// reached by way of other templates.
    pub fn as_salt_tells_it(self) -> String {
        match &self.place {
            Some(place) if !place.by_way => {
                log::error!("{}", place.text);
                self.told
            }
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, "\n{}", place.text))
    }
}

impl From<String> for Refused {
    fn from(told: String) -> Refused {
        Refused { told, place: None }
    }
}

/// What Salt says of an error, and where it stood, which Salt leaves out for some.
fn described(error: &RenderError, text: &str, pillar: &Map, path: &str) -> Refused {
    let told = match error {
        // Its message is masked, and its excerpt is of what the author wrote.
        RenderError::Template(error) => {
            let place = Place { text: error.place(), by_way: !error.chain.is_empty() };
            return Refused { told: error.to_string(), place: Some(place) };
        }
        RenderError::Yaml(error) if matches!(error.stage, Stage::Scanner | Stage::Reader) => {
            let YamlError { message, line, .. } = &**error;
            format!("{message}; line {line}\n\n{}", excerpt(text, u32::try_from(*line).unwrap_or(0)))
        }
        error => error.to_string(),
    };
    masked(told, pillar, &[text, path]).into()
}

/// A map as a key is a template that was not rendered: `{{ x }}` is YAML too.
fn checked(value: Value) -> Result<Value, String> {
    fn has_braces(value: &Value) -> bool {
        match value {
            Value::Map(map) => map.iter().any(|(key, value)| matches!(key, Value::Map(_)) || has_braces(value)),
            Value::List(items) => items.iter().any(has_braces),
            _ => false,
        }
    }
    match has_braces(&value) {
        true => Err("Invalid YAML, possible double curly-brace".to_owned()),
        false => Ok(value),
    }
}

/// What a template is told of where it stands: `sls`, `slspath`, `tplfile`, `tpldir`, ...
fn places(path: &str, sls: &str) -> Map {
    let mut places = Map::from_iter([("sls", Value::from(sls)), ("tplpath", path.into())]);
    let steps = sls.replace('.', "/");
    let steps = steps.trim_end_matches('/');
    let name =
        if sls.is_empty() { path.rsplit('/').next().unwrap_or(path).to_owned() } else { name_in_tree(path, steps) };
    let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
    let root = name.split('/').next().filter(|_| !directory.is_empty()).unwrap_or(".");
    places.insert("tplfile", name.as_str());
    places.insert("tpldir", if directory.is_empty() { "." } else { directory });
    places.insert("tpldot", directory.replace('/', "."));
    places.insert("tplroot", root);
    places.insert("slspath", directory);
    places.insert("slsdotpath", directory.replace('/', "."));
    places.insert("slscolonpath", directory.replace('/', ":"));
    places.insert("sls_path", directory.replace('/', "_"));
    places
}

fn name_in_tree(path: &str, steps: &str) -> String {
    match path.ends_with(&format!("{steps}/init.sls")) {
        true => format!("{steps}/init.sls"),
        false => format!("{steps}.sls"),
    }
}

impl Names {
    fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Names {
        let sls = |path: &str| {
            let stem = path.strip_suffix(".sls")?;
            Some(stem.strip_suffix("/init").unwrap_or(stem).replace('/', "."))
        };
        let mut sorted: Vec<String> = paths.filter_map(sls).collect();
        sorted.sort();
        sorted.dedup();
        let known = sorted.iter().cloned().collect();
        Names { sorted, known }
    }

    pub fn has(&self, sls: &str) -> bool {
        self.known.contains(sls)
    }

    pub fn all(&self) -> &[String] {
        &self.sorted
    }

    /// Those that a name or a pattern means.
    pub fn matching(&self, pattern: &str) -> Vec<String> {
        if !is_pattern(pattern) {
            return if self.has(pattern) { vec![pattern.to_owned()] } else { Vec::new() };
        }
        let pattern = Pattern::new(pattern);
        self.sorted.iter().filter(|sls| pattern.matches(sls)).cloned().collect()
    }
}

/// Whether a text may match others than itself.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_or_a_directory_with_init() {
        let names = Names::of(["top.sls", "a/init.sls", "a/b.sls", "init.sls", "x.txt", "a.sls"].into_iter());
        assert_eq!(names.all(), ["a", "a.b", "init", "top"]);
        assert_eq!(names.matching("a*"), ["a", "a.b"]);
        assert_eq!(names.matching("a.b"), ["a.b"]);
        assert!(names.matching("b").is_empty());
    }

    #[test]
    fn a_template_knows_where_it_stands() {
        let seen = |path: &str, sls: &str| {
            let places = places(path, sls);
            ["tplfile", "tpldir", "tpldot", "tplroot", "slspath", "slscolonpath", "sls_path"]
                .map(|name| places.str_at(name).unwrap_or_default().to_owned())
        };
        assert_eq!(seen("/srv/a/b/c.sls", "a.b.c"), ["a/b/c.sls", "a/b", "a.b", "a", "a/b", "a:b", "a_b"]);
        assert_eq!(seen("/srv/a/b/init.sls", "a.b"), ["a/b/init.sls", "a/b", "a.b", "a", "a/b", "a:b", "a_b"]);
        assert_eq!(seen("/srv/top.sls", "top"), ["top.sls", ".", "", ".", "", "", ""]);
    }
}
