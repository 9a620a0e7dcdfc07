//! Signatures of files, checked with the host's `gpg`: of the content of `file.managed`, of lists of digests.

use super::fileserver::client::{FileClient, Wanted};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, paths};
use halite_value::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// GnuPG may wait for its agent or for another one's lock.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The signature that something has to have, and whose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    /// Addresses of signatures that stand beside it; none: it is signed within.
    beside: Vec<String>,
    /// Fingerprints, one of which has to have signed.
    any: Vec<String>,
    /// Fingerprints, all of which have to have signed.
    all: Vec<String>,
    keyring: Option<String>,
    home: Option<String>,
}

/// What functions and states take for a signature, as it is given.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// True, an address, or a list of one.
    pub signature: Value,
    pub signed_by_any: Value,
    pub signed_by_all: Value,
    pub keyring: Value,
    pub gnupghome: Value,
    pub sig_backend: Value,
}

impl Given {
    /// Nothing where no signature is asked for. Fails where it could not be checked.
    pub fn read(&self, ctx: &Ctx) -> Result<Option<Signature>, Fault> {
        if !self.signature.truthy() {
            return Ok(None);
        }
        let backend = self.sig_backend.to_text();
        if backend != "gpg" || ctx.host.which("gpg").is_none() {
            return Err(Fault::execution(format!(
                "Signature verification requires the {backend} module, which could not be found. Make sure you have the \
                 necessary tools installed: the program gpg"
            )));
        }
        let list = |value: &Value| match value {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            value if value.truthy() => vec![value.to_text()],
            _ => Vec::new(),
        };
        let text = |value: &Value| Some(value.to_text()).filter(|_| value.truthy());
        Ok(Some(Signature {
            beside: if self.signature == Value::Bool(true) { Vec::new() } else { list(&self.signature) },
            any: list(&self.signed_by_any),
            all: list(&self.signed_by_all),
            keyring: text(&self.keyring),
            home: text(&self.gnupghome),
        }))
    }
}

impl Given {
    /// As arguments of another function, which knows the signature by this name.
    pub fn arguments(&self, name: &str) -> Map {
        Map::from_iter([
            (name, self.signature.clone()),
            ("signed_by_any", self.signed_by_any.clone()),
            ("signed_by_all", self.signed_by_all.clone()),
            ("keyring", self.keyring.clone()),
            ("gnupghome", self.gnupghome.clone()),
            ("sig_backend", self.sig_backend.clone()),
        ])
    }
}

/// Signatures that are good, by the fingerprint of its owner's key.
type Good = Vec<String>;

/// What is signed.
enum Content<'c> {
    Bytes(&'c [u8]),
    At(&'c str),
}

impl Signature {
    /// Fails where the content is not signed as it should be.
    pub fn check(&self, ctx: &Ctx, content: &[u8], saltenv: &str, unchecked: bool) -> Result<(), Fault> {
        self.checked(ctx, &Content::Bytes(content), saltenv, unchecked)
    }

    fn checked(&self, ctx: &Ctx, content: &Content, saltenv: &str, unchecked: bool) -> Result<(), Fault> {
        let client = FileClient::new(ctx);
        let wanted = Wanted { unchecked, ..Wanted::default() };
        let mut good = Good::new();
        let mut is_broken = false;
        let mut places = Vec::new();
        for address in &self.beside {
            let missing = || Fault::execution(format!("Detached signature file {address} not found"));
            let place = client.cache_file(address, saltenv, &wanted)?;
            places.push(place.filter(|place| paths::exists(ctx.host, place)).ok_or_else(missing)?);
        }
        let beside: Vec<Option<&str>> = match places.is_empty() {
            true => vec![None],
            false => places.iter().map(|place| Some(place.as_str())).collect(),
        };
        for place in beside {
            let answer = self.gpg(ctx, place, content).query(ctx)?;
            log::debug!("gpg says of a signature: {}", answer.stderr);
            is_broken |= has(&answer.stdout, "BADSIG");
            good.extend(owners(&answer.stdout));
        }
        match self.refusal(&good, is_broken) {
            None => Ok(()),
            Some(why) => Err(Fault::execution(format!("The file's signature could not be verified: {why}"))),
        }
    }

    /// As `check`, of a file, which is not read whole.
    pub fn check_at(&self, ctx: &Ctx, path: &str, saltenv: &str, unchecked: bool) -> Result<(), Fault> {
        self.checked(ctx, &Content::At(path), saltenv, unchecked)
    }

    /// As `check_at`, of a file which is removed where it fails and is a copy in the cache, so that it is fetched again.
    pub fn check_file(&self, ctx: &Ctx, path: &str, saltenv: &str, unchecked: bool) -> Result<(), Fault> {
        let checked = self.checked(ctx, &Content::At(path), saltenv, unchecked);
        let cache = ctx.opts.str_at("cachedir").filter(|cache| !cache.is_empty());
        if checked.is_err()
            && cache.is_some_and(|cache| Path::new(path).starts_with(cache))
            && let Err(error) = ctx.host.remove(Path::new(path))
        {
            log::warn!("{path}, whose signature is wrong, stays in the cache: {error}");
        }
        checked
    }

    fn gpg(&self, ctx: &Ctx, beside: Option<&str>, content: &Content) -> Program {
        let home = self.home.clone().or_else(|| ctx.host.env("GNUPGHOME")).unwrap_or_else(|| {
            let home = ctx.host.env("HOME").unwrap_or_else(|| "/root".to_owned());
            format!("{home}/.gnupg")
        });
        let mut program = Program::new(["gpg", "--homedir", &home, "--status-fd", "1", "--no-tty", "--no-batch"]);
        if let Some(keyring) = &self.keyring {
            program = program.args(["--no-default-keyring", "--keyring", keyring]);
        }
        program = program.args(["--verify", "--"]).args(beside).timeout(TIMEOUT);
        match content {
            Content::At(path) => program.arg(*path),
            Content::Bytes(bytes) => program.arg("-").stdin(*bytes),
        }
    }

    /// Why these signatures are not enough.
    fn refusal(&self, good: &Good, is_broken: bool) -> Option<String> {
        let has = |signer: &String| good.iter().any(|owner| owner.eq_ignore_ascii_case(signer));
        if self.any.is_empty() && self.all.is_empty() {
            let why = "The signature could not be verified.".to_owned();
            return (good.is_empty() || is_broken).then_some(why);
        }
        if !self.any.is_empty() && !self.any.iter().any(has) {
            return Some("None of the public keys listed in signed_by_any provided a valid signature".to_owned());
        }
        let missing = self.all.iter().find(|signer| !has(signer))?;
        Some(format!("Public key {missing} has not provided a valid signature, but was listed in signed_by_all"))
    }
}

fn has(status: &str, word: &str) -> bool {
    status.lines().any(|line| line.strip_prefix("[GNUPG:] ").is_some_and(|rest| rest.starts_with(word)))
}

/// Whose signatures are good: neither broken nor by a key that has ended or was revoked.
fn owners(status: &str) -> Good {
    let mut owners = Good::new();
    let mut is_good = false;
    for line in status.lines().filter_map(|line| line.strip_prefix("[GNUPG:] ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["NEWSIG", ..] => is_good = false,
            ["GOODSIG", ..] => is_good = true,
            // The last word is the fingerprint of the primary key.
            ["VALIDSIG", .., owner] if is_good => owners.push((*owner).to_owned()),
            _ => {}
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::NoMaster;
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;

    const A: &str = "6744C85A9B3B342AE7366AAFAE4D90C8AAD01288";
    const GOOD: &str = "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG AE4D90C8AAD01288 Halite test\n[GNUPG:] VALIDSIG \
                        1111111111111111111111111111111111111111 2024-01-01 1704067200 0 4 0 1 10 01 \
                        6744C85A9B3B342AE7366AAFAE4D90C8AAD01288\n[GNUPG:] TRUST_UNDEFINED 0 pgp\n";

    fn checked(status: &str, any: &[&str], all: &[&str]) -> Result<(), String> {
        let argv = ["gpg", "--homedir", "/g", "--status-fd", "1", "--no-tty", "--no-batch", "--verify", "--", "-"];
        let finished = Finished { stdout: status.as_bytes().to_vec(), ..Finished::default() };
        let world = World::on(Fake::new().program("/usr/bin/gpg").command(argv, finished));
        let ctx = world.ctx(&NoMaster);
        let (any, all) = (Value::list(any.iter().copied()), Value::list(all.iter().copied()));
        let given = Given {
            signature: true.into(),
            signed_by_any: any,
            signed_by_all: all,
            keyring: Value::Null,
            gnupghome: "/g".into(),
            sig_backend: "gpg".into(),
        };
        let signature = given.read(&ctx).unwrap().unwrap();
        signature.check(&ctx, b"content", "base", false).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_good_signature_of_the_right_key_is_needed() {
        assert_eq!(checked(GOOD, &[], &[]), Ok(()));
        assert_eq!(checked(GOOD, &["other", A], &[A]), Ok(()));
        let wrong = checked(GOOD, &["1111111111111111111111111111111111111111"], &[]).unwrap_err();
        assert!(
            wrong.ends_with("None of the public keys listed in signed_by_any provided a valid signature"),
            "{wrong}"
        );
        let missing = checked(GOOD, &[], &[A, "B"]).unwrap_err();
        assert!(missing.contains("Public key B has not provided a valid signature"), "{missing}");
    }

    #[test]
    fn what_is_broken_or_ended_or_unsigned_is_refused() {
        let broken = format!("{GOOD}[GNUPG:] NEWSIG\n[GNUPG:] BADSIG AE4D90C8AAD01288 Halite test\n");
        let ended = GOOD.replace("GOODSIG", "EXPKEYSIG");
        let revoked = GOOD.replace("GOODSIG", "REVKEYSIG");
        for status in ["", "[GNUPG:] NODATA 4\n", &broken, &ended, &revoked] {
            let told = checked(status, &[], &[]).unwrap_err();
            assert!(told.ends_with("The signature could not be verified."), "{status}: {told}");
        }
        assert!(checked(&ended, &[A], &[]).is_err());
    }

    #[test]
    fn without_gpg_that_is_said() {
        let world = World::new();
        let ctx = world.ctx(&NoMaster);
        let given = Given { signature: true.into(), ..Given::default() };
        assert!(given.read(&ctx).unwrap_err().to_string().contains("the program gpg"));
        assert_eq!(Given::default().read(&ctx), Ok(None));
    }
}
