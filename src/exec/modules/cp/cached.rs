//! `cp.cache_*`: files into the minion's cache, and what is in it.

use super::{Run, environment};
use halite_core::files::Listing;
use halite_core::host::own;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::patterns::passes;
use halite_node::fileserver::address::{is_escaped, parse, redacted, scheme, split_saltenv};
use halite_node::fileserver::cache::files_below;
use halite_node::fileserver::client::{FileClient, Wanted, address_of, path_of};
use halite_value::Value;
use halite_value::record;
use std::path::{Path, PathBuf};

record! {
    /// Keeps a file in the cache; answers where it is, or False where there is none.
    ///
    ///   salt '*' cp.cache_file salt://path/to/file
    ///   salt '*' cp.cache_file salt://foo/bar.conf?saltenv=config
    pub struct CacheFile {
        /// The address.
        path: String,
        /// The environment.
        saltenv: Value = (),
        /// For http addresses: a hash with which a copy in the cache is good enough.
        source_hash: Option<String> = (),
        /// Check the server's certificate.
        verify_ssl: bool = true,
        /// For http addresses: ask the server whether the copy in the cache is still the same.
        use_etag: bool = false,
    }
}

record! {
    /// Keeps a file in the cache, as cp.cache_file does.
    ///
    ///   salt '*' cp.cache_file_ssh salt://path/to/file
    pub struct CacheFileSsh {
        /// The address.
        path: String,
        /// The environment.
        saltenv: Value = (),
        /// For http addresses: a hash with which a copy in the cache is good enough.
        source_hash: Option<String> = (),
        /// Check the server's certificate.
        verify_ssl: bool = true,
        /// For http addresses: ask the server whether the copy in the cache is still the same.
        use_etag: bool = false,
    }
}

impl Run for CacheFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let is_remote = matches!(scheme(&self.path).as_str(), "http" | "https");
        // What comes from elsewhere has no hash to compare by: once in a job is enough.
        let note = format!("cp.cache_file_|-{}_|-{saltenv}", self.path);
        let before = ctx.scratch.borrow().str_at(&note).map(str::to_owned);
        if let Some(before) = before.filter(|path| is_remote && own::is_file(Path::new(path))) {
            return Ok(before.into());
        }
        let wanted = Wanted { source_hash: self.source_hash, unchecked: !self.verify_ssl, by_etag: self.use_etag };
        let cached = FileClient::new(ctx).cache_file(&self.path, &saltenv, &wanted)?;
        match &cached {
            Some(path) if is_remote => drop(ctx.scratch.borrow_mut().insert(note, path.as_str())),
            Some(_) => {}
            None => log::error!("Unable to cache file '{}' from saltenv '{saltenv}'.", redacted(&self.path)),
        }
        Ok(cached.map_or(Value::Bool(false), Value::from).into())
    }
}

impl Run for CacheFileSsh {
    fn run(self, ctx: &Ctx) -> Reply {
        let CacheFileSsh { path, saltenv, source_hash, verify_ssl, use_etag } = self;
        CacheFile { path, saltenv, source_hash, verify_ssl, use_etag }.run(ctx)
    }
}

record! {
    /// Keeps several files in the cache; answers for each where it is, or False.
    ///
    ///   salt '*' cp.cache_files salt://pathto/file1,salt://pathto/file2
    pub struct CacheFiles {
        /// Addresses: a list, or with commas.
        paths: Value,
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for CacheFiles {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let addresses: Vec<String> = match &self.paths {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            other => other.to_text().split(',').map(str::to_owned).collect(),
        };
        keep_all(ctx, addresses, &saltenv).map(Into::into)
    }
}

record! {
    /// Keeps all files of an environment in the cache.
    ///
    ///   salt '*' cp.cache_master
    pub struct CacheMaster {
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for CacheMaster {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let names = halite_node::fileserver::files(ctx)?.list(Listing::Files, &saltenv, "")?;
        keep_all(ctx, names.iter().map(|(name, _)| address_of(name)), &saltenv).map(Into::into)
    }
}

fn keep_all(ctx: &Ctx, addresses: impl IntoIterator<Item = String>, saltenv: &str) -> Result<Vec<Value>, Fault> {
    let client = FileClient::new(ctx);
    let mut kept = Vec::new();
    for address in addresses {
        if ctx.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let cached = client.cache_file(&address, saltenv, &Wanted::default())?;
        kept.push(cached.map_or(Value::Bool(false), Value::from));
    }
    Ok(kept)
}

record! {
    /// Keeps all files below a directory of the master in the cache.
    ///
    /// A pattern is a glob, or a regular expression behind E@; it is compared with the whole path.
    ///
    ///   salt '*' cp.cache_dir salt://path/to/dir
    ///   salt '*' cp.cache_dir salt://path/to/dir include_pat='E@*.py$'
    pub struct CacheDir {
        /// The address of the directory.
        path: String,
        /// The environment.
        saltenv: Value = (),
        /// Make empty directories too.
        include_empty: bool = false,
        /// Only files that match this pattern, or one of a list.
        include_pat: Value = (),
        /// No files that match this pattern, or one of a list.
        exclude_pat: Value = (),
    }
}

impl Run for CacheDir {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let mut path = path_of(&self.path)?;
        if !path.ends_with('/') {
            path.push('/');
        }
        let client = FileClient::new(ctx);
        let mut wanted = Vec::new();
        for (name, _) in client.files()?.list(Listing::Files, &saltenv, &path)? {
            if name.starts_with(&path) && passes(&name, &self.include_pat, &self.exclude_pat)? {
                wanted.push(address_of(&name));
            }
        }
        let mut kept = keep_all(ctx, wanted, &saltenv)?;
        kept.retain(Value::truthy);
        if self.include_empty {
            for (name, _) in client.files()?.list(Listing::EmptyDirectories, &saltenv, &path)? {
                let place = client.cache.file(&name, &saltenv).filter(|_| name.starts_with(&path));
                if let Some(place) = place {
                    client.cache.keep_directory(&place)?;
                    kept.push(place.to_string_lossy().into_owned().into());
                }
            }
        }
        Ok(kept.into())
    }
}

record! {
    /// Keeps a copy of a file of the minion itself; answers where, or an empty text where there is no such file.
    ///
    ///   salt '*' cp.cache_local_file /etc/hosts
    pub struct CacheLocalFile {
        /// The path.
        path: String,
    }
}

impl Run for CacheLocalFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = Path::new(&self.path);
        let cache = FileClient::new(ctx).cache;
        let place = cache.local(&clean(&self.path)?);
        if !paths::exists(ctx.host, &self.path) {
            return Ok("".into());
        }
        let incoming = cache.incoming()?;
        ctx.host.copy_out(path, &incoming).map_err(|error| Fault::execution(format!("{}: {error}", self.path)))?;
        cache.keep(&incoming, &place)?;
        Ok(place.to_string_lossy().into_owned().into())
    }
}

/// A path without steps that lead upwards, which would lead out of the cache.
fn clean(path: &str) -> Result<String, Fault> {
    match path.split('/').any(|step| step == "..") || path.contains('\0') {
        true => Err(Fault::invocation(format!("the path {} leads upwards", path.escape_debug()))),
        false => Ok(path.to_owned()),
    }
}

record! {
    /// Answers where the cache keeps a file, or would keep it.
    ///
    ///   salt '*' cp.cache_dest https://foo.com/bar.rpm
    ///   salt '*' cp.cache_dest salt://my/file saltenv=dev
    pub struct CacheDest {
        /// The address.
        url: String,
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for CacheDest {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let cache = FileClient::new(ctx).cache;
        let place = match scheme(&self.url).as_str() {
            "" => return Ok(self.url.into()),
            "salt" => {
                let (path, own) = parse(&self.url);
                cache.file(&path, own.as_deref().unwrap_or(&saltenv))
            }
            _ => cache.external(&self.url, &saltenv),
        };
        Ok(place.map_or("Invalid path".to_owned(), |place| place.to_string_lossy().into_owned()).into())
    }
}

record! {
    /// Answers where a file is in the cache, or an empty text.
    ///
    ///   salt '*' cp.is_cached salt://path/to/file
    pub struct IsCached {
        /// The address, or the path of a file of the minion.
        path: String,
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for IsCached {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let (address, named) = split_saltenv(&self.path);
        let saltenv = named.unwrap_or(saltenv);
        let (path, _) = parse(&address);
        let cache = FileClient::new(ctx).cache;
        let local = clean(&path).ok().map(|path| cache.local(&path));
        let named = |place: PathBuf| {
            let text = place.to_string_lossy().into_owned();
            if is_escaped(&address) { format!("|{text}") } else { text }
        };
        let places = [cache.file(&path, &saltenv).filter(|_| !path.is_empty()), local.filter(|_| !path.is_empty())];
        if let Some(place) = places.into_iter().flatten().find(|place| own::exists(place)) {
            return Ok(named(place).into());
        }
        let external = cache.external(&address, &saltenv).filter(|place| own::is_file(place));
        Ok(external.map_or_else(String::new, |place| place.to_string_lossy().into_owned()).into())
    }
}

record! {
    /// Lists the files in the cache: those of an environment, and the copies of files of the minion.
    ///
    ///   salt '*' cp.list_minion
    pub struct ListMinion {
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for ListMinion {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let cache = FileClient::new(ctx).cache;
        let mut files = cache.saltenv(&saltenv).map(|directory| files_below(&directory)).unwrap_or_default();
        files.extend(files_below(&cache.locals()));
        files.sort();
        Ok(files.into())
    }
}
