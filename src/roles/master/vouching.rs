//! The signing key's word for the master's key: made with the signing key where that is on this host, or read from a file
//! where it was made elsewhere (`master_use_pubkey_signature`), so that the signing key need not be here at all.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use halite_keys::identity::KeyError;
use halite_keys::identity::SIGNATURE_BYTES;
use halite_keys::{Identity, PublicKey};
use halite_value::{Map, Value};
use halite_wire::handshake::{vouch, vouches};
use std::fs;
use std::path::Path;

/// What the configuration wants sent with the master's key. Nothing: there is no signing key, and none is wanted.
pub fn chain(opts: &Map, pki_dir: &Path, master: PublicKey) -> Result<Option<[u8; SIGNATURE_BYTES]>, String> {
    let on = |name: &str| opts.at(name).is_some_and(Value::truthy);
    let name =
        |option: &str, default: &str| opts.str_at(option).filter(|name| !name.is_empty()).unwrap_or(default).to_owned();
    let signing = name("master_sign_key_name", "master_sign");
    if on("master_sign_pubkey") && on("master_use_pubkey_signature") {
        let file = name("master_pubkey_signature", "master_pubkey_signature");
        return made_before(&pki_dir.join(file), &pki_dir.join(format!("{signing}.pub")), master).map(Some);
    }
    let private = pki_dir.join(format!("{signing}.pem"));
    if on("master_sign_pubkey") {
        let signing = Identity::load_or_make(pki_dir, &signing).map_err(text)?;
        return Ok(Some(vouch(&signing, master)));
    }
    // A minion that does not know the signing key passes over its word.
    match private.exists() {
        true => Ok(Some(vouch(&Identity::load(&private).map_err(text)?, master))),
        false => Ok(None),
    }
}

/// The signature in a file. Where the public half of the signing key is here, it has to be its signature of this key: a
/// minion would find out only when it is too late.
fn made_before(file: &Path, signing: &Path, master: PublicKey) -> Result<[u8; SIGNATURE_BYTES], String> {
    let told = |problem: &str| format!("{} (option 'master_use_pubkey_signature'): {problem}", file.display());
    let written = fs::read_to_string(file).map_err(|error| told(&error.to_string()))?;
    let bytes = STANDARD.decode(written.trim()).ok().and_then(|bytes| bytes.try_into().ok());
    let signature = bytes.ok_or_else(|| told("there is no signature in it; `salt-key --gen-signature` makes one"))?;
    match PublicKey::load(signing) {
        Ok(signing) if !vouches(signing, master, &signature) => {
            Err(told("it is not the signing key's signature of this master's key"))
        }
        Ok(_) => Ok(signature),
        Err(KeyError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => Ok(signature),
        Err(error) => Err(error.to_string()),
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;

    fn opts(names: &[&str]) -> Map {
        names.iter().map(|name| (*name, true)).collect()
    }

    #[test]
    fn a_master_that_is_to_sign_makes_its_signing_key() {
        let (directory, master) = (Directory::new(), Identity::generate().public());
        assert_eq!(chain(&opts(&[]), directory.path(), master), Ok(None));
        let made = chain(&opts(&["master_sign_pubkey"]), directory.path(), master).unwrap().unwrap();
        let signing = PublicKey::load(&directory.path().join("master_sign.pub")).unwrap();
        assert!(vouches(signing, master, &made));
        assert_eq!(chain(&opts(&[]), directory.path(), master), Ok(Some(made)), "a key that is there is used");
    }

    #[test]
    fn a_signature_that_was_made_elsewhere_is_sent_if_it_is_one() {
        let (directory, master, signing) = (Directory::new(), Identity::generate().public(), Identity::generate());
        let wanted = opts(&["master_sign_pubkey", "master_use_pubkey_signature"]);
        assert!(chain(&wanted, directory.path(), master).unwrap_err().contains("master_pubkey_signature"));
        let write = |signature: [u8; SIGNATURE_BYTES]| {
            fs::write(directory.path().join("master_pubkey_signature"), STANDARD.encode(signature) + "\n").unwrap();
        };
        let signature = vouch(&signing, master);
        write(signature);
        assert_eq!(chain(&wanted, directory.path(), master), Ok(Some(signature)));
        assert!(!directory.path().join("master_sign.pem").exists());
        signing.public().write(&directory.path().join("master_sign.pub")).unwrap();
        assert_eq!(chain(&wanted, directory.path(), master), Ok(Some(signature)));
        write(vouch(&signing, Identity::generate().public()));
        assert!(chain(&wanted, directory.path(), master).unwrap_err().contains("is not the signing key's signature"));
        fs::write(directory.path().join("master_pubkey_signature"), "x").unwrap();
        assert!(chain(&wanted, directory.path(), master).unwrap_err().contains("there is no signature in it"));
    }
}
