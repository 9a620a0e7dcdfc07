//! Templates on a node: what they see of it, and where the ones that they include come from.

use super::fileserver::client::{FileClient, Wanted, address_of};
use super::renderers::jinja::{Environment, Functions, Loaded, Loader, Options, UndefinedPolicy};
use super::{Ctx, Fault, modules};
use crate::wire::record::Arguments;
use crate::wire::value::{Map, Value};
use std::fs;

/// The engines that there are.
pub const ENGINES: [&str; 1] = ["jinja"];

/// Renders a text with Jinja: it sees `salt`, `grains`, `pillar`, `opts`, `saltenv` and what else is in `more`. `name` is
/// what errors call it.
pub fn render(ctx: &Ctx, name: &str, text: &str, saltenv: &str, more: Map) -> Result<String, Fault> {
    let mut options = Options::default();
    if let Some(settings) = ctx.opts.at("jinja_env").and_then(Value::as_map) {
        for unknown in options.apply(settings) {
            log::warn!("Jinja2 environment {unknown} is not recognized");
        }
    }
    let on = |name: &str| ctx.opts.at(name).is_some_and(Value::truthy);
    options.trim_blocks |= on("jinja_trim_blocks");
    options.lstrip_blocks |= on("jinja_lstrip_blocks");
    if on("allow_undefined") {
        options.undefined = UndefinedPolicy::Lenient;
    }
    let mut context = Map::from_iter([
        ("grains", Value::Map(ctx.grains.clone())),
        ("pillar", Value::Map(ctx.pillar.clone())),
        ("opts", Value::Map(ctx.opts.clone())),
        ("saltenv", Value::from(saltenv)),
    ]);
    context.extend(more);
    let loader = FromFileServer { client: FileClient::new(ctx), saltenv };
    let functions = OfNode(ctx);
    let environment = Environment::new(options, &loader, &functions);
    environment.render(name, text, context).map_err(|error| Fault::execution(error.to_string()))
}

/// Includes and imports are files of the file server.
struct FromFileServer<'a> {
    client: FileClient<'a>,
    saltenv: &'a str,
}

impl Loader for FromFileServer<'_> {
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault> {
        let Some(path) = self.client.cache_file(&address_of(name), self.saltenv, &Wanted::default())? else {
            return Ok(None);
        };
        let text = fs::read_to_string(&path).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
        Ok(Some(Loaded { text, path }))
    }
}

/// `salt['mod.fun']`: the execution functions of this node.
struct OfNode<'a>(&'a Ctx<'a>);

impl Functions for OfNode<'_> {
    fn call(&self, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
        // In templates a command is a line for a shell, as Salt has it.
        let fun = if fun == "cmd.run" { "cmd.shell" } else { fun };
        self.0.run(fun, arguments)
    }

    fn exists(&self, fun: &str) -> bool {
        modules::find(fun).is_some()
    }

    fn names(&self) -> Vec<String> {
        modules::names().collect()
    }
}
