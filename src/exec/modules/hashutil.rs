//! `hashutil.*`: digests, base64 and signatures.

use halite_core::host::{Attributes, FileKind};
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::base64;
use halite_lang::digest::{HashType, hex};
use halite_value::Value;
use halite_value::record;
use halite_value::record::{ArgumentError, Record};
use std::path::Path;

pub const MODULE: Module = Module {
    name: "hashutil",
    doc: "Digests, base64 and signatures.",
    functions: &[
        function::<Base64B64decode>("base64_b64decode").inline(),
        function::<Base64B64encode>("base64_b64encode").inline(),
        function::<Base64Decodefile>("base64_decodefile"),
        function::<Base64Decodestring>("base64_decodestring").inline(),
        function::<Base64Encodefile>("base64_encodefile"),
        function::<Base64Encodestring>("base64_encodestring").inline(),
        function::<Digest>("digest").inline(),
        function::<DigestFile>("digest_file"),
        function::<GithubSignature>("github_signature").inline(),
        function::<HmacCompute>("hmac_compute").inline(),
        function::<HmacSignature>("hmac_signature").inline(),
        function::<Md5Digest>("md5_digest").inline(),
        function::<Sha256Digest>("sha256_digest").inline(),
        function::<Sha512Digest>("sha512_digest").inline(),
    ],
};

/// Text or bytes, as bytes. A number is refused as Salt refuses it: whether 010 is `8` or `010` is not to be guessed in a
/// digest.
pub(super) fn bytes<'a, R: Record>(fun: &str, name: &'static str, value: &'a Value) -> Result<&'a [u8], Fault> {
    match value {
        Value::Str(text) => Ok(text.as_bytes()),
        Value::Bytes(bytes) => Ok(bytes),
        other => {
            let found = format!("{} ({}): put it into quotes", other.type_name(), other.repr());
            let error = ArgumentError::Kind { name, wants: "text", found };
            Err(Fault::arguments::<R>(fun, error))
        }
    }
}

/// Text where the bytes are some, else the bytes.
fn text_or_bytes(bytes: Vec<u8>) -> Value {
    String::from_utf8(bytes).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::from)
}

fn decoded<R: Record>(fun: &str, instr: &Value) -> Result<Vec<u8>, Fault> {
    base64::decode(bytes::<R>(fun, "instr", instr)?)
        .map_err(|message| Fault::Raised { kind: "Error".to_owned(), message })
}

fn failed(path: &str, error: std::io::Error) -> Fault {
    Fault::execution(format!("{path}: {error}"))
}

/// The kinds that `hashutil.digest` and `hashutil.digest_file` know: Salt has no more of them there.
fn kind(checksum: &str) -> Result<HashType, Fault> {
    match checksum {
        "md5" => Ok(HashType::Md5),
        "sha256" => Ok(HashType::Sha256),
        "sha512" => Ok(HashType::Sha512),
        other => Err(Fault::execution(format!("Hash func '{other}' is not supported."))),
    }
}

record! {
    /// Returns the digest of a text.
    ///
    ///   salt '*' hashutil.digest 'get salted'
    ///   salt '*' hashutil.digest 'get salted' sha256
    pub struct Digest {
        /// The text.
        instr: Value,
        /// The kind: md5, sha256 or sha512.
        checksum: String = "md5",
    }
}

impl Run for Digest {
    fn run(self, _: &Ctx) -> Reply {
        let kind = kind(&self.checksum)?;
        Ok(kind.of_bytes(bytes::<Self>("hashutil.digest", "instr", &self.instr)?).into())
    }
}

record! {
    /// Returns the digest of a file of the minion.
    ///
    ///   salt '*' hashutil.digest_file /etc/hosts
    pub struct DigestFile {
        /// The file's path.
        infile: String,
        /// The kind: md5, sha256 or sha512.
        checksum: String = "md5",
    }
}

impl Run for DigestFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = Path::new(&self.infile);
        if !ctx.host.stat(path).is_ok_and(|stat| matches!(stat.kind, FileKind::File | FileKind::Link)) {
            return Err(Fault::execution(format!("File path '{}' not found.", self.infile)));
        }
        let kind = kind(&self.checksum)?;
        Ok(ctx.host.open(path).and_then(|file| kind.of(file)).map_err(|error| failed(&self.infile, error))?.into())
    }
}

record! {
    /// Returns a text in base64, in one line.
    ///
    ///   salt '*' hashutil.base64_b64encode 'get salted'
    pub struct Base64B64encode {
        /// The text.
        instr: Value,
    }
}

impl Run for Base64B64encode {
    fn run(self, _: &Ctx) -> Reply {
        Ok(base64::encode(bytes::<Self>("hashutil.base64_b64encode", "instr", &self.instr)?).into())
    }
}

record! {
    /// Returns what a text in base64 holds. Characters that are none of base64 are passed over.
    ///
    ///   salt '*' hashutil.base64_b64decode 'Z2V0IHNhbHRlZA=='
    pub struct Base64B64decode {
        /// The text in base64.
        instr: Value,
    }
}

impl Run for Base64B64decode {
    fn run(self, _: &Ctx) -> Reply {
        Ok(text_or_bytes(decoded::<Self>("hashutil.base64_b64decode", &self.instr)?).into())
    }
}

record! {
    /// Returns a text in base64, in lines of 76 characters.
    ///
    ///   salt '*' hashutil.base64_encodestring 'get salted'
    pub struct Base64Encodestring {
        /// The text.
        instr: Value,
    }
}

impl Run for Base64Encodestring {
    fn run(self, _: &Ctx) -> Reply {
        Ok(base64::encode_lines(bytes::<Self>("hashutil.base64_encodestring", "instr", &self.instr)?).into())
    }
}

record! {
    /// Returns what a text in base64 holds, in lines or not.
    ///
    ///   salt '*' hashutil.base64_decodestring instr='Z2V0IHNhbHRlZAo='
    pub struct Base64Decodestring {
        /// The text in base64.
        instr: Value,
    }
}

impl Run for Base64Decodestring {
    fn run(self, _: &Ctx) -> Reply {
        Ok(text_or_bytes(decoded::<Self>("hashutil.base64_decodestring", &self.instr)?).into())
    }
}

record! {
    /// Returns a file of the minion in base64, in lines of 76 characters.
    ///
    ///   salt '*' hashutil.base64_encodefile /etc/hosts
    pub struct Base64Encodefile {
        /// The file's path.
        fname: String,
    }
}

impl Run for Base64Encodefile {
    fn run(self, ctx: &Ctx) -> Reply {
        let bytes = ctx.host.read(Path::new(&self.fname)).map_err(|error| failed(&self.fname, error))?;
        Ok(base64::encode_lines(&bytes).into())
    }
}

record! {
    /// Writes what a text in base64 holds to a file of the minion. A text that is no base64 leaves the file alone.
    ///
    ///   salt '*' hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile=/tmp/binary_file
    pub struct Base64Decodefile {
        /// The text in base64.
        instr: Value,
        /// The file's path.
        outfile: String,
    }
}

impl Run for Base64Decodefile {
    fn run(self, ctx: &Ctx) -> Reply {
        let bytes = decoded::<Self>("hashutil.base64_decodefile", &self.instr)?;
        let written = ctx.host.write(Path::new(&self.outfile), &bytes, Attributes::default());
        written.map_err(|error| failed(&self.outfile, error))?;
        Ok(true.into())
    }
}

record! {
    /// Returns the MD5 digest of a text.
    ///
    ///   salt '*' hashutil.md5_digest 'get salted'
    pub struct Md5Digest {
        /// The text.
        instr: Value,
    }
}

impl Run for Md5Digest {
    fn run(self, _: &Ctx) -> Reply {
        Ok(HashType::Md5.of_bytes(bytes::<Self>("hashutil.md5_digest", "instr", &self.instr)?).into())
    }
}

record! {
    /// Returns the SHA-256 digest of a text.
    ///
    ///   salt '*' hashutil.sha256_digest 'get salted'
    pub struct Sha256Digest {
        /// The text.
        instr: Value,
    }
}

impl Run for Sha256Digest {
    fn run(self, _: &Ctx) -> Reply {
        Ok(HashType::Sha256.of_bytes(bytes::<Self>("hashutil.sha256_digest", "instr", &self.instr)?).into())
    }
}

record! {
    /// Returns the SHA-512 digest of a text.
    ///
    ///   salt '*' hashutil.sha512_digest 'get salted'
    pub struct Sha512Digest {
        /// The text.
        instr: Value,
    }
}

impl Run for Sha512Digest {
    fn run(self, _: &Ctx) -> Reply {
        Ok(HashType::Sha512.of_bytes(bytes::<Self>("hashutil.sha512_digest", "instr", &self.instr)?).into())
    }
}

record! {
    /// Returns the HMAC of a text with SHA-256, hexadecimal.
    ///
    ///   salt '*' hashutil.hmac_compute 'get salted' 'shared secret'
    pub struct HmacCompute {
        /// The text.
        string: Value,
        /// The key.
        shared_secret: Value,
    }
}

impl Run for HmacCompute {
    fn run(self, _: &Ctx) -> Reply {
        let key = bytes::<Self>("hashutil.hmac_compute", "shared_secret", &self.shared_secret)?;
        Ok(hex(&HashType::Sha256.hmac(key, bytes::<Self>("hashutil.hmac_compute", "string", &self.string)?)).into())
    }
}

record! {
    /// Shows whether an HMAC with SHA-256, in base64, is that of the text.
    ///
    ///   salt '*' hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='
    pub struct HmacSignature {
        /// The text.
        string: Value,
        /// The key.
        shared_secret: Value,
        /// The HMAC to be judged.
        challenge_hmac: Value,
    }
}

impl Run for HmacSignature {
    fn run(self, _: &Ctx) -> Reply {
        let of = |name, value| bytes::<Self>("hashutil.hmac_signature", name, value);
        let (text, key) = (of("string", &self.string)?, of("shared_secret", &self.shared_secret)?);
        let challenge = of("challenge_hmac", &self.challenge_hmac)?;
        Ok(same(base64::encode(&HashType::Sha256.hmac(key, text)).as_bytes(), challenge).into())
    }
}

record! {
    /// Shows whether the signature that GitHub sends with a webhook is that of the text.
    ///
    ///   salt '*' hashutil.github_signature 'payload' 'shared secret' challenge_hmac='sha1=02a50ccf9bb43d7ef0c8919a9850d509ca5f0966'
    pub struct GithubSignature {
        /// The text.
        string: Value,
        /// The key.
        shared_secret: Value,
        /// The signature to be judged: the kind of digest, `=`, the HMAC in hexadecimal.
        challenge_hmac: String,
    }
}

impl Run for GithubSignature {
    fn run(self, _: &Ctx) -> Reply {
        let of = |name, value| bytes::<Self>("hashutil.github_signature", name, value);
        let (text, key) = (of("string", &self.string)?, of("shared_secret", &self.shared_secret)?);
        let Some((kind, challenge)) = self.challenge_hmac.split_once('=').filter(|(_, digits)| !digits.contains('='))
        else {
            return Err(Fault::invocation("the signature is not of the form sha1=DIGITS"));
        };
        let known =
            HashType::named(kind).ok_or_else(|| Fault::invocation(format!("'{kind}' is not a kind of hash")))?;
        Ok(same(hex(&known.hmac(key, text)).as_bytes(), challenge.as_bytes()).into())
    }
}

/// Compares in a time that does not tell how much of it was right.
fn same(ours: &[u8], theirs: &[u8]) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::Value;
    use halite_value::record::Arguments;

    #[test]
    fn files_are_digested_and_come_back_from_base64() {
        let world = World::on(Fake::new().file("/in", "get salted").directory("/directory"));
        let ctx = world.ctx(&NoMaster);
        let run = |fun: &str, words: &[&str]| call(&ctx, fun, Arguments::positional(words.iter().copied()));
        let digest = run("hashutil.digest_file", &["/in"]).unwrap().value;
        assert_eq!(digest, run("hashutil.digest", &["get salted"]).unwrap().value);
        let encoded = run("hashutil.base64_encodefile", &["/in"]).unwrap().value;
        assert_eq!(encoded, Value::from("Z2V0IHNhbHRlZA==\n"));
        run("hashutil.base64_decodefile", &[encoded.as_str().unwrap(), "/out"]).unwrap();
        assert_eq!(world.host.text("/out").as_deref(), Some("get salted"));
        assert!(run("hashutil.base64_decodefile", &["Z2V", "/out"]).is_err());
        assert_eq!(world.host.text("/out").as_deref(), Some("get salted"), "left alone");
        for path in ["/directory", "/none"] {
            let fault = run("hashutil.digest_file", &[path]).unwrap_err();
            assert_eq!(fault.to_string(), format!("File path '{path}' not found."));
        }
        assert!(run("hashutil.base64_encodefile", &["/none"]).unwrap_err().to_string().contains("/none: "));
    }
}
