//! Where the content of a file comes from, as an SLS gives it.

use halite_core::Fault;
use halite_core::state::PlanContext;
use halite_file::choice::first_of;
use halite_file::content::Body;
use halite_file::source::{Mismatch, Request, Until, Verify, mode_of, unverifiable};
use halite_file::sum::{Said, Sum};
use halite_file::template::Template;
use halite_node::fileserver::address::scheme;
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_node::signature::Given;
use halite_value::Value;

/// A source as an SLS gives it.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// An address, or a list of them; each may be a map of the address and its hash.
    pub address: Value,
    pub hash: Value,
    /// The name that the file has in a list of hashes.
    pub hash_name: Option<String>,
    pub verify: Verify,
    /// The certificate of a web server is not checked.
    pub unchecked: bool,
    /// The signature that a list of hashes has to have.
    pub signed: Given,
}

/// What was found.
pub struct Found {
    /// The address that was taken.
    pub address: String,
    /// A file of this host.
    pub body: Body,
    /// The digest that it was verified by.
    pub sum: Option<Sum>,
    /// The digest that it should have and does not.
    pub mismatch: Option<Mismatch>,
}

impl Source {
    /// The address that is taken, with its hash; nothing where no source is given.
    pub fn choice(&self, context: &PlanContext) -> Result<Option<(String, Value)>, Fault> {
        if !self.address.truthy() {
            return Ok(None);
        }
        let (address, hash) = first_of(context.ctx, self.address.clone(), self.hash.clone(), context.saltenv)?;
        Ok(Some((address.to_text(), hash)))
    }

    /// Brings the content here. `name` is the path of the file that it is for.
    pub fn load(&self, context: &PlanContext, name: &str) -> Result<Option<Found>, Fault> {
        let Some((address, hash)) = self.choice(context)? else { return Ok(None) };
        let hash = hash.truthy().then(|| hash_text(&hash));
        // What nothing is fetched by is refused, and so is a path that is not absolute.
        let kind = scheme(&address);
        if !matches!(kind.as_str(), "salt" | "http" | "https") {
            if !matches!(kind.as_str(), "" | "file") && hash.is_none() && self.verify == Verify::Hash {
                return Err(Fault::comment(unverifiable(&address)));
            }
            FileClient::new(context.ctx).cache_file(&address, context.saltenv, &Wanted::default())?;
        }
        let found = self.request(context, name, &address, hash.as_deref()).find(context.ctx, Until::Here)?;
        let content = found.content;
        Ok(Some(Found { address, body: content.body, sum: content.sum, mismatch: found.mismatch }))
    }

    /// Whether a file has the hash that is asked for already, so that no web server need be asked for the content.
    pub fn is_at(&self, context: &PlanContext, name: &str) -> bool {
        let Ok(Some((address, hash))) = self.choice(context) else { return false };
        hash.truthy() && self.request(context, name, &address, Some(&hash_text(&hash))).is_there(context.ctx)
    }

    /// The mode that the file has where it comes from; nothing where nobody knows.
    pub fn mode(&self, context: &PlanContext, address: &str) -> Option<u32> {
        mode_of(context.ctx, address, context.saltenv).ok().flatten()
    }

    fn request<'a>(
        &'a self,
        context: &PlanContext<'a>,
        name: &'a str,
        address: &'a str,
        hash: Option<&'a str>,
    ) -> Request<'a> {
        Request {
            name,
            address: Some(address),
            said: Said {
                hash,
                listed: self.hash_name.as_deref(),
                signed: Some(&self.signed),
                unchecked: self.unchecked,
            },
            saltenv: context.saltenv,
            verify: self.verify,
        }
    }
}

/// A hash as text, or as the map that the older form is.
fn hash_text(hash: &Value) -> String {
    match hash {
        Value::Map(map) => {
            let text = |key: &str| map.at(key).map(Value::to_text).unwrap_or_default();
            format!("{}={}", text("hash_type"), text("hsum"))
        }
        other => other.to_text(),
    }
}

/// The rendered texts of `source` or `sources`, as `file.append` and its like take them; nothing where none is given.
pub fn texts(context: &PlanContext, given: &Texts) -> Result<Option<Vec<String>>, Fault> {
    let list = |value: &Value| value.as_list().map(<[Value]>::to_vec).unwrap_or_default();
    let (sources, hashes) = (list(&given.sources), list(&given.source_hashes));
    if given.source.truthy() && !sources.is_empty() {
        return Err(Fault::comment("source and sources are mutually exclusive".to_owned()));
    }
    if given.source_hash.truthy() && !hashes.is_empty() {
        return Err(Fault::comment("source_hash and source_hashes are mutually exclusive".to_owned()));
    }
    let pairs: Vec<(Value, Value)> = match given.source.truthy() {
        true => vec![(given.source.clone(), given.source_hash.clone())],
        false => sources.into_iter().zip(hashes.into_iter().chain(std::iter::repeat(Value::Null))).collect(),
    };
    if pairs.is_empty() {
        return Ok(None);
    }
    let mut all = Vec::new();
    for (address, hash) in pairs {
        let verify = if hash.truthy() { Verify::Hash } else { Verify::Skip };
        let source = Source { address: address.clone(), hash, verify, ..Source::default() };
        let found = match source.load(context, "") {
            Ok(Some(found)) => found,
            Ok(None) | Err(Fault::Comment(_)) => {
                return Err(Fault::comment(format!("Failed to load template file {}", address.to_text())));
            }
            Err(fault) => return Err(fault),
        };
        if let Some(Mismatch { kind, wanted, own }) = found.mismatch {
            let address = address.to_text();
            return Err(Fault::comment(format!("The {kind} hash of {address} is {own} and not {wanted}")));
        }
        let rendered = given.template.text(context.ctx, &found.address, context.saltenv, found.body)?;
        let rendered = String::from_utf8_lossy(&rendered).into_owned();
        if rendered.is_empty() {
            return Err(Fault::comment(format!("Failed to read rendered template file {0} ({0})", address.to_text())));
        }
        all.push(rendered);
    }
    Ok(Some(all))
}

/// Texts from elsewhere, as an SLS names them.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    pub source: Value,
    pub source_hash: Value,
    pub sources: Value,
    pub source_hashes: Value,
    pub template: Template,
}
