//! `state.high`, `state.template`, `state.template_str`: states that stand in no tree.

use super::Run;
use super::apply::enforce;
use super::begin::{Stop, Wishes, answered, begin};
use super::settings::Of;
use crate::highstate::Compiler;
use halite_core::{Ctx, Reply, Returned};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Brings the minion into the state that high data declares.
    ///
    ///   salt '*' state.high '{"hello": {"test": ["nop"]}}'
    pub struct High {
        /// The high data.
        data: Map,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for High {
    fn run(self, ctx: &Ctx) -> Reply {
        let High { data, test, queue, kwargs } = self;
        let reply = answered(|| {
            let mut keywords = kwargs.0;
            keywords.insert("force", true);
            let begun = begin(ctx, Of::Top, Wishes { test, queue, keywords, ..Wishes::default() })?;
            enforce(&begun.settings.world(ctx), None, &begun, data, &Value::Null)
        });
        reply.map(|returned| Returned { out: None, ..returned })
    }
}

record! {
    /// Brings the minion into the state that a file on it declares.
    ///
    ///   salt '*' state.template '/tmp/template.sls'
    pub struct Template {
        /// The file; `.sls` is put behind it where it is missing.
        tem: String,
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Template {
    fn run(self, ctx: &Ctx) -> Reply {
        let Template { mut tem, queue, kwargs } = self;
        answered(|| {
            let begun = begin(ctx, Of::Top, Wishes { queue, keywords: kwargs.0, ..Wishes::default() })?;
            let world = begun.settings.world(ctx);
            let compiler = Compiler::new(&world)?;
            if !tem.ends_with(".sls") {
                tem.push_str(".sls");
            }
            let high = compiler.render_file(&tem).map_err(Stop::errors)?;
            enforce(&world, Some(&compiler), &begun, high, &Value::Null)
        })
    }
}

record! {
    /// Brings the minion into the state that a text declares.
    ///
    ///   salt '*' state.template_str '{"hello": {"test": ["nop"]}}'
    pub struct TemplateStr {
        /// The text, as it would stand in an SLS file. What the command line has read as a map is taken as it is.
        tem: Value,
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for TemplateStr {
    fn run(self, ctx: &Ctx) -> Reply {
        let TemplateStr { tem, queue, kwargs } = self;
        answered(|| {
            let begun = begin(ctx, Of::Top, Wishes { queue, keywords: kwargs.0, ..Wishes::default() })?;
            let world = begun.settings.world(ctx);
            let compiler = Compiler::new(&world)?;
            let high = compiler.render_single("<template-str>", tem).map_err(Stop::errors)?;
            enforce(&world, Some(&compiler), &begun, high, &Value::Null)
        })
    }
}
