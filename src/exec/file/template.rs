//! Contents that a template makes.

use super::content::{Body, Part};
use super::{Complaint, refused};
use halite_core::{Ctx, Fault};
use halite_node::templates;
use halite_value::Map;

/// The longest text that is worked on, which has to be in memory with what is made of it: a template, a patch, a table.
const LONGEST: u64 = 16 << 20;

/// A template engine with its variables.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// Nothing: the content is taken as it stands.
    pub engine: Option<String>,
    /// All variables, those of the caller last.
    pub variables: Map,
}

impl Template {
    /// An engine without a name is none.
    pub fn new(engine: &Option<String>, defaults: &Map, context: &Map) -> Template {
        let mut variables = defaults.clone();
        variables.extend(context.clone());
        Template { engine: engine.clone().filter(|engine| !engine.is_empty()), variables }
    }

    /// The content, run through the engine where one is named. `source` is what errors speak of.
    pub fn apply(&self, ctx: &Ctx, source: &str, saltenv: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Complaint> {
        let Some(engine) = &self.engine else { return Ok(bytes) };
        if !templates::ENGINES.contains(&engine.as_str()) {
            return Err(format!("Specified template format {engine} is not supported"));
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("{source} is not text in UTF-8"))?;
        let rendered = templates::render(ctx, source, &text, saltenv, self.variables.clone());
        rendered.map(String::into_bytes).map_err(|fault| fault.to_string())
    }

    /// All of a content, run through the engine where one is named.
    pub fn text(&self, ctx: &Ctx, source: &str, saltenv: &str, body: Body) -> Result<Vec<u8>, Fault> {
        let bytes = match body {
            Body::Away => Vec::new(),
            Body::Bytes(bytes) => bytes,
            Body::At(path) => {
                let whole = Part::At(&path).whole(ctx.host, LONGEST).map_err(|error| refused(&path, &error))?;
                match whole {
                    Some(bytes) => bytes,
                    None => return Err(Fault::comment(format!("{source} is too long: more than {LONGEST} bytes"))),
                }
            }
        };
        self.apply(ctx, source, saltenv, bytes).map_err(Fault::comment)
    }

    /// The same of a content wherever it is; without an engine it stays there.
    pub fn made(&self, ctx: &Ctx, source: &str, saltenv: &str, body: Body) -> Result<Body, Fault> {
        if self.engine.is_none() || body == Body::Away {
            return Ok(body);
        }
        self.text(ctx, source, saltenv, body).map(Body::Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on;
    use halite_core::host::HostFiles;
    use halite_core::host::fake::Fake;
    use std::path::Path;

    #[test]
    fn what_is_too_long_for_a_template_is_refused_and_without_one_it_stays_where_it_is() {
        let host = Fake::new().file("/t", "{{ 1 + 1 }}\n");
        host.append(Path::new("/long"), &vec![b'x'; LONGEST as usize + 1]).unwrap();
        let jinja = Template { engine: Some("jinja".to_owned()), ..Template::default() };
        let made = |template: &Template, path: &str| {
            on(&host, |ctx| template.made(ctx, "salt://t", "base", Body::At(path.to_owned())))
        };
        assert_eq!(made(&jinja, "/t"), Ok(Body::Bytes(b"2\n".to_vec())));
        assert!(matches!(made(&jinja, "/long"), Err(Fault::Comment(why)) if why.starts_with("salt://t is too long")));
        assert_eq!(made(&Template::default(), "/long"), Ok(Body::At("/long".to_owned())));
    }
}
