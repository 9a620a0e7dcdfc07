//! Renderer pipes: `#!jinja|yaml` in a file's first line, or the option `renderer`, says what makes data of its text.
//!
//! Each renderer takes what the one before it gave. A new one is a file with a `RENDERER` and a line in [`RENDERERS`].

use super::gpg::{self, Decrypt};
use super::jinja::{self, Environment, TemplateError};
use super::yaml::{self, YamlError};
use super::{json, text, toml, yamlex};
use halite_value::{Map, Value};
use std::fmt;

/// All renderers there are.
const RENDERERS: &[Renderer] =
    &[jinja::RENDERER, yaml::RENDERER, json::RENDERER, yamlex::RENDERER, toml::RENDERER, text::RENDERER, gpg::RENDERER];

/// Pipes that had a name of their own once.
const OLD_NAMES: &[(&str, &str)] =
    &[("yaml_jinja", "jinja|yaml"), ("json_jinja", "jinja|json"), ("yamlex_jinja", "jinja|yamlex")];

/// One step of a pipe.
pub struct Renderer {
    pub name: &'static str,
    /// What it makes of what.
    pub doc: &'static str,
    pub render: fn(Rendered, &Rendering) -> Result<Rendered, RenderError>,
}

/// The names of all renderers.
pub fn names() -> impl Iterator<Item = &'static str> {
    RENDERERS.iter().map(|renderer| renderer.name)
}

/// What the renderer of a name does.
pub fn doc(name: &str) -> Option<&'static str> {
    RENDERERS.iter().find(|renderer| renderer.name == name).map(|renderer| renderer.doc)
}

/// What goes from one renderer to the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendered {
    Text(String),
    Data(Value),
}

/// What renderers are given besides the text.
pub struct Rendering<'r> {
    /// The file's name, for errors.
    pub name: &'r str,
    pub environment: &'r Environment<'r>,
    /// Who can decrypt.
    pub keys: &'r dyn Decrypt,
    /// The variables of templates.
    pub context: Map,
}

/// Why a text could not be rendered. The fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum RenderError {
    Template(Box<TemplateError>),
    Yaml(Box<YamlError>),
    /// What a renderer of this name says is wrong, and where.
    Refused(&'static str, String),
    /// There is no renderer of this name.
    Unknown(String),
    /// A renderer that takes text came behind one that gives data.
    NoText(&'static str),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RenderError::Template(error) => write!(f, "{error}"),
            RenderError::Yaml(error) => write!(f, "{error}"),
            RenderError::Refused(_, message) => f.write_str(message),
            RenderError::Unknown(name) => {
                let known: Vec<&str> = RENDERERS.iter().map(|renderer| renderer.name).collect();
                write!(f, "The renderer '{name}' is not available; there are {}", known.join(", "))
            }
            RenderError::NoText(name) => {
                write!(f, "The renderer '{name}' takes text, and the one before it gives data")
            }
        }
    }
}

impl std::error::Error for RenderError {}

impl Rendered {
    /// The text, for renderers that take no other; `renderer` is who asks.
    pub fn text(self, renderer: &'static str) -> Result<String, RenderError> {
        match self {
            Rendered::Text(text) => Ok(text),
            Rendered::Data(_) => Err(RenderError::NoText(renderer)),
        }
    }
}

/// Renders a text by the pipe in its first line, else by `default` (`jinja|yaml`).
pub fn render(text: &str, default: &str, rendering: &Rendering) -> Result<Rendered, RenderError> {
    let steps = steps(wanted(text).unwrap_or(default))?;
    steps.into_iter().try_fold(Rendered::Text(text.to_owned()), |input, step| (step.render)(input, rendering))
}

/// The pipe that a text asks for: its first line behind `#!`, unless it names a program.
pub fn wanted(text: &str) -> Option<&str> {
    let line = text.lines().next()?.strip_prefix("#!")?.trim();
    (!line.is_empty() && !line.starts_with('/')).then_some(line)
}

fn steps(pipe: &str) -> Result<Vec<&'static Renderer>, RenderError> {
    let pipe = OLD_NAMES.iter().find(|(old, _)| *old == pipe).map_or(pipe, |(_, pipe)| pipe);
    let step = |part: &str| {
        // Words behind the name are arguments, of which these renderers take none.
        let name = part.split_whitespace().next().unwrap_or("");
        let known = RENDERERS.iter().find(|renderer| renderer.name == name);
        known.ok_or_else(|| RenderError::Unknown(name.to_owned()))
    };
    pipe.split('|').map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::super::gpg::NoKeys;
    use super::super::jinja::{NoFunctions, NoTemplates, Options};
    use super::*;

    fn rendered(text: &str) -> Result<Rendered, String> {
        let environment = Environment::new(Options::default(), &NoTemplates, &NoFunctions);
        let context = Map::from_iter([("n", 2)]);
        let rendering = Rendering { name: "t.sls", environment: &environment, keys: &NoKeys, context };
        render(text, "jinja|yaml", &rendering).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_line_chooses_the_pipe() {
        let data = |key: &str, value: i64| Ok(Rendered::Data(Map::from_iter([(key, value)]).into()));
        assert_eq!(rendered("a: {{ n }}\n"), data("a", 2));
        assert_eq!(rendered("#!yaml\na: 1\n"), data("a", 1));
        assert_eq!(rendered("#!jinja|json\n{\"a\": {{ n }}}"), data("a", 2));
        assert_eq!(rendered("#!/bin/sh\na: {{ n }}"), data("a", 2));
        assert_eq!(rendered("#!toml\na = 1\n"), data("a", 1));
        assert_eq!(rendered("#!jinja|yamlex\na: {{ n }}\na: {{ n + 1 }}\n"), data("a", 3));
        assert_eq!(rendered("#!yaml_jinja\na: {{ n }}\n"), data("a", 2));
        assert_eq!(rendered("#!yaml|gpg\na: 1\n"), data("a", 1));
        assert_eq!(rendered("#!text\n{{ n }}\n"), Ok(Rendered::Text("{{ n }}\n".to_owned())));
    }

    #[test]
    fn what_cannot_be_is_told() {
        let unknown = "The renderer 'nope' is not available; there are jinja, yaml, json, yamlex, toml, text, gpg";
        assert_eq!(rendered("#!jinja|nope\n"), Err(unknown.to_owned()));
        let order = "The renderer 'jinja' takes text, and the one before it gives data";
        assert_eq!(rendered("#!yaml|jinja\na: 1"), Err(order.to_owned()));
        assert!(rendered("a: {{ nope }}").unwrap_err().starts_with("Jinja variable 'nope' is undefined; line 1"));
    }
}
