//! The keys that packages of Debian are signed with.

use super::manager::Manager;
use halite_core::accounts::tool;
use halite_core::host::Attributes;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_node::fileserver::client::FileClient;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

const KEYRINGS: &str = "/etc/apt/keyrings";

/// Whether keys go to apt-key: if they should, and there is one.
fn uses_aptkey(ctx: &Ctx, asked: bool) -> bool {
    asked && ctx.host.which("apt-key").is_some()
}

record! {
    /// Adds a key that signs packages. Returns whether it was added.
    ///
    ///   salt '*' pkg.add_repo_key 'salt://apt/sources/test.key'
    ///   salt '*' pkg.add_repo_key keyserver='keyserver.example' keyid='0000AAAA'
    pub struct AddRepoKey {
        /// The address of the key.
        path: Option<String> = (),
        /// The key itself.
        text: Option<String> = (),
        /// Where to ask for it.
        keyserver: Option<String> = (),
        /// The id of the key.
        keyid: Option<String> = (),
        /// The environment of files.
        saltenv: String = "base",
        /// Whether it goes to apt-key, where there is one.
        aptkey: bool = true,
        /// Else the directory where it is kept.
        keydir: Option<String> = (),
        /// And the name of its file.
        keyfile: Option<String> = (),
    }
}

impl Run for AddRepoKey {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "add_repo_key", &[Manager::Apt])?;
        Ok(self.add(ctx)?.into())
    }
}

impl AddRepoKey {
    pub(super) fn add(&self, ctx: &Ctx) -> Result<bool, Fault> {
        let directory = self.keydir.as_deref().unwrap_or(KEYRINGS);
        let aptkey = uses_aptkey(ctx, self.aptkey);
        if let Some(keyid) = &self.keyid {
            let known = keys(ctx, aptkey, directory)?;
            if known.is_some_and(|known| known.keys().any(|key| key.to_text().ends_with(keyid.as_str()))) {
                return Ok(true);
            }
        }
        let given = match (&self.path, &self.text) {
            (Some(path), _) => {
                let client = FileClient::new(ctx);
                let Some(kept) = client.cache_file(path, &self.saltenv, &Default::default())? else {
                    log::error!("Unable to get cached copy of file: {path}");
                    return Ok(false);
                };
                let bytes = client.read(&kept).map_err(|error| Fault::execution(format!("{kept}: {error}")))?;
                Some((paths::name_of(&kept).to_owned(), bytes))
            }
            (None, Some(text)) => Some(("salt.asc".to_owned(), text.clone().into_bytes())),
            (None, None) => None,
        };
        if let Some((name, bytes)) = given {
            if aptkey {
                return Ok(Program::new(["apt-key", "add", "-"]).stdin(bytes).run(ctx)?.is_success());
            }
            return self.keep(ctx, directory, &name, bytes);
        }
        match (&self.keyserver, &self.keyid) {
            (Some(server), None) => {
                Err(Fault::invocation(format!("No keyid or keyid too short for keyserver: {server}")))
            }
            (None, Some(keyid)) => Err(Fault::invocation(format!("No keyserver specified for keyid: {keyid}"))),
            (None, None) => Err(Fault::invocation("a path, a text, or a keyserver and a keyid must be given")),
            (Some(server), Some(keyid)) if aptkey => {
                let words = ["apt-key", "adv", "--batch", "--keyserver", server, "--recv", keyid];
                Ok(Program::new(words).run(ctx)?.is_success())
            }
            (Some(server), Some(keyid)) => {
                let Some(name) = &self.keyfile else { return Ok(false) };
                let ring = format!("{directory}/{name}");
                let words =
                    ["gpg", "--no-default-keyring", "--keyring", &ring, "--keyserver", server, "--recv-keys", keyid];
                let answer = Program::new(words).run(ctx)?;
                if answer.is_success() {
                    let attributes = Attributes { mode: Some(0o644), ..Attributes::default() };
                    ctx.host
                        .set(Path::new(&ring), attributes)
                        .map_err(|error| Fault::execution(format!("{ring}: {error}")))?;
                }
                Ok(answer.is_success())
            }
        }
    }

    /// Puts a key into the directory of keys: as it is, or without its armour where the name says so.
    fn keep(&self, ctx: &Ctx, directory: &str, name: &str, bytes: Vec<u8>) -> Result<bool, Fault> {
        let name = self.keyfile.as_deref().unwrap_or(name);
        let refused = |error: std::io::Error| Fault::execution(format!("{directory}/{name}: {error}"));
        halite_core::paths::make_directories(ctx.host, Path::new(directory)).map_err(refused)?;
        let path = Path::new(directory).join(name);
        let attributes = Attributes { mode: Some(0o644), ..Attributes::default() };
        let is_armoured = String::from_utf8_lossy(&bytes).trim_start_matches('-').starts_with("BEGIN PGP");
        if is_armoured && !name.ends_with(".asc") {
            let path = path.to_string_lossy().into_owned();
            let words = [tool(ctx, "gpg")?, "--yes".into(), "--output".into(), path.clone(), "--dearmor".into()];
            let answer = Program::new(words).stdin(bytes).run(ctx)?;
            if answer.is_success() {
                ctx.host.set(Path::new(&path), attributes).map_err(refused)?;
            }
            return Ok(answer.is_success());
        }
        ctx.host.write(&path, &bytes, attributes).map_err(refused)?;
        Ok(true)
    }
}

/// What gpg knows of the keys that sign packages; nothing where there is no directory of them.
fn keys(ctx: &Ctx, aptkey: bool, directory: &str) -> Result<Option<Map>, Fault> {
    if aptkey {
        let words = ["apt-key", "adv", "--batch", "--list-public-keys", "--with-fingerprint", "--with-fingerprint"];
        let told = Program::new(words).args(["--with-colons", "--fixed-list-mode"]).query(ctx)?;
        return Ok(Some(parse_keys(&told.stdout)));
    }
    if !paths::is_directory(ctx.host, directory) {
        return Ok(None);
    }
    let mut all = String::new();
    for name in ctx.host.list(Path::new(directory)).unwrap_or_default() {
        let ring = format!("{directory}/{name}");
        let words = ["gpg", "--no-default-keyring", "--keyring", &ring, "--list-keys", "--with-colons"];
        all.push_str(&Program::new(words).query(ctx)?.stdout);
        all.push('\n');
    }
    Ok(Some(parse_keys(&all)))
}

fn parse_keys(text: &str) -> Map {
    let mut found: Vec<Map> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let value = |at: usize| -> Value {
            match fields.get(at).map(|field| field.trim()) {
                None | Some("") => Value::Null,
                Some(text) => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
            }
        };
        match fields[0] {
            kind @ ("pub" | "sub") => {
                let key = Map::from_iter([
                    ("algorithm", value(3)),
                    ("bits", value(2)),
                    ("capability", value(11)),
                    ("date_creation", value(5)),
                    ("date_expiration", value(6)),
                    ("keyid", fields.get(4).copied().unwrap_or_default().into()),
                    ("validity", value(1)),
                ]);
                match found.last_mut() {
                    Some(last) if kind == "sub" => drop(last.insert("subkey", key)),
                    _ => found.push(key),
                }
            }
            "fpr" => {
                if let Some(last) = found.last_mut() {
                    match last.at_mut("subkey") {
                        Some(Value::Map(sub)) => drop(sub.insert("fingerprint", value(9))),
                        _ => drop(last.insert("fingerprint", value(9))),
                    }
                }
            }
            "uid" => {
                if let Some(last) = found.last_mut() {
                    last.insert("uid", value(9));
                    last.insert("uid_hash", value(7));
                }
            }
            _ => {}
        }
    }
    found.into_iter().map(|key| (key.str_at("keyid").unwrap_or_default().to_owned(), key)).collect()
}

record! {
    /// Shows the keys that sign packages.
    ///
    ///   salt '*' pkg.get_repo_keys
    pub struct GetRepoKeys {
        /// Whether those of apt-key, where there is one.
        aptkey: bool = true,
        /// Else those in this directory.
        keydir: Option<String> = (),
    }
}

impl Run for GetRepoKeys {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "get_repo_keys", &[Manager::Apt])?;
        let directory = self.keydir.as_deref().unwrap_or(KEYRINGS);
        Ok(keys(ctx, uses_aptkey(ctx, self.aptkey), directory)?.map_or(Value::Bool(false), Value::Map).into())
    }
}

record! {
    /// Removes a key that signs packages. Returns its id, False where there is none.
    ///
    ///   salt '*' pkg.del_repo_key keyid=0123ABCD
    pub struct DelRepoKey {
        /// Taken, not used: for a PPA, whose key this version does not ask for.
        name: Option<String> = (),
        /// Whether it is one of apt-key's, where there is one.
        aptkey: bool = true,
        /// Else the directory of keys.
        keydir: Option<String> = (),
        /// `keyid`: the id of the key.
        kwargs: Keywords,
    }
}

impl Run for DelRepoKey {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "del_repo_key", &[Manager::Apt])?;
        let Some(keyid) = self.kwargs.0.at("keyid").filter(|keyid| keyid.truthy()).map(Value::to_text) else {
            return Err(Fault::invocation("keyid or keyid_ppa and PPA name must be passed"));
        };
        let directory = self.keydir.as_deref().unwrap_or(KEYRINGS);
        if uses_aptkey(ctx, self.aptkey) {
            let answer = Program::new(["apt-key", "del", &keyid]).run(ctx)?;
            answer.expect_success(&format!("Failed to remove keyid {keyid}"))?;
            return Ok(keyid.into());
        }
        for name in ctx.host.list(Path::new(directory)).unwrap_or_default() {
            let ring = format!("{directory}/{name}");
            let words = ["gpg", "--no-default-keyring", "--keyring", &ring, "--list-keys", "--with-colons"];
            let known = parse_keys(&Program::new(words).query(ctx)?.stdout);
            if [8, 16].contains(&keyid.len()) && known.keys().any(|key| key.to_text().ends_with(&keyid)) {
                ctx.host.remove(Path::new(&ring)).map_err(|error| Fault::execution(format!("{ring}: {error}")))?;
                return Ok(keyid.into());
            }
        }
        Ok(false.into())
    }
}
