//! The renderer `text`: the text as it is, without the line that chose the pipe.

use super::pipe::{RenderError, Rendered, Renderer, Rendering};

pub const RENDERER: Renderer =
    Renderer { name: "text", doc: "The text as it is, without the line that chose the pipe.", render };

fn render(input: Rendered, _: &Rendering) -> Result<Rendered, RenderError> {
    let text = input.text(RENDERER.name)?;
    Ok(Rendered::Text(match text.split_once('\n') {
        Some((line, rest)) if line.starts_with("#!") => rest.to_owned(),
        _ => text,
    }))
}
