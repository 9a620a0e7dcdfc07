//! Arguments that several functions and states take alike, with what they mean.

use super::access::{Access, normalized};
use super::attributes::SelinuxContext;
use super::difference::Ignored;
use halite_node::signature::Given;
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Whose signatures one thing has to have.
    pub struct Signers {
        /// Keys that may have signed it.
        signed_by_any: Value = (),
        /// Keys that must have signed it.
        signed_by_all: Value = (),
        /// The keyring that they are in.
        keyring: Value = (),
        /// The directory of GnuPG.
        gnupghome: Value = (),
    }
}

impl Signers {
    /// The signature that is given, which they have to have made and this module checks.
    pub fn given(&self, signature: &Value, backend: &Value) -> Given {
        Given {
            signature: signature.clone(),
            signed_by_any: self.signed_by_any.clone(),
            signed_by_all: self.signed_by_all.clone(),
            keyring: self.keyring.clone(),
            gnupghome: self.gnupghome.clone(),
            sig_backend: backend.clone(),
        }
    }
}

record! {
    /// Whose signatures a content and the list of its digests have to have.
    pub struct SignersOfBoth {
        /// Keys that may have signed.
        signed_by_any: Value = (),
        /// Keys that must have signed.
        signed_by_all: Value = (),
        /// The keyring that they are in.
        keyring: Value = (),
        /// The directory of GnuPG.
        gnupghome: Value = (),
    }
}

impl SignersOfBoth {
    /// One of the two signatures.
    pub fn given(&self, signature: &Value, backend: &Value) -> Given {
        let SignersOfBoth { signed_by_any, signed_by_all, keyring, gnupghome } = self.clone();
        Signers { signed_by_any, signed_by_all, keyring, gnupghome }.given(signature, backend)
    }
}

record! {
    /// The context that SELinux should know.
    pub struct Selinux {
        /// The user that SELinux should know.
        seuser: Option<String> = (),
        /// The role.
        serole: Option<String> = (),
        /// The type.
        setype: Option<String> = (),
        /// The range.
        serange: Option<String> = (),
    }
}

impl From<Selinux> for SelinuxContext {
    fn from(given: Selinux) -> SelinuxContext {
        SelinuxContext { user: given.seuser, role: given.serole, kind: given.setype, range: given.serange }
    }
}

record! {
    /// Differences that do not count.
    pub struct Ignoring {
        /// Lines in another order do not count.
        ignore_ordering: bool = false,
        /// Blanks at the ends of lines do not count.
        ignore_whitespace: bool = false,
        /// What stands behind this text does not count.
        ignore_comment_characters: Value = (),
    }
}

impl Ignoring {
    /// Nothing: all differences count.
    pub fn ignored(&self) -> Option<Ignored> {
        Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters)
    }
}

record! {
    /// A content that was brought, and who may use it.
    pub struct Brought {
        /// The content's address.
        source: Option<String>,
        /// The content's digest: a map of `hash_type` and `hsum`.
        source_sum: Option<Map>,
        /// The owner; None: no matter which.
        user: Value,
        /// The group; None: no matter which.
        group: Value,
        /// The mode; None: no matter which.
        mode: Value,
        /// The letters of lsattr(1).
        attrs: Option<String>,
        /// The environment of the file server.
        saltenv: String,
    }
}

impl Brought {
    /// Who may use it.
    pub fn access(&self, selinux: Selinux) -> Access {
        Access {
            user: self.user.clone(),
            group: self.group.clone(),
            mode: normalized(&self.mode),
            attrs: self.attrs.clone(),
            context: selinux.into(),
        }
    }
}

record! {
    /// A file as it should be, before its content is brought.
    pub struct Wished {
        /// The file.
        name: String,
        /// The content's address; of a list the first that is there.
        source: Value,
        /// A digest that the content has to have, or where one is.
        source_hash: Value,
        /// The name of the file in a list of digests.
        source_hash_name: Option<String>,
        /// The owner.
        user: Value,
        /// The group.
        group: Value,
        /// The mode.
        mode: Value,
        /// The letters of lsattr(1).
        attrs: Option<String>,
        /// A template engine for the content.
        template: Option<String>,
        /// Variables of the template.
        context: Option<Map>,
        /// Variables of the template that are not in `context`.
        defaults: Option<Map>,
        /// The environment of the file server.
        saltenv: String,
        /// The content itself, in place of a source.
        contents: Value = (),
        /// Take what comes from a web server without a digest.
        skip_verify: bool = false,
    }
}
