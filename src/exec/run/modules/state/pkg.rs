//! `state.pkg`: a package of states that was compiled elsewhere, such as by `salt-ssh`.

use super::Run;
use super::begin::{Stop, Wishes, answered, begin, finished};
use super::settings::Of;
use crate::highstate::{low, run};
use halite_core::{Ctx, Fault, Reply, Returned, paths};
use halite_file::sum::Sum;
use halite_lang::digest::HashType;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value, parse_json};
use std::path::Path;

record! {
    /// Runs the low chunks of a package: a tar archive, packed with gzip, of `lowstate.json`, perhaps `pillar.json`, and a
    /// directory of files for each environment. Returns an empty map where there is none with this digest.
    ///
    ///   salt '*' state.pkg /tmp/salt_state.tgz 760a9353810e36f6d81416366fc426dc md5
    pub struct Pkg {
        /// The archive.
        pkg_path: String,
        /// Its digest.
        pkg_sum: String,
        /// The kind of the digest: md5, sha1, sha256 and their like.
        hash_type: String,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        kwargs: Keywords,
    }
}

impl Run for Pkg {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = HashType::named(&self.hash_type)
            .ok_or_else(|| Fault::invocation(format!("hash_type={}: there is no such hash", self.hash_type)))?;
        let is_it = paths::is_file(ctx.host, &self.pkg_path)
            && Sum::of(ctx.host, &self.pkg_path, kind)?.digest == self.pkg_sum.to_lowercase();
        if !is_it || leads_out(ctx, &self.pkg_path)? {
            return Ok(Map::new().into());
        }
        let root = ctx.run("temp.dir", Arguments::default())?.to_text();
        let reply = ctx
            .run("archive.tar", Arguments::positional(["xzf", self.pkg_path.as_str()]).with("dest", root.as_str()))
            .and_then(|_| run_package(ctx, &root, self.test, self.kwargs.0));
        let removed = ctx.run("file.remove", Arguments::positional([root.as_str()]));
        if let Err(fault) = removed {
            log::warn!("{root} is left: {fault}");
        }
        reply
    }
}

/// Whether a member of the archive would be written outside of the directory that it is unpacked in.
fn leads_out(ctx: &Ctx, archive: &str) -> Result<bool, Fault> {
    let names = ctx.run("archive.list", Arguments::positional([archive]))?;
    let is_outside =
        |name: &Value| name.to_text().starts_with('/') || name.to_text().split('/').any(|part| part == "..");
    Ok(names.as_list().unwrap_or_default().iter().any(is_outside))
}

fn run_package(ctx: &Ctx, root: &str, test: Option<bool>, mut keywords: Map) -> Reply {
    let chunks = match json(ctx, root, "lowstate.json")? {
        Some(Value::List(chunks)) => chunks,
        _ => return Err(Fault::execution("the package has no list of low chunks in lowstate.json")),
    };
    if chunks.iter().any(|chunk| chunk.as_map().is_none()) {
        return Ok(Value::List(chunks).into());
    }
    if let Some(pillar) = json(ctx, root, "pillar.json")? {
        keywords.insert("pillar", pillar);
    }
    let grains = match json(ctx, root, "roster_grains.json")? {
        Some(Value::Map(grains)) => grains,
        _ => ctx.grains.clone(),
    };
    let directories = ctx.host.list(Path::new(root)).map_err(|error| Fault::execution(format!("{root}: {error}")))?;
    let directories = directories.into_iter().map(|name| (format!("{root}/{name}"), name));
    let roots = directories.filter(|(path, _)| paths::is_directory(ctx.host, path));
    let roots: Map = roots.map(|(path, saltenv)| (saltenv, Value::list([path]))).collect();
    let mut opts = ctx.opts.clone();
    opts.insert("file_client", "local");
    opts.insert("file_roots", roots);
    let packed = Ctx { grains: &grains, ..ctx.with(ctx.pillar, &opts) };
    answered(|| {
        let begun = begin(&packed, Of::Top, Wishes { test, keywords, ..Wishes::default() })?;
        let world = begun.settings.world(&packed);
        let chunks = (chunks.into_iter())
            .filter_map(|chunk| match chunk {
                Value::Map(chunk) => Some(chunk),
                _ => None,
            })
            .collect();
        let low = low::order(low::Low { chunks, ..low::Low::default() }, world.opts).map_err(Stop::errors)?;
        let returned = finished(run::run(&world, low, begun.settings.asked.clone()), &Map::new());
        Ok(Returned { out: None, ..returned })
    })
}

/// What a file of the package holds; nothing where it has none of that name.
fn json(ctx: &Ctx, root: &str, name: &str) -> Result<Option<Value>, Fault> {
    let path = format!("{root}/{name}");
    if !paths::is_file(ctx.host, &path) {
        return Ok(None);
    }
    let wrong = |error: &dyn std::fmt::Display| Fault::execution(format!("{name} of the package: {error}"));
    let bytes = ctx.host.read(Path::new(&path)).map_err(|error| wrong(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(&error))?;
    parse_json(&text).map(Some).map_err(|error| wrong(&error))
}
