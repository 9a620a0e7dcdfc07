//! `file.decode`.

use super::own_name;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed};
use halite_core::{Ctx, Fault, paths};
use halite_lang::digest::HashType;
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a file has a content that is given as Base64.
    ///
    ///   /tmp/new_file:
    ///     file.decode:
    ///       - encoding_type: base64
    ///       - contents_pillar: mypillar:thefile
    pub struct Decode {
        /// The path.
        name: String,
        /// The content.
        encoded_data: Option<String> = (),
        /// The path in the pillar where it is.
        contents_pillar: Option<String> = (),
        /// How it is encoded: base64.
        encoding_type: String = "base64",
        /// The kind of hash that is shown.
        checksum: String = "md5",
    }
}

impl State for Decode {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let content = match (given(&self.encoded_data), given(&self.contents_pillar)) {
            (None, None) => {
                return Err(Fault::execution("Specify either the 'encoded_data' or 'contents_pillar' argument."));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::execution("Specify only one 'encoded_data' or 'contents_pillar' argument."));
            }
            (Some(content), None) => content,
            (None, Some(path)) => match Value::Map(ctx.pillar.clone()).traverse(&path, ":") {
                Some(content) => content.to_text(),
                None => return Err(Fault::execution("Pillar data not found.")),
            },
        };
        if self.encoding_type != "base64" {
            return Ok(failed(format!(
                "file.decode: the encoding '{}' is not known: it is base64",
                self.encoding_type
            )));
        }
        let bytes = halite_lang::base64::decode(content.as_bytes())
            .map_err(|wrong| Fault::invocation(format!("file.decode: the content is no Base64: {wrong}")))?;
        let kind = HashType::named(&self.checksum)
            .ok_or_else(|| Fault::invocation(format!("Invalid hash type: {}", self.checksum)))?;
        let new = kind.of_bytes(&bytes);
        let mut changes = Map::from_iter([("old", Value::Null), ("new", new.as_str().into())]);
        let mut would = Outcome::new(None, "File is set to be updated.");
        if paths::is_file(ctx.host, &name) {
            let old = ctx.host.read(Path::new(&name)).map_err(|error| super::fault(&name, &error))?;
            let old = kind.of_bytes(&old);
            if old == new {
                return Ok(already("File is in the correct state."));
            }
            changes.insert("old", old);
            would.changes = changes.clone();
        }
        let apply = move |ctx: &Ctx| {
            let arguments = Arguments::positional([content.as_str(), &name]);
            let done = ctx.run("hashutil.base64_decodefile", arguments)?.truthy();
            Ok(Outcome::new(Some(done), "File was updated.").with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
