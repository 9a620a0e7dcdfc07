//! Where the content of files comes from: `file.source_list`, `file.apply_template_on_contents`.

use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_file::choice::first_of;
use halite_node::templates;
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows which of several sources is the first that there is, with its hash.
    ///
    ///   salt '*' file.source_list salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f7d4f53f68}' base
    pub struct SourceList {
        /// A source, or a list of them; each may be a map of the source and its hash.
        source: Value,
        /// The hash of those without one.
        source_hash: Value,
        /// The environment of the file server.
        saltenv: String,
    }
}

impl Run for SourceList {
    fn run(self, ctx: &Ctx) -> Reply {
        let (source, hash) = first_of(ctx, self.source, self.source_hash, &self.saltenv)?;
        Ok(Value::List(vec![source, hash]).into())
    }
}

record! {
    /// Shows what a template says.
    ///
    ///   salt '*' file.apply_template_on_contents 'This is a {{ template }}' jinja '{template: cool}' '{}' base
    pub struct ApplyTemplateOnContents {
        /// The template.
        contents: String,
        /// The engine: jinja.
        template: String,
        /// Values for the template.
        context: Map,
        /// Values where the context has none.
        defaults: Map,
        /// The environment of the file server.
        saltenv: String,
    }
}

impl Run for ApplyTemplateOnContents {
    fn run(self, ctx: &Ctx) -> Reply {
        if !templates::ENGINES.contains(&self.template.as_str()) {
            let comment = format!("Specified template format {} is not supported", self.template);
            return Ok(Map::from_iter([("result", Value::Bool(false)), ("comment", comment.into())]).into());
        }
        let mut context = self.defaults;
        context.extend(self.context);
        Ok(templates::render(ctx, "contents", &self.contents, &self.saltenv, context)?.into())
    }
}
