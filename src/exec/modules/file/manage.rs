//! `file.manage_file`: makes a file what it should be.

use super::attributes::SelinuxContext;
use super::difference::{self, Difference, Ignored, Shown};
use super::facts::{shown_mode, stat};
use super::hash::Sum;
use super::managed::mode_of;
use super::owner::{Wanted, is_test, normalized};
use super::{backups, make};
use halite_core::host::Attributes;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::digest::HashType;
use halite_node::fileserver::address;
use halite_node::fileserver::client;
use halite_node::fileserver::client::FileClient;
use halite_node::signature::{Given, Signature};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::io;
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
        /// `minion`: keep a copy of the file as it was.
        backup: Value,
        /// Make the folders above that are missing.
        makedirs: bool = false,
        /// Taken, not used: the content is rendered already.
        template: Value = (),
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// The content itself, where there is no source.
        contents: Value = (),
        /// The mode of folders that are made.
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
        /// The user that SELinux should know.
        seuser: Option<String> = (),
        /// The role.
        serole: Option<String> = (),
        /// The type.
        setype: Option<String> = (),
        /// The range.
        serange: Option<String> = (),
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// Ask a web server by `ETag` whether the copy in the cache is still good.
        use_etag: bool = false,
        /// The signature of the content: True where it stands within, else its address, or a list of addresses.
        signature: Value = (),
        /// A signature of the list of digests; it was checked already.
        source_hash_sig: Value = (),
        /// Keys that may have signed it.
        signed_by_any: Value = (),
        /// Keys that must have signed it.
        signed_by_all: Value = (),
        /// The keyring that they are in.
        keyring: Value = (),
        /// The folder of GnuPG.
        gnupghome: Value = (),
        /// Lines in another order do not count.
        ignore_ordering: bool = false,
        /// Blanks at the ends of lines do not count.
        ignore_whitespace: bool = false,
        /// What stands behind this text does not count.
        ignore_comment_characters: Value = (),
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
        let source = self.source.filter(|source| !source.is_empty());
        let given = Given {
            signature: &self.signature,
            signed_by_any: &self.signed_by_any,
            signed_by_all: &self.signed_by_all,
            keyring: &self.keyring,
            gnupghome: &self.gnupghome,
            sig_backend: &self.sig_backend,
        };
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
            sum: self.source_sum.as_ref().map(Sum::given).transpose()?.flatten(),
            verifies: !self.skip_verify && !self.use_etag && source.as_ref().is_some_and(|it| !it.starts_with("salt:")),
            source,
            contents,
            wanted: Wanted {
                user: self.user,
                group: self.group,
                mode: normalized(&self.mode),
                attrs: self.attrs,
                context: SelinuxContext {
                    user: self.seuser,
                    role: self.serole,
                    kind: self.setype,
                    range: self.serange,
                },
            },
            dir_mode: self.dir_mode,
            saltenv: self.saltenv,
            backup: backup_mode(ctx, &self.backup),
            makedirs: self.makedirs,
            shows_changes: self.show_changes,
            follow: self.follow_symlinks,
            keeps_mode: self.keep_mode,
            unchecked: !self.verify_ssl,
            use_etag: self.use_etag,
            signature,
            ignored: Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters),
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
    wanted: Wanted,
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
struct Refusal(String);

impl Managed {
    fn make(mut self, ctx: &Ctx, ret: Map) -> Result<Map, Fault> {
        let mut ret = ret;
        let is_link = paths::is_link(ctx.host, &self.name);
        let made = match self.bring(ctx)? {
            Err(refusal) => Err(refusal),
            Ok(()) if is_link || paths::is_file(ctx.host, &self.name) => self.change(ctx, &mut ret, is_link)?,
            Ok(()) => self.create(ctx, &mut ret)?,
        };
        if let Err(Refusal(comment)) = made {
            ret.insert("result", false);
            ret.insert("comment", comment);
        }
        Ok(ret)
    }

    /// Fetches the content where it was not handed over.
    fn bring(&mut self, ctx: &Ctx) -> Result<Result<(), Refusal>, Fault> {
        let Some(source) = self.source.clone() else { return Ok(Ok(())) };
        let path = match self.path.take() {
            Some(path) => path,
            None => {
                let wanted =
                    client::Wanted { unchecked: self.unchecked, by_etag: self.use_etag, ..client::Wanted::default() };
                match FileClient::new(ctx).cache_file(&source, &self.saltenv, &wanted)? {
                    Some(path) => path,
                    None => return Ok(Err(Refusal(format!("Source file '{source}' not found")))),
                }
            }
        };
        let kind = self.sum.as_ref().map_or(HashType::Sha256, |sum| sum.kind);
        let own = Sum::of(ctx.host, &path, kind)?;
        if self.keeps_mode
            && let Some(mode) = mode_of(ctx, &source, &self.saltenv)?
        {
            self.wanted.mode = normalized(&mode);
        }
        let signed = match &self.signature {
            Some(signature) if !self.is_there(ctx, &own)? => {
                signature.check_file(ctx, &path, &self.saltenv, self.unchecked)
            }
            _ => Ok(()),
        };
        self.path = Some(path);
        match self.sum.replace(own.clone()) {
            Some(said) if self.verifies && said != own => Ok(Err(Refusal(format!(
                "Specified {} checksum for {} ({}) does not match actual checksum ({}). If the 'source_hash' value refers to a \
                 remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.",
                kind.name(),
                address::redacted(&source),
                said.digest,
                own.digest
            )))),
            _ => Ok(signed.map_err(|fault| Refusal(format!("Failed checking new file's signature: {fault}")))),
        }
    }

    /// Whether the file has this content already.
    fn is_there(&self, ctx: &Ctx, sum: &Sum) -> Result<bool, Fault> {
        let real = paths::real(ctx.host, &self.name);
        Ok(paths::is_file(ctx.host, &real) && Sum::of(ctx.host, &real, sum.kind)? == *sum)
    }

    /// Of a file that is there.
    fn change(self, ctx: &Ctx, ret: &mut Map, is_link: bool) -> Result<Result<(), Refusal>, Fault> {
        let real = match is_link && self.follow {
            true => paths::real(ctx.host, &self.name),
            false => self.name.clone(),
        };
        let replaces_link = is_link && !self.follow;
        let mut counts = self.ignored.is_none();
        if let (Some(path), Some(sum)) = (&self.path, &self.sum) {
            let is_same =
                !replaces_link && paths::is_file(ctx.host, &real) && Sum::of(ctx.host, &real, sum.kind)? == *sum;
            if !is_same {
                let shown = Shown { changes: self.shows_changes, of_template: true };
                let difference = match paths::is_file(ctx.host, &real) {
                    true => difference::between_files(
                        ctx,
                        &paths::real(ctx.host, &real),
                        path,
                        shown,
                        self.ignored.as_ref(),
                    )?,
                    false => Difference::default(),
                };
                if let Err(refusal) = self.put_file(ctx, path, &real, Attributes::default())? {
                    return Ok(Err(refusal));
                }
                counts |= difference.counts;
                if !difference.text.is_empty() {
                    note(ret, "diff", difference.text);
                }
            }
        }
        if let Some(contents) = &self.contents {
            let old = match paths::is_file(ctx.host, &real) {
                true => {
                    let target = paths::real(ctx.host, &real);
                    ctx.host.read(Path::new(&target)).map_err(|error| super::refused(&real, &error))?
                }
                false => Vec::new(),
            };
            let shown = Shown { changes: self.shows_changes, of_template: true };
            let difference = difference::between(ctx, &old, contents, shown, self.ignored.as_ref());
            if !difference.text.is_empty() {
                if let Err(refusal) = self.put(ctx, contents, &real, Attributes::default())? {
                    return Ok(Err(refusal));
                }
                counts |= difference.counts;
                note(ret, "diff", difference.text);
            }
        }
        if replaces_link && self.path.is_some() {
            note(ret, "diff", "Replace symbolic link with regular file".to_owned());
        }
        let (checked, _) = self.wanted.check(ctx, &self.name, std::mem::take(ret), self.follow)?;
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

    /// Of a file that is not there. It is for its owner alone until it has the mode that it should have.
    fn create(self, ctx: &Ctx, ret: &mut Map) -> Result<Result<(), Refusal>, Fault> {
        let folder = paths::folder_of(&self.name);
        if !paths::is_folder(ctx.host, &folder) {
            if !self.makedirs {
                return Ok(Err(Refusal("Parent directory not present".to_owned())));
            }
            if !is_test(ctx) {
                let mode = self.folder_mode();
                make::make_above(ctx, &self.name, &self.wanted.user, &self.wanted.group, &mode)?;
            }
        }
        let mode = self.wanted.mode.as_ref().map(|_| 0o600);
        let attributes = Attributes { mode, ..Attributes::default() };
        let shown = Shown { changes: true, of_template: false };
        let put = match (&self.path, &self.contents) {
            (Some(path), _) => {
                let diff = match self.shows_new {
                    true => {
                        let new = ctx.host.read(Path::new(path)).map_err(|error| super::refused(path, &error))?;
                        difference::between(ctx, b"", &new, shown, None).text
                    }
                    false => "New file".to_owned(),
                };
                note(ret, "diff", diff);
                match is_test(ctx) {
                    true => Ok(()),
                    false => self.put_file(ctx, path, &self.name, attributes)?,
                }
            }
            (None, contents) => {
                match contents {
                    Some(contents) if self.shows_new => {
                        note(ret, "diff", difference::between(ctx, b"", contents, shown, None).text);
                    }
                    Some(_) => note(ret, "diff", "New file".to_owned()),
                    None => {
                        note(ret, "new", format!("file {} created", self.name));
                        ret.insert("comment", "Empty file");
                    }
                }
                match is_test(ctx) {
                    true => Ok(()),
                    false => self.put(ctx, contents.as_deref().unwrap_or_default(), &self.name, attributes)?,
                }
            }
        };
        if let Err(refusal) = put {
            return Ok(Err(refusal));
        }
        if is_test(ctx) {
            ret.insert("comment", format!("File {} not updated", self.name));
            return Ok(Ok(()));
        }
        let (checked, _) = self.wanted.check(ctx, &self.name, std::mem::take(ret), false)?;
        *ret = checked;
        if self.wanted.mode.is_none() && self.path.is_some() {
            note(ret, "mode", shown_mode(stat(ctx.host, &self.name, false)?.mode));
        }
        if !ret.at("comment").is_some_and(Value::truthy) {
            ret.insert("comment", format!("File {} updated", self.name));
        }
        if !has_changes(ret) && ret.at("result").is_some_and(Value::truthy) {
            ret.insert("comment", format!("File {} is in the correct state", self.name));
        }
        Ok(Ok(()))
    }

    /// The mode of folders that are made: who may read the file may enter them.
    fn folder_mode(&self) -> Value {
        match (&self.dir_mode, &self.wanted.mode) {
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

    /// Puts a content where it belongs, after a copy of what was there.
    fn put(&self, ctx: &Ctx, bytes: &[u8], path: &str, attributes: Attributes) -> Result<Result<(), Refusal>, Fault> {
        self.back_up(ctx, path)?;
        // What replaces a link is owned and moded as what it pointed to.
        let there = paths::followed(ctx.host, Path::new(path)).ok();
        let attributes = there.map_or(attributes, |stat| Attributes {
            mode: Some(stat.mode),
            uid: Some(stat.uid),
            gid: Some(stat.gid),
        });
        Ok(ctx.host.write(Path::new(path), bytes, attributes).map_err(|error| uncommitted(path, &error)))
    }

    /// The same with a file, which may be a long one.
    fn put_file(
        &self,
        ctx: &Ctx,
        from: &str,
        path: &str,
        attributes: Attributes,
    ) -> Result<Result<(), Refusal>, Fault> {
        if paths::is_link(ctx.host, path) {
            let bytes = ctx.host.read(Path::new(from)).map_err(|error| super::refused(from, &error))?;
            return self.put(ctx, &bytes, path, attributes);
        }
        self.back_up(ctx, path)?;
        let incoming = FileClient::new(ctx).cache.incoming()?;
        let copied = ctx.host.open(Path::new(from)).and_then(|mut from| {
            let mut file = std::fs::File::create(&incoming)?;
            io::copy(&mut from, &mut file)
        });
        let placed = copied.and_then(|_| ctx.host.place(&incoming, Path::new(path), attributes));
        if placed.is_err() {
            // The first error is the one to tell.
            let _ = std::fs::remove_file(&incoming);
        }
        Ok(placed.map_err(|error| uncommitted(path, &error)))
    }

    fn back_up(&self, ctx: &Ctx, path: &str) -> Result<(), Fault> {
        if self.backup { backups::keep(ctx, path) } else { Ok(()) }
    }
}

fn uncommitted(path: &str, error: &io::Error) -> Refusal {
    Refusal(format!("Failed to commit change: {}", super::in_python_words(path, error)))
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

/// A text in an encoding, by its Python name.
pub fn encoded(text: &str, encoding: &str, errors: &str) -> Result<Vec<u8>, Fault> {
    let most = match encoding.to_lowercase().replace('_', "-").as_str() {
        "utf-8" | "utf8" => return Ok(text.as_bytes().to_vec()),
        "utf-16" => {
            let marked = [0xff, 0xfe].into_iter();
            return Ok(marked.chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect());
        }
        "utf-16-le" => return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        "utf-16-be" => return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        "ascii" | "us-ascii" => 0x7f,
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" => 0xff,
        _ => return Err(Fault::invocation(format!("unknown encoding: {encoding}"))),
    };
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match (u8::try_from(u32::from(letter)).ok().filter(|byte| *byte <= most), errors) {
            (Some(byte), _) => bytes.push(byte),
            (None, "ignore") => {}
            (None, "replace") => bytes.push(b'?'),
            (None, _) => {
                return Err(Fault::invocation(format!(
                    "'{encoding}' codec can't encode character {}",
                    letter.escape_unicode()
                )));
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_encoded_as_python_does_it() {
        assert_eq!(encoded("aä", "latin-1", "strict").unwrap(), b"a\xe4");
        assert_eq!(encoded("aä", "ascii", "replace").unwrap(), b"a?");
        assert_eq!(encoded("aä", "ascii", "ignore").unwrap(), b"a");
        assert_eq!(encoded("a", "UTF_16", "strict").unwrap(), b"\xff\xfea\0");
        assert_eq!(encoded("ä€", "utf-16-be", "strict").unwrap(), b"\0\xe4\x20\xac");
        assert!(encoded("ä", "ascii", "strict").unwrap_err().to_string().contains("codec can't encode"));
        assert!(encoded("ä", "klingon", "strict").unwrap_err().to_string().contains("unknown encoding"));
    }
}
