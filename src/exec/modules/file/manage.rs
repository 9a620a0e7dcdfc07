//! `file.manage_file`: makes a file what it should be.

use super::{in_python_words, refused};
use halite_core::host::{Attributes, FileKind};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::access::Access;
use halite_file::arguments::{Brought, Ignoring, Selinux, Signers};
use halite_file::content::{Body, Part};
use halite_file::desired::{Above, Delta, Desired, Links, Refusal};
use halite_file::difference::{Ignored, Shown};
use halite_file::encoding::encoded;
use halite_file::source::mode_of;
use halite_file::sum::Sum;
use halite_file::{is_test, shown_mode, stat};
use halite_node::fileserver::address;
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_node::signature::Signature;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes a file what it should be: content, owner, mode and attributes. Returns what a state returns.
    ///
    ///   salt '*' file.manage_file /etc/httpd/conf.d/httpd.conf None '{}' salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f7d4f53f68}' root root 0755 None base ''
    pub struct ManageFile {
        /// The file.
        name: String,
        /// Where its content is; None: it is fetched.
        sfn: Option<String>,
        /// A state's return to be added to; empty for a new one.
        ret: Option<Map>,
        ..brought: Brought,
        /// `minion`: keep a copy of the file as it was.
        backup: Value,
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// Taken, not used: the content is rendered already.
        template: Value = (),
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// The content itself, where there is no source.
        contents: Value = (),
        /// The mode of directories that are made.
        dir_mode: Value = (),
        /// Whether what a link points to is changed; else the link becomes a file.
        follow_symlinks: bool = true,
        /// Take what comes from a web server without a digest.
        skip_verify: bool = false,
        /// The mode is the one that the source has.
        keep_mode: bool = false,
        /// The encoding that `contents` is written in: utf-8, ascii, latin-1, utf-16, utf-16-le or utf-16-be.
        encoding: Option<String> = (),
        /// What is done about letters that it does not have: strict, ignore or replace.
        encoding_errors: String = "strict",
        ..selinux: Selinux,
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// Ask a web server by `ETag` whether the copy in the cache is still good.
        use_etag: bool = false,
        /// The signature of the content: True where it stands within, else its address, or a list of addresses.
        signature: Value = (),
        /// A signature of the list of digests; it was checked already.
        source_hash_sig: Value = (),
        ..signers: Signers,
        ..ignoring: Ignoring,
        /// Show all of a new file.
        new_file_diff: bool = false,
        /// The module that checks signatures.
        sig_backend: Value = "gpg",
        kwargs: Keywords,
    }
}

impl Run for ManageFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let contents = match (&self.contents, self.encoding.as_deref().filter(|name| !name.is_empty())) {
            (Value::Null, _) => None,
            (Value::Bytes(bytes), _) => Some(bytes.clone()),
            (text, None) => Some(text.to_text().into_bytes()),
            (text, Some(encoding)) => Some(encoded(&text.to_text(), encoding, &self.encoding_errors)?),
        };
        let name = paths::expand_user(ctx.host, &self.name);
        let mut ret = self.ret.unwrap_or_default();
        if ret.is_empty() {
            ret = Map::from_iter([("name", Value::from(name.as_str())), ("changes", Map::new().into())]);
            ret.insert("comment", "");
            ret.insert("result", true);
        }
        let access = self.brought.access(self.selinux);
        let Brought { source, source_sum, saltenv, .. } = self.brought;
        let source = source.filter(|source| !source.is_empty());
        let given = self.signers.given(&self.signature, &self.sig_backend);
        let signature = match given.read(ctx) {
            Ok(signature) => signature,
            Err(fault) => {
                ret.insert("result", false);
                ret.insert("comment", format!("Failed checking new file's signature: {fault}"));
                return Ok(ret.into());
            }
        };
        let managed = Managed {
            name,
            path: self.sfn.filter(|path| !path.is_empty()),
            sum: source_sum.as_ref().map(Sum::given).transpose()?.flatten(),
            verifies: !self.skip_verify && !self.use_etag && source.as_ref().is_some_and(|it| !it.starts_with("salt:")),
            source,
            contents,
            access,
            dir_mode: self.dir_mode,
            saltenv,
            backup: backup_mode(ctx, &self.backup),
            makedirs: self.makedirs,
            shows_changes: self.show_changes,
            follow: self.follow_symlinks,
            keeps_mode: self.keep_mode,
            unchecked: !self.verify_ssl,
            use_etag: self.use_etag,
            signature,
            ignored: self.ignoring.ignored(),
            shows_new: self.new_file_diff,
        };
        managed.make(ctx, ret).map(Into::into)
    }
}

/// How a file is backed up before it is changed: the argument, else the option `backup_mode`.
fn backup_mode(ctx: &Ctx, given: &Value) -> bool {
    let mode = match given.truthy() {
        true => given.to_text(),
        false => ctx.opts.str_at("backup_mode").unwrap_or_default().to_owned(),
    };
    matches!(mode.as_str(), "minion" | "both")
}

/// A file and what it should be.
struct Managed {
    name: String,
    /// Where the content can be read.
    path: Option<String>,
    sum: Option<Sum>,
    /// The content has to have the digest that the state gives.
    verifies: bool,
    source: Option<String>,
    contents: Option<Vec<u8>>,
    access: Access,
    dir_mode: Value,
    saltenv: String,
    backup: bool,
    makedirs: bool,
    shows_changes: bool,
    follow: bool,
    keeps_mode: bool,
    unchecked: bool,
    use_etag: bool,
    signature: Option<Signature>,
    ignored: Option<Ignored>,
    shows_new: bool,
}

/// Why a file cannot be managed, for whoever reads the state's return.
type Comment = String;

impl Managed {
    fn make(mut self, ctx: &Ctx, mut ret: Map) -> Result<Map, Fault> {
        let made = match self.bring(ctx)? {
            Err(comment) => Err(comment),
            Ok(verified) => {
                let desired = self.desired(ctx, verified);
                let delta = desired.compare(ctx)?;
                let is_there =
                    delta.stat.as_ref().is_some_and(|stat| matches!(stat.kind, FileKind::File | FileKind::Link));
                match is_there {
                    true => self.change(ctx, &desired, &delta, &mut ret)?,
                    false => self.create(ctx, &desired, &delta, &mut ret)?,
                }
            }
        };
        if let Err(comment) = made {
            ret.insert("result", false);
            ret.insert("comment", comment);
        }
        Ok(ret)
    }

    /// Fetches the content where it was not handed over, and checks it: the digest that it was checked by.
    fn bring(&mut self, ctx: &Ctx) -> Result<Result<Option<Sum>, Comment>, Fault> {
        let Some(source) = self.source.clone() else { return Ok(Ok(None)) };
        let path = match self.path.take() {
            Some(path) => path,
            None => {
                let wanted = Wanted { unchecked: self.unchecked, by_etag: self.use_etag, ..Wanted::default() };
                match FileClient::new(ctx).cache_file(&source, &self.saltenv, &wanted)? {
                    Some(path) => path,
                    None => return Ok(Err(format!("Source file '{source}' not found"))),
                }
            }
        };
        ctx.host.open(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let said = self.sum.clone().filter(|_| self.verifies);
        let verified = match &said {
            Some(said) => Some(Sum::of(ctx.host, &path, said.kind)?),
            None => None,
        };
        if self.keeps_mode
            && let Some(mode) = mode_of(ctx, &source, &self.saltenv)?
        {
            self.access.mode = Some(shown_mode(mode));
        }
        if let (Some(said), Some(own)) = (said, &verified)
            && said != *own
        {
            return Ok(Err(format!(
                "Specified {} checksum for {} ({}) does not match actual checksum ({}). If the 'source_hash' value refers to a \
                 remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.",
                own.kind.name(),
                address::redacted(&source),
                said.digest,
                own.digest
            )));
        }
        if let Some(signature) = &self.signature
            && !self.has(ctx, &path)
            && let Err(fault) = signature.check_file(ctx, &path, &self.saltenv, self.unchecked)
        {
            return Ok(Err(format!("Failed checking new file's signature: {fault}")));
        }
        self.path = Some(path);
        Ok(Ok(verified))
    }

    /// Whether the file has this content already.
    fn has(&self, ctx: &Ctx, path: &str) -> bool {
        let real = paths::real(ctx.host, &self.name);
        paths::is_file(ctx.host, &real) && Part::At(&real).is_same(Part::At(path), ctx.host).unwrap_or(false)
    }

    fn desired(&self, ctx: &Ctx, verified: Option<Sum>) -> Desired {
        let is_there = paths::is_link(ctx.host, &self.name) || paths::is_file(ctx.host, &self.name);
        let is_told = self.source.is_some() || self.sum.is_some() || !is_there;
        let body = match (&self.path, &self.contents) {
            (Some(path), _) if is_told => Some(Body::At(path.clone())),
            (_, contents) => contents.clone().map(Body::Bytes),
        };
        Desired {
            name: self.name.clone(),
            links: if self.follow { Links::Follow } else { Links::Replace },
            body,
            verified,
            access: self.access.clone(),
            above: self.makedirs.then(|| Above {
                user: self.access.user.clone(),
                group: self.access.group.clone(),
                mode: self.directory_mode(),
            }),
            keeps_backup: self.backup,
            shows_changes: self.shows_changes,
            shows_new: self.shows_new.then_some(Shown::ALL),
            ignored: self.ignored.clone(),
            ..Desired::default()
        }
    }

    /// Of a file that is there.
    fn change(self, ctx: &Ctx, desired: &Desired, delta: &Delta, ret: &mut Map) -> Result<Result<(), Comment>, Fault> {
        let has_source = matches!(desired.body, Some(Body::At(_)));
        let mut counts = self.ignored.is_none();
        // A link whose content is right as it is given stays.
        if (has_source && delta.writes) || delta.difference.is_some() {
            // What replaces a link is owned and moded as what it pointed to.
            let attributes = self.attributes_there(ctx, delta);
            if let Err(refusal) = delta.commit(ctx, desired, attributes)? {
                return Ok(Err(worded(refusal)));
            }
        }
        if let Some(difference) = &delta.difference {
            counts |= difference.counts;
            note(ret, "diff", difference.text.clone());
        }
        if delta.replaces_link && has_source {
            note(ret, "diff", "Replace symbolic link with regular file".to_owned());
        }
        let (checked, _) = self.access.check(ctx, &self.name, std::mem::take(ret), self.follow)?;
        *ret = checked;
        if has_changes(ret) {
            ret.insert("comment", format!("File {} updated", self.name));
            if !counts {
                ret.insert("skip_req", true);
            }
        } else if ret.at("result").is_some_and(Value::truthy) {
            ret.insert("comment", format!("File {} is in the correct state", self.name));
        }
        Ok(Ok(()))
    }

    fn attributes_there(&self, ctx: &Ctx, delta: &Delta) -> Attributes {
        let there = paths::followed(ctx.host, Path::new(&delta.real)).ok();
        there.map_or(Attributes::default(), |stat| Attributes {
            mode: Some(stat.mode),
            uid: Some(stat.uid),
            gid: Some(stat.gid),
        })
    }

    /// Of a file that is not there. It is for its owner alone until it has the mode that it should have.
    fn create(self, ctx: &Ctx, desired: &Desired, delta: &Delta, ret: &mut Map) -> Result<Result<(), Comment>, Fault> {
        if (desired.above.is_none() || !is_test(ctx))
            && let Err(refusal) = delta.make_directories(ctx, desired)?
        {
            return Ok(Err(worded(refusal)));
        }
        match &desired.body {
            Some(_) if self.shows_new => {
                note(ret, "diff", delta.difference.as_ref().map(|found| found.text.clone()).unwrap_or_default());
            }
            Some(_) => note(ret, "diff", "New file".to_owned()),
            None => {
                note(ret, "new", format!("file {} created", self.name));
                ret.insert("comment", "Empty file");
            }
        }
        if is_test(ctx) {
            ret.insert("comment", format!("File {} not updated", self.name));
            return Ok(Ok(()));
        }
        let mode = self.access.mode.as_ref().map(|_| 0o600);
        if let Err(refusal) = delta.commit(ctx, desired, Attributes { mode, ..Attributes::default() })? {
            return Ok(Err(worded(refusal)));
        }
        let (checked, _) = self.access.check(ctx, &self.name, std::mem::take(ret), self.follow)?;
        *ret = checked;
        if self.access.mode.is_none() && self.path.is_some() {
            note(ret, "mode", shown_mode(stat(ctx.host, &delta.real, false)?.mode));
        }
        if !ret.at("comment").is_some_and(Value::truthy) {
            ret.insert("comment", format!("File {} updated", self.name));
        }
        if !has_changes(ret) && ret.at("result").is_some_and(Value::truthy) {
            ret.insert("comment", format!("File {} is in the correct state", self.name));
        }
        Ok(Ok(()))
    }

    /// The mode of directories that are made: who may read the file may enter them.
    fn directory_mode(&self) -> Value {
        match (&self.dir_mode, &self.access.mode) {
            (Value::Null, Some(mode)) => {
                let digits = mode.chars().skip(mode.len().saturating_sub(3));
                let open = digits.map(|digit| match digit.to_digit(8) {
                    Some(0) | None => digit,
                    Some(bits) => char::from_digit(bits | 1, 8).unwrap_or(digit),
                });
                Value::from(open.collect::<String>())
            }
            (mode, _) => mode.clone(),
        }
    }
}

/// Why a content is not where it should be.
fn worded(refusal: Refusal) -> Comment {
    match refusal {
        Refusal::NoDirectory => "Parent directory not present".to_owned(),
        Refusal::Uncommitted { path, error } => format!("Failed to commit change: {}", in_python_words(&path, &error)),
        Refusal::Owner { kind, wanted } => format!("Failed to change {kind} to {wanted}"),
        Refusal::Mode(mode) => format!("Failed to change mode to {}", shown_mode(mode)),
    }
}

fn note(ret: &mut Map, key: &str, text: String) {
    match ret.at_mut("changes") {
        Some(Value::Map(changes)) => drop(changes.insert(key, text)),
        _ => drop(ret.insert("changes", Map::from_iter([(key, text)]))),
    }
}

fn has_changes(ret: &Map) -> bool {
    ret.at("changes").is_some_and(Value::truthy)
}
