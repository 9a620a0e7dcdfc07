//! Whether a file is what it should be: `file.get_managed`, `file.check_managed` and its kin. Nothing is changed here.
//!
//! It is long because each function declares the twenty to thirty arguments that Salt gives it; all end in one `Checked`.

use super::attributes::{self, SelinuxContext};
use super::difference::{self, Ignored, Shown};
use super::facts::{shown_mode, stat};
use super::hash::{Said, Sum};
use super::owner::{group_name, normalized, user_name};
use super::source::first_of;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::digest::HashType;
use halite_node::fileserver::address;
use halite_node::fileserver::address::redacted;
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_node::signature::Given;
use halite_node::templates;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::fs;
use std::path::Path;

record! {
    /// Brings the content of a managed file here. Returns where it is (empty: it is read where it stands), its digest, and
    /// what is wrong.
    ///
    ///   salt '*' file.get_managed /etc/httpd/conf.d/httpd.conf jinja salt://http/httpd.conf None None root root 0755 None base '{}' '{}'
    pub struct GetManaged {
        /// The path that the file will have.
        name: String,
        /// A template engine for the content.
        template: Option<String>,
        /// The content's address.
        source: Option<String>,
        /// A digest that the content has to have, or where one is.
        source_hash: Option<String>,
        /// The name of the file in a list of digests.
        source_hash_name: Option<String>,
        /// The owner: for the template.
        user: Value,
        /// The group: for the template.
        group: Value,
        /// The mode: for the template.
        mode: Value,
        /// The attributes: for the template.
        attrs: Value,
        /// The environment of the file server.
        saltenv: String,
        /// Variables of the template.
        context: Option<Map>,
        /// Variables of the template that are not in `context`.
        defaults: Option<Map>,
        /// Take what comes from a web server without a digest.
        skip_verify: bool = false,
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// Ask a web server by `ETag` whether the copy in the cache is still good.
        use_etag: bool = false,
        /// The signature of the list of digests: True where it stands within, else its address.
        source_hash_sig: Value = (),
        /// Keys that may have signed it.
        signed_by_any: Value = (),
        /// Keys that must have signed it.
        signed_by_all: Value = (),
        /// The keyring that they are in.
        keyring: Value = (),
        /// The folder of GnuPG.
        gnupghome: Value = (),
        /// Taken, not used: nothing is compared here.
        ignore_ordering: bool = false,
        /// Taken, not used.
        ignore_whitespace: bool = false,
        /// Taken, not used.
        ignore_comment_characters: Value = (),
        /// The module that checks signatures.
        sig_backend: Value = "gpg",
        kwargs: Keywords,
    }
}

impl Run for GetManaged {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = Given {
            signature: &self.source_hash_sig,
            signed_by_any: &self.signed_by_any,
            signed_by_all: &self.signed_by_all,
            keyring: &self.keyring,
            gnupghome: &self.gnupghome,
            sig_backend: &self.sig_backend,
        };
        let signature = given.read(ctx)?;
        let origin = Origin {
            name: &self.name,
            template: self.template.as_deref(),
            source: self.source.as_deref(),
            said: Said {
                hash: self.source_hash.as_deref(),
                listed: self.source_hash_name.as_deref(),
                signature: signature.as_ref(),
                unchecked: !self.verify_ssl,
            },
            saltenv: &self.saltenv,
            skip_verify: self.skip_verify,
            use_etag: self.use_etag,
            variables: variables(
                [("user", self.user), ("group", self.group), ("mode", self.mode), ("attrs", self.attrs)],
                self.defaults,
                self.context,
            ),
        };
        let shown = |path: String, sum: Option<Sum>, comment: String| {
            let sum = sum.map_or_else(Map::new, |sum| sum.shown());
            Value::List(vec![path.into(), sum.into(), comment.into()])
        };
        Ok(match origin.bring(ctx)? {
            Ok(Content { body: Body::Made(bytes), sum }) => {
                let made = FileClient::new(ctx).cache.incoming()?;
                fs::write(&made, &bytes).map_err(unread)?;
                shown(made.to_string_lossy().into_owned(), sum, String::new()).into()
            }
            Ok(Content { body: Body::At(path), sum }) => shown(path, sum, String::new()).into(),
            Ok(Content { body: Body::Away, sum }) => shown(String::new(), sum, String::new()).into(),
            Err(comment) => shown(String::new(), None, comment).into(),
        })
    }
}

/// The variables of a template: what is known of the file, then the defaults, then the context.
pub fn variables(
    known: impl IntoIterator<Item = (&'static str, Value)>,
    defaults: Option<Map>,
    context: Option<Map>,
) -> Map {
    let mut variables = Map::from_iter(known);
    variables.extend(defaults.unwrap_or_default());
    variables.extend(context.unwrap_or_default());
    variables
}

/// Where the content of a managed file comes from.
#[derive(Clone, Debug, Default)]
pub struct Origin<'a> {
    /// The path that the file will have.
    pub name: &'a str,
    pub template: Option<&'a str>,
    pub source: Option<&'a str>,
    pub said: Said<'a>,
    pub saltenv: &'a str,
    pub skip_verify: bool,
    pub use_etag: bool,
    /// What the template sees beside what every template sees.
    pub variables: Map,
}

/// A content that was brought here.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub body: Body,
    /// Its digest, as far as it is known.
    pub sum: Option<Sum>,
}

/// Where a content is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// Where it comes from: it is fetched when it is needed.
    #[default]
    Away,
    /// In a file of this host.
    At(String),
    /// Here: a template made it.
    Made(Vec<u8>),
}

/// What comes over a network and not from the master.
const REMOTE: [&str; 5] = ["http", "https", "ftp", "swift", "s3"];

impl Origin<'_> {
    /// Finds the content, checks it and runs it through the template. The inner error is for whoever wrote the state.
    pub fn bring(&self, ctx: &Ctx) -> Result<Result<Content, String>, Fault> {
        let Some(source) = self.source.filter(|source| !source.is_empty()) else { return Ok(Ok(Content::default())) };
        let scheme = match address::scheme(source) {
            scheme if scheme == "salt" || scheme == "file" || REMOTE.contains(&scheme.as_str()) => scheme,
            _ => String::new(),
        };
        let mut path = None;
        if matches!(scheme.as_str(), "" | "file") {
            let own = source.strip_prefix("file://").unwrap_or(source);
            let own = if own.len() > 1 && !scheme.is_empty() { own.trim_end_matches('/') } else { own };
            if !paths::exists(ctx.host, own) {
                return Ok(Err(format!("Local file source {own} does not exist")));
            }
            path = Some(own.to_owned());
        }
        let mut sum = match self.sum(ctx, source, &scheme, path.as_deref())? {
            Ok(sum) => sum,
            Err(comment) => return Ok(Err(comment)),
        };
        if self.template.is_none() && !REMOTE.contains(&scheme.as_str()) {
            return Ok(Ok(Content { body: path.map_or(Body::Away, Body::At), sum }));
        }
        let path = match path.map_or_else(|| self.cached(ctx, source, &mut sum), |path| Ok(Some(path))) {
            Ok(Some(path)) => path,
            Ok(None) => return Ok(Err(format!("Source file '{}' not found", redacted(source)))),
            Err(fault) => return Ok(Err(format!("Failed to cache {}: {fault}", redacted(source)))),
        };
        if path == self.name {
            return Err(Fault::invocation("Source file cannot be the same as destination"));
        }
        match self.template {
            Some(engine) => self.rendered(ctx, source, engine, &path),
            None => Ok(Ok(Content { body: Body::At(path), sum })),
        }
    }

    /// The digest that the content has, or has to have.
    fn sum(
        &self,
        ctx: &Ctx,
        source: &str,
        scheme: &str,
        path: Option<&str>,
    ) -> Result<Result<Option<Sum>, String>, Fault> {
        if scheme == "salt" {
            let (address, own) = address::split_saltenv(source);
            let saltenv = own.as_deref().unwrap_or(self.saltenv);
            return Ok(match halite_node::fileserver::files(ctx)?.hash(&address::parse(&address).0, saltenv)? {
                Some(hash) => Ok(Some(Sum { kind: hash.kind, digest: hash.digest })),
                None => Err(format!("Source file {source} not found in saltenv '{}'", self.saltenv)),
            });
        }
        match (self.said.hash.filter(|hash| !hash.is_empty()), path) {
            (None, Some(path)) => Sum::of(ctx.host, path, HashType::Sha256).map(Some).map(Ok),
            _ if self.skip_verify => Ok(Ok(None)),
            (Some(_), _) => Ok(match self.said.sum(ctx, self.name, source, self.saltenv) {
                Ok(sum) => Ok(Some(sum)),
                Err(fault) => Err(format!("Unable to manage file: {fault}")),
            }),
            (None, None) if self.use_etag => Ok(Ok(None)),
            (None, None) => Ok(Err(format!(
                "Unable to verify upstream hash of source file {}, please set source_hash or set skip_verify to True",
                redacted(source)
            ))),
        }
    }

    /// Where the cache has it; what is there and was verified, or need not be, is not fetched again.
    fn cached(&self, ctx: &Ctx, source: &str, sum: &mut Option<Sum>) -> Result<Option<String>, Fault> {
        let client = FileClient::new(ctx);
        let is_remote = !source.starts_with("salt://");
        let there = client.cache.external(source, self.saltenv).filter(|place| is_remote && place.is_file());
        if let Some(place) = there
            && !self.use_etag
        {
            let place = place.to_string_lossy().into_owned();
            let kind = sum.as_ref().map_or(HashType::Sha256, |sum| sum.kind);
            let own = Sum { kind, digest: kind.of(fs::File::open(&place).map_err(unread)?).map_err(unread)? };
            if self.skip_verify || sum.as_ref() == Some(&own) {
                *sum = Some(own);
                return Ok(Some(place));
            }
        }
        let wanted = Wanted {
            source_hash: sum.as_ref().map(|sum| sum.digest.clone()),
            unchecked: self.said.unchecked,
            by_etag: self.use_etag,
        };
        client.cache_file(source, self.saltenv, &wanted)
    }

    fn rendered(&self, ctx: &Ctx, source: &str, engine: &str, path: &str) -> Result<Result<Content, String>, Fault> {
        if !templates::ENGINES.contains(&engine) {
            return Ok(Err(format!("Specified template format {engine} is not supported")));
        }
        let bytes = ctx.host.read(Path::new(path)).map_err(|error| super::refused(path, &error))?;
        let Ok(text) = String::from_utf8(bytes) else { return Ok(Err(format!("{source} is not text in UTF-8"))) };
        let mut variables = Map::from_iter([("name", self.name), ("source", source)]);
        variables.extend(self.variables.clone());
        let text = match templates::render(ctx, source, &text, self.saltenv, variables) {
            Ok(text) => text,
            Err(fault) => return Ok(Err(fault.to_string())),
        };
        let sum = Sum { kind: HashType::Sha256, digest: HashType::Sha256.of_bytes(text.as_bytes()) };
        Ok(Ok(Content { body: Body::Made(text.into_bytes()), sum: Some(sum) }))
    }
}

fn unread(error: std::io::Error) -> Fault {
    Fault::execution(format!("the cache: {error}"))
}

record! {
    /// Shows what of a file is not as it should be.
    ///
    ///   salt '*' file.check_file_meta /etc/httpd/conf.d/httpd.conf None salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f7d4f53f68}' root root 0755 None base
    pub struct CheckFileMeta {
        /// The file.
        name: String,
        /// Where its content is; None: it is fetched when it is needed.
        sfn: Option<String>,
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
        /// The content itself, where there is no source.
        contents: Value = (),
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
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        /// Lines in another order do not count.
        ignore_ordering: bool = false,
        /// Blanks at the ends of lines do not count.
        ignore_whitespace: bool = false,
        /// What stands behind this text does not count.
        ignore_comment_characters: Value = (),
        /// Show all of a new file.
        new_file_diff: bool = false,
    }
}

impl Run for CheckFileMeta {
    fn run(self, ctx: &Ctx) -> Reply {
        let expected = Expected {
            name: &paths::expand_user(ctx.host, &self.name),
            body: &self.sfn.filter(|path| !path.is_empty()).map_or(Body::Away, Body::At),
            source: self.source.as_deref().filter(|source| !source.is_empty()),
            sum: self.source_sum.as_ref().map(Sum::given).transpose()?.flatten(),
            contents: bytes(&self.contents),
            user: &self.user,
            group: &self.group,
            mode: normalized(&self.mode),
            attrs: self.attrs.as_deref(),
            context: SelinuxContext { user: self.seuser, role: self.serole, kind: self.setype, range: self.serange },
            saltenv: &self.saltenv,
            unchecked: !self.verify_ssl,
            follow: self.follow_symlinks,
            ignored: Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters),
            shows_new: self.new_file_diff,
        };
        let has_ignored = expected.ignored.is_some();
        Ok(expected.changes(ctx)?.shown(has_ignored).into())
    }
}

/// A content as it is given to a function.
pub(super) fn bytes(contents: &Value) -> Option<Vec<u8>> {
    match contents {
        Value::Null => None,
        Value::Bytes(bytes) => Some(bytes.clone()),
        other => Some(other.to_text().into_bytes()),
    }
}

/// What a file should be.
#[derive(Clone, Debug)]
pub struct Expected<'a> {
    pub name: &'a str,
    pub body: &'a Body,
    pub source: Option<&'a str>,
    pub sum: Option<Sum>,
    /// The content itself, where there is no source.
    pub contents: Option<Vec<u8>>,
    pub user: &'a Value,
    pub group: &'a Value,
    /// As [`normalized`] gives it.
    pub mode: Option<String>,
    pub attrs: Option<&'a str>,
    pub context: SelinuxContext,
    pub saltenv: &'a str,
    /// The certificate of a web server is not checked.
    pub unchecked: bool,
    /// A link stands for what it points to.
    pub follow: bool,
    pub ignored: Option<Ignored>,
    /// All of a new file is a difference.
    pub shows_new: bool,
}

/// What is not as it should be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub changes: Map,
    /// Whether something is among them that is not ignored.
    pub counts: bool,
}

impl Found {
    fn shown(self, has_ignored: bool) -> Value {
        match has_ignored {
            true => Value::List(vec![self.counts.into(), self.changes.into()]),
            false => self.changes.into(),
        }
    }
}

impl Expected<'_> {
    pub fn changes(&self, ctx: &Ctx) -> Result<Found, Fault> {
        let mut found = Found { counts: self.ignored.is_none(), ..Found::default() };
        let there = stat(ctx.host, self.name, self.follow).ok();
        if there.is_none() && !self.shows_new {
            found.changes.insert("newfile", self.name);
            found.counts = true;
            return Ok(found);
        }
        self.note_content(ctx, there.is_some(), &mut found)?;
        let Some(stat) = there else { return Ok(found) };
        let differs = |wanted: &Value, number: u32, name: &Value| {
            !wanted.is_null() && wanted != name && *wanted != Value::from(number)
        };
        if differs(self.user, stat.uid, &user_name(ctx.host, stat.uid)) {
            found.changes.insert("user", self.user.clone());
        }
        if differs(self.group, stat.gid, &group_name(ctx.host, stat.gid)) {
            found.changes.insert("group", self.group.clone());
        }
        if let Some(mode) = self.mode.as_ref().filter(|mode| **mode != shown_mode(stat.mode)) {
            found.changes.insert("mode", mode.as_str());
        }
        if let Some(attrs) = self.attrs.filter(|attrs| !attrs.is_empty())
            && attributes::differ(ctx, self.name, attrs)?
        {
            found.changes.insert("attrs", attrs);
        }
        if !self.context.is_empty() {
            let differing = self.context.differences(ctx, self.name)?;
            let unknown = || Fault::execution(format!("SELinux knows no context of {}", self.name));
            for one in differing.ok_or_else(unknown)? {
                found.changes.insert("selinux", Map::from_iter([(one.part, one.wished)]));
            }
        }
        Ok(found)
    }

    fn old(&self, ctx: &Ctx, is_there: bool) -> Result<Vec<u8>, Fault> {
        let real = paths::real(ctx.host, self.name);
        match is_there {
            true => ctx.host.read(Path::new(&real)).map_err(|error| super::refused(self.name, &error)),
            false => Ok(Vec::new()),
        }
    }

    fn note_content(&self, ctx: &Ctx, is_there: bool, found: &mut Found) -> Result<(), Fault> {
        let mut note = |difference: difference::Difference| {
            found.counts = difference.counts;
            found.changes.insert("diff", difference.text);
        };
        if let Some(sum) = &self.sum
            && !(is_there && Sum::of(ctx.host, &paths::real(ctx.host, self.name), sum.kind)? == *sum)
        {
            let shown = Shown { changes: true, of_template: is_there };
            let fetched = match (self.body, self.source) {
                (Body::Away, Some(source)) => {
                    let source_hash = Some(sum.digest.clone());
                    let wanted = Wanted { source_hash, unchecked: self.unchecked, ..Wanted::default() };
                    FileClient::new(ctx).cache_file(source, self.saltenv, &wanted)?.map_or(Body::Away, Body::At)
                }
                (body, _) => body.clone(),
            };
            let ignored = self.ignored.as_ref();
            match fetched {
                Body::At(path) if is_there => {
                    let own = paths::real(ctx.host, self.name);
                    note(difference::between_files(ctx, &own, &path, shown, ignored)?);
                }
                Body::At(path) => {
                    let new = ctx.host.read(Path::new(&path)).map_err(|error| super::refused(&path, &error))?;
                    note(difference::between(ctx, b"", &new, shown, ignored));
                }
                Body::Made(new) => note(difference::between(ctx, &self.old(ctx, is_there)?, &new, shown, ignored)),
                Body::Away => drop(found.changes.insert("sum", "Checksum differs")),
            }
        }
        let Some(contents) = &self.contents else { return Ok(()) };
        let old = self.old(ctx, is_there)?;
        // What is given in the state is kept secret too.
        let shown = Shown { changes: true, of_template: true };
        let difference = difference::between(ctx, &old, contents, shown, self.ignored.as_ref());
        if !difference.text.is_empty() {
            found.counts = difference.counts;
            found.changes.insert("diff", difference.text);
        }
        Ok(())
    }
}

record! {
    /// Shows whether a file is what it should be, and in words what is not: True, or None where something would be changed,
    /// or False where the content cannot be had.
    ///
    ///   salt '*' file.check_managed /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf None None root root 0755 None jinja '{}' '{}' base
    pub struct CheckManaged {
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
        /// The user that SELinux should know.
        seuser: Option<String> = (),
        /// The role.
        serole: Option<String> = (),
        /// The type.
        setype: Option<String> = (),
        /// The range.
        serange: Option<String> = (),
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        kwargs: Keywords,
    }
}

impl Run for CheckManaged {
    fn run(self, ctx: &Ctx) -> Reply {
        let is_temporary = self.name.starts_with("/tmp");
        let name = self.name.clone();
        let checked = Checked {
            name: self.name,
            source: self.source,
            source_hash: self.source_hash,
            source_hash_name: self.source_hash_name,
            user: self.user,
            group: self.group,
            mode: self.mode,
            attrs: self.attrs,
            template: self.template,
            context: self.context,
            defaults: self.defaults,
            saltenv: self.saltenv,
            contents: self.contents,
            skip_verify: self.skip_verify,
            selinux: SelinuxContext { user: self.seuser, role: self.serole, kind: self.setype, range: self.serange },
            follow: self.follow_symlinks,
            ..Checked::default()
        };
        let pair = |result: Value, comment: String| Value::List(vec![result, comment.into()]);
        let mut changes = match checked.found(ctx)? {
            Ok(found) => found.changes,
            Err(comment) => return Ok(pair(false.into(), comment).into()),
        };
        // Below /tmp owner and mode are nobody's business.
        if is_temporary {
            ["user", "group", "mode"].iter().for_each(|key| drop(changes.remove(key)));
        }
        if changes.is_empty() {
            return Ok(pair(true.into(), format!("The file {name} is in the correct state")).into());
        }
        let lines: String =
            changes.iter().map(|(key, value)| format!("{}: {}\n", key.to_text(), value.to_text())).collect();
        Ok(pair(Value::Null, format!("The following values are set to be changed:\n{lines}")).into())
    }
}

record! {
    /// Shows what of a file would be changed, or False and why where its content cannot be had.
    ///
    ///   salt '*' file.check_managed_changes /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf None None root root 0755 None jinja '{}' '{}' base
    pub struct CheckManagedChanges {
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
        /// The mode is the one that the source has.
        keep_mode: bool = false,
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
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        /// Lines in another order do not count.
        ignore_ordering: bool = false,
        /// Blanks at the ends of lines do not count.
        ignore_whitespace: bool = false,
        /// What stands behind this text does not count.
        ignore_comment_characters: Value = (),
        /// Show all of a new file.
        new_file_diff: bool = false,
        kwargs: Keywords,
    }
}

impl Run for CheckManagedChanges {
    fn run(self, ctx: &Ctx) -> Reply {
        let ignored = Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters);
        let has_ignored = ignored.is_some();
        let checked = Checked {
            name: self.name,
            source: self.source,
            source_hash: self.source_hash,
            source_hash_name: self.source_hash_name,
            user: self.user,
            group: self.group,
            mode: self.mode,
            attrs: self.attrs,
            template: self.template,
            context: self.context,
            defaults: self.defaults,
            saltenv: self.saltenv,
            contents: self.contents,
            skip_verify: self.skip_verify,
            keep_mode: self.keep_mode,
            selinux: SelinuxContext { user: self.seuser, role: self.serole, kind: self.setype, range: self.serange },
            unchecked: !self.verify_ssl,
            follow: self.follow_symlinks,
            ignored,
            shows_new: self.new_file_diff,
        };
        Ok(match checked.found(ctx)? {
            Ok(found) => found.shown(has_ignored).into(),
            Err(comment) => Value::List(vec![false.into(), comment.into()]).into(),
        })
    }
}

/// What `check_managed` and `check_managed_changes` look at.
#[derive(Default)]
struct Checked {
    name: String,
    source: Value,
    source_hash: Value,
    source_hash_name: Option<String>,
    user: Value,
    group: Value,
    mode: Value,
    attrs: Option<String>,
    template: Option<String>,
    context: Option<Map>,
    defaults: Option<Map>,
    saltenv: String,
    contents: Value,
    skip_verify: bool,
    keep_mode: bool,
    selinux: SelinuxContext,
    unchecked: bool,
    follow: bool,
    ignored: Option<Ignored>,
    shows_new: bool,
}

impl Checked {
    /// The inner error says why the content cannot be had.
    fn found(mut self, ctx: &Ctx) -> Result<Result<Found, String>, Fault> {
        let (source, source_hash) =
            first_of(ctx, std::mem::take(&mut self.source), std::mem::take(&mut self.source_hash), &self.saltenv)?;
        let source = Some(source).filter(Value::truthy).map(|source| source.to_text());
        let source_hash = Some(source_hash).filter(Value::truthy).map(|hash| hash.to_text());
        let mut content = Content::default();
        if self.contents.is_null() {
            let known = [("user", &self.user), ("group", &self.group), ("mode", &self.mode)];
            let origin = Origin {
                name: &self.name,
                template: self.template.as_deref(),
                source: source.as_deref(),
                said: Said {
                    hash: source_hash.as_deref(),
                    listed: self.source_hash_name.as_deref(),
                    signature: None,
                    unchecked: self.unchecked,
                },
                saltenv: &self.saltenv,
                skip_verify: self.skip_verify,
                use_etag: false,
                variables: variables(
                    known.map(|(name, value)| (name, value.clone())),
                    self.defaults.take(),
                    self.context.take(),
                ),
            };
            content = match origin.bring(ctx)? {
                Ok(content) => content,
                Err(comment) => return Ok(Err(comment)),
            };
            if let (true, Some(source)) = (self.keep_mode && content.body != Body::Away, &source)
                && let Some(mode) = mode_of(ctx, source, &self.saltenv)?
            {
                self.mode = mode;
            }
        }
        let expected = Expected {
            name: &paths::expand_user(ctx.host, &self.name),
            body: &content.body,
            source: source.as_deref(),
            sum: content.sum.clone(),
            contents: bytes(&self.contents),
            user: &self.user,
            group: &self.group,
            mode: normalized(&self.mode),
            attrs: self.attrs.as_deref(),
            context: self.selinux,
            saltenv: &self.saltenv,
            unchecked: self.unchecked,
            follow: self.follow,
            ignored: self.ignored,
            shows_new: self.shows_new,
        };
        expected.changes(ctx).map(Ok)
    }
}

/// The mode that a source has, where that is known: four octal digits.
pub fn mode_of(ctx: &Ctx, source: &str, saltenv: &str) -> Result<Option<Value>, Fault> {
    if !matches!(address::scheme(source).as_str(), "salt" | "file" | "") {
        return Ok(None);
    }
    let (address, own) = address::split_saltenv(source);
    let mode = match address.starts_with("salt://") {
        true => {
            let found = halite_node::fileserver::files(ctx)?
                .find(&address::parse(&address).0, own.as_deref().unwrap_or(saltenv))?;
            found.and_then(|stat| stat.first().copied()).and_then(|mode| u32::try_from(mode).ok())
        }
        false => {
            let path = address.strip_prefix("file://").unwrap_or(&address);
            paths::followed(ctx.host, Path::new(path)).ok().map(|stat| stat.mode)
        }
    };
    Ok(mode.map(|mode| shown_mode(mode & 0o7777).into()))
}
