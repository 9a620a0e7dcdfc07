//! Keys that hosts and users have.

use halite_core::accounts::{account, accounts};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::base64;
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Shows the keys of this host. Those that are private are shown too, unless they are not wanted.
    ///
    ///   salt '*' ssh.host_keys
    ///   salt '*' ssh.host_keys keydir=/etc/ssh private=False
    pub struct HostKeys {
        /// Their directory.
        keydir: Option<String> = (),
        /// Whether private ones are shown.
        private: bool = true,
        /// Whether certificates are shown.
        certs: bool = true,
    }
}

impl Run for HostKeys {
    fn run(self, ctx: &Ctx) -> Reply {
        let directory = self.keydir.unwrap_or_else(|| "/etc/ssh".to_owned());
        let listed = ctx.host.list(Path::new(&directory));
        let listed = listed.map_err(|error| Fault::execution(format!("{directory}: {error}")))?;
        let mut keys = Map::new();
        for name in listed {
            let Some((kind, rest)) = name.strip_prefix("ssh_host_").and_then(|rest| rest.split_once("_key")) else {
                continue;
            };
            let (is_public, is_cert) =
                (rest.starts_with(".pub") || rest.starts_with("-cert.pub"), rest.starts_with("-cert.pub"));
            if !is_public && !self.private || is_cert && !self.certs {
                continue;
            }
            let ending = if is_cert {
                "-cert.pub"
            } else if is_public {
                ".pub"
            } else {
                ""
            };
            let bytes = ctx.host.read(&Path::new(&directory).join(&name)).unwrap_or_default();
            keys.insert(format!("{kind}{ending}"), String::from_utf8_lossy(&bytes).trim());
        }
        Ok(keys.into())
    }
}

record! {
    /// Shows the keys that users have. Those that are private are shown too, unless `prvfile` is False.
    ///
    ///   salt '*' ssh.user_keys root prvfile=False
    pub struct UserKeys {
        /// The user, or a list; without it all.
        user: Value = (),
        /// The file of the public key: a name below `.ssh`, or a path; False: none.
        pubfile: Value = (),
        /// The file of the private key.
        prvfile: Value = (),
    }
}

const NAMES: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

impl Run for UserKeys {
    fn run(self, ctx: &Ctx) -> Reply {
        let names: Vec<String> = match &self.user {
            Value::List(names) if !names.is_empty() => names.iter().map(Value::to_text).collect(),
            name if name.truthy() => vec![name.to_text()],
            _ => accounts(ctx, None)?.into_iter().map(|account| account.name).collect(),
        };
        let mut wanted: Vec<String> = Vec::new();
        for (given, ending) in [(&self.pubfile, ".pub"), (&self.prvfile, "")] {
            match given {
                Value::Bool(false) => {}
                given if given.truthy() => wanted.push(given.to_text()),
                _ => wanted.extend(NAMES.iter().map(|name| format!("{name}{ending}"))),
            }
        }
        let mut all = Map::new();
        for name in names {
            let Some(account) = account(ctx, &name, None)? else { continue };
            let mut keys = Map::new();
            for file in &wanted {
                let path = if file.starts_with('/') { file.clone() } else { format!("{}/.ssh/{file}", account.home) };
                if let Ok(bytes) = ctx.host.read(Path::new(&path)) {
                    keys.insert(paths::name_of(file), String::from_utf8_lossy(&bytes).trim());
                }
            }
            if !keys.is_empty() {
                all.insert(name, keys);
            }
        }
        Ok(all.into())
    }
}

record! {
    /// Shows whether a private key is encrypted.
    ///
    ///   salt '*' ssh.key_is_encrypted /root/id_rsa
    pub struct KeyIsEncrypted {
        /// Its path.
        key: String,
    }
}

impl Run for KeyIsEncrypted {
    fn run(self, ctx: &Ctx) -> Reply {
        let bytes = ctx.host.read(Path::new(&self.key));
        let bytes = bytes.map_err(|error| Fault::execution(format!("{}: {error}", self.key)))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        if !first.starts_with("-----BEGIN") || !first.contains("PRIVATE KEY") {
            return Err(Fault::execution(format!("{} is not a private key", self.key)));
        }
        if first.contains("ENCRYPTED") {
            return Ok(true.into());
        }
        let body: Vec<&str> = lines.take_while(|line| !line.starts_with("-----END")).collect();
        if !first.contains("OPENSSH") {
            // Keys in PEM say so in a header.
            return Ok(body.iter().any(|line| line.starts_with("Proc-Type:") && line.contains("ENCRYPTED")).into());
        }
        // openssh-key-v1, then the name of the cipher with its length before it.
        let raw = base64::decode(body.concat().as_bytes()).unwrap_or_default();
        let rest = raw.strip_prefix(b"openssh-key-v1\0".as_slice()).unwrap_or_default();
        let cipher = rest.get(4..8).unwrap_or_default();
        Ok((!rest.is_empty() && cipher != b"none").into())
    }
}
