//! Digests of files, and where a digest is said to stand.

use super::content::Part;
use super::refused;
use halite_core::host::Host;
use halite_core::{Ctx, Fault, paths};
use halite_lang::digest::HashType;
use halite_lang::regex::{Regex, escaped};
use halite_node::fileserver::address::{Url, redacted, scheme};
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_node::signature::Given;
use halite_value::Map;
use std::path::Path;

/// The digest of a file.
pub fn of_file(host: &dyn Host, path: &str, kind: &str) -> Result<String, Fault> {
    let known = HashType::named(kind).ok_or_else(|| Fault::invocation(format!("Invalid hash type: {kind}")))?;
    host.open(Path::new(path)).and_then(|file| known.of(file)).map_err(|error| refused(path, &error))
}

/// A digest with its kind, as functions tell it.
pub fn shown(kind: HashType, digest: &str) -> Map {
    Map::from_iter([("hsum", digest), ("hash_type", kind.name())])
}

/// A digest with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    pub kind: HashType,
    pub digest: String,
}

impl Sum {
    pub fn shown(&self) -> Map {
        Map::from_iter([("hash_type", self.kind.name()), ("hsum", &self.digest)])
    }

    /// As a caller gives it; nothing for a map without a digest.
    pub fn given(map: &Map) -> Result<Option<Sum>, Fault> {
        let Some(digest) = map.at("hsum").map(|digest| digest.to_text().to_lowercase()) else { return Ok(None) };
        let kind = match map.str_at("hash_type") {
            Some(name) => HashType::named(name),
            None => HashType::of_length(digest.len()),
        };
        let kind = kind.ok_or_else(|| Fault::invocation("source_sum: its hash_type is not a kind of digest"))?;
        Ok(Some(Sum { kind, digest }))
    }

    /// Of a file of this host.
    pub fn of(host: &dyn Host, path: &str, kind: HashType) -> Result<Sum, Fault> {
        Ok(Sum { kind, digest: of_file(host, path, kind.name())? })
    }
}

/// What `source_hash` and its companions say of a file that comes from elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// A digest, `KIND=DIGEST`, or the path or address of a list of digests.
    pub hash: Option<&'a str>,
    /// The name that the file has in the list.
    pub listed: Option<&'a str>,
    /// The signature that a list has to have.
    pub signed: Option<&'a Given>,
    /// The certificate of the list's server is not checked.
    pub unchecked: bool,
}

impl Said<'_> {
    /// The digest that `file`, which comes from `source`, has to have.
    pub fn sum(&self, ctx: &Ctx, file: &str, source: &str, saltenv: &str) -> Result<Sum, Fault> {
        let signature = match &self.signed {
            Some(signed) => signed.read(ctx)?,
            None => None,
        };
        let Some(given) = self.hash else { return Err(invalid("None")) };
        let place = match scheme(given) {
            _ if given.starts_with('/') => Some(given.to_owned()),
            kind if SCHEMES.contains(&kind.as_str()) => {
                let wanted = Wanted { unchecked: self.unchecked, ..Wanted::default() };
                let kept = FileClient::new(ctx).cache_file(given, saltenv, &wanted)?;
                let missing = || Fault::execution(format!("Source hash file {} not found", redacted(given)));
                Some(kept.ok_or_else(missing)?)
            }
            kind if kind.is_empty() => None,
            _ => return Err(invalid(given)),
        };
        let (kind, digest) = match place {
            Some(path) => {
                if let Some(signature) = &signature {
                    signature.check_file(ctx, &path, saltenv, self.unchecked)?;
                }
                let text = list_at(ctx.host, &path)?;
                let names = Names { listed: self.listed, file, source };
                extract(&text, None, &names)?.ok_or_else(|| invalid(given))?
            }
            None => plain(given)?,
        };
        Ok(Sum { kind, digest: digest.to_lowercase() })
    }
}

fn plain(given: &str) -> Result<(HashType, String), Fault> {
    let Some((kind, digest)) = given.split_once('=').map(|(kind, digest)| (kind.trim(), digest.trim())) else {
        let is_hex = !given.is_empty() && given.chars().all(|c| c.is_ascii_hexdigit());
        let kind = HashType::of_length(given.len()).filter(|_| is_hex).ok_or_else(|| invalid(given))?;
        return Ok((kind, given.to_owned()));
    };
    let Some(known) = HashType::ALL.into_iter().find(|known| known.name() == kind) else {
        return Err(Fault::execution(format!(
            "Invalid hash type '{kind}'. Supported hash types are: sha512, sha384, sha256, sha224, sha1, md5. Either remove the \
             hash type and simply use '{digest}' as the source_hash, or change the hash type to a supported type."
        )));
    };
    match HashType::of_length(digest.len()) {
        None => Err(invalid(given)),
        Some(other) if other != known => Err(Fault::execution(format!(
            "Invalid length ({}) for hash type '{kind}'. Either remove the hash type and simply use '{digest}' as the \
             source_hash, or change the hash type to '{}'",
            digest.len(),
            other.name()
        ))),
        Some(_) => Ok((known, digest.to_owned())),
    }
}

fn invalid(given: &str) -> Fault {
    Fault::execution(format!(
        "Source hash {} format is invalid. It is a digest, KIND=DIGEST, or the path or address of a file with digests. The kinds \
         of digest and their lengths are: {}.",
        redacted(given),
        lengths()
    ))
}

/// The longest list of digests.
const LIST: u64 = 64 << 20;

/// What the file may be called in a list of digests.
pub struct Names<'a> {
    pub listed: Option<&'a str>,
    pub file: &'a str,
    pub source: &'a str,
}

/// A list of digests as text.
pub fn list_at(host: &dyn Host, path: &str) -> Result<String, Fault> {
    let whole = Part::At(path).whole(host, LIST).map_err(|error| refused(path, &error))?;
    let too_long = || Fault::execution(format!("{path} is too long for a list of digests: more than {LIST} bytes"));
    Ok(String::from_utf8_lossy(&whole.ok_or_else(too_long)?).into_owned())
}

/// The digest of a file in a list of digests. Without a line for one of its names: the first one.
pub fn extract(text: &str, kind: Option<HashType>, names: &Names) -> Result<Option<(HashType, String)>, Fault> {
    let span = kind.map_or_else(|| "32,128".to_owned(), |kind| kind.of_bytes(b"").len().to_string());
    let pattern = format!("(?i)(?<![a-z0-9])([a-f0-9]{{{span}}})(?![a-z0-9])");
    let wrong = |error: halite_lang::regex::RegexError| Fault::Internal(error.to_string());
    let regex = Regex::new(&pattern).map_err(wrong)?;
    let of_source = Url::parse(names.source);
    let source = if of_source.path.is_empty() { &of_source.authority } else { &of_source.path };
    // What a line may end with, or begin with; the first kind of name that is found counts.
    let wanted: [(&str, &str, &str); 3] = [
        (names.listed.unwrap_or(""), names.listed.unwrap_or(""), " \t\n\r\u{b}\u{c}"),
        (paths::name_of(names.file), names.file, " \t\n\r\u{b}\u{c}\\/*"),
        (paths::name_of(source), names.source, " \t\n\r\u{b}\u{c}\\/*"),
    ];
    let mut found: [Option<(HashType, String)>; 3] = Default::default();
    let (mut first, mut by_path) = (None, None::<(usize, (HashType, String))>);
    for line in text.lines().map(str::trim) {
        let Some(digest) = regex.search(line).map_err(wrong)?.and_then(|found| found.group(1)) else { continue };
        let Some(kind) = HashType::of_length(digest.len()) else { continue };
        first.get_or_insert_with(|| (kind, digest.to_owned()));
        let path = line.split_whitespace().next_back().unwrap_or_default();
        let path = path.trim_start_matches('*').trim_start_matches("./");
        let is_longer = by_path.as_ref().is_none_or(|(length, _)| path.len() > *length);
        if path.contains('/') && names.source.ends_with(&format!("/{path}")) && is_longer {
            by_path = Some((path.len(), (kind, digest.to_owned())));
        }
        for (place, (end, start, separators)) in found.iter_mut().zip(wanted) {
            if start.is_empty() || place.is_some() {
                continue;
            }
            let fits = match line.strip_suffix(end) {
                Some(before) => before.ends_with(|c| separators.contains(c)),
                None => {
                    let begins = Regex::new(&format!(r"{}\s+", escaped(start))).map_err(wrong)?;
                    begins.is_match(line).map_err(wrong)?
                }
            };
            if fits {
                *place = Some((kind, digest.to_owned()));
            }
        }
    }
    let [listed, of_file, of_source] = found;
    // A name may stand there in several directories: then the path in the address tells which is meant.
    Ok(listed.or(by_path.map(|(_, sum)| sum)).or(of_file).or(of_source).or(first))
}

/// The kinds of address that a list of digests may have.
const SCHEMES: [&str; 8] = ["salt", "file", "http", "https", "ftp", "s3", "swift", "sftp"];

/// The kinds with their lengths, as messages list them.
pub fn lengths() -> String {
    let mut kinds: Vec<(usize, &str)> =
        HashType::ALL.iter().map(|kind| (kind.of_bytes(b"").len(), kind.name())).collect();
    kinds.sort();
    kinds.iter().map(|(length, name)| format!("{name} ({length})")).collect::<Vec<_>>().join(", ")
}
