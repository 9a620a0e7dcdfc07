//! Digests of files, and where a digest is said to stand.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::arguments::Signers;
use halite_file::sum::{Names, Said, extract, lengths, list_at, of_file, shown};
use halite_lang::digest::HashType;
use halite_value::Value;
use halite_value::record;

record! {
    /// Shows the digest of a file.
    ///
    ///   salt '*' file.get_hash /etc/shadow
    pub struct GetHash {
        /// The path.
        path: String,
        /// md5, sha1, sha224, sha256, sha384 or sha512.
        form: String = "sha256",
        /// Taken, not used.
        chunk_size: Value = 65536,
    }
}

impl Run for GetHash {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(of_file(ctx.host, &paths::expand_user(ctx.host, &self.path), &self.form)?.into())
    }
}

record! {
    /// Shows the digest of a file, or that there is none.
    ///
    ///   salt '*' file.get_sum /etc/passwd sha512
    pub struct GetSum {
        /// The path.
        path: String,
        /// md5, sha1, sha224, sha256, sha384 or sha512.
        form: String = "sha256",
    }
}

impl Run for GetSum {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        match paths::is_file(ctx.host, &path) {
            true => Ok(of_file(ctx.host, &path, &self.form)?.into()),
            false => Ok("File not found".into()),
        }
    }
}

record! {
    /// Shows whether a file has a digest.
    ///
    ///   salt '*' file.check_hash /etc/fstab sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709
    pub struct CheckHash {
        /// The path.
        path: String,
        /// The digest, with or without its kind and `=` or `:` before it.
        file_hash: Value,
    }
}

impl Run for CheckHash {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(given) = self.file_hash.as_str() else { return Err(Fault::invocation("hash must be a string")) };
        let (kind, digest) = match given.split_once(':').or_else(|| given.split_once('=')) {
            Some((kind, digest)) => (kind, digest),
            None => match HashType::of_length(given.len()) {
                Some(kind) => (kind.name(), given),
                None => {
                    return Err(Fault::invocation(format!(
                        "Hash {given} (length: {}) could not be matched to a supported hash type. The supported hash types \
                         and lengths are: {}",
                        given.len(),
                        lengths()
                    )));
                }
            },
        };
        Ok((of_file(ctx.host, &paths::expand_user(ctx.host, &self.path), kind)? == digest).into())
    }
}

record! {
    /// Finds the digest of a file in a list of digests, such as `SHA256SUMS`. Without a line for the name: the first digest
    /// in it.
    ///
    ///   salt '*' file.extract_hash /path/to/SHA256SUMS sha256 /etc/foo
    pub struct ExtractHash {
        /// The list's path.
        hash_fn: String,
        /// The kind of digest; empty: any.
        hash_type: String = "sha256",
        /// The path that the file will have.
        file_name: String = "",
        /// The address that it comes from.
        source: String = "",
        /// The name that it has in the list.
        source_hash_name: Option<String> = (),
    }
}

impl Run for ExtractHash {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = list_at(ctx.host, &self.hash_fn)?;
        let names = Names { listed: self.source_hash_name.as_deref(), file: &self.file_name, source: &self.source };
        let found = extract(&text, HashType::named(&self.hash_type), &names)?;
        Ok(found.map_or(Value::Null, |(kind, digest)| shown(kind, &digest).into()).into())
    }
}

record! {
    /// Shows the digest that a `source_hash` of `file.managed` means: itself, or what a file at that address says.
    ///
    ///   salt '*' file.get_source_sum /tmp/foo.tar.gz source=http://mydomain/foo.tar.gz source_hash=499ae16dcae71eeb7c3a30c75ea7a1a6
    pub struct GetSourceSum {
        /// The path that the file will have.
        file_name: String = "",
        /// The address that it comes from.
        source: String = "",
        /// A digest, `KIND=DIGEST`, or the path or address of a list of digests.
        source_hash: Option<String> = (),
        /// The name that it has in the list.
        source_hash_name: Option<String> = (),
        /// The environment of files.
        saltenv: String = "base",
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// The signature of the list: True where it stands within, else its address.
        source_hash_sig: Value = (),
        ..signers: Signers,
        /// The module that checks signatures.
        sig_backend: Value = "gpg",
    }
}

impl Run for GetSourceSum {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = self.signers.given(&self.source_hash_sig, &self.sig_backend);
        // Whether it could be checked is said first, whatever the rest is.
        given.read(ctx)?;
        let said = Said {
            hash: self.source_hash.as_deref(),
            listed: self.source_hash_name.as_deref(),
            signed: Some(&given),
            unchecked: !self.verify_ssl,
        };
        Ok(said.sum(ctx, &self.file_name, &self.source, &self.saltenv)?.shown().into())
    }
}
