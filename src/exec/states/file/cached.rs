//! `file.cached`, `file.not_cached`: files of the cache.

use super::single;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::arguments::Signers;
use halite_lang::digest::HashType;
use halite_node::fileserver::address::{Url, redacted, scheme};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a file from elsewhere is in the cache.
    ///
    ///   cache_foo:
    ///     file.cached:
    ///       - name: https://www.example.com/foo.tar.gz
    ///       - source_hash: https://www.example.com/foo.tar.gz.sha256
    pub struct Cached {
        /// The address.
        name: String,
        /// Its hash.
        source_hash: Option<String> = "",
        /// The name that the file has in a list of digests.
        source_hash_name: Option<String> = (),
        /// Take it without a hash.
        skip_verify: bool = false,
        /// The environment.
        saltenv: Option<String> = "base",
        /// Whether a web server is asked with the ETag of the copy that is there.
        use_etag: bool = false,
        /// The signature of the list of digests: True where it stands within, else its address.
        source_hash_sig: Value = (),
        ..signers: Signers,
        /// The module that checks signatures.
        sig_backend: Value = "gpg",
    }
}

/// The kind of a hash and its digits.
type Sum = (String, String);

impl State for Cached {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let saltenv = self.saltenv.clone().unwrap_or_else(|| "base".to_owned());
        let kind = scheme(&self.name);
        let hash = self.source_hash.clone().filter(|hash| !hash.is_empty());
        let is_remote = matches!(kind.as_str(), "http" | "https" | "ftp" | "swift" | "s3");
        if is_remote && !self.skip_verify && !self.use_etag && hash.is_none() {
            return Ok(failed(format!(
                "Unable to verify upstream hash of source file {}, please set source_hash or set skip_verify or use_etag \
                 to True",
                redacted(&self.name)
            )));
        }
        let sum = match hash {
            None => None,
            Some(hash) => {
                let arguments = Arguments::default().with("source", self.name.as_str()).with("source_hash", hash);
                let arguments = arguments.with("source_hash_name", self.source_hash_name.clone());
                let arguments = arguments.with("saltenv", saltenv.as_str());
                let given = self.signers.given(&self.source_hash_sig, &self.sig_backend);
                let mut arguments = arguments;
                arguments.keywords.extend(given.arguments("source_hash_sig"));
                match ctx.run("file.get_source_sum", arguments) {
                    Ok(sum) => {
                        let text = |key: &str| sum.at(key).map(Value::to_text).unwrap_or_default();
                        Some((text("hash_type"), text("hsum")))
                    }
                    Err(fault) => return Ok(failed(fault.to_string())),
                }
            }
        };
        let would = Outcome::new(None, self.announced(ctx, &saltenv, sum.as_ref())?);
        if matches!(kind.as_str(), "" | "file") {
            return Ok(stands(would, self.own_file(ctx, sum)));
        }
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.cache(ctx, &saltenv, sum)) })
    }
}

impl Cached {
    fn announced(&self, ctx: &Ctx, saltenv: &str, sum: Option<&Sum>) -> Result<String, Fault> {
        let name = &self.name;
        let Some(place) = kept(ctx, name, saltenv)? else {
            return Ok(format!("File will be cached: {name}"));
        };
        Ok(match sum {
            None => format!("No hash found. File will be cached: {name}"),
            Some((kind, digest)) if hash_of(ctx, &place, kind).as_ref() == Some(digest) => {
                format!("File already cached: {name}")
            }
            Some(_) => format!("Hashes don't match.\nFile will be cached: {name}"),
        })
    }

    /// A file of this host needs no copy.
    fn own_file(&self, ctx: &Ctx, sum: Option<Sum>) -> Outcome {
        let path = paths::real(ctx.host, &own_path(ctx, &self.name));
        if !paths::exists(ctx.host, &path) {
            return Outcome::failed(format!("File {path} is not present on the minion"));
        }
        let Some((kind, digest)) = sum.filter(|_| !self.skip_verify) else {
            return Outcome::done(format!("File {path} is present on the minion"));
        };
        let own = hash_of(ctx, &path, &kind).unwrap_or_default();
        match own == digest {
            true => Outcome::done(format!("File {path} is present on the minion and has hash {own}")),
            false => Outcome::failed(format!(
                "File {path} is present on the minion, but the hash ({own}) does not match the specified hash ({digest})"
            )),
        }
    }

    fn cache(&self, ctx: &Ctx, saltenv: &str, sum: Option<Sum>) -> Result<Outcome, Fault> {
        let kind = match &sum {
            Some((kind, _)) => kind.clone(),
            None => ctx.opts.str_at("hash_type").unwrap_or("sha256").to_owned(),
        };
        let before = kept(ctx, &self.name, saltenv)?.and_then(|place| hash_of(ctx, &place, &kind));
        let arguments = Arguments::positional([self.name.as_str(), saltenv]).with("use_etag", self.use_etag);
        let arguments = arguments.with("source_hash", sum.as_ref().map(|(_, digest)| digest.as_str()));
        let place = match ctx.run("cp.cache_file", arguments) {
            Ok(place) if place.truthy() => place.to_text(),
            Ok(_) => {
                let name = redacted(&self.name);
                return Ok(Outcome::failed(format!("Failed to cache {name}, check minion log for more information")));
            }
            Err(fault) => return Ok(Outcome::failed(fault.to_string())),
        };
        let after = hash_of(ctx, &place, &kind);
        let mut changes = Map::new();
        if before != after {
            changes.insert("hash", Map::from_iter([("old", before), ("new", after.clone())]));
        }
        let own = after.unwrap_or_default();
        let outcome = match sum.filter(|_| !self.skip_verify) {
            None => Outcome::done(format!("File is cached to {place}")),
            Some((_, digest)) if digest == own => {
                Outcome::done(format!("File is already cached to {place} with hash {own}"))
            }
            Some((_, digest)) => Outcome::failed(format!(
                "File is cached to {place}, but the hash ({own}) does not match the specified hash ({digest})"
            )),
        };
        Ok(outcome.with_changes(changes))
    }
}

/// Where an address is in the cache; nothing where it is not.
fn kept(ctx: &Ctx, address: &str, saltenv: &str) -> Result<Option<String>, Fault> {
    let place = ctx.run("cp.is_cached", Arguments::positional([address, saltenv]))?;
    Ok(Some(place.to_text()).filter(|place| !place.is_empty()))
}

fn hash_of(ctx: &Ctx, path: &str, kind: &str) -> Option<String> {
    let file = ctx.host.open(Path::new(path)).ok()?;
    HashType::named(kind)?.of(file).ok()
}

/// The path that an address of this host means.
fn own_path(ctx: &Ctx, address: &str) -> String {
    let url = Url::parse(address);
    super::own_name(ctx, if url.scheme.is_empty() { address } else { &url.path })
}

record! {
    /// Makes sure that a file from elsewhere is not in the cache.
    ///
    ///   uncache_foo:
    ///     file.not_cached:
    ///       - name: https://www.example.com/foo.tar.gz
    pub struct NotCached {
        /// The address.
        name: String,
        /// The environment.
        saltenv: Option<String> = "base",
    }
}

impl State for NotCached {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        if matches!(scheme(&self.name).as_str(), "" | "file") {
            let path = paths::real(ctx.host, &own_path(ctx, &self.name));
            return Ok(already(format!("File {path} is a local path, no action taken")));
        }
        let saltenv = self.saltenv.unwrap_or_else(|| "base".to_owned());
        let Some(place) = kept(ctx, &self.name, &saltenv)? else {
            return Ok(already(format!("{} is not cached", self.name)));
        };
        let would = Outcome::new(None, format!("{place} will be deleted")).with_changes(single("deleted", true));
        let apply = move |ctx: &Ctx| {
            Ok(match ctx.host.remove(Path::new(&place)) {
                Ok(()) => Outcome::done(format!("{place} was deleted")).with_changes(single("deleted", true)),
                Err(error) => Outcome::failed(format!("Failed to delete {place}: {error}")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
