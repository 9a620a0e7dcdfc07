//! `cp.list_master*`, `cp.envs`, `cp.hash_file`, `cp.stat_file`: what the master has.

use super::{Run, environment};
use halite_core::files::{Listing, shown};
use halite_core::host::FileKind;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::digest::HashType;
use halite_node::fileserver::address::{parse, split_saltenv};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

/// What says in the number of a mode that it is a file's.
const S_IFREG: i64 = 0o100_000;

record! {
    /// Lists the environments of the file server.
    ///
    ///   salt '*' cp.envs
    pub struct Envs {}
}

impl Run for Envs {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(halite_node::fileserver::files(ctx)?.environments()?.into())
    }
}

record! {
    /// Lists the files of an environment.
    ///
    ///   salt '*' cp.list_master
    ///   salt '*' cp.list_master prefix=web
    pub struct ListMaster {
        /// The environment.
        saltenv: Value = (),
        /// Only names that begin with this.
        prefix: String = "",
    }
}

record! {
    /// Lists the directories of an environment.
    ///
    ///   salt '*' cp.list_master_dirs
    pub struct ListMasterDirs {
        /// The environment.
        saltenv: Value = (),
        /// Only names that begin with this.
        prefix: String = "",
    }
}

record! {
    /// Lists the symbolic links of an environment, with where they point.
    ///
    ///   salt '*' cp.list_master_symlinks
    pub struct ListMasterSymlinks {
        /// The environment.
        saltenv: Value = (),
        /// Only names that begin with this.
        prefix: String = "",
    }
}

impl Run for ListMaster {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::Files, &self.saltenv, &self.prefix)
    }
}

impl Run for ListMasterDirs {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::Directories, &self.saltenv, &self.prefix)
    }
}

impl Run for ListMasterSymlinks {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::Links, &self.saltenv, &self.prefix)
    }
}

fn list(ctx: &Ctx, listing: Listing, saltenv: &Value, prefix: &str) -> Reply {
    let entries = halite_node::fileserver::files(ctx)?.list(listing, &environment(ctx, saltenv), prefix)?;
    Ok(shown(listing, entries).into())
}

record! {
    /// Lists the state files of an environment by the names that states have.
    ///
    ///   salt '*' cp.list_states
    pub struct ListStates {
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for ListStates {
    fn run(self, ctx: &Ctx) -> Reply {
        let files = halite_node::fileserver::files(ctx)?.list(Listing::Files, &environment(ctx, &self.saltenv), "")?;
        let state = |name: &str| {
            let name = name.strip_suffix(".sls")?;
            Some(name.strip_suffix("/init").unwrap_or(name).replace('/', "."))
        };
        let mut states: Vec<String> = files.iter().filter_map(|(name, _)| state(name)).collect();
        states.sort();
        states.dedup();
        Ok(states.into())
    }
}

record! {
    /// Answers the hash of a file of the master, or of the minion where a path is given; empty where there is none.
    ///
    ///   salt '*' cp.hash_file salt://path/to/file
    pub struct HashFile {
        /// The address, salt://PATH, or a path.
        path: String,
        /// The environment.
        saltenv: Value = (),
    }
}

record! {
    /// Answers the hash of a file, as cp.hash_file does.
    ///
    ///   salt '*' cp.hash_file_ssh salt://path/to/file
    pub struct HashFileSsh {
        /// The address, salt://PATH, or a path.
        path: String,
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for HashFile {
    fn run(self, ctx: &Ctx) -> Reply {
        hash(ctx, &self.path, &self.saltenv)
    }
}

impl Run for HashFileSsh {
    fn run(self, ctx: &Ctx) -> Reply {
        hash(ctx, &self.path, &self.saltenv)
    }
}

fn hash(ctx: &Ctx, address: &str, saltenv: &Value) -> Reply {
    let saltenv = environment(ctx, saltenv);
    let (address, own) = split_saltenv(address);
    if address.starts_with("salt://") {
        let found =
            halite_node::fileserver::files(ctx)?.hash(&parse(&address).0, own.as_deref().unwrap_or(&saltenv))?;
        return Ok(found.map_or(Value::from(""), |hash| hash.shown().into()).into());
    }
    if !paths::is_file(ctx.host, &address) {
        log::warn!("specified file {address} is not present to generate hash");
        return Ok(Map::new().into());
    }
    let name = ctx.opts.str_at("hash_type").unwrap_or("sha256");
    let kind = HashType::named(name)
        .ok_or_else(|| Fault::execution(format!("hash_type: there is no hash '{name}' for files")))?;
    let digest = ctx.host.open(Path::new(&address)).and_then(|file| kind.of(file));
    let digest = digest.map_err(|error| Fault::execution(format!("{address}: {error}")))?;
    Ok(Map::from_iter([("hsum", digest.as_str()), ("hash_type", kind.name())]).into())
}

record! {
    /// Answers the permissions of a file of the master, or of the minion where a path is given; None where there is none.
    ///
    ///   salt '*' cp.stat_file salt://path/to/file
    pub struct StatFile {
        /// The address, salt://PATH, or a path.
        path: String,
        /// The environment.
        saltenv: Value = (),
        /// As four octal digits; else the number that stat has, with the kind of the file in it.
        octal: Value = true,
    }
}

impl Run for StatFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let (address, own) = split_saltenv(&self.path);
        let mode = match address.starts_with("salt://") {
            true => {
                let files = halite_node::fileserver::files(ctx)?;
                let stat = files.find(&parse(&address).0, own.as_deref().unwrap_or(&saltenv))?;
                stat.and_then(|stat| stat.first().copied())
            }
            false => {
                let stat = paths::followed(ctx.host, Path::new(&address)).ok();
                stat.filter(|stat| stat.kind == FileKind::File).map(|stat| S_IFREG | i64::from(stat.mode))
            }
        };
        let Some(mode) = mode else {
            return Ok(().into());
        };
        match self.octal {
            Value::Bool(true) => Ok(format!("{:04o}", mode & 0o7777).into()),
            _ => Ok(Value::Int(mode).into()),
        }
    }
}
