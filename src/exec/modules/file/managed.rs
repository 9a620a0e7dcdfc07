//! Whether a file is what it should be: `file.get_managed`, `file.check_managed` and its kin. Nothing is changed here.
//!
//! It is long because each function declares the twenty to thirty arguments that Salt gives it; all end in one `Checked`.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::access::{Access, normalized};
use halite_file::arguments::{Brought, Ignoring, Selinux, Signers, Wished};
use halite_file::choice::first_of;
use halite_file::content::{Body, Content};
use halite_file::desired::{Desired, Fetch, Links};
use halite_file::difference::{Ignored, Shown};
use halite_file::shown_mode;
use halite_file::source::{Request, Until, Verify, mode_of, variables};
use halite_file::sum::{Said, Sum};
use halite_file::template::Template;
use halite_lang::digest::HashType;
use halite_node::fileserver::client::FileClient;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

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
        ..signers: Signers,
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
        let given = self.signers.given(&self.source_hash_sig, &self.sig_backend);
        // Whether it could be checked is said first, whatever the rest is.
        given.read(ctx)?;
        let request = Request {
            name: &self.name,
            address: self.source.as_deref(),
            said: Said {
                hash: self.source_hash.as_deref(),
                listed: self.source_hash_name.as_deref(),
                signed: Some(&given),
                unchecked: !self.verify_ssl,
            },
            saltenv: &self.saltenv,
            verify: Verify::given(self.skip_verify, self.use_etag),
        };
        let known = [("user", self.user), ("group", self.group), ("mode", self.mode), ("attrs", self.attrs)];
        let shown = |path: String, sum: Option<Sum>, comment: String| {
            let sum = sum.map_or_else(Map::new, |sum| sum.shown());
            Value::List(vec![path.into(), sum.into(), comment.into()])
        };
        Ok(match brought(ctx, &request, self.template, variables(known, self.defaults, self.context)) {
            Ok(Content { body: Body::Bytes(bytes), sum }) => {
                let made = FileClient::new(ctx).cache.hold(&bytes)?;
                shown(made.to_string_lossy().into_owned(), sum, String::new()).into()
            }
            Ok(Content { body: Body::At(path), sum }) => shown(path, sum, String::new()).into(),
            Ok(Content { body: Body::Away, sum }) => shown(String::new(), sum, String::new()).into(),
            Err(Fault::Comment(comment)) => shown(String::new(), None, comment).into(),
            Err(fault) => return Err(fault),
        })
    }
}

/// Finds a content and runs it through a template, where one is named. A [`Fault::Comment`] is for whoever wrote the state.
fn brought(ctx: &Ctx, request: &Request, engine: Option<String>, variables: Map) -> Result<Content, Fault> {
    let until = if engine.is_some() { Until::Here } else { Until::Known };
    let content = request.find(ctx, until)?.content;
    let source = request.address.unwrap_or_default();
    let mut all = Map::from_iter([("name", request.name), ("source", source)]);
    all.extend(variables);
    let template = Template { engine, variables: all };
    Ok(match template.made(ctx, source, request.saltenv, content.body)? {
        Body::Bytes(bytes) => {
            let sum = Sum { kind: HashType::Sha256, digest: HashType::Sha256.of_bytes(&bytes) };
            Content { body: Body::Bytes(bytes), sum: Some(sum) }
        }
        body => Content { body, sum: content.sum },
    })
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
        ..brought: Brought,
        /// The content itself, where there is no source.
        contents: Value = (),
        ..selinux: Selinux,
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        ..ignoring: Ignoring,
        /// Show all of a new file.
        new_file_diff: bool = false,
    }
}

impl Run for CheckFileMeta {
    fn run(self, ctx: &Ctx) -> Reply {
        let access = self.brought.access(self.selinux);
        let Brought { source, source_sum, saltenv, .. } = self.brought;
        let expected = Expected {
            name: paths::expand_user(ctx.host, &self.name),
            content: Content {
                body: self.sfn.filter(|path| !path.is_empty()).map_or(Body::Away, Body::At),
                sum: source_sum.as_ref().map(Sum::given).transpose()?.flatten(),
            },
            fetch: source.filter(|source| !source.is_empty()).map(|address| Fetch {
                address,
                saltenv,
                unchecked: !self.verify_ssl,
            }),
            contents: bytes(&self.contents),
            access,
            follow: self.follow_symlinks,
            ignored: self.ignoring.ignored(),
            shows_new: self.new_file_diff,
        };
        let has_ignored = expected.ignored.is_some();
        Ok(expected.changes(ctx)?.shown(has_ignored).into())
    }
}

/// A content as it is given to a function.
fn bytes(contents: &Value) -> Option<Vec<u8>> {
    match contents {
        Value::Null => None,
        Value::Bytes(bytes) => Some(bytes.clone()),
        other => Some(other.to_text().into_bytes()),
    }
}

/// What a file should be.
struct Expected {
    name: String,
    content: Content,
    /// Where a content comes from that is away.
    fetch: Option<Fetch>,
    /// The content itself, where there is no source.
    contents: Option<Vec<u8>>,
    access: Access,
    /// A link stands for what it points to.
    follow: bool,
    ignored: Option<Ignored>,
    /// All of a new file is a difference.
    shows_new: bool,
}

/// What is not as it should be.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    changes: Map,
    /// Whether something is among them that is not ignored.
    counts: bool,
}

impl Found {
    fn shown(self, has_ignored: bool) -> Value {
        match has_ignored {
            true => Value::List(vec![self.counts.into(), self.changes.into()]),
            false => self.changes.into(),
        }
    }
}

impl Expected {
    fn changes(self, ctx: &Ctx) -> Result<Found, Fault> {
        let mut found = Found { counts: self.ignored.is_none(), ..Found::default() };
        let desired = |body: Option<Body>, shown: Shown| Desired {
            name: self.name.clone(),
            links: if self.follow { Links::Follow } else { Links::Look },
            body,
            shows_changes: true,
            shows_new: self.shows_new.then_some(shown),
            ignored: self.ignored.clone(),
            ..Desired::default()
        };
        let is_known = self.content.sum.is_some();
        let delta = Desired {
            known: self.content.sum.clone(),
            fetch: self.fetch.clone(),
            access: self.access.clone(),
            ..desired(is_known.then(|| self.content.body.clone()), Shown::ALL)
        }
        .compare(ctx)?;
        if delta.stat.is_none() && !self.shows_new {
            found.changes.insert("newfile", self.name);
            found.counts = true;
            return Ok(found);
        }
        match delta.difference {
            Some(difference) => {
                found.counts = difference.counts;
                found.changes.insert("diff", difference.text);
            }
            None if is_known && delta.writes => drop(found.changes.insert("sum", "Checksum differs")),
            None => {}
        }
        if let Some(contents) = &self.contents {
            // What is given in the state is kept secret too.
            let secret = Shown { changes: true, of_template: true };
            let delta = desired(Some(Body::Bytes(contents.clone())), secret).compare(ctx)?;
            if let Some(difference) = delta.difference {
                found.counts = difference.counts;
                found.changes.insert("diff", difference.text);
            }
        }
        found.changes.extend(delta.others);
        Ok(found)
    }
}

record! {
    /// Shows whether a file is what it should be, and in words what is not: True, or None where something would be changed,
    /// or False where the content cannot be had.
    ///
    ///   salt '*' file.check_managed /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf None None root root 0755 None jinja '{}' '{}' base
    pub struct CheckManaged {
        ..wished: Wished,
        ..selinux: Selinux,
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        kwargs: Keywords,
    }
}

impl Run for CheckManaged {
    fn run(self, ctx: &Ctx) -> Reply {
        let name = self.wished.name.clone();
        let is_temporary = name.starts_with("/tmp");
        let checked = Checked {
            wished: self.wished,
            selinux: self.selinux,
            keeps_mode: false,
            unchecked: false,
            follow: self.follow_symlinks,
            ignored: None,
            shows_new: false,
        };
        let pair = |result: Value, comment: String| Value::List(vec![result, comment.into()]);
        let mut changes = match checked.found(ctx) {
            Ok(found) => found.changes,
            Err(Fault::Comment(comment)) => return Ok(pair(false.into(), comment).into()),
            Err(fault) => return Err(fault),
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
        ..wished: Wished,
        /// The mode is the one that the source has.
        keep_mode: bool = false,
        ..selinux: Selinux,
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        ..ignoring: Ignoring,
        /// Show all of a new file.
        new_file_diff: bool = false,
        kwargs: Keywords,
    }
}

impl Run for CheckManagedChanges {
    fn run(self, ctx: &Ctx) -> Reply {
        let ignored = self.ignoring.ignored();
        let has_ignored = ignored.is_some();
        let checked = Checked {
            wished: self.wished,
            selinux: self.selinux,
            keeps_mode: self.keep_mode,
            unchecked: !self.verify_ssl,
            follow: self.follow_symlinks,
            ignored,
            shows_new: self.new_file_diff,
        };
        Ok(match checked.found(ctx) {
            Ok(found) => found.shown(has_ignored).into(),
            Err(Fault::Comment(comment)) => Value::List(vec![false.into(), comment.into()]).into(),
            Err(fault) => return Err(fault),
        })
    }
}

/// What `check_managed` and `check_managed_changes` look at.
struct Checked {
    wished: Wished,
    selinux: Selinux,
    keeps_mode: bool,
    unchecked: bool,
    follow: bool,
    ignored: Option<Ignored>,
    shows_new: bool,
}

impl Checked {
    /// A [`Fault::Comment`] says why the content cannot be had.
    fn found(self, ctx: &Ctx) -> Result<Found, Fault> {
        let Wished { name, source, source_hash, saltenv, contents, mut mode, .. } = self.wished;
        let (source, source_hash) = first_of(ctx, source, source_hash, &saltenv)?;
        let source = Some(source).filter(Value::truthy).map(|source| source.to_text());
        let source_hash = Some(source_hash).filter(Value::truthy).map(|hash| hash.to_text());
        let mut content = Content::default();
        if contents.is_null() {
            let known = [("user", &self.wished.user), ("group", &self.wished.group), ("mode", &mode)]
                .map(|(name, value)| (name, value.clone()));
            let request = Request {
                name: &name,
                address: source.as_deref(),
                said: Said {
                    hash: source_hash.as_deref(),
                    listed: self.wished.source_hash_name.as_deref(),
                    signed: None,
                    unchecked: self.unchecked,
                },
                saltenv: &saltenv,
                verify: Verify::given(self.wished.skip_verify, false),
            };
            let variables = variables(known, self.wished.defaults, self.wished.context);
            content = brought(ctx, &request, self.wished.template, variables)?;
            if let (true, Some(source)) = (self.keeps_mode && content.body != Body::Away, &source)
                && let Some(own) = mode_of(ctx, source, &saltenv)?
            {
                mode = shown_mode(own).into();
            }
        }
        let expected = Expected {
            name: paths::expand_user(ctx.host, &name),
            content,
            fetch: source.map(|address| Fetch { address, saltenv, unchecked: self.unchecked }),
            contents: bytes(&contents),
            access: Access {
                user: self.wished.user,
                group: self.wished.group,
                mode: normalized(&mode),
                attrs: self.wished.attrs,
                context: self.selinux.into(),
            },
            follow: self.follow,
            ignored: self.ignored,
            shows_new: self.shows_new,
        };
        expected.changes(ctx)
    }
}
