//! Where the content of a file comes from: an address, perhaps the first of several that is there, with its hash.

use halite_core::state::Look;
use halite_core::{Fault, paths};
use halite_lang::digest::HashType;
use halite_modules::file::hash::Sum;
use halite_node::fileserver::address::{redacted, scheme, split_saltenv};
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_node::templates;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

/// Whether content from elsewhere is compared with a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    #[default]
    Hash,
    /// A copy in the cache is asked about by its `ETag`.
    Etag,
    Skip,
}

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
    /// `source_hash_sig` and its companions, where a list of hashes has to be signed.
    pub signed: Map,
}

/// What was found.
pub struct Found {
    /// The address that was taken.
    pub address: String,
    pub bytes: Vec<u8>,
    /// The hash that it should have and does not: kind, wanted, found.
    pub mismatch: Option<[String; 3]>,
}

/// A comment for whoever wrote the SLS.
pub type Complaint = String;

impl Source {
    /// The address that is taken, with its hash; nothing where no source is given.
    pub fn choice(&self, look: &Look) -> Result<Option<(String, Value)>, Fault> {
        if !self.address.truthy() {
            return Ok(None);
        }
        let asked = [self.address.clone(), self.hash.clone(), look.saltenv.into()];
        let answer = look.ctx.run("file.source_list", Arguments::positional(asked))?;
        Ok(match answer.as_list() {
            Some([address, hash]) => Some((address.to_text(), hash.clone())),
            _ => None,
        })
    }

    /// Brings the content here. `name` is the path of the file that it is for.
    pub fn load(&self, look: &Look, name: &str) -> Result<Result<Option<Found>, Complaint>, Fault> {
        let Some((address, hash)) = self.choice(look)? else { return Ok(Ok(None)) };
        let kind = scheme(&address);
        let is_web = matches!(kind.as_str(), "http" | "https");
        let is_own = matches!(kind.as_str(), "" | "file");
        let hash = hash.truthy().then(|| hash_text(&hash));
        if !is_own && kind != "salt" && hash.is_none() && self.verify == Verify::Hash {
            return Ok(Err(format!(
                "Unable to verify upstream hash of source file {}, please set source_hash or set skip_verify to True",
                redacted(&address)
            )));
        }
        let wanted = match hash.filter(|_| kind != "salt" && self.verify != Verify::Skip) {
            Some(hash) => match self.sum(look, name, &address, &hash) {
                Ok(sum) => Some(sum),
                Err(fault) => return Ok(Err(format!("Unable to manage file: {fault}"))),
            },
            None => None,
        };
        let place = if is_web { self.page(look, &address, wanted.as_ref()) } else { local(look, &address) };
        let place = match place {
            Ok(Some(place)) => place,
            Ok(None) => return Ok(Err(not_found(look, &address, is_own))),
            Err(fault) if is_web => return Ok(Err(format!("Failed to cache {}: {fault}", redacted(&address)))),
            Err(fault) => return Err(fault),
        };
        if place == name {
            return Err(Fault::invocation("Source file cannot be the same as destination"));
        }
        let bytes = match std::fs::read(&place) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Err(not_found(look, &address, is_own)));
            }
            Err(error) => return Err(super::fault(&place, &error)),
        };
        let mismatch = wanted.and_then(|(kind, digest)| {
            let own = kind.of_bytes(&bytes);
            (own != digest.to_lowercase()).then(|| [kind.name().to_owned(), digest, own])
        });
        Ok(Ok(Some(Found { address, bytes, mismatch })))
    }

    /// Whether a file has the hash that is asked for already, so that no web server need be asked for the content.
    pub fn is_at(&self, look: &Look, name: &str) -> bool {
        if self.verify == Verify::Skip || !self.hash.truthy() || !paths::is_file(look.ctx.host, name) {
            return false;
        }
        let Ok(Some((address, hash))) = self.choice(look) else { return false };
        if matches!(scheme(&address).as_str(), "" | "file" | "salt") || !hash.truthy() {
            return false;
        }
        let place = paths::real(look.ctx.host, name);
        let wanted = self.sum(look, name, &address, &hash_text(&hash));
        wanted.is_ok_and(|wanted| Sum::of(look.ctx.host, &place, wanted.0).is_ok_and(|own| own.digest == wanted.1))
    }

    /// The hash that the content should have.
    fn sum(&self, look: &Look, name: &str, address: &str, hash: &str) -> Result<(HashType, String), Fault> {
        let arguments = Arguments::positional([name, address, hash]).with("source_hash_name", self.hash_name.clone());
        let mut arguments = arguments.with("saltenv", look.saltenv).with("verify_ssl", !self.unchecked);
        arguments.keywords.extend(self.signed.clone());
        let sum = look.ctx.run("file.get_source_sum", arguments)?;
        let text = |key: &str| sum.at(key).map(Value::to_text).unwrap_or_default();
        let kind = HashType::named(&text("hash_type"));
        let kind = kind.ok_or_else(|| Fault::Internal(format!("the kind of the hash {hash}")))?;
        Ok((kind, text("hsum")))
    }

    /// A page of a web server, in the cache.
    fn page(&self, look: &Look, address: &str, sum: Option<&(HashType, String)>) -> Result<Option<String>, Fault> {
        if self.verify == Verify::Skip {
            let arguments = Arguments::positional([address, look.saltenv]);
            let kept = look.ctx.run("cp.is_cached", arguments)?;
            if let Some(place) = kept.as_str().filter(|place| !place.is_empty()) {
                return Ok(Some(place.to_owned()));
            }
        }
        let wanted = Wanted {
            source_hash: sum.map(|(_, digest)| digest.clone()),
            unchecked: self.unchecked,
            by_etag: self.verify == Verify::Etag,
        };
        FileClient::new(look.ctx).cache_file(address, look.saltenv, &wanted)
    }

    /// The mode that the file has where it comes from; nothing where nobody knows.
    pub fn mode(&self, look: &Look, address: &str) -> Option<u32> {
        let address = if address.starts_with('/') { format!("file://{address}") } else { address.to_owned() };
        if scheme(&address) == "file" {
            let path = address.trim_start_matches("file://");
            return paths::followed(look.ctx.host, path.as_ref()).ok().map(|stat| stat.mode);
        }
        let arguments = Arguments::positional([address.as_str(), look.saltenv]).with("octal", true);
        let mode = look.ctx.run("cp.stat_file", arguments).ok()?;
        u32::from_str_radix(&mode.to_text(), 8).ok()
    }
}

/// A hash as `file.get_source_sum` takes it: text, or the map that the older form is.
fn hash_text(hash: &Value) -> String {
    match hash {
        Value::Map(map) => {
            let text = |key: &str| map.at(key).map(Value::to_text).unwrap_or_default();
            format!("{}={}", text("hash_type"), text("hsum"))
        }
        other => other.to_text(),
    }
}

/// A file of the file server or of this host.
fn local(look: &Look, address: &str) -> Result<Option<String>, Fault> {
    let client = FileClient::new(look.ctx);
    match address.strip_prefix("salt://") {
        Some(path) if !path.contains('?') && !path.starts_with('|') => client.readable(path, look.saltenv),
        _ => client.cache_file(address, look.saltenv, &Wanted::default()),
    }
}

fn not_found(look: &Look, address: &str, is_own: bool) -> Complaint {
    if is_own {
        return format!("Local file source {} does not exist", address.trim_start_matches("file://"));
    }
    let (_, own) = split_saltenv(address);
    let saltenv = own.as_deref().unwrap_or(look.saltenv);
    format!("Source file {address} not found in saltenv '{saltenv}'")
}

/// A template engine with its variables.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub engine: Option<String>,
    /// All variables, those of the SLS last.
    pub context: Map,
}

impl Template {
    pub fn new(engine: &Option<String>, defaults: &Map, context: &Map) -> Template {
        let mut all = defaults.clone();
        all.extend(context.clone());
        Template { engine: engine.clone().filter(|engine| !engine.is_empty()), context: all }
    }

    /// The content, run through the engine where one is named. `source` is what errors speak of.
    pub fn apply(&self, look: &Look, source: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Complaint> {
        let Some(engine) = &self.engine else { return Ok(bytes) };
        if !templates::ENGINES.contains(&engine.as_str()) {
            return Err(format!("Specified template format {engine} is not supported"));
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("{source} is not text in UTF-8"))?;
        let rendered = templates::render(look.ctx, source, &text, look.saltenv, self.context.clone());
        rendered.map(String::into_bytes).map_err(|fault| fault.to_string())
    }
}

/// The rendered texts of `source` or `sources`, as `file.append` and its like take them; nothing where none is given.
pub fn texts(look: &Look, given: &Texts) -> Result<Result<Option<Vec<String>>, Complaint>, Fault> {
    let list = |value: &Value| value.as_list().map(<[Value]>::to_vec).unwrap_or_default();
    let (sources, hashes) = (list(&given.sources), list(&given.source_hashes));
    if given.source.truthy() && !sources.is_empty() {
        return Ok(Err("source and sources are mutually exclusive".to_owned()));
    }
    if given.source_hash.truthy() && !hashes.is_empty() {
        return Ok(Err("source_hash and source_hashes are mutually exclusive".to_owned()));
    }
    let pairs: Vec<(Value, Value)> = match given.source.truthy() {
        true => vec![(given.source.clone(), given.source_hash.clone())],
        false => sources.into_iter().zip(hashes.into_iter().chain(std::iter::repeat(Value::Null))).collect(),
    };
    if pairs.is_empty() {
        return Ok(Ok(None));
    }
    let mut all = Vec::new();
    for (address, hash) in pairs {
        let verify = if hash.truthy() { Verify::Hash } else { Verify::Skip };
        let source = Source { address: address.clone(), hash, verify, ..Source::default() };
        let Ok(Some(found)) = source.load(look, "")? else {
            return Ok(Err(format!("Failed to load template file {}", address.to_text())));
        };
        if let Some([kind, wanted, own]) = found.mismatch {
            let address = address.to_text();
            return Ok(Err(format!("The {kind} hash of {address} is {own} and not {wanted}")));
        }
        let rendered = match given.template.apply(look, &found.address, found.bytes) {
            Ok(rendered) => String::from_utf8_lossy(&rendered).into_owned(),
            Err(complaint) => return Ok(Err(complaint)),
        };
        if rendered.is_empty() {
            return Ok(Err(format!("Failed to read rendered template file {0} ({0})", address.to_text())));
        }
        all.push(rendered);
    }
    Ok(Ok(Some(all)))
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
