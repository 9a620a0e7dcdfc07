//! `sys.list_renderers` and `sys.renderer_doc`.

use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_lang::pipe;
use halite_lang::target::fnmatch::Pattern;
use halite_value::record;
use halite_value::record::Rest;
use halite_value::{Map, Value};

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
