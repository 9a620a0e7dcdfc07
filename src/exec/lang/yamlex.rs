//! The renderer `yamlex`: YAML in which a key that stands twice is no error, and `!aggregate` joins what it holds.

use super::pipe::{RenderError, Rendered, Renderer, Rendering};
use super::yaml::{self, YamlError};
use halite_value::Value;

pub const RENDERER: Renderer = Renderer {
    name: "yamlex",
    doc: "YAML in which a key may stand twice and `!aggregate` joins what it holds.",
    render,
};

fn render(input: Rendered, _: &Rendering) -> Result<Rendered, RenderError> {
    let text = input.text(RENDERER.name)?;
    load(&text).map(Rendered::Data).map_err(|error| RenderError::Yaml(Box::new(error)))
}

/// Reads a document; one that is not there is null.
pub fn load(text: &str) -> Result<Value, YamlError> {
    yaml::load_aggregated(text)
}
