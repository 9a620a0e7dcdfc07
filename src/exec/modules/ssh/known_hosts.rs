//! Hosts that are known by their keys: `known_hosts`.

use super::{fingerprint, user};
use halite_core::accounts::tool;
use halite_core::host::Attributes;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_lang::base64;
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

/// The port that needs no brackets.
const PORT: i64 = 22;

fn told(error: impl Into<String>) -> Map {
    Map::from_iter([("status", Value::from("error")), ("error", error.into().into())])
}

/// The file: of a user, or of the host. The error is what functions return.
fn file(ctx: &Ctx, user_name: Option<&str>, config: Option<&str>) -> Result<String, Map> {
    let config = config.filter(|config| !config.is_empty());
    match user_name.filter(|name| !name.is_empty()) {
        _ if config.is_some_and(|config| config.starts_with('/')) => Ok(config.unwrap_or_default().to_owned()),
        Some(name) => match user(ctx, name) {
            Ok(account) => Ok(paths::join(&[account.home, config.unwrap_or(".ssh/known_hosts").to_owned()])),
            Err(_) => Err(told(format!("User {name} does not exist"))),
        },
        None if config.is_none() => Ok("/etc/ssh/ssh_known_hosts".to_owned()),
        None => Err(told("Cannot determine absolute path to file.")),
    }
}

fn name_with_port(hostname: &str, port: Option<i64>) -> String {
    match port.filter(|port| *port != PORT && *port != 0) {
        Some(port) => format!("[{hostname}]:{port}"),
        None => hostname.to_owned(),
    }
}

/// A host with one of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    hostname: String,
    enc: String,
    key: String,
    fingerprint: String,
}

impl Entry {
    fn shown(&self) -> Map {
        let Entry { hostname, enc, key, fingerprint } = self;
        Map::from_iter([("hostname", hostname), ("key", key), ("enc", enc), ("fingerprint", fingerprint)])
    }
}

fn entries(text: &str, kind: Option<&str>) -> Result<Vec<Entry>, Fault> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [hostname, enc, key] = words.as_slice() else { continue };
        if let Some(fingerprint) = fingerprint(key, kind)? {
            let [hostname, enc, key] = [hostname, enc, key].map(|word| word.to_string());
            found.push(Entry { hostname, enc, key, fingerprint });
        }
    }
    Ok(found)
}

/// What a file knows of a host, hashed names too, by ssh-keygen.
fn known(ctx: &Ctx, file: &str, name: &str, kind: Option<&str>) -> Result<Vec<Entry>, Fault> {
    let answer = Program::new([tool(ctx, "ssh-keygen")?]).args(["-F", name, "-f", file]).query(ctx)?;
    entries(&answer.stdout, kind)
}

/// What a host says of itself.
fn received(
    ctx: &Ctx,
    hostname: &str,
    enc: Option<&str>,
    port: Option<i64>,
    hash: bool,
    timeout: i64,
    kind: Option<&str>,
) -> Result<Vec<Entry>, Fault> {
    if hostname.starts_with('-') {
        return Err(Fault::invocation(format!("'{hostname}' is not the name of a host")));
    }
    let mut program = Program::new([tool(ctx, "ssh-keyscan")?]);
    if let Some(port) = port.filter(|port| *port != 0) {
        program = program.args(["-p".to_owned(), port.to_string()]);
    }
    if let Some(enc) = enc.filter(|enc| !enc.is_empty()) {
        program = program.args(["-t", enc]);
    }
    if hash {
        program = program.arg("-H");
    }
    let program = program.args(["-T".to_owned(), timeout.to_string(), hostname.to_owned()]);
    for _ in 0..5 {
        let found = entries(&program.query(ctx)?.stdout, kind)?;
        if !found.is_empty() || ctx.is_cancelled() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// A list, None where it is empty.
fn shown(entries: &[Entry]) -> Value {
    if entries.is_empty() { Value::Null } else { Value::list(entries.iter().map(Entry::shown)) }
}

record! {
    /// Shows what is known of a host: its keys.
    ///
    ///   salt '*' ssh.get_known_host_entries root github.com
    pub struct GetKnownHostEntries {
        /// The user; empty: the file of this host.
        user: Option<String>,
        /// The host.
        hostname: String,
        /// The file, below the user's home or absolute.
        config: Option<String> = (),
        /// Its port.
        port: Option<i64> = (),
        /// The kind of digest for fingerprints; sha256 if not given.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for GetKnownHostEntries {
    fn run(self, ctx: &Ctx) -> Reply {
        match file(ctx, self.user.as_deref(), self.config.as_deref()) {
            Ok(file) => {
                let name = name_with_port(&self.hostname, self.port);
                Ok(shown(&known(ctx, &file, &name, self.fingerprint_hash_type.as_deref())?).into())
            }
            Err(told) => Ok(told.into()),
        }
    }
}

record! {
    /// Asks a host for its keys.
    ///
    ///   salt '*' ssh.recv_known_host_entries github.com
    pub struct RecvKnownHostEntries {
        /// The host.
        hostname: String,
        /// The kind of key.
        enc: Option<String> = (),
        /// Its port.
        port: Option<i64> = (),
        /// Whether its name is hashed.
        hash_known_hosts: bool = true,
        /// For how many seconds it may be silent.
        timeout: i64 = 5,
        /// The kind of digest for fingerprints; sha256 if not given.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for RecvKnownHostEntries {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = self.fingerprint_hash_type.as_deref();
        let (enc, hash) = (self.enc.as_deref(), self.hash_known_hosts);
        Ok(shown(&received(ctx, &self.hostname, enc, self.port, hash, self.timeout, kind)?).into())
    }
}

record! {
    /// Shows what setting a host would do: `add`, `update` or `exists`.
    ///
    ///   salt '*' ssh.check_known_host root github.com
    pub struct CheckKnownHost {
        /// The user; without it the file of this host.
        user: Option<String> = (),
        /// The host.
        hostname: Option<String> = (),
        /// The key that it should have.
        key: Option<String> = (),
        /// Or its fingerprint.
        fingerprint: Option<String> = (),
        /// The file, below the user's home or absolute.
        config: Option<String> = (),
        /// Its port.
        port: Option<i64> = (),
        /// The kind of digest for fingerprints; sha256 if not given.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for CheckKnownHost {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(hostname) = self.hostname.filter(|name| !name.is_empty()) else {
            return Ok(told("hostname argument required").into());
        };
        let file = match file(ctx, self.user.as_deref(), self.config.as_deref()) {
            Ok(file) => file,
            Err(told) => return Ok(told.into()),
        };
        let name = name_with_port(&hostname, self.port);
        let known = known(ctx, &file, &name, self.fingerprint_hash_type.as_deref())?;
        let has = |fits: &dyn Fn(&Entry) -> bool| if known.iter().any(fits) { "exists" } else { "update" };
        Ok(match (&self.key, &self.fingerprint) {
            _ if known.is_empty() => "add",
            (Some(key), _) => has(&|entry| entry.key == *key),
            (None, Some(fingerprint)) => has(&|entry| entry.fingerprint == *fingerprint),
            (None, None) => "exists",
        }
        .into())
    }
}

/// Gives the file back to its user: ssh-keygen and we write it as root.
fn give_back(ctx: &Ctx, file: &str, user_name: Option<&str>, mode: Option<u32>) -> Result<(), Fault> {
    let owner = user_name.filter(|name| !name.is_empty()).map(|name| user(ctx, name)).transpose()?;
    let attributes =
        Attributes { mode, uid: owner.as_ref().map(|owner| owner.uid), gid: owner.as_ref().map(|owner| owner.gid) };
    ctx.host.set(Path::new(file), attributes).map_err(|error| Fault::execution(format!("{file}: {error}")))
}

record! {
    /// Forgets a host.
    ///
    ///   salt '*' ssh.rm_known_host root github.com
    pub struct RmKnownHost {
        /// The user; without it the file of this host.
        user: Option<String> = (),
        /// The host.
        hostname: Option<String> = (),
        /// The file, below the user's home or absolute.
        config: Option<String> = (),
        /// Its port.
        port: Option<i64> = (),
    }
}

impl Run for RmKnownHost {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(hostname) = self.hostname.filter(|name| !name.is_empty()) else {
            return Ok(told("hostname argument required").into());
        };
        let file = match file(ctx, self.user.as_deref(), self.config.as_deref()) {
            Ok(file) => file,
            Err(told) => return Ok(told.into()),
        };
        if !paths::is_file(ctx.host, &file) {
            return Ok(told(format!("Known hosts file {file} does not exist")).into());
        }
        let name = name_with_port(&hostname, self.port);
        let answer = Program::new([tool(ctx, "ssh-keygen")?]).args(["-R", &name, "-f", &file]).mixed().run(ctx)?;
        give_back(ctx, &file, self.user.as_deref(), None)?;
        Ok(Map::from_iter([("status", "removed".to_owned()), ("comment", answer.stdout)]).into())
    }
}

record! {
    /// Remembers a host by a key, or by the key that it gives now. Returns its `status`: exists, updated or error.
    ///
    ///   salt '*' ssh.set_known_host root github.com enc=ssh-rsa
    pub struct SetKnownHost {
        /// The user; without it the file of this host.
        user: Option<String> = (),
        /// The host.
        hostname: Option<String> = (),
        /// The fingerprint that the key it gives must have.
        fingerprint: Option<String> = (),
        /// The key itself.
        key: Option<String> = (),
        /// Its port.
        port: Option<i64> = (),
        /// The kind of key.
        enc: Option<String> = (),
        /// The file, below the user's home or absolute.
        config: Option<String> = (),
        /// Whether its name is hashed.
        hash_known_hosts: bool = true,
        /// For how many seconds it may be silent.
        timeout: i64 = 5,
        /// The kind of digest for fingerprints; sha256 if not given.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for SetKnownHost {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(hostname) = self.hostname.clone().filter(|name| !name.is_empty()) else {
            return Ok(told("hostname argument required").into());
        };
        if self.port.is_some_and(|port| port != PORT) && self.hash_known_hosts {
            let text = "argument port can not be used in conjunction with argument hash_known_hosts";
            return Ok(told(text).into());
        }
        let file = match file(ctx, self.user.as_deref(), self.config.as_deref()) {
            Ok(file) => file,
            Err(told) => return Ok(told.into()),
        };
        let kind = self.fingerprint_hash_type.as_deref();
        let name = name_with_port(&hostname, self.port);
        let stored = known(ctx, &file, &name, kind)?;
        let of_kind = |entry: &&Entry| self.enc.as_ref().is_none_or(|enc| *enc == entry.enc);
        let stored_keys: Vec<&str> = stored.iter().filter(of_kind).map(|entry| entry.key.as_str()).collect();
        let exists = |keys: &[&str]| {
            Map::from_iter([("status", Value::from("exists")), ("keys", Value::list(keys.iter().copied()))])
        };
        let misses_print =
            self.fingerprint.as_ref().is_some_and(|own| !stored.iter().any(|entry| entry.fingerprint == *own));
        let misses_key = self.key.as_deref().is_some_and(|key| !stored_keys.contains(&key));
        let needs = stored.is_empty() || misses_print || misses_key;
        let asks = !needs && self.key.is_none() && self.fingerprint.is_none();
        if !needs && !asks {
            return Ok(exists(&stored_keys).into());
        }
        let new = match &self.key {
            Some(key) if self.enc.as_deref().unwrap_or_default().is_empty() && kind_of(key).is_empty() => {
                return Ok(told("The kind of the key is not to be seen in it: `enc` has to be given").into());
            }
            Some(key) => vec![Entry {
                hostname: hostname.clone(),
                enc: self.enc.clone().filter(|enc| !enc.is_empty()).unwrap_or_else(|| kind_of(key)),
                key: key.clone(),
                fingerprint: String::new(),
            }],
            None => {
                let (enc, hash) = (self.enc.as_deref(), self.hash_known_hosts);
                let found = received(ctx, &hostname, enc, self.port, hash, self.timeout, kind)?;
                if found.is_empty() {
                    return Ok(told("Unable to receive remote host keys").into());
                }
                if self.fingerprint.as_ref().is_some_and(|own| !found.iter().any(|entry| entry.fingerprint == *own)) {
                    let text =
                        "Remote host public keys found but none of their fingerprints match the one you have provided";
                    return Ok(told(text).into());
                }
                let same = |entry: &Entry| stored_keys.contains(&entry.key.as_str());
                if asks && found.iter().all(same) && found.len() == stored_keys.len() {
                    return Ok(exists(&stored_keys).into());
                }
                found
            }
        };
        self.store(ctx, &file, &stored, &new)?;
        let shown_new = match self.key {
            Some(_) => Value::list(new.iter().map(|entry| {
                let mut map = Map::from_iter([("hostname", &entry.hostname), ("enc", &entry.enc), ("key", &entry.key)]);
                if let Some(port) = self.port.filter(|_| !self.is_plain(&entry.hostname)) {
                    map.insert("port", port);
                }
                map
            })),
            None => shown(&new),
        };
        Ok(Map::from_iter([("status", Value::from("updated")), ("old", shown(&stored)), ("new", shown_new)]).into())
    }
}

/// The kind of a key: its first part says it, with its length before it.
fn kind_of(key: &str) -> String {
    // The beginning is enough; the end of a key that was typed may be wrong.
    let whole = (key.len().min(64) / 4) * 4;
    let raw = base64::decode(key.as_bytes().get(..whole).unwrap_or_default()).unwrap_or_default();
    let length = raw.get(3).copied().map_or(0, usize::from);
    String::from_utf8_lossy(raw.get(4..4 + length).unwrap_or_default()).into_owned()
}

impl SetKnownHost {
    /// Whether the file names the host without its port.
    fn is_plain(&self, hostname: &str) -> bool {
        self.hash_known_hosts || self.port.is_none_or(|port| port == PORT) || hostname.contains(':')
    }

    /// Takes out what the file had for the host and puts the new keys at its end.
    fn store(&self, ctx: &Ctx, file: &str, stored: &[Entry], new: &[Entry]) -> Result<(), Fault> {
        let old = text_file::read(ctx.host, file)?;
        let gone = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            stored.iter().any(|entry| {
                words.first() == Some(&entry.hostname.as_str())
                    && words.last() == Some(&entry.key.as_str())
                    && self.enc.as_ref().is_none_or(|enc| *enc == entry.enc)
            })
        };
        let mut text: String = old.lines().filter(|line| !gone(line)).map(|line| format!("{line}\n")).collect();
        for entry in new {
            let is_plain = self.is_plain(&entry.hostname);
            let name = if is_plain { entry.hostname.clone() } else { name_with_port(&entry.hostname, self.port) };
            text.push_str(&format!("{name} {} {}\n", entry.enc, entry.key));
        }
        let refused = |error: std::io::Error| Fault::execution(format!("{file}: {error}"));
        let directory = paths::directory_of(file);
        if !paths::is_directory(ctx.host, &directory) {
            halite_core::paths::make_directories(ctx.host, Path::new(&directory)).map_err(refused)?;
            give_back(ctx, &directory, self.user.as_deref(), Some(0o700))?;
        }
        let mode = if paths::is_file(ctx.host, file) { None } else { Some(0o600) };
        text_file::write(ctx.host, file, &text)?;
        give_back(ctx, file, self.user.as_deref(), mode)?;
        if self.key.is_some() && self.hash_known_hosts {
            hash(ctx, file, self.user.as_deref())?;
        }
        Ok(())
    }
}

fn hash(ctx: &Ctx, file: &str, user_name: Option<&str>) -> Result<String, Fault> {
    let mode = ctx.host.stat(Path::new(file)).ok().map(|stat| stat.mode);
    let answer = Program::new([tool(ctx, "ssh-keygen")?]).args(["-H", "-f", file]).mixed().run(ctx)?;
    give_back(ctx, file, user_name, mode)?;
    Ok(answer.stdout)
}

record! {
    /// Hashes the names of all hosts that are known.
    ///
    ///   salt '*' ssh.hash_known_hosts root
    pub struct HashKnownHosts {
        /// The user; without it the file of this host.
        user: Option<String> = (),
        /// The file, below the user's home or absolute.
        config: Option<String> = (),
    }
}

impl Run for HashKnownHosts {
    fn run(self, ctx: &Ctx) -> Reply {
        let file = match file(ctx, self.user.as_deref(), self.config.as_deref()) {
            Ok(file) => file,
            Err(told) => return Ok(told.into()),
        };
        if !paths::is_file(ctx.host, &file) {
            return Ok(told(format!("Known hosts file {file} does not exist")).into());
        }
        let comment = hash(ctx, &file, self.user.as_deref())?;
        Ok(Map::from_iter([("status", "updated".to_owned()), ("comment", comment)]).into())
    }
}
