//! Where the content of a file comes from: an address, with the digest that is said of it.

use super::content::{Body, Content, Part};
use super::sum::{Said, Sum};
use super::{Complaint, refused};
use halite_core::{Ctx, Fault, paths};
use halite_lang::digest::HashType;
use halite_node::fileserver::address;
use halite_node::fileserver::address::{redacted, split_saltenv};
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_value::{Map, Value};
use std::io;
use std::path::Path;

/// Whether content from a web server is compared with a digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    #[default]
    Hash,
    /// A copy in the cache is asked about by its `ETag`.
    Etag,
    Skip,
}

impl Verify {
    /// As the arguments of functions and states say it.
    pub fn given(skip_verify: bool, use_etag: bool) -> Verify {
        match (skip_verify, use_etag) {
            (true, _) => Verify::Skip,
            (false, true) => Verify::Etag,
            (false, false) => Verify::Hash,
        }
    }
}

/// How far a content is brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Its digest is known: what the file server has may stay there.
    Known,
    /// It is a file of this host.
    Here,
}

/// A content that is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The path of the file that it is for.
    pub name: &'a str,
    /// Where it comes from; nothing where it comes from nowhere.
    pub address: Option<&'a str>,
    /// What is said of its digest.
    pub said: Said<'a>,
    pub saltenv: &'a str,
    pub verify: Verify,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub content: Content,
    /// The digest that it should have and does not.
    pub mismatch: Option<Mismatch>,
}

/// A digest that a content should have, and the one that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub kind: &'static str,
    pub wanted: String,
    pub own: String,
}

/// Who has what an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    Host,
    FileServer,
    Others,
}

impl Keeper {
    pub fn of(address: &str) -> Keeper {
        match address::scheme(address).as_str() {
            "salt" => Keeper::FileServer,
            "http" | "https" | "ftp" | "swift" | "s3" => Keeper::Others,
            _ => Keeper::Host,
        }
    }
}

impl Request<'_> {
    /// Finds the content and brings it so far. A [`Fault::Comment`] is for whoever wrote the state.
    pub fn find(&self, ctx: &Ctx, until: Until) -> Result<Found, Fault> {
        let Some(address) = self.address.filter(|address| !address.is_empty()) else { return Ok(Found::default()) };
        let keeper = Keeper::of(address);
        let own = own_path(address);
        if keeper == Keeper::Host && !paths::exists(ctx.host, own) {
            return Err(Fault::comment(format!("Local file source {own} does not exist")));
        }
        let sum = self.sum(ctx, address, keeper, until)?;
        // What need not be verified and is in the cache is not fetched again.
        let kept = if self.verify == Verify::Skip && keeper == Keeper::Others { self.kept(ctx, address) } else { None };
        let is_kept = kept.is_some();
        let body = match (keeper, until) {
            (Keeper::Host, _) => Body::At(own.to_owned()),
            (Keeper::FileServer, Until::Known) => Body::Away,
            (Keeper::FileServer, Until::Here) => match self.of_file_server(ctx, address)? {
                Some(path) => Body::At(path),
                None => return Err(Fault::comment(self.missing(address))),
            },
            (Keeper::Others, _) => {
                match kept.map_or_else(|| self.cached(ctx, address, sum.as_ref()), |path| Ok(Some(path))) {
                    Ok(Some(path)) => Body::At(path),
                    Ok(None) => return Err(Fault::comment(format!("Source file '{}' not found", redacted(address)))),
                    Err(fault) => {
                        return Err(Fault::comment(format!("Failed to cache {}: {fault}", redacted(address))));
                    }
                }
            }
        };
        match &body {
            _ if until == Until::Known && keeper != Keeper::Others => {}
            Body::At(path) if path == self.name => {
                return Err(Fault::invocation("Source file cannot be the same as destination"));
            }
            Body::At(path) if until == Until::Here => return self.checked(ctx, path, sum),
            Body::At(path) if is_kept => {
                let sum = Some(Sum::of(ctx.host, path, HashType::Sha256)?);
                return Ok(Found { content: Content { body, sum }, mismatch: None });
            }
            _ => {}
        }
        Ok(Found { content: Content { body, sum }, mismatch: None })
    }

    /// Whether the file has the digest that is asked for already, so that no web server need be asked for the content.
    pub fn is_there(&self, ctx: &Ctx) -> bool {
        let (Some(address), true) = (self.address, paths::is_file(ctx.host, self.name)) else { return false };
        let has_hash = self.said.hash.is_some_and(|hash| !hash.is_empty());
        if self.verify == Verify::Skip || !has_hash || Keeper::of(address) != Keeper::Others {
            return false;
        }
        let place = paths::real(ctx.host, self.name);
        let wanted = self.said.sum(ctx, self.name, address, self.saltenv);
        wanted.is_ok_and(|wanted| Sum::of(ctx.host, &place, wanted.kind).is_ok_and(|own| own == wanted))
    }

    /// The digest that the content has, or has to have.
    fn sum(&self, ctx: &Ctx, address: &str, keeper: Keeper, until: Until) -> Result<Option<Sum>, Fault> {
        let hash = self.said.hash.filter(|hash| !hash.is_empty());
        match (keeper, hash) {
            (Keeper::FileServer, _) if until == Until::Here => Ok(None),
            (Keeper::FileServer, _) => {
                let (path, own) = split_saltenv(address);
                let saltenv = own.as_deref().unwrap_or(self.saltenv);
                let missing =
                    || Fault::comment(format!("Source file {address} not found in saltenv '{}'", self.saltenv));
                let hash = halite_node::fileserver::files(ctx)?.hash(&address::parse(&path).0, saltenv)?;
                hash.map(|hash| Some(Sum { kind: hash.kind, digest: hash.digest })).ok_or_else(missing)
            }
            (Keeper::Host, None) if until == Until::Here => Ok(None),
            (Keeper::Host, None) => Sum::of(ctx.host, own_path(address), HashType::Sha256).map(Some),
            _ if self.verify == Verify::Skip => Ok(None),
            (_, Some(_)) => {
                let sum = self.said.sum(ctx, self.name, address, self.saltenv);
                sum.map(Some).map_err(|fault| Fault::comment(format!("Unable to manage file: {fault}")))
            }
            (_, None) if self.verify == Verify::Etag => Ok(None),
            (_, None) => Err(Fault::comment(unverifiable(address))),
        }
    }

    /// Where a file of the file server can be read.
    fn of_file_server(&self, ctx: &Ctx, address: &str) -> Result<Option<String>, Fault> {
        let client = FileClient::new(ctx);
        match address.strip_prefix("salt://") {
            Some(path) if !path.contains('?') && !path.starts_with('|') => client.readable(path, self.saltenv),
            _ => client.cache_file(address, self.saltenv, &Wanted::default()),
        }
    }

    /// Where the cache has it, fetched if it must be.
    fn cached(&self, ctx: &Ctx, address: &str, sum: Option<&Sum>) -> Result<Option<String>, Fault> {
        let wanted = Wanted {
            source_hash: sum.map(|sum| sum.digest.clone()),
            unchecked: self.said.unchecked,
            by_etag: self.verify == Verify::Etag,
        };
        FileClient::new(ctx).cache_file(address, self.saltenv, &wanted)
    }

    /// Where the cache has a page of a web server already.
    fn kept(&self, ctx: &Ctx, address: &str) -> Option<String> {
        let place = FileClient::new(ctx).cache.external(address, self.saltenv)?.to_string_lossy().into_owned();
        Some(place).filter(|place| paths::is_file(ctx.host, place))
    }

    /// Compares a file with the digest that it should have.
    fn checked(&self, ctx: &Ctx, path: &str, wanted: Option<Sum>) -> Result<Found, Fault> {
        let address = self.address.unwrap_or_default();
        if Keeper::of(address) == Keeper::Host {
            match Part::At(path).start(ctx.host, 1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(Fault::comment(self.missing(address)));
                }
                Err(error) => return Err(refused(path, &error)),
            }
        }
        let own = match &wanted {
            Some(wanted) => Some(Sum::of(ctx.host, path, wanted.kind)?),
            None => None,
        };
        let mismatch = match (&own, wanted) {
            (Some(own), Some(wanted)) if *own != wanted => {
                Some(Mismatch { kind: wanted.kind.name(), wanted: wanted.digest, own: own.digest.clone() })
            }
            _ => None,
        };
        Ok(Found { content: Content { body: Body::At(path.to_owned()), sum: own }, mismatch })
    }

    /// That there is nothing where the content should be.
    fn missing(&self, address: &str) -> Complaint {
        if Keeper::of(address) == Keeper::Host {
            return format!("Local file source {} does not exist", own_path(address));
        }
        let (_, own) = split_saltenv(address);
        format!("Source file {address} not found in saltenv '{}'", own.as_deref().unwrap_or(self.saltenv))
    }
}

/// That a content from elsewhere has no digest to be compared with.
pub fn unverifiable(address: &str) -> Complaint {
    format!(
        "Unable to verify upstream hash of source file {}, please set source_hash or set skip_verify to True",
        redacted(address)
    )
}

/// The path of this host that an address means.
fn own_path(address: &str) -> &str {
    match address.strip_prefix("file://") {
        Some(path) if path.len() > 1 => path.trim_end_matches('/'),
        Some(path) => path,
        None => address,
    }
}

/// The mode that a source has, where that is known.
pub fn mode_of(ctx: &Ctx, source: &str, saltenv: &str) -> Result<Option<u32>, Fault> {
    let (address, own) = split_saltenv(source);
    match Keeper::of(&address) {
        Keeper::Others => Ok(None),
        Keeper::FileServer => {
            let found = halite_node::fileserver::files(ctx)?
                .find(&address::parse(&address).0, own.as_deref().unwrap_or(saltenv))?;
            let mode = found.and_then(|stat| stat.first().copied()).and_then(|mode| u32::try_from(mode).ok());
            Ok(mode.map(|mode| mode & 0o7777))
        }
        Keeper::Host => Ok(paths::followed(ctx.host, Path::new(own_path(&address))).ok().map(|stat| stat.mode)),
    }
}

/// The variables of a template: what is known of the file, then the defaults, then the context.
pub fn variables(
    known: impl IntoIterator<Item = (&'static str, Value)>,
    defaults: Option<Map>,
    context: Option<Map>,
) -> Map {
    let mut variables = Map::from_iter(known);
    variables.extend(defaults.unwrap_or_default());
    variables.extend(context.unwrap_or_default());
    variables
}
