//! Pillar: the data that a minion is given, compiled from the SLS files of `pillar_roots` for it alone.
//!
//! [`compile`] needs a context and nothing else: its options say where the files are, its grains whose pillar it is. A
//! master calls it for each of its minions, a minion without one for itself.

pub mod cached;
pub mod external;
mod render;
mod sources;
mod top;

pub use sources::{Seen, Sources};
pub use top::confirmed;

use super::fileserver::LocalFiles;
use super::fileserver::names::is_saltenv;
use super::keyring::Keyring;
use super::sls::Tree;
use halite_core::host::Host;
use halite_core::module::Functions;
use halite_core::{Call, Ctx, Fault, NoMaster};
use halite_lang::merge::{Lists, Strategy};
use halite_lang::outside;
use halite_lang::{gpg, yaml};
use halite_value::{Map, Value};
use render::Renderer;
use std::sync::atomic::AtomicBool;

pub use halite_core::pillar_request::{Asked, branch};

/// Under this key a pillar tells what was wrong with its files. States do not run with it.
pub const ERRORS: &str = "_errors";

/// The pillar of this minion, anew: from its own files with `file_client: local`, else from the master.
pub fn gather(ctx: &Ctx, asked: &Asked) -> Result<Map, Fault> {
    match ctx.opts.str_at("file_client") {
        Some("local") => compile(ctx, asked),
        _ => ctx.master.pillar(ctx.grains, asked),
    }
}

/// A pillar, and for how long it is the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    pub pillar: Map,
    pub lasts: Lasts,
}

/// For how long a pillar is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// Until its [`Sources`] or what is known of the minion change.
    UntilSourcesChange,
    /// Something else was asked on the way: a command, the time, chance.
    Once,
}

/// Compiles the pillar of the minion whose grains and id are in the context.
pub fn compile(ctx: &Ctx, asked: &Asked) -> Result<Map, Fault> {
    compile_once(ctx, asked).map(|compiled| compiled.pillar)
}

/// The same, and whether it may be kept.
pub fn compile_once(ctx: &Ctx, asked: &Asked) -> Result<Compiled, Fault> {
    check_environments(asked)?;
    let looks = outside::looks();
    let roots = roots(ctx.opts, asked);
    let environments = environments(&roots);
    // Inside of the pillar there is none yet; `salt://` in its templates are files of the pillar.
    let nothing = Map::new();
    let opts = inner_options(ctx.opts, asked, &roots);
    let inner = ctx.with(&nothing, &opts);
    let files = LocalFiles::new(&server_options(ctx.opts, roots.clone()))?;
    let tree = Tree::of_files(&inner, Box::new(files));
    let strategy = ctx.opts.str_at("pillar_source_merging_strategy").unwrap_or("smart");
    let renderer = ctx.opts.str_at("renderer").unwrap_or_default();
    let on = |name: &str| ctx.opts.at(name).is_some_and(Value::truthy);
    let merge = Merge { strategy: Strategy::named(strategy, renderer), lists: Lists::joined(on("pillar_merge_lists")) };

    let mut errors = Vec::new();
    let top = top::read(&inner, &tree, &environments, asked, &mut errors);
    let top_errors = std::mem::take(&mut errors);
    let first = on("ext_pillar_first");
    let mut pillar = asked.over.clone();
    if first {
        pillar = external::add(&inner, asked, merge, pillar, &mut errors);
    }
    // With the external pillar first, targets and templates see it.
    let seen = if first { pillar.clone() } else { Map::new() };
    let inner = inner.with(&seen, &opts);
    let matches = top.matches(&inner, asked);
    let renderer = Renderer::new(&inner, &tree, &roots, &environments, merge, &top);
    pillar = renderer.render(&matches, pillar, &mut errors);
    if !first {
        pillar = external::add(&inner, asked, merge, pillar, &mut errors);
    }
    errors.extend(top_errors);

    if on("pillar_opts") {
        let mut opts = ctx.opts.clone();
        opts.insert("saltversion", halite_core::VERSION);
        pillar.insert("master", opts);
    }
    let mut pillar = merge.merge(pillar, asked.over.clone());
    decrypt(ctx, &mut pillar, &mut errors);
    for error in &errors {
        log::error!("Pillar render error: {error}");
    }
    // Faults may be mended elsewhere than in the files; and nobody looks at the files of a source that is for once.
    let is_whole = errors.is_empty();
    let is_usual = is_whole && asked.ext.is_empty();
    if !is_whole {
        pillar.insert(ERRORS, Value::list(errors));
    }
    let lasts = if is_usual && outside::looks() == looks { Lasts::UntilSourcesChange } else { Lasts::Once };
    Ok(Compiled { pillar, lasts })
}

/// Decrypts what the option `decrypt_pillar` names: paths, which `decrypt_pillar_default` decrypts, or maps of a path to a
/// renderer.
fn decrypt(ctx: &Ctx, pillar: &mut Map, errors: &mut Vec<String>) {
    let wanted = ctx.opts.at("decrypt_pillar").and_then(Value::as_list).unwrap_or_default();
    let delimiter = ctx.opts.str_at("decrypt_pillar_delimiter").unwrap_or(":");
    let usual = ctx.opts.str_at("decrypt_pillar_default").unwrap_or("gpg");
    let keys = Keyring::of(ctx);
    for item in wanted {
        let (path, renderer) = match item {
            Value::Map(map) => match map.first() {
                Some((path, renderer)) if renderer.truthy() => (path.to_text(), renderer.to_text()),
                Some((path, _)) => (path.to_text(), usual.to_owned()),
                None => continue,
            },
            path => (path.to_text(), usual.to_owned()),
        };
        let steps = path.split(delimiter).collect::<Vec<&str>>();
        let Some(place) = place(pillar, &steps) else { continue };
        if let Err(why) = may_decrypt(ctx, &renderer).and_then(|()| gpg::decrypt_in(place, &keys)) {
            errors.push(format!("Failed to decrypt {path}: {why}"));
        }
    }
}

/// Whether a renderer decrypts, and is one that may (`decrypt_pillar_renderers`).
fn may_decrypt(ctx: &Ctx, renderer: &str) -> Result<(), String> {
    if !renderer.eq_ignore_ascii_case("gpg") {
        return Err(format!("'{renderer}' is no renderer that decrypts; gpg is"));
    }
    let allowed = ctx.opts.at("decrypt_pillar_renderers").and_then(Value::as_list);
    match allowed.is_none_or(|allowed| allowed.iter().any(|name| name.as_str() == Some("gpg"))) {
        true => Ok(()),
        false => Err(format!("'{renderer}' is not among decrypt_pillar_renderers")),
    }
}

fn place<'p>(map: &'p mut Map, steps: &[&str]) -> Option<&'p mut Value> {
    let (step, rest) = steps.split_first()?;
    let value = map.at_mut(step)?;
    match (rest.is_empty(), value) {
        (true, value) => Some(value),
        (false, Value::Map(map)) => place(map, rest),
        (false, _) => None,
    }
}

/// Data of the command line with `pillar_enc`: a map with messages in it, or a message that holds one as YAML.
pub fn decrypted(ctx: &Ctx, mut data: Value, renderer: &Value) -> Result<Map, Fault> {
    may_decrypt(ctx, &renderer.to_text()).map_err(|why| Fault::invocation(format!("pillar_enc: {why}")))?;
    gpg::decrypt_in(&mut data, &Keyring::of(ctx)).map_err(|why| Fault::execution(format!("pillar_enc: {why}")))?;
    let data = match data {
        Value::Str(text) => yaml::load(&text).unwrap_or_default(),
        data => data,
    };
    match data {
        Value::Map(map) => Ok(map),
        _ => Err(Fault::execution("pillar_enc: what was decrypted is no map")),
    }
}

/// Where the pillars of others are compiled: what templates of a master call.
pub struct Node<'a> {
    pub host: &'a dyn Host,
    pub functions: &'a dyn Functions,
}

/// The pillar of another node: of the minion with this id and these grains, by the options of a master.
pub fn compile_for(node: &Node, opts: &Map, id: &str, grains: &Map, asked: &Asked) -> Result<Compiled, Fault> {
    as_seen_for(node, opts, id, grains, |ctx| compile_once(ctx, asked))
}

/// The merged top file, by which the pillar of a minion is compiled, or what is wrong with it.
pub fn show_top(
    node: &Node,
    opts: &Map,
    id: &str,
    grains: &Map,
    asked: &Asked,
) -> Result<Result<Map, Vec<String>>, Fault> {
    as_seen_for(node, opts, id, grains, |ctx| {
        check_environments(asked)?;
        let roots = roots(ctx.opts, asked);
        let opts = inner_options(ctx.opts, asked, &roots);
        let inner = ctx.with(ctx.pillar, &opts);
        let tree = Tree::of_files(&inner, Box::new(LocalFiles::new(&server_options(ctx.opts, roots.clone()))?));
        let mut errors = Vec::new();
        let top = top::read(&inner, &tree, &environments(&roots), asked, &mut errors);
        Ok(if errors.is_empty() { Ok(top.shown()) } else { Err(errors) })
    })
}

fn as_seen_for<T>(node: &Node, opts: &Map, id: &str, grains: &Map, with: impl FnOnce(&Ctx) -> T) -> T {
    let mut opts = opts.clone();
    opts.insert("id", id);
    let (nothing, call) = (Map::new(), Call::default());
    with(&Ctx {
        host: node.host,
        master: &NoMaster,
        functions: node.functions,
        grains,
        pillar: &nothing,
        opts: &opts,
        call: &call,
        cancelled: &AtomicBool::new(false),
        scratch: Default::default(),
        audience: Default::default(),
    })
}

/// Environments come from minions, and stand in the paths of directories.
fn check_environments(asked: &Asked) -> Result<(), Fault> {
    for (name, saltenv) in [("pillarenv", &asked.pillarenv), ("saltenv", &asked.saltenv)] {
        if let Some(saltenv) = saltenv.as_deref().filter(|saltenv| !is_saltenv(saltenv)) {
            return Err(Fault::invocation(format!(
                "{name}: '{}' is no name of an environment",
                saltenv.escape_debug()
            )));
        }
    }
    Ok(())
}

/// The options that templates of a pillar see: for them, files are those of the pillar.
fn inner_options(opts: &Map, asked: &Asked, roots: &Map) -> Map {
    let mut opts = opts.clone();
    opts.insert("file_client", "local");
    opts.insert("file_roots", roots.clone());
    opts.insert("pillarenv", asked.pillarenv.clone());
    if let Some(saltenv) = &asked.saltenv {
        opts.insert("saltenv", saltenv.as_str());
    }
    opts
}

/// How the sources of a pillar go together.
#[derive(Clone, Copy, Debug)]
struct Merge {
    strategy: Strategy,
    lists: Lists,
}

impl Merge {
    fn merge(self, old: Map, new: Map) -> Map {
        if new.is_empty() { old } else { self.strategy.merge(old, new, self.lists) }
    }
}

/// `pillar_roots`, with the directory for any environment (`__env__`) given to the one that is asked for.
fn roots(opts: &Map, asked: &Asked) -> Map {
    let mut roots = opts.at("pillar_roots").and_then(Value::as_map).cloned().unwrap_or_default();
    let Some(any) = roots.remove("__env__") else {
        return roots;
    };
    let saltenv = asked.pillarenv.as_deref().or(asked.saltenv.as_deref()).unwrap_or("base");
    if !roots.contains(saltenv) {
        let directories = any.as_list().unwrap_or_default();
        roots.insert(
            saltenv,
            Value::list(directories.iter().map(|directory| directory.to_text().replace("__env__", saltenv))),
        );
    }
    roots
}

/// `base` first, then in the order of the configuration.
fn environments(roots: &Map) -> Vec<String> {
    let mut names = vec!["base".to_owned()];
    names.extend(roots.keys().map(Value::to_text).filter(|name| name != "base"));
    names
}

/// The options of a file server for the pillar's directories.
fn server_options(opts: &Map, roots: Map) -> Map {
    let wanted = ["hash_type", "file_ignore_regex", "file_ignore_glob", "fileserver_followsymlinks", "cachedir"];
    let mut server: Map =
        wanted.iter().filter_map(|name| opts.at(name).map(|value| (Value::from(*name), value.clone()))).collect();
    server.insert("file_roots", roots);
    server
}

#[cfg(test)]
mod tests;
