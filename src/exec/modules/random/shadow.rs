//! Hashes of passwords, as `/etc/shadow` has them.

use super::super::hashutil;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::random::Chance;
use halite_value::Value;
use halite_value::record;
use num_bigint::BigUint;

record! {
    /// Returns a salted hash of a password, as `/etc/shadow` has it.
    ///
    ///   salt '*' random.shadow_hash 'My5alT' 'MyP@asswd' md5
    pub struct ShadowHash {
        /// The salt; for sha512 and sha256 also `rounds=5000$SALT`, for blowfish `12$` and 22 characters. Without it a
        /// random one.
        crypt_salt: Value = (),
        /// The password. Without it a random one, which nobody learns.
        password: Value = (),
        /// The kind: sha512, sha256, blowfish, md5 or crypt.
        algorithm: String = "sha512",
    }
}

impl Run for ShadowHash {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = Kind::named(&self.algorithm)?;
        let password = match &self.password {
            Value::Null => ctx.run("random.get_str", Default::default())?,
            given => given.clone(),
        };
        let password = hashutil::bytes::<Self>("random.shadow_hash", "password", &password)?;
        let salt = match &self.crypt_salt {
            Value::Null => kind.random_salt(),
            given => given.to_text(),
        };
        let fits = salt.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':') && !password.contains(&0);
        let setting = format!("{}{salt}", kind.prefix());
        let hash = Some(setting).filter(|_| fits).and_then(|setting| pwhash::unix::crypt(password, &setting).ok());
        // The password is not named: what is wrong is the salt, or a zero byte.
        hash.map(Into::into).ok_or_else(|| {
            Fault::invocation(format!("no {} hash can be made with the salt {}", self.algorithm, salt_shown(&salt)))
        })
    }
}

fn salt_shown(salt: &str) -> String {
    Value::from(salt).repr()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sha512,
    Sha256,
    Blowfish,
    Md5,
    Crypt,
}

impl Kind {
    fn named(name: &str) -> Result<Kind, Fault> {
        Ok(match name {
            "sha512" => Kind::Sha512,
            "sha256" => Kind::Sha256,
            "blowfish" => Kind::Blowfish,
            "md5" => Kind::Md5,
            "crypt" => Kind::Crypt,
            other => {
                return Err(Fault::invocation(format!(
                    "Cannot hash using '{other}' hash algorithm. Supported algorithms are: sha512, sha256, blowfish, md5 \
                     and crypt."
                )));
            }
        })
    }

    /// What says the kind in a hash.
    fn prefix(self) -> &'static str {
        match self {
            Kind::Sha512 => "$6$",
            Kind::Sha256 => "$5$",
            Kind::Blowfish => "$2b$",
            Kind::Md5 => "$1$",
            Kind::Crypt => "",
        }
    }

    fn random_salt(self) -> String {
        match self {
            Kind::Sha512 | Kind::Sha256 => characters(16),
            Kind::Md5 => characters(8),
            Kind::Crypt => characters(2),
            // The last of its characters stands for two bits alone.
            Kind::Blowfish => format!("12${}{}", characters(21), pick(b".Oeu")),
        }
    }
}

fn characters(count: usize) -> String {
    (0..count).map(|_| pick(b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")).collect()
}

fn pick(alphabet: &[u8]) -> char {
    let at = usize::try_from(Chance::Kernel.below(&BigUint::from(alphabet.len()))).unwrap_or_default();
    alphabet.get(at).copied().map_or('.', char::from)
}
