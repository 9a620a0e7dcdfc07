//! The renderer `json`.

use super::pipe::{RenderError, Rendered, Renderer, Rendering};
use halite_value::parse_json;

pub const RENDERER: Renderer = Renderer { name: "json", doc: "JSON as data.", render };

fn render(input: Rendered, _: &Rendering) -> Result<Rendered, RenderError> {
    let text = input.text(RENDERER.name)?;
    // A line that chooses the pipe is no JSON.
    let body = if text.starts_with("#!") { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &text };
    parse_json(body).map(Rendered::Data).map_err(|problem| RenderError::Refused(RENDERER.name, problem))
}
