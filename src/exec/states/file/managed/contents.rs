//! Content that stands in the SLS, in the pillar or in the grains.

use super::Managed;
use halite_core::state::PlanContext;
use halite_file::Complaint;
use halite_node::outputters::lines;
use halite_value::{Map, Value};

impl Managed {
    /// The content as the SLS gives it; nothing where it comes from a source.
    pub(super) fn contents(&self, context: &PlanContext) -> Result<Option<Vec<u8>>, Complaint> {
        let (given, called) = if !self.contents_pillar.is_null() {
            let found = self.found(context.ctx.pillar, &self.contents_pillar, "Pillar")?;
            (found, format!("contents_pillar {}", self.contents_pillar.to_text()))
        } else if !self.contents_grains.is_null() {
            let found = self.found(context.ctx.grains, &self.contents_grains, "Grain")?;
            (found, format!("contents_grains {}", self.contents_grains.to_text()))
        } else {
            (self.contents.clone(), "'contents'".to_owned())
        };
        if given.is_null() {
            return Ok(None);
        }
        if !self.allow_empty && !given.truthy() {
            return Err(format!(
                "{called} value would result in empty contents. Set allow_empty to True to allow the managed file to be empty."
            ));
        }
        let parts: Vec<String> = match &given {
            Value::List(items) if items.is_empty() => {
                return Err(
                    "Contents specified by contents/contents_pillar/contents_grains is not a string or list of \
                            strings, and is not binary data. SLS is likely malformed."
                        .to_owned(),
                );
            }
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            Value::Bytes(bytes) => match String::from_utf8(bytes.clone()) {
                Ok(text) => vec![text],
                Err(_) if self.template.is_some() => {
                    return Err("Contents specified by contents/contents_pillar/contents_grains appears to be binary \
                                data, and as will not be able to be treated as a Jinja template."
                        .to_owned());
                }
                Err(_) => return Ok(Some(bytes.clone())),
            },
            other => vec![other.to_text()],
        };
        let mut text: String = parts.iter().flat_map(|part| lines(part)).flat_map(|line| [line, "\n"]).collect();
        if !self.contents_newline {
            text.truncate(text.trim_end_matches('\n').trim_end_matches('\r').len());
        }
        self.encoded(text).map(Some)
    }

    /// What stands at a path of the pillar or the grains, or at several.
    fn found(&self, data: &Map, paths: &Value, kind: &str) -> Result<Value, Complaint> {
        let data = Value::Map(data.clone());
        let at = |path: &Value| {
            let path = path.to_text();
            let found = data.traverse(&path, &self.contents_delimiter).cloned();
            found.ok_or_else(|| format!("{kind} {path} does not exist"))
        };
        match paths {
            Value::List(paths) => {
                let texts: Result<Vec<String>, Complaint> =
                    paths.iter().map(|path| at(path).map(|value| value.to_text())).collect();
                Ok(texts?.join("\n").into())
            }
            path => at(path),
        }
    }

    fn encoded(&self, text: String) -> Result<Vec<u8>, Complaint> {
        super::super::encoded(text, self.encoding.as_deref(), &self.encoding_errors)
    }
}
