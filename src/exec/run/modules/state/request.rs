//! `state.request` and its like: runs that somebody asks for and somebody else starts. They are kept in
//! `<cachedir>/req_state.p`, JSON by name.

use super::Run;
use super::apply::apply;
use halite_core::host::Attributes;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value, parse_json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

record! {
    /// Says what `state.apply` would change, and keeps the run for `state.run_request`.
    ///
    ///   salt '*' state.request
    ///   salt '*' state.request stuff
    ///   salt '*' state.request stuff,other name=mine
    pub struct Request {
        /// The SLS, with commas between them; without any, the top file.
        mods: Value = (),
        /// `name`: what the request is called, else `default`; and what `state.apply` takes.
        kwargs: Keywords,
    }
}

impl Run for Request {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut keywords = self.kwargs.0;
        keywords.retain(|key, _| !key.to_text().starts_with("__pub_"));
        let name = keywords.at("name").map_or_else(|| DEFAULT.to_owned(), Value::to_text);
        let returned = apply(ctx, self.mods.clone(), keywords.clone(), Some(true))?;
        let mut requests = read(ctx)?;
        keywords.insert("test", true);
        requests.insert(
            name,
            Map::from_iter([("test_run", returned.value.clone()), ("mods", self.mods), ("kwargs", keywords.into())]),
        );
        write(ctx, &requests)?;
        Ok(returned)
    }
}

const DEFAULT: &str = "default";

record! {
    /// Returns the runs that were asked for, or one of them.
    ///
    ///   salt '*' state.check_request
    pub struct CheckRequest {
        /// What the request is called.
        name: Option<String> = (),
    }
}

impl Run for CheckRequest {
    fn run(self, ctx: &Ctx) -> Reply {
        let requests = read(ctx)?;
        match self.name.filter(|name| !name.is_empty()) {
            None => Ok(requests.into()),
            Some(name) => match requests.at(&name) {
                Some(request) => Ok(request.clone().into()),
                None => Err(Fault::invocation(format!("there is no request '{name}'"))),
            },
        }
    }
}

record! {
    /// Forgets the runs that were asked for, or one of them. False: there is no such one.
    ///
    ///   salt '*' state.clear_request
    pub struct ClearRequest {
        /// What the request is called.
        name: Option<String> = (),
    }
}

impl Run for ClearRequest {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut requests = read(ctx)?;
        let is_known = match self.name.filter(|name| !name.is_empty()) {
            None => {
                requests = Map::new();
                true
            }
            Some(name) => requests.remove(&name).is_some() || requests.is_empty(),
        };
        if is_known {
            write(ctx, &requests)?;
        }
        Ok(is_known.into())
    }
}

record! {
    /// Starts a run that was asked for, and forgets all of them.
    ///
    ///   salt '*' state.run_request
    pub struct RunRequest {
        /// What the request is called.
        name: String = DEFAULT,
        /// What is put on top of what was asked for.
        kwargs: Keywords,
    }
}

impl Run for RunRequest {
    fn run(self, ctx: &Ctx) -> Reply {
        let requests = read(ctx)?;
        let Some(request) = requests.at(&self.name) else {
            return Ok(Map::new().into());
        };
        let mut keywords = request.at("kwargs").and_then(Value::as_map).cloned().unwrap_or_default();
        keywords.extend(self.kwargs.0);
        for word in ["test", "name"] {
            keywords.remove(word);
        }
        let returned = apply(ctx, request.at("mods").cloned().unwrap_or_default(), keywords, None)?;
        write(ctx, &Map::new())?;
        Ok(returned)
    }
}

fn path(ctx: &Ctx) -> Result<PathBuf, Fault> {
    let cachedir = ctx.opts.str_at("cachedir").filter(|cachedir| !cachedir.is_empty());
    let cachedir = cachedir.ok_or_else(|| Fault::execution("cachedir is not set: no request can be kept"))?;
    Ok(Path::new(cachedir).join("req_state.p"))
}

fn read(ctx: &Ctx) -> Result<Map, Fault> {
    let path = path(ctx)?;
    let bytes = match ctx.host.read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(Fault::execution(format!("{}: {error}", path.display()))),
    };
    match parse_json(&String::from_utf8_lossy(&bytes)) {
        Ok(Value::Map(requests)) => Ok(requests),
        _ => Err(Fault::execution(format!("{} is damaged: remove it", path.display()))),
    }
}

/// No requests, no file.
fn write(ctx: &Ctx, requests: &Map) -> Result<(), Fault> {
    let path = path(ctx)?;
    let done = match requests.is_empty() {
        true => match ctx.host.remove(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => done,
        },
        false => {
            let text = Value::Map(requests.clone()).to_json();
            ctx.host.write(&path, text.as_bytes(), Attributes { mode: Some(0o600), ..Attributes::default() })
        }
    };
    done.map_err(|error| Fault::execution(format!("{}: {error}", path.display())))
}
