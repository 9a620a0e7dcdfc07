//! `file_tree`: directories and files as maps and texts: `ROOT/nodegroups/GROUP/...` and, on top, `ROOT/hosts/ID/...`.

use super::nodegroups;
use super::{Source, Wanted, minion_id};
use crate::fileserver::client::FileClient;
use crate::sls;
use crate::sls::{data_of, render_source};
use halite_core::host::own;
use halite_core::{Ctx, Fault};
use halite_lang::merge;
use halite_lang::merge::Lists;
use halite_lang::target::fnmatch::fnmatch;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

pub const SOURCE: Source = Source { name: "file_tree", run, directories };

/// Deeper than this, links lead around in a circle.
const DEPTH: usize = 64;

struct Settings {
    root: String,
    follow_links: bool,
    keep_newline: KeepNewline,
    /// Files are rendered by this pipe; nothing: taken as they are.
    renderer: Option<String>,
}

enum KeepNewline {
    Always(bool),
    /// Where a pattern fits the path below the minion's or the group's directory.
    Of(Vec<String>),
}

fn run(ctx: &Ctx, wanted: &Wanted) -> Result<Map, Fault> {
    let settings = Settings::read(ctx.opts, wanted.settings)?;
    let mut all = Map::new();
    for root in settings.roots(ctx.opts, wanted.asked.pillarenv.as_deref())? {
        if !own::is_directory(&root) {
            return Err(Fault::execution(format!("root_dir: {} is no directory", root.display())));
        }
        let groups = root.join("nodegroups");
        if own::is_directory(&groups) {
            for group in nodegroups::of(ctx, wanted.pillar)? {
                merge::update(&mut all, settings.tree(ctx, &groups.join(group))?, Lists::Replace);
            }
        }
        merge::update(&mut all, settings.tree(ctx, &root.join("hosts").join(minion_id(ctx)))?, Lists::Replace);
    }
    Ok(all)
}

fn directories(opts: &Map, settings: &Value) -> Vec<PathBuf> {
    // A directory that is relative lies below those of the pillar, which are looked at anyway.
    let settings = Settings::read(opts, settings);
    settings.into_iter().map(|settings| PathBuf::from(settings.root)).filter(|root| root.is_absolute()).collect()
}

impl Settings {
    fn read(opts: &Map, settings: &Value) -> Result<Settings, Fault> {
        let given = |name: &str| settings.at(name).filter(|value| !value.is_null());
        let on = |name: &str| given(name).is_some_and(Value::truthy);
        let root = given("root_dir").or(Some(settings)).and_then(Value::as_str).filter(|root| !root.is_empty());
        let keep_newline = match given("keep_newline") {
            None => KeepNewline::Always(false),
            Some(Value::Bool(keep)) => KeepNewline::Always(*keep),
            Some(Value::List(patterns)) => KeepNewline::Of(patterns.iter().map(Value::to_text).collect()),
            Some(_) => return Err(Fault::invocation("keep_newline wants True, False or a list of patterns")),
        };
        let pipe = given("render_default").map(Value::to_text);
        let pipe = pipe.or_else(|| opts.str_at("renderer").map(str::to_owned));
        Ok(Settings {
            root: root.ok_or_else(|| Fault::invocation("no root_dir specified"))?.to_owned(),
            follow_links: on("follow_dir_links"),
            keep_newline,
            renderer: on("template").then(|| pipe.unwrap_or_else(|| "jinja|yaml".to_owned())),
        })
    }

    fn roots(&self, opts: &Map, pillarenv: Option<&str>) -> Result<Vec<PathBuf>, Fault> {
        if Path::new(&self.root).is_absolute() {
            return Ok(vec![PathBuf::from(&self.root)]);
        }
        let pillarenv = pillarenv.ok_or_else(|| Fault::execution("root_dir is relative but pillarenv is not set"))?;
        let directories = opts.at("pillar_roots").and_then(|roots| roots.at(pillarenv)).and_then(Value::as_list);
        let directories = directories
            .ok_or_else(|| Fault::execution(format!("root_dir is relative and '{pillarenv}' has no pillar_roots")))?;
        Ok(directories.iter().map(|directory| Path::new(&directory.to_text()).join(&self.root)).collect())
    }

    /// A directory as a map; an empty one where there is no such directory.
    fn tree(&self, ctx: &Ctx, directory: &Path) -> Result<Map, Fault> {
        if own::is_directory(directory) { self.below(ctx, directory, Path::new("."), DEPTH) } else { Ok(Map::new()) }
    }

    fn below(&self, ctx: &Ctx, directory: &Path, prefix: &Path, depth: usize) -> Result<Map, Fault> {
        let unreadable = |error: std::io::Error| Fault::execution(format!("{}: {error}", directory.display()));
        let mut entries = Vec::new();
        for entry in own::entries(directory).map_err(unreadable)? {
            entries.push(entry.map_err(unreadable)?.path());
        }
        entries.sort();
        let mut map = Map::new();
        for path in entries {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                log::error!("file_tree: {} is left out: its name is not UTF-8", path.display());
                continue;
            };
            if own::is_directory(&path) {
                let goes_on =
                    depth > 0 && (self.follow_links || !own::look_at_link(&path).is_ok_and(|data| data.is_symlink()));
                let inner = if goes_on { self.below(ctx, &path, &prefix.join(name), depth - 1)? } else { Map::new() };
                map.insert(name, inner);
            } else if own::is_file(&path) {
                map.insert(name, self.file(ctx, &path, &prefix.join(name))?);
            } else {
                log::error!("file_tree: {}: not a regular file", path.display());
            }
        }
        Ok(map)
    }

    fn file(&self, ctx: &Ctx, path: &Path, name: &Path) -> Result<Value, Fault> {
        let failed = |why: String| Fault::execution(format!("{}: {why}", path.display()));
        let mut bytes = own::read(path).map_err(|error| failed(error.to_string()))?;
        if bytes.ends_with(b"\n") && !self.keeps_newline(name) {
            bytes.pop();
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if self.renderer.is_none() => return Ok(Value::Bytes(error.into_bytes())),
            Err(_) => return Err(failed("it is not text in UTF-8".to_owned())),
        };
        let Some(pipe) = &self.renderer else {
            return Ok(text.into());
        };
        let shown = path.to_string_lossy();
        let source = sls::Source { path: &shown, text: &text, sls: "", saltenv: "base", pipe: Some(pipe) };
        render_source(ctx, &FileClient::new(ctx), &source, Map::new())
            .map(data_of)
            .map_err(|refused| failed(refused.to_string()))
    }

    fn keeps_newline(&self, name: &Path) -> bool {
        // `./a` counts as `a`.
        let plain: PathBuf = name.components().filter(|part| *part != std::path::Component::CurDir).collect();
        match &self.keep_newline {
            KeepNewline::Always(keep) => *keep,
            KeepNewline::Of(patterns) => patterns
                .iter()
                .any(|pattern| fnmatch(&plain.to_string_lossy(), pattern) || fnmatch(&name.to_string_lossy(), pattern)),
        }
    }
}
