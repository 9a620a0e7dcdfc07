//! Making keys: pairs for minions, and the signature with which a signing key vouches for the master's.

use super::{Exit, SaltKey, Trouble};
use crate::cli::salt_key::Making;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use halite_keys::identity::KeyError;
use halite_keys::{Identity, PublicKey};
use halite_wire::handshake::vouch;
use std::fs;
use std::path::{Path, PathBuf};

/// Makes `DIR/NAME.pem` and `DIR/NAME.pub`. A pair that is there already stays.
pub fn keys(making: &Making) -> Result<Exit, Trouble> {
    let name = making.gen_keys.as_deref().unwrap_or_default();
    if !halite_keys::store::valid_id(name) {
        return Err(Trouble::Other(format!("--gen-keys: {name:?} cannot name a file of a key"), Exit::Usage));
    }
    let directory = making.gen_keys_dir.clone().unwrap_or_else(|| PathBuf::from("."));
    fs::create_dir_all(&directory).map_err(|error| cannot_create(&directory, &error.to_string()))?;
    Identity::load_or_make(&directory, name)?;
    Ok(Exit::Ok)
}

impl SaltKey<'_> {
    /// Writes the signature of the master's public key, as base64, to where the master looks for it.
    pub(super) fn signature(&mut self, making: &Making) -> Result<Exit, Trouble> {
        let pki_dir = self.store.pki_dir().to_owned();
        let option = |name: &str, default: &str| self.config.str_at(name).unwrap_or(default).to_owned();
        let signing_name = option("master_sign_key_name", "master_sign");
        let private = making.private.clone().unwrap_or_else(|| pki_dir.join(format!("{signing_name}.pem")));
        let signing = match Identity::load(&private) {
            Err(KeyError::Io { error, .. }) if making.auto_create && error.kind() == std::io::ErrorKind::NotFound => {
                let directory = private.parent().unwrap_or(&pki_dir);
                let name = private.file_stem().map_or_else(|| signing_name.into(), |name| name.to_string_lossy());
                Identity::load_or_make(directory, &name)?
            }
            other => other?,
        };
        let master = PublicKey::load(&making.public.clone().unwrap_or_else(|| pki_dir.join("master.pub")))?;
        let directory = making.signature_path.clone().unwrap_or(pki_dir);
        let path = directory.join(option("master_pubkey_signature", "master_pubkey_signature"));
        let text = STANDARD.encode(vouch(&signing, master)) + "\n";
        fs::write(&path, text).map_err(|error| cannot_create(&path, &error.to_string()))?;
        Ok(Exit::Ok)
    }
}

fn cannot_create(path: &Path, error: &str) -> Trouble {
    Trouble::Other(format!("{}: {error}", path.display()), Exit::CannotCreate)
}

impl From<KeyError> for Trouble {
    fn from(error: KeyError) -> Trouble {
        Trouble::Other(error.to_string(), Exit::Failed)
    }
}
