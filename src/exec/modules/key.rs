//! `key.*`: fingerprints of the keys that this minion has, to be compared by eye.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::digest::HashType;
use halite_value::record;
use std::path::Path;

pub const MODULE: Module = Module {
    name: "key",
    doc: "Show the fingerprints of this minion's keys.",
    functions: &[function::<Finger>("finger"), function::<FingerMaster>("finger_master")],
};

record! {
    /// Returns the fingerprint of this minion's public key, as `salt-key -f` shows it on the master.
    ///
    ///   salt '*' key.finger
    pub struct Finger {
        /// The digest: md5, sha1, sha224, sha256, sha384 or sha512. The master shows sha256.
        hash_type: String = "sha256",
    }
}

impl Run for Finger {
    fn run(self, ctx: &Ctx) -> Reply {
        fingerprint(ctx, "minion.pub", &self.hash_type)
    }
}

record! {
    /// Returns the fingerprint of the master's key that this minion trusts, as `salt-key -F` shows it on the master.
    ///
    ///   salt '*' key.finger_master
    pub struct FingerMaster {
        /// The digest: md5, sha1, sha224, sha256, sha384 or sha512. The master shows sha256.
        hash_type: String = "sha256",
    }
}

impl Run for FingerMaster {
    fn run(self, ctx: &Ctx) -> Reply {
        fingerprint(ctx, "minion_master.pub", &self.hash_type)
    }
}

/// The digest of the key in its DER form, pairs of digits with colons between. Where there is no key yet, empty, as in
/// Salt: it is made, or met, when the minion starts.
fn fingerprint(ctx: &Ctx, file: &str, hash_type: &str) -> Reply {
    let directory = ctx.opts.str_at("pki_dir").unwrap_or_default();
    let path = Path::new(directory).join(file);
    let pem = match ctx.host.read(&path) {
        Ok(pem) => String::from_utf8_lossy(&pem).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok("".into()),
        Err(error) => return Err(Fault::execution(format!("{}: {error}", path.display()))),
    };
    let inner: String = pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let der = STANDARD.decode(inner).map_err(|_| Fault::execution(format!("{}: is no PEM", path.display())))?;
    let digits = HashType::named(hash_type).map(|kind| kind.of_bytes(&der));
    let digits = digits.ok_or_else(|| Fault::invocation(format!("'{hash_type}' is not a kind of hash")))?;
    let pairs: Vec<&str> = digits.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok()).collect();
    Ok(pairs.join(":").into())
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use halite_value::{Map, Value};

    const PEM: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEAzj0RgirdGrDvNn3n2a52VbAHVdkmHWXFMHCMXSK1NvM=\n-----END PUBLIC KEY-----\n";

    fn world() -> World {
        let host = Fake::new().file("/pki/minion.pub", PEM).file("/pki/minion_master.pub", "rubbish !");
        World { opts: Map::from_iter([("pki_dir", "/pki")]), ..World::on(host) }
    }

    /// What openssl and sha256sum, md5sum say of the key.
    #[test]
    fn a_fingerprint_is_the_digest_of_the_der_form() {
        let world = world();
        let finger = |kind: &str| call(&world.ctx(&NoMaster), "key.finger", Arguments::positional([kind]));
        let sha256 = "84:99:d2:19:df:5b:63:1e:fe:3d:20:14:c0:66:73:11:67:b4:c2:31:03:8f:5b:59:7a:cf:16:a6:13:85:49:5b";
        assert_eq!(finger("sha256").unwrap().value, sha256.into());
        assert_eq!(finger("md5").unwrap().value, "d1:fd:e6:d4:6e:d0:97:ee:3e:08:7e:61:64:62:da:d4".into());
        assert!(finger("crc").unwrap_err().to_string().contains("'crc'"));
    }

    #[test]
    fn no_key_is_an_empty_answer_and_a_broken_one_an_error() {
        let world = world();
        let broken = call(&world.ctx(&NoMaster), "key.finger_master", Arguments::default()).unwrap_err();
        assert!(broken.to_string().contains("/pki/minion_master.pub: is no PEM"), "{broken}");
        let bare = World { opts: Map::from_iter([("pki_dir", "/pki")]), ..World::new() };
        let none = call(&bare.ctx(&NoMaster), "key.finger", Arguments::default()).unwrap();
        assert_eq!(none.value, Value::from(""));
    }
}
