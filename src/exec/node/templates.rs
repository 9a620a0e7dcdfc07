//! Templates on a node: what they see of it, and where the ones that they include come from.

use super::fileserver::client::FileClient;
use halite_core::host::{Protocol, own};
use halite_core::module::Place;
use halite_core::{Ctx, Fault, paths};
use halite_lang::jinja::{Environment, Functions, Loaded, Loader, Machine, Options, UndefinedPolicy};
use halite_lang::outside;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The engines that there are.
pub const ENGINES: [&str; 1] = ["jinja"];

/// Renders a text with Jinja: it sees `salt`, `grains`, `pillar`, `opts`, `saltenv` and what else is in `more`. `name` is
/// what errors call it.
pub fn render(ctx: &Ctx, name: &str, text: &str, saltenv: &str, more: Map) -> Result<String, Fault> {
    let client = FileClient::new(ctx);
    let templates = Templates::of(ctx, &client, saltenv);
    let mut context = templates.context();
    context.extend(more);
    let environment = templates.environment(Settings::File);
    environment.render(name, text, &context).map_err(|error| Fault::execution(error.to_string()))
}

/// What a template is for, which decides on the option that sets Jinja up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// A managed file: `jinja_env`.
    File,
    /// An SLS file: `jinja_sls_env`.
    Sls,
}

/// What templates are rendered with: the functions of a node, and the files of an environment to include.
pub struct Templates<'t, 'f> {
    ctx: &'t Ctx<'t>,
    client: &'t FileClient<'f>,
    saltenv: &'t str,
    loaded: RefCell<HashMap<String, Option<Loaded>>>,
}

impl<'t, 'f> Templates<'t, 'f> {
    pub fn of(ctx: &'t Ctx<'t>, client: &'t FileClient<'f>, saltenv: &'t str) -> Templates<'t, 'f> {
        Templates { ctx, client, saltenv, loaded: RefCell::default() }
    }

    /// Jinja, set up by the configuration.
    pub fn environment(&self, settings: Settings) -> Environment<'_> {
        let mut options = Options::default();
        let name = match settings {
            Settings::File => "jinja_env",
            Settings::Sls => "jinja_sls_env",
        };
        if let Some(given) = self.ctx.opts.at(name).and_then(Value::as_map) {
            for unknown in options.apply(given) {
                log::warn!("Jinja2 environment {unknown} is not recognized");
            }
        }
        let on = |name: &str| self.ctx.opts.at(name).is_some_and(Value::truthy);
        options.trim_blocks |= on("jinja_trim_blocks");
        options.lstrip_blocks |= on("jinja_lstrip_blocks");
        if on("allow_undefined") {
            options.undefined = UndefinedPolicy::Lenient;
        }
        let Ctx { grains, pillar, opts, .. } = self.ctx;
        Environment::new(options, self, self).with_maps([("grains", *grains), ("pillar", *pillar), ("opts", *opts)])
    }

    /// The variables of every template, besides the maps that its environment has.
    pub fn context(&self) -> Map {
        Map::from_iter([("saltenv", self.saltenv)])
    }
}

/// Includes and imports are files of the file server, each read once.
impl Loader for Templates<'_, '_> {
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault> {
        if let Some(loaded) = self.loaded.borrow().get(name) {
            return Ok(loaded.clone());
        }
        let loaded = match self.client.readable(name, self.saltenv)? {
            Some(path) => {
                let text = own::read_text(Path::new(&path));
                let text = text.map_err(|error| Fault::execution(format!("{path}: {error}")))?;
                Some(Loaded { text, path })
            }
            None => None,
        };
        self.loaded.borrow_mut().insert(name.to_owned(), loaded.clone());
        Ok(loaded)
    }
}

/// `salt['mod.fun']`: the execution functions of this node.
impl Functions for Templates<'_, '_> {
    fn call(&self, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
        // In templates a command is a line for a shell, as Salt has it.
        let fun = if fun == "cmd.run" { "cmd.shell" } else { fun };
        if self.ctx.functions.find(fun).is_some_and(|function| function.place == Place::Worker) {
            outside::looked();
        }
        self.ctx.run(fun, arguments)
    }

    fn exists(&self, fun: &str) -> bool {
        self.ctx.functions.find(fun).is_some()
    }

    fn names(&self) -> Vec<String> {
        self.ctx.functions.names()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        Some(self)
    }

    fn changes_first(&self, fun: &str, arguments: &Arguments) -> bool {
        self.ctx.functions.find(fun).is_some_and(|function| (function.changes_first)(arguments))
    }
}

impl Machine for Templates<'_, '_> {
    fn uid(&self, account: Option<&str>) -> Option<u32> {
        let Some(name) = account else { return Some(self.ctx.host.uid()) };
        self.ctx.host.user(name).ok().flatten().map(|user| user.uid)
    }

    fn which(&self, program: &str) -> Option<PathBuf> {
        self.ctx.host.which(program)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read>> {
        Ok(self.ctx.host.open(Path::new(path))?)
    }

    fn size(&self, path: &str) -> io::Result<u64> {
        paths::followed(self.ctx.host, Path::new(path)).map(|stat| stat.size)
    }

    fn is_link(&self, path: &str) -> bool {
        paths::is_link(self.ctx.host, path)
    }

    fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        self.ctx.host.list(Path::new(directory))
    }

    fn resolve(&self, name: &str) -> Vec<IpAddr> {
        self.ctx.host.resolve(name).unwrap_or_default()
    }

    fn answers(&self, address: SocketAddr, time: Duration) -> bool {
        self.ctx.host.reach(address, Protocol::Tcp, time).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::NoMaster;
    use halite_core::host::HostFiles;
    use halite_core::host::fake::{Directory, Fake};

    #[test]
    fn a_filter_on_files_sees_the_host_of_the_call_and_not_the_machine_of_the_test() {
        let directory = Directory::new();
        let host = Fake::new().env("PATH", "/opt").program("/opt/tool").file("/d/text", "a\n").file("/d/e/empty", "");
        host.link(Path::new("/d/text"), Path::new("/d/link")).unwrap();
        host.write(Path::new("/d/odd"), b"\0\x01", Default::default()).unwrap();
        let mut world = World::on(host);
        world.opts.insert("cachedir", directory.path().to_string_lossy().as_ref());
        let ctx = world.ctx(&NoMaster);
        for (template, expected) in [
            ("{{ '/d' | list_files | join(' ') }}", "/d /d/e /d/link /d/odd /d/text /d/e/empty"),
            ("{{ '/d/link' | is_empty }} {{ '/d/e/empty' | is_empty }} {{ '/none' | is_empty }}", "False True False"),
            ("{{ '/d/text' | is_text_file }} {{ '/d/odd' | is_text_file }}", "True False"),
            ("{{ '/d/odd' | is_bin_file }}", "True"),
            ("{{ '/d/text' | file_hashsum('md5') }}", "60b725f10c9c85c70d97880dfe8191b3"),
            ("{{ 'tool' | which }} {{ 'sh' | which }} {{ '/opt/tool' | which }}", "/opt/tool None /opt/tool"),
        ] {
            assert_eq!(render(&ctx, "t", template, "base", Map::new()).unwrap(), expected, "{template}");
        }
        let refused = render(&ctx, "t", "{{ '/etc/passwd' | file_hashsum }}", "base", Map::new()).unwrap_err();
        assert!(refused.to_string().contains("entity not found: '/etc/passwd'"), "{refused}");
    }
}
