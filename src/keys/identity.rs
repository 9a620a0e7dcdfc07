//! The key pair of a node: Ed25519, in PEM files that openssl reads (RFC 8410).

use super::sodium;
use sodiumoxide::base64::{self, Variant};
use sodiumoxide::crypto::hash::sha256;
use sodiumoxide::crypto::sign::ed25519;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub const SIGNATURE_BYTES: usize = ed25519::SIGNATUREBYTES;
pub const PUBLIC_KEY_BYTES: usize = ed25519::PUBLICKEYBYTES;

/// PKCS#8 of an Ed25519 private key, up to the 32 bytes of its seed.
const PRIVATE_PREFIX: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// SubjectPublicKeyInfo of an Ed25519 public key, up to its 32 bytes.
const PUBLIC_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// A key pair. The secret half never leaves it but into its own file.
#[derive(Clone)]
pub struct Identity {
    secret: ed25519::SecretKey,
    public: PublicKey,
}

/// The half of a key pair that others know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey([u8; PUBLIC_KEY_BYTES]);

/// A key file that cannot be used. Names the file and what to do.
#[derive(Debug)]
pub enum KeyError {
    Io { path: PathBuf, error: io::Error },
    Form { path: PathBuf, what: &'static str },
    Open { path: PathBuf, mode: u32 },
}

impl Identity {
    /// A new pair from the system's random numbers.
    pub fn generate() -> Identity {
        sodium::ready();
        let (public, secret) = ed25519::gen_keypair();
        Identity { secret, public: PublicKey(sodium::made(public.0)) }
    }

    pub fn public(&self) -> PublicKey {
        self.public
    }

    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        ed25519::sign_detached(message, &self.secret).to_bytes()
    }

    /// Loads the pair `DIRECTORY/NAME.pem`, or makes it. The public half beside it (`NAME.pub`) is written when it is
    /// missing, and must fit when it is there.
    pub fn load_or_make(directory: &Path, name: &str) -> Result<Identity, KeyError> {
        let secret = directory.join(format!("{name}.pem"));
        let identity = match fs::symlink_metadata(&secret) {
            Ok(_) => Identity::load(&secret)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Identity::generate();
                match identity.write_secret(&secret) {
                    Ok(()) => identity,
                    // Another process was faster: there must be one identity, so its.
                    Err(KeyError::Io { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
                        Identity::load(&secret)?
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(KeyError::Io { path: secret, error }),
        };
        let public = directory.join(format!("{name}.pub"));
        if !public.exists() {
            identity.public.write(&public)?;
        } else if PublicKey::load(&public)? != identity.public {
            return Err(KeyError::Form {
                path: public,
                what: "does not belong to the private key beside it: remove it, it is made anew",
            });
        }
        Ok(identity)
    }

    /// Loads a private key. One that others can read is refused: it may be stolen already.
    pub fn load(path: &Path) -> Result<Identity, KeyError> {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path).map_err(|error| io_error(path, error))?.permissions().mode() & 0o7777;
        if mode & 0o007 != 0 {
            return Err(KeyError::Open { path: path.to_owned(), mode });
        }
        let text = read_small(path)?;
        let der = decode_pem(&text, "PRIVATE KEY").ok_or_else(|| form(path, "is not a private key in PEM"))?;
        let seed = der.strip_prefix(&PRIVATE_PREFIX).and_then(ed25519::Seed::from_slice).ok_or_else(|| {
            form(path, "is not an Ed25519 private key (a key of another Salt is RSA: move it away, a new one is made)")
        })?;
        sodium::ready();
        let (public, secret) = ed25519::keypair_from_seed(&seed);
        Ok(Identity { secret, public: PublicKey(sodium::made(public.0)) })
    }

    fn secret_pem(&self) -> String {
        let mut der = PRIVATE_PREFIX.to_vec();
        der.extend_from_slice(&self.secret.0[..32]);
        encode_pem(&der, "PRIVATE KEY")
    }

    /// Writes the private key to a file that must not exist, 0600 from the start.
    pub fn write_secret(&self, path: &Path) -> Result<(), KeyError> {
        write_new(path, self.secret_pem().as_bytes(), 0o600)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({:?})", self.public)
    }
}

impl PublicKey {
    pub fn from_bytes(bytes: [u8; PUBLIC_KEY_BYTES]) -> PublicKey {
        PublicKey(bytes)
    }

    pub fn from_slice(bytes: &[u8]) -> Option<PublicKey> {
        bytes.try_into().ok().map(PublicKey)
    }

    pub fn as_bytes(&self) -> &[u8; PUBLIC_KEY_BYTES] {
        &self.0
    }

    /// True when `signature` was made over `message` by the holder of this key. Small-order keys never verify.
    pub fn verifies(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        let Ok(signature) = ed25519::Signature::from_bytes(signature) else {
            return false;
        };
        ed25519::verify_detached(&signature, message, &ed25519::PublicKey(self.0))
    }

    pub fn to_pem(&self) -> String {
        let mut der = PUBLIC_PREFIX.to_vec();
        der.extend_from_slice(&self.0);
        encode_pem(&der, "PUBLIC KEY")
    }

    pub fn from_pem(text: &str) -> Option<PublicKey> {
        decode_pem(text, "PUBLIC KEY")?.strip_prefix(&PUBLIC_PREFIX).and_then(PublicKey::from_slice)
    }

    pub fn load(path: &Path) -> Result<PublicKey, KeyError> {
        PublicKey::from_pem(&read_small(path)?).ok_or_else(|| form(path, "is not an Ed25519 public key in PEM"))
    }

    /// Replaces a public key file whole.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let beside = path.with_extension(format!("new.{}", std::process::id()));
        let _ = fs::remove_file(&beside);
        write_new(&beside, self.to_pem().as_bytes(), 0o644)?;
        fs::rename(&beside, path).map_err(|error| io_error(path, error))
    }

    /// SHA-256 of the key's DER form, pairs of hex digits with colons between: what `openssl pkey -pubin -outform DER |
    /// sha256sum` says, and what an admin compares by eye.
    pub fn fingerprint(&self) -> String {
        let mut der = PUBLIC_PREFIX.to_vec();
        der.extend_from_slice(&self.0);
        let pairs: Vec<String> = sha256::hash(&der).0.iter().map(|byte| format!("{byte:02x}")).collect();
        pairs.join(":")
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}…)", &self.fingerprint()[..23])
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            KeyError::Form { path, what } => write!(f, "{}: {what}", path.display()),
            KeyError::Open { path, mode } => {
                write!(
                    f,
                    "{}: mode {mode:04o} lets others read a private key: chmod 0600, or replace the key",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for KeyError {}

fn encode_pem(der: &[u8], label: &str) -> String {
    let text = base64::encode(der, Variant::Original);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out + &format!("-----END {label}-----\n")
}

fn decode_pem(text: &str, label: &str) -> Option<Vec<u8>> {
    let (_, body) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = body.split_once(&format!("-----END {label}-----"))?;
    let compact: String = body.split_whitespace().collect();
    base64::decode(compact, Variant::Original).ok()
}

/// Key files are small; whatever a link or a mistake points at is not read whole.
fn read_small(path: &Path) -> Result<String, KeyError> {
    use std::io::Read;
    let file = fs::File::open(path).map_err(|error| io_error(path, error))?;
    let mut text = String::new();
    file.take(16 * 1024).read_to_string(&mut text).map_err(|error| io_error(path, error))?;
    Ok(text)
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), KeyError> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(|error| io_error(path, error))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| io_error(path, error))
}

fn io_error(path: &Path, error: io::Error) -> KeyError {
    KeyError::Io { path: path.to_owned(), error }
}

fn form(path: &Path, what: &'static str) -> KeyError {
    KeyError::Form { path: path.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_survives_its_files_and_the_public_half_is_made_anew() {
        let directory = std::env::temp_dir().join(format!("halite-identity-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let made = Identity::load_or_make(&directory, "minion").unwrap();
        fs::remove_file(directory.join("minion.pub")).unwrap();
        let loaded = Identity::load_or_make(&directory, "minion").unwrap();
        assert_eq!(made.public(), loaded.public());
        assert_eq!(PublicKey::load(&directory.join("minion.pub")).unwrap(), made.public());
        assert!(made.public().verifies(b"x", &loaded.sign(b"x")));
        assert!(!made.public().verifies(b"y", &loaded.sign(b"x")));
        Identity::generate().public().write(&directory.join("minion.pub")).unwrap();
        assert!(matches!(Identity::load_or_make(&directory, "minion"), Err(KeyError::Form { .. })));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_form_is_that_of_rfc_8410() {
        // Section 10.3 of the RFC: one private key, and the public key that belongs to it (10.1).
        let directory = std::env::temp_dir().join(format!("halite-rfc8410-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
        write_new(&directory.join("k.pem"), pem.as_bytes(), 0o600).unwrap();
        let identity = Identity::load(&directory.join("k.pem")).unwrap();
        assert_eq!(identity.secret_pem(), pem);
        assert_eq!(
            identity.public().to_pem(),
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"
        );
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_no_key_says_so_and_names_the_file() {
        for text in [
            "",
            "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        ] {
            assert!(PublicKey::from_pem(text).is_none());
        }
        let error = PublicKey::load(Path::new("/nonexistent/k.pub")).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent/k.pub: "), "{error}");
    }
}
