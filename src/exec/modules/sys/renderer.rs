//! `sys.list_renderers` and `sys.renderer_doc`.

use super::super::Run;
use crate::exec::renderers::pipe;
use crate::exec::target::fnmatch::Pattern;
use crate::exec::{Ctx, Reply};
use crate::record;
use crate::wire::record::Rest;
use crate::wire::value::{Map, Value};

record! {
    /// Lists renderers.
    ///
    ///   salt '*' sys.list_renderers
    ///   salt '*' sys.list_renderers 'yaml*'
    pub struct ListRenderers {
        /// Names or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListRenderers {
    fn run(self, _: &Ctx) -> Reply {
        Ok(Value::list(wanted(&self.args)).into())
    }
}

record! {
    /// Shows what renderers are for.
    ///
    ///   salt '*' sys.renderer_doc yaml
    pub struct RendererDoc {
        /// Names or patterns; without any: all.
        args: Rest,
    }
}

impl Run for RendererDoc {
    fn run(self, _: &Ctx) -> Reply {
        let docs = wanted(&self.args).into_iter().filter_map(|name| Some((name, pipe::doc(name)?)));
        Ok(docs.collect::<Map>().into())
    }
}

fn wanted(given: &Rest) -> Vec<&'static str> {
    let patterns: Vec<Pattern> = given.0.iter().map(|pattern| Pattern::new(&pattern.to_text())).collect();
    let is_wanted = |name: &&str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name));
    let mut names: Vec<&str> = pipe::names().filter(is_wanted).collect();
    names.sort_unstable();
    names
}
