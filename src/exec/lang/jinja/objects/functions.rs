//! `salt`: execution functions, called as `salt['test.ping']()` or `salt.test.ping()`.

use super::super::error::Res;
use super::super::eval::{Args, Interp};
use super::super::value::{Object, Val};
use halite_value::fault::Fault;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The functions that templates call.
pub trait Functions {
    fn call(&self, fun: &str, arguments: Arguments) -> Result<Value, Fault>;

    fn exists(&self, fun: &str) -> bool;

    /// All of them, for templates that go through `salt`.
    fn names(&self) -> Vec<String>;

    /// Whether a call changes its first argument to what it answers, as `defaults.merge` does.
    fn changes_first(&self, _fun: &str, _arguments: &Arguments) -> bool {
        false
    }

    /// The machine that filters on files, accounts and names look at; nothing where there is none.
    fn machine(&self) -> Option<&dyn Machine> {
        None
    }
}

/// What filters see of a machine.
pub trait Machine {
    /// The number of an account; without a name that of this process.
    fn uid(&self, account: Option<&str>) -> Option<u32>;
    /// The first executable with this name in `PATH`.
    fn which(&self, program: &str) -> Option<PathBuf>;
    /// What is in a file.
    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read>>;
    /// The length of a file, links followed.
    fn size(&self, path: &str) -> io::Result<u64>;
    fn is_link(&self, path: &str) -> bool;
    /// The names in a directory, sorted.
    fn list(&self, directory: &str) -> io::Result<Vec<String>>;
    /// The addresses of a name, in the resolver's order; none where it has none.
    fn resolve(&self, name: &str) -> Vec<IpAddr>;
    /// Whether a TCP server answers at an address within this time.
    fn answers(&self, address: SocketAddr, time: Duration) -> bool;
}

pub struct SaltFunctions;

impl Object for SaltFunctions {
    fn kind(&self) -> &str {
        "salt.utils.templates.AliasedLoader"
    }

    fn attribute(&self, interp: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(match name {
            "get" | "keys" => Some(Val::object(SaltMethod { name: if name == "get" { "get" } else { "keys" } })),
            _ => {
                let prefix = format!("{name}.");
                let there = interp.env.functions.names().iter().any(|fun| fun.starts_with(&prefix));
                there.then(|| Val::object(SaltModule { name: name.to_owned() }))
            }
        })
    }

    fn item(&self, interp: &mut Interp, key: &Val) -> Res<Option<Val>> {
        Ok(key.as_str().and_then(|name| function(interp, name)))
    }

    fn iterate(&self, interp: &mut Interp) -> Option<Vec<Val>> {
        Some(interp.env.functions.names().into_iter().map(Val::from).collect())
    }

    fn contains(&self, interp: &mut Interp, item: &Val) -> Option<bool> {
        Some(item.as_str().is_some_and(|name| interp.env.functions.exists(name)))
    }
}

fn function(interp: &Interp, name: &str) -> Option<Val> {
    interp.env.functions.exists(name).then(|| Val::object(SaltFunction { name: name.to_owned() }))
}

/// `salt.get(name, default)` and `salt.keys()`.
struct SaltMethod {
    name: &'static str,
}

impl Object for SaltMethod {
    fn kind(&self) -> &str {
        "method"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interp: &mut Interp, args: Args) -> Res<Val> {
        if self.name == "keys" {
            return Ok(Val::list(interp.env.functions.names().into_iter().map(Val::from).collect()));
        }
        let found = args.positional.first().and_then(Val::as_str).and_then(|name| function(interp, name));
        Ok(found.or_else(|| args.positional.get(1).cloned()).unwrap_or(Val::None))
    }
}

/// `salt.test`: the functions of one module.
struct SaltModule {
    name: String,
}

impl Object for SaltModule {
    fn kind(&self) -> &str {
        "salt.loaded.int.module"
    }

    fn attribute(&self, interp: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(function(interp, &format!("{}.{name}", self.name)))
    }
}

struct SaltFunction {
    name: String,
}

impl Object for SaltFunction {
    fn kind(&self) -> &str {
        "function"
    }

    fn repr(&self) -> String {
        format!("<function {}>", self.name)
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interp: &mut Interp, args: Args) -> Res<Val> {
        let positional = args.positional.iter().map(Val::to_value).collect::<Res<Vec<Value>>>()?;
        let mut keywords = Map::with_capacity(args.named.len());
        for (name, value) in &args.named {
            keywords.insert(&**name, value.to_value()?);
        }
        let arguments = Arguments { positional, keywords };
        let changes = interp.env.functions.changes_first(&self.name, &arguments);
        let answer = Val::from(&interp.env.functions.call(&self.name, arguments)?);
        match (args.positional.into_iter().next(), &answer) {
            (Some(first @ Val::Dict(_)), Val::Dict(answered)) if changes => {
                if let Val::Dict(cell) = &first {
                    let content = answered.0.take();
                    drop(cell.0.replace(content));
                }
                Ok(first)
            }
            _ => Ok(answer),
        }
    }
}
