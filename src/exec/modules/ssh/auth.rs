//! Keys that may log in: `authorized_keys`.

use super::{fingerprint, user};
use halite_core::accounts::accounts;
use halite_core::host::Attributes;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_node::fileserver::client::FileClient;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

const DEFAULT: &str = ".ssh/authorized_keys";

/// A key as a line has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Key {
    options: Vec<String>,
    enc: String,
    key: String,
    comment: String,
}

impl Key {
    /// Options may have blanks in quotes, so the kind of key is looked for.
    fn parse(line: &str) -> Option<Key> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let is_kind = |word: &str| {
            let word = word.strip_prefix("sk-").unwrap_or(word);
            (word.starts_with("ssh-") || word.starts_with("ecds")) && word.len() > 5
        };
        let mut start = 0;
        for word in line.split(' ') {
            let end = start + word.len();
            if is_kind(word) && end < line.len() {
                let mut rest = line[end..].split_whitespace();
                let key = rest.next()?.to_owned();
                let options = line[..start].trim();
                let options =
                    if options.is_empty() { Vec::new() } else { options.split(',').map(str::to_owned).collect() };
                let comment = rest.collect::<Vec<&str>>().join(" ");
                return Some(Key { options, enc: word.to_owned(), key, comment });
            }
            start = end + 1;
        }
        None
    }

    fn line(&self) -> String {
        let options = if self.options.is_empty() { String::new() } else { format!("{} ", self.options.join(",")) };
        format!("{options}{} {} {}\n", self.enc, self.key, self.comment)
    }
}

/// The kind of key that a short name means.
fn refined(enc: &str) -> Result<String, Fault> {
    let known = match enc {
        "r" | "rsa" | "ssh-rsa" => "ssh-rsa",
        "d" | "dsa" | "dss" | "ssh-dss" => "ssh-dss",
        "e" | "ecdsa" => "ecdsa-sha2-nistp256",
        "ed25519" | "ssh-ed25519" => "ssh-ed25519",
        other => other,
    };
    const ALSO: [&str; 17] = [
        "ecdsa-sha2-nistp521",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp256",
        "rsa-sha2-512",
        "rsa-sha2-256",
        "rsa-sha2-512-cert-v01@openssh.com",
        "rsa-sha2-256-cert-v01@openssh.com",
        "ssh-rsa-cert-v01@openssh.com",
        "ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "ecdsa-sha2-nistp384-cert-v01@openssh.com",
        "ecdsa-sha2-nistp521-cert-v01@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
        "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "ssh-ed25519-cert-v01@openssh.com",
        "sk-ssh-ed25519@openssh.com",
        "sk-ssh-ed25519-cert-v01@openssh.com",
        "ssh-rsa",
    ];
    match ["ssh-rsa", "ssh-dss", "ssh-ed25519"].contains(&known) || ALSO.contains(&known) {
        true => Ok(known.to_owned()),
        false => Err(Fault::execution(format!("Incorrect encryption key type '{enc}'."))),
    }
}

/// The file of a user: `%u` is its name, `%h` its home, which is also where a path that is not absolute begins.
fn file(ctx: &Ctx, name: &str, config: &str) -> Result<String, Fault> {
    let home = user(ctx, name)?.home;
    let mut path = String::new();
    let mut chars = config.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '%' { chars.next() } else { None }) {
            ('%', Some('%')) => path.push('%'),
            ('%', Some('u')) => path.push_str(name),
            ('%', Some('h')) => path.push_str(&home),
            ('%', Some(other)) => {
                return Err(Fault::execution(format!("AuthorizedKeysFile path: unknown token character \"%{other}\"")));
            }
            ('%', None) => {
                return Err(Fault::execution("AuthorizedKeysFile path: Last character can't be escape character"));
            }
            (c, _) => path.push(c),
        }
    }
    Ok(paths::join(&[home, path]))
}

/// The keys of a file, by their text.
fn keys_of(text: &str, kind: Option<&str>) -> Result<Vec<(Key, String)>, Fault> {
    let mut keys: Vec<(Key, String)> = Vec::new();
    for key in text.lines().filter_map(Key::parse) {
        if let Some(print) = fingerprint(&key.key, kind)? {
            keys.retain(|(known, _)| known.key != key.key);
            keys.push((key, print));
        }
    }
    Ok(keys)
}

fn keys(ctx: &Ctx, name: &str, config: &str, kind: Option<&str>) -> Result<Vec<(Key, String)>, Fault> {
    keys_of(&text_file::read(ctx.host, &file(ctx, name, config)?)?, kind)
}

fn shown(keys: Vec<(Key, String)>) -> Map {
    let shown = keys.into_iter().map(|(key, print)| {
        let entry = [
            ("enc", Value::from(key.enc)),
            ("comment", key.comment.into()),
            ("options", Value::list(key.options)),
            ("fingerprint", print.into()),
        ];
        (key.key, Map::from_iter(entry))
    });
    shown.collect()
}

record! {
    /// Shows the keys that may log in as a user, or as each of several.
    ///
    ///   salt '*' ssh.auth_keys root
    ///   salt '*' ssh.auth_keys user='[user1, user2]'
    pub struct AuthKeys {
        /// The user, or a list; without it all.
        user: Value = (),
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// The kind of digest for fingerprints; sha256 if not given.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for AuthKeys {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = self.fingerprint_hash_type.as_deref();
        let of = |name: &str| keys(ctx, name, &self.config, kind);
        let exists = |name: &str| file(ctx, name, &self.config).is_ok_and(|path| paths::is_file(ctx.host, &path));
        if let Value::Str(name) = &self.user
            && !name.is_empty()
        {
            return Ok(if exists(name) { shown(of(name)?) } else { Map::new() }.into());
        }
        let names: Vec<String> = match &self.user {
            Value::List(names) => names.iter().map(Value::to_text).collect(),
            _ => {
                let mut names: Vec<String> = accounts(ctx, None)?.into_iter().map(|account| account.name).collect();
                names.sort();
                names
            }
        };
        let mut all = Map::new();
        for name in names.iter().filter(|name| exists(name)) {
            all.insert(name.as_str(), shown(of(name)?));
        }
        Ok(all.into())
    }
}

/// What would become of a key: `add`, `update` or `exists`.
fn check(ctx: &Ctx, name: &str, key: &Key, config: &str) -> Result<&'static str, Fault> {
    let known = match file(ctx, name, config) {
        Ok(path) => keys_of(&text_file::read(ctx.host, &path)?, None)?,
        Err(_) => Vec::new(),
    };
    Ok(match known.iter().find(|(known, _)| known.key == key.key) {
        None => "add",
        Some((known, _)) if known == key => "exists",
        Some(_) => "update",
    })
}

fn options(given: &Value) -> Vec<String> {
    match given {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        Value::Str(text) if text.is_empty() => Vec::new(),
        text => vec![text.to_text()],
    }
}

record! {
    /// Shows what setting a key would do: `add`, `update` or `exists`.
    ///
    ///   salt '*' ssh.check_key root AAAAB3Nz ssh-rsa comment '[]'
    pub struct CheckKey {
        /// The user.
        user: String,
        /// The key, in base64.
        key: String,
        /// Its kind.
        enc: String,
        /// Its comment.
        comment: Value,
        /// Its options.
        options: Value,
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// Taken, not used.
        cache_keys: Value = (),
        /// Taken, not used.
        fingerprint_hash_type: Option<String> = (),
    }
}

fn comment(given: &Value) -> String {
    if given.is_null() { String::new() } else { given.to_text() }
}

impl Run for CheckKey {
    fn run(self, ctx: &Ctx) -> Reply {
        let enc = refined(&self.enc)?;
        let key = Key { options: options(&self.options), enc, key: self.key, comment: comment(&self.comment) };
        Ok(check(ctx, &self.user, &key, &self.config)?.into())
    }
}

/// The keys of a file at an address; nothing where it has none.
fn fetched(ctx: &Ctx, source: &str, saltenv: &str, kind: Option<&str>) -> Result<Option<Vec<Key>>, Fault> {
    let client = FileClient::new(ctx);
    let Some(kept) = client.cache_file(source, saltenv, &Default::default())? else { return Ok(None) };
    let Ok(text) = client.read_text(&kept) else { return Ok(None) };
    Ok(Some(keys_of(&text, kind)?.into_iter().map(|(key, _)| key).collect()))
}

fn missing() -> Fault {
    Fault::execution("Failed to pull key file from salt file server")
}

record! {
    /// Shows what setting the keys of a file would do, by key.
    ///
    ///   salt '*' ssh.check_key_file root salt://ssh/keyfile
    pub struct CheckKeyFile {
        /// The user.
        user: String,
        /// The file's address.
        source: String,
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// The environment of files.
        saltenv: String = "base",
        /// Taken, not used.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for CheckKeyFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let keys = fetched(ctx, &self.source, &self.saltenv, None)?.unwrap_or_default();
        let mut shown = Map::new();
        for key in keys {
            let word = check(ctx, &self.user, &key, &self.config)?;
            shown.insert(key.key, word);
        }
        Ok(shown.into())
    }
}

record! {
    /// Lets a key log in as a user. Returns `new`, `replace`, `no change`, or what is wrong.
    ///
    ///   salt '*' ssh.set_auth_key root AAAAB3Nz enc=ssh-rsa
    pub struct SetAuthKey {
        /// The user.
        user: String,
        /// The key, in base64.
        key: String,
        /// Its kind.
        enc: String = "ssh-rsa",
        /// Its comment.
        comment: Value = "",
        /// Its options: a list.
        options: Value = (),
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// Taken, not used.
        cache_keys: Value = (),
        /// Taken, not used.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for SetAuthKey {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.key.split_whitespace().count() > 1 {
            return Ok("invalid".into());
        }
        let enc = refined(&self.enc)?;
        let key = Key { options: options(&self.options), enc, key: self.key, comment: comment(&self.comment) };
        Ok(set(ctx, &self.user, &key, &self.config, self.fingerprint_hash_type.as_deref())?.into())
    }
}

fn set(ctx: &Ctx, name: &str, key: &Key, config: &str, kind: Option<&str>) -> Result<&'static str, Fault> {
    let Ok(account) = user(ctx, name) else { return Ok("fail") };
    if fingerprint(&key.key, kind)?.is_none() {
        return Ok("Invalid public key");
    }
    if key.line().trim_end_matches('\n').contains('\n') {
        return Err(Fault::invocation("a key, its options and its comment are one line"));
    }
    let path = file(ctx, name, config)?;
    let word = check(ctx, name, key, config)?;
    let text = text_file::read(ctx.host, &path)?;
    match word {
        "exists" => return Ok("no change"),
        "update" => {
            let is_it = |line: &str| Key::parse(line).is_some_and(|known| known.key == key.key);
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let new: String =
                lines.map(|line| if is_it(line) { key.line() } else { format!("{}\n", line.trim()) }).collect();
            text_file::write(ctx.host, &path, &new)?;
            return Ok("replace");
        }
        _ => {}
    }
    if path.starts_with(&account.home) && !paths::is_directory(ctx.host, &account.home) {
        return Ok("fail");
    }
    let refused = |error: std::io::Error| Fault::execution(format!("Could not write to key file: {path}: {error}"));
    let owner = Attributes { mode: None, uid: Some(account.uid), gid: Some(account.gid) };
    let directory = paths::directory_of(&path);
    if !paths::is_directory(ctx.host, &directory) {
        halite_core::paths::make_directories(ctx.host, Path::new(&directory)).map_err(refused)?;
        ctx.host.set(Path::new(&directory), Attributes { mode: Some(0o700), ..owner }).map_err(refused)?;
        restore(ctx, &directory)?;
    }
    let is_new = !paths::is_file(ctx.host, &path);
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let whole = format!("{text}{gap}{}", key.line());
    if is_new {
        let attributes = Attributes { mode: Some(0o600), ..owner };
        ctx.host.write(Path::new(&path), whole.as_bytes(), attributes).map_err(refused)?;
        restore(ctx, &path)?;
    } else {
        text_file::write(ctx.host, &path, &whole)?;
    }
    Ok("new")
}

/// SELinux has to let the server read it.
fn restore(ctx: &Ctx, path: &str) -> Result<(), Fault> {
    if let Some(program) = ctx.host.which("restorecon") {
        Program::new([program.to_string_lossy().into_owned(), path.to_owned()]).run(ctx)?;
    }
    Ok(())
}

record! {
    /// Lets the keys of a file log in as a user. Returns `new`, `replace`, `no change` or `fail`.
    ///
    ///   salt '*' ssh.set_auth_key_from_file root salt://ssh_keys/root.id_rsa.pub
    pub struct SetAuthKeyFromFile {
        /// The user.
        user: String,
        /// The file's address.
        source: String,
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// The environment of files.
        saltenv: String = "base",
        /// Taken, not used.
        fingerprint_hash_type: Option<String> = (),
        /// `options`: those of all keys, in place of their own.
        kwargs: Keywords,
    }
}

impl Run for SetAuthKeyFromFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = self.fingerprint_hash_type.as_deref();
        let keys = fetched(ctx, &self.source, &self.saltenv, kind)?.ok_or_else(missing)?;
        if keys.is_empty() {
            return Ok("fail".into());
        }
        let given = self.kwargs.0.at("options").filter(|given| given.truthy()).map(options);
        let mut words = Vec::new();
        for mut key in keys {
            if let Some(options) = &given {
                key.options.clone_from(options);
            }
            key.enc = refined(&key.enc)?;
            words.push(set(ctx, &self.user, &key, &self.config, kind)?);
        }
        let worst = ["fail", "replace", "new"].into_iter().find(|word| words.contains(word));
        Ok(worst.unwrap_or("no change").into())
    }
}

record! {
    /// Lets a key log in as a user no more. Returns `Key removed`, `Key not present` or `Key not removed`.
    ///
    ///   salt '*' ssh.rm_auth_key root AAAAB3Nz
    pub struct RmAuthKey {
        /// The user.
        user: String,
        /// The key, in base64.
        key: String,
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// Taken, not used.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for RmAuthKey {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(remove(ctx, &self.user, &self.key, &self.config)?.into())
    }
}

fn remove(ctx: &Ctx, name: &str, key: &str, config: &str) -> Result<&'static str, Fault> {
    let Ok(path) = file(ctx, name, config) else { return Ok("Key not present") };
    let text = text_file::read(ctx.host, &path)?;
    let is_it = |line: &&str| Key::parse(line).is_some_and(|known| known.key == key);
    if !text.lines().any(|line| is_it(&line)) {
        return Ok("Key not present");
    }
    let kept = text.lines().filter(|line| !line.trim().is_empty() && !is_it(line));
    let kept: String = kept.map(|line| format!("{}\n", line.trim())).collect();
    Ok(match text_file::write(ctx.host, &path, &kept) {
        Ok(()) => "Key removed",
        Err(fault) => {
            log::warn!("{fault}");
            "Key not removed"
        }
    })
}

record! {
    /// Lets the keys of a file log in as a user no more.
    ///
    ///   salt '*' ssh.rm_auth_key_from_file root salt://ssh_keys/root.id_rsa.pub
    pub struct RmAuthKeyFromFile {
        /// The user.
        user: String,
        /// The file's address.
        source: String,
        /// The file, below the user's home or absolute.
        config: String = DEFAULT,
        /// The environment of files.
        saltenv: String = "base",
        /// Taken, not used.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl Run for RmAuthKeyFromFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let keys = fetched(ctx, &self.source, &self.saltenv, None)?.ok_or_else(missing)?;
        if keys.is_empty() {
            return Ok("fail".into());
        }
        let mut words = Vec::new();
        for key in keys {
            words.push(remove(ctx, &self.user, &key.key, &self.config)?);
        }
        let worst = ["Key not removed", "Key removed"].into_iter().find(|word| words.contains(word));
        Ok(worst.unwrap_or("Key not present").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::HostFiles;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    #[test]
    fn a_line_has_options_with_blanks() {
        let line = r#"command="ls -l",no-pty ssh-ed25519 AAAA bob at home"#;
        let key = Key::parse(line).unwrap();
        assert_eq!((key.options.len(), key.enc.as_str(), key.comment.as_str()), (2, "ssh-ed25519", "bob at home"));
        assert_eq!(key.line(), format!("{line}\n"));
        assert_eq!(Key::parse("# ssh-rsa AAAA"), None);
        assert!(refined("x").is_err() && refined("rsa").unwrap() == "ssh-rsa");
    }

    #[test]
    fn keys_come_change_and_go() {
        let world = World::on(Fake::new().file("/etc/passwd", "bob:x:7:8::/home/bob:/bin/sh\n").directory("/home/bob"));
        let run = |fun: &str, arguments: Arguments| call(&world.ctx(&NoMaster), fun, arguments).unwrap().value;
        let key = || Arguments::positional(["bob", "AAAA"]);
        assert_eq!(run("ssh.set_auth_key", key().with("comment", "a")), "new".into());
        let stat = |path: &str| world.host.stat(Path::new(path)).unwrap();
        let file = stat("/home/bob/.ssh/authorized_keys");
        assert_eq!((file.mode, file.uid, file.gid, stat("/home/bob/.ssh").mode), (0o600, 7, 8, 0o700));
        assert_eq!(run("ssh.set_auth_key", key().with("comment", "a")), "no change".into());
        assert_eq!(run("ssh.set_auth_key", key().with("comment", "b")), "replace".into());
        assert_eq!(world.host.text("/home/bob/.ssh/authorized_keys").unwrap(), "ssh-rsa AAAA b\n");
        assert_eq!(run("ssh.set_auth_key", Arguments::positional(["bob", "AAA"])), "Invalid public key".into());
        assert_eq!(run("ssh.rm_auth_key", key()), "Key removed".into());
        assert_eq!(run("ssh.rm_auth_key", key()), "Key not present".into());
    }
}
