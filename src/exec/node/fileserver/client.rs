//! How a node gets a file: from the file server, from a web server or from its own disk, by its address.
//!
//! What comes from elsewhere goes to the [`Cache`] first, or where the caller wants it, in one step and only when it has
//! changed.

use super::address::{self, Url, create, parse, split_saltenv};
use super::cache::Cache;
use halite_core::context::Ctx;
use halite_core::files::{FileHash, Files};
use halite_core::host::Attributes;
use halite_core::host::own;
use halite_core::host::web::{Certificates, Request};
use halite_core::paths;
use halite_lang::digest::HashType;
use halite_value::Value;
use halite_value::fault::Fault;
use std::cell::OnceCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A web page that is returned instead of kept may be so long.
const PAGE: usize = 64 << 20;

/// Gets files for one call.
pub struct FileClient<'a> {
    ctx: &'a Ctx<'a>,
    files: OnceCell<Box<dyn Files + 'a>>,
    pub cache: Cache,
}

/// What is wanted of a file that comes from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A hash that a copy in the cache may have: then it is not fetched.
    pub source_hash: Option<String>,
    /// The server's certificate is not checked.
    pub unchecked: bool,
    /// A copy in the cache is asked about by the `ETag` that came with it.
    pub by_etag: bool,
}

/// What is done about directories that are missing above a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directories {
    Make,
    Expect,
}

impl<'a> FileClient<'a> {
    pub fn new(ctx: &'a Ctx<'a>) -> FileClient<'a> {
        FileClient { ctx, files: OnceCell::new(), cache: Cache::new(ctx.opts) }
    }

    /// A client of another file server than the configuration names, such as the one of the pillar.
    pub fn of(ctx: &'a Ctx<'a>, files: Box<dyn Files + 'a>) -> FileClient<'a> {
        FileClient { ctx, files: OnceCell::from(files), cache: Cache::new(ctx.opts) }
    }

    /// Where a file of the file server can be read: where it stands, if that is this host, else its copy in the cache.
    /// Nothing where there is no such file.
    pub fn readable(&self, path: &str, saltenv: &str) -> Result<Option<String>, Fault> {
        match self.files()?.here(path, saltenv)? {
            Some(place) => Ok(Some(place.to_string_lossy().into_owned())),
            None => self.cache_file(&address_of(path), saltenv, &Wanted::default()),
        }
    }

    /// The file server. Asked for only where a file of it is wanted: other addresses need no master.
    pub fn files(&self) -> Result<&dyn Files, Fault> {
        if self.files.get().is_none() {
            let _ = self.files.set(crate::fileserver::files(self.ctx)?);
        }
        match self.files.get() {
            Some(files) => Ok(files.as_ref()),
            None => Err(Fault::Internal("no file server".to_owned())),
        }
    }

    /// Keeps a file in the cache and says where; nothing where there is no such file. A path of this host is its own
    /// place.
    pub fn cache_file(&self, address: &str, saltenv: &str, wanted: &Wanted) -> Result<Option<String>, Fault> {
        let (address, own) = split_saltenv(address);
        let saltenv = own.as_deref().unwrap_or(saltenv);
        match address::scheme(&address).as_str() {
            "salt" => self.file(&address, None, Directories::Make, saltenv),
            "http" | "https" => self.page(&address, saltenv, wanted).map(Some),
            _ => own_path(&address).map(Some),
        }
    }

    /// Puts a file of the file server where `dest` says, or into the cache, unless it is there already; where it is then.
    /// Nothing where there is no such file, or no directory for it.
    pub fn file(
        &self,
        address: &str,
        dest: Option<&str>,
        directories: Directories,
        saltenv: &str,
    ) -> Result<Option<String>, Fault> {
        let (address, own) = split_saltenv(address);
        let saltenv = own.as_deref().unwrap_or(saltenv);
        let path = path_of(&address)?;
        let files = self.files()?;
        let place = match dest.filter(|dest| !dest.is_empty()) {
            Some(dest) => Place::Wanted(self.with_name(dest, &path)),
            None => match self.cache.file(&path, saltenv) {
                Some(place) => Place::Cache(place),
                None => return Ok(None),
            },
        };
        // Each question is a round trip to the master: as few as there can be.
        if self.is_there(&place) {
            let Some(FileHash { kind, digest }) = files.hash(&path, saltenv)? else {
                return Ok(None);
            };
            if self.digest(&place, kind).is_ok_and(|own| own == digest) {
                return Ok(Some(place.shown()));
            }
        } else if let Place::Wanted(dest) = &place
            && !self.has_directory(dest, Directories::Expect)?
            // No directory is made for a file that there is not.
            && (directories == Directories::Expect
                || files.find(&path, saltenv)?.is_none()
                || !self.has_directory(dest, directories)?)
        {
            return Ok(None);
        }
        let incoming = self.cache.incoming()?;
        if !files.fetch(&path, saltenv, &incoming)? {
            return Ok(None);
        }
        self.put(&incoming, &place)?;
        Ok(Some(place.shown()))
    }

    /// What is under an address, for who wants no file of it. Nothing where there is no such file.
    pub fn content(&self, address: &str, saltenv: &str, wanted: &Wanted) -> Result<Option<Value>, Fault> {
        match address::scheme(address).as_str() {
            "http" | "https" => {
                let mut page = Bounded { bytes: Vec::new() };
                self.ask(&self.request(address, wanted), address, &mut page)?;
                Ok(Some(text_or_bytes(page.bytes)))
            }
            _ => match self.cache_file(address, saltenv, wanted)? {
                Some(path) => {
                    let bytes = self.read(&path).map_err(|error| failed(Path::new(&path), &error))?;
                    Ok(Some(text_or_bytes(bytes)))
                }
                None => Ok(None),
            },
        }
    }

    /// Puts what is under an address where `dest` says. False: there is no directory for it.
    pub fn download(
        &self,
        address: &str,
        dest: &str,
        directories: Directories,
        wanted: &Wanted,
    ) -> Result<Option<String>, Fault> {
        let url = Url::parse(address);
        let last = match url.query.is_empty() && (url.path.len() <= 1 || url.path.ends_with('/')) {
            true => "index.html",
            false => address.rsplit('/').next().unwrap_or("index.html"),
        };
        let dest = self.with_name(dest, last);
        if !self.has_directory(&dest, directories)? {
            return Ok(None);
        }
        let incoming = self.fetched(address, wanted, None)?.unwrap_or_default();
        let place = Place::Wanted(dest);
        self.put(&incoming, &place)?;
        Ok(Some(place.shown()))
    }

    /// Keeps a page of a web server in the cache.
    fn page(&self, address: &str, saltenv: &str, wanted: &Wanted) -> Result<String, Fault> {
        let Some(place) = self.cache.external(address, saltenv) else {
            return Err(Fault::invocation(format!("{}: invalid path", address::redacted(address))));
        };
        if let Some(hash) = &wanted.source_hash
            && has_hash(&place, hash)
        {
            return Ok(place.to_string_lossy().into_owned());
        }
        let etag = PathBuf::from(format!("{}.etag", place.display()));
        let known = own::read_text(&etag).ok().filter(|_| wanted.by_etag && own::exists(&place));
        if let Some(incoming) = self.fetched(address, wanted, known.map(|known| (known, etag.clone())))? {
            let came = PathBuf::from(format!("{}.etag", incoming.display()));
            self.cache.keep(&incoming, &place)?;
            if own::exists(&came) {
                self.cache.keep(&came, &etag)?;
            }
        }
        Ok(place.to_string_lossy().into_owned())
    }

    /// Brings a page of a web server here; nothing where the one that is known is still the same. Its `ETag` stands beside
    /// it, where one is wanted and came.
    fn fetched(
        &self,
        address: &str,
        wanted: &Wanted,
        known: Option<(String, PathBuf)>,
    ) -> Result<Option<PathBuf>, Fault> {
        let mut request = self.request(address, wanted);
        if let Some((etag, _)) = &known {
            request.headers.push(("If-None-Match".to_owned(), etag.trim().to_owned()));
        }
        let incoming = self.cache.incoming()?;
        let mut file = own::create(&incoming).map_err(|error| failed(&incoming, &error))?;
        let answer = self.ask(&request, address, &mut file);
        if !matches!(&answer, Ok(response) if response.status != 304) {
            let _ = own::remove(&incoming);
        }
        let response = answer?;
        if response.status == 304 {
            return Ok(None);
        }
        if let Some(etag) = response.header("etag").filter(|_| wanted.by_etag) {
            let beside = PathBuf::from(format!("{}.etag", incoming.display()));
            own::write(&beside, etag.as_bytes()).map_err(|error| failed(&beside, &error))?;
        }
        Ok(Some(incoming))
    }

    fn ask(
        &self,
        request: &Request,
        address: &str,
        body: &mut dyn Write,
    ) -> Result<halite_core::host::web::Response, Fault> {
        let path = Url::parse(address).path;
        let asked =
            self.ctx.host.web(request, body).map_err(|error| minion_error(format!("Error: {error} reading {path}")))?;
        match asked.is_success() || asked.status == 304 {
            true => Ok(asked),
            false => Err(minion_error(format!("Error: HTTP {} reading {path}", asked.status))),
        }
    }

    fn request(&self, address: &str, wanted: &Wanted) -> Request {
        let url = Url::parse(address);
        let mut request = Request::get(&url.without_user());
        if let Some((name, password)) = url.user() {
            use base64::Engine as _;
            let both = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
            request.headers.push(("Authorization".to_owned(), format!("Basic {both}")));
        }
        let opts = self.ctx.opts;
        let verifies = opts.at("verify_ssl").is_none_or(Value::truthy);
        let bundle = opts.str_at("ca_bundle").filter(|path| !path.is_empty());
        request.certificate = match bundle {
            _ if wanted.unchecked || !verifies => Certificates::Unchecked,
            Some(path) => Certificates::In(PathBuf::from(path)),
            None => Certificates::OfHost,
        };
        let seconds =
            |name: &str| opts.at(name).and_then(Value::as_float).filter(|seconds| *seconds > 0.0 && *seconds < 1e6);
        request.connect_time = seconds("http_connect_timeout").map_or(request.connect_time, Duration::from_secs_f64);
        request.time = seconds("http_request_timeout").map_or(request.time, Duration::from_secs_f64);
        request
    }

    fn put(&self, incoming: &Path, place: &Place) -> Result<(), Fault> {
        match place {
            Place::Cache(place) => self.cache.keep(incoming, place),
            Place::Wanted(dest) => {
                let placed = self.ctx.host.place(incoming, Path::new(dest), Attributes::default());
                placed.map_err(|error| {
                    let _ = own::remove(incoming);
                    failed(Path::new(dest), &error)
                })
            }
        }
    }

    /// A file that goes into a directory keeps its name.
    fn with_name(&self, dest: &str, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path).trim_start_matches('|');
        match paths::is_directory(self.ctx.host, dest) || dest.ends_with('/') {
            true => format!("{}/{name}", dest.trim_end_matches('/')),
            false => dest.to_owned(),
        }
    }

    fn has_directory(&self, dest: &str, directories: Directories) -> Result<bool, Fault> {
        let Some(directory) = Path::new(dest).parent().filter(|directory| !directory.as_os_str().is_empty()) else {
            return Ok(true);
        };
        if paths::is_directory(self.ctx.host, &directory.to_string_lossy()) {
            return Ok(true);
        }
        match directories {
            Directories::Expect => Ok(false),
            Directories::Make => paths::make_directories(self.ctx.host, directory)
                .map(|()| true)
                .map_err(|error| failed(directory, &error)),
        }
    }

    /// What is in a file that [`cache_file`](FileClient::cache_file) has named: the node's own below its cache, else the
    /// host's.
    pub fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = Path::new(path);
        if self.cache.has(path) { own::read(path) } else { self.ctx.host.read(path) }
    }

    /// The same, which must be UTF-8.
    pub fn read_text(&self, path: &str) -> io::Result<String> {
        // In the words of the standard library.
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
        String::from_utf8(self.read(path)?).map_err(|_| invalid())
    }

    fn is_there(&self, place: &Place) -> bool {
        match place {
            Place::Cache(path) => own::is_file(path),
            Place::Wanted(path) => paths::is_file(self.ctx.host, path),
        }
    }

    fn digest(&self, place: &Place, kind: HashType) -> io::Result<String> {
        match place {
            Place::Cache(path) => kind.of(own::open(path)?),
            Place::Wanted(path) => kind.of(self.ctx.host.open(Path::new(path))?),
        }
    }
}

/// Where a file is to be.
enum Place {
    Cache(PathBuf),
    Wanted(String),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Place::Cache(path) => path,
            Place::Wanted(path) => Path::new(path),
        }
    }

    fn shown(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }
}

/// The environment that a call means: its own, else the one of the configuration, else `base`.
pub fn saltenv(ctx: &Ctx, given: Option<&str>) -> String {
    let of_opts = || ctx.opts.str_at("saltenv").filter(|saltenv| !saltenv.is_empty());
    given.filter(|saltenv| !saltenv.is_empty()).or_else(of_opts).unwrap_or("base").to_owned()
}

/// The path in an address of the file server; other addresses are a fault.
pub fn path_of(address: &str) -> Result<String, Fault> {
    match address.starts_with("salt://") {
        true => Ok(parse(address).0),
        false => Err(minion_error(format!("Unsupported path: {}", address::redacted(address)))),
    }
}

/// The path that a `file://` address, or a path, means.
fn own_path(address: &str) -> Result<String, Fault> {
    let url = Url::parse(address);
    let path = match url.scheme.as_str() {
        "" => address.to_owned(),
        "file" => format!("{}{}", url.authority, url.path),
        scheme @ ("ftp" | "s3" | "swift") => {
            return Err(Fault::execution(format!(
                "this version fetches nothing by {scheme}: {}",
                address::redacted(address)
            )));
        }
        _ => {
            let message = format!("Unsupported url scheme: {}", address::redacted(address));
            return Err(Fault::Raised { kind: "ValueError".to_owned(), message });
        }
    };
    match path.starts_with('/') {
        true => Ok(path.trim_end_matches('/').to_owned()),
        false => Err(Fault::execution(format!("Path '{path}' is not absolute"))),
    }
}

/// The address of a name in a list of the file server.
pub fn address_of(name: &str) -> String {
    // A name with a question mark would be cut there.
    if name.contains('?') || name.starts_with('|') { format!("salt://|{name}") } else { create(name) }
}

/// Whether a file has this hash, which may have its kind before it (`sha256=...`).
fn has_hash(path: &Path, hash: &str) -> bool {
    let digest = hash.rsplit('=').next().unwrap_or(hash).to_ascii_lowercase();
    let Some(kind) = HashType::of_length(digest.len()) else {
        return false;
    };
    own::open(path).and_then(|file| kind.of(file)).is_ok_and(|own| own == digest)
}

/// Text where it is UTF-8.
fn text_or_bytes(bytes: Vec<u8>) -> Value {
    String::from_utf8(bytes).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::from)
}

/// A page in memory, up to a length.
struct Bounded {
    bytes: Vec<u8>,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > PAGE {
            return Err(io::Error::other(format!("the page is longer than {PAGE} bytes: give it a dest")));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn minion_error(message: String) -> Fault {
    Fault::Raised { kind: "salt.exceptions.MinionError".to_owned(), message }
}

fn failed(path: &Path, error: &io::Error) -> Fault {
    Fault::execution(format!("{}: {error}", path.display()))
}
