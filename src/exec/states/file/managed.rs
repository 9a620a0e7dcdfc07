//! `file.managed`.

mod contents;

use super::check_cmd::{Check, checked};
use super::owner::{Owner, owned};
use super::source::{Complaint, Found, Source, Template, Verify};
use super::target::{Content, Origin, Target};
use super::{accumulated, is_folder, mode, own_name, single};
use halite_core::state::{Look, Outcome, Plan, State, already, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_modules::file::attributes::SelinuxContext;
use halite_modules::file::difference::{Ignored, Shown};
use halite_node::signature::Given;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a file has a content, an owner and a mode. The content comes from the file server, from elsewhere,
    /// from the SLS, from the pillar or from the grains, and may be a template.
    ///
    ///   /etc/http/conf/http.conf:
    ///     file.managed:
    ///       - source: salt://apache/http.conf
    ///       - user: root
    ///       - mode: '0644'
    ///       - template: jinja
    ///       - context:
    ///           port: 80
    pub struct Managed {
        /// The path.
        name: String,
        /// The content's address; of a list the first that is there.
        source: Value = (),
        /// The hash of a source from elsewhere: a digest, `KIND=DIGEST`, or the address of a list of digests.
        source_hash: Value = "",
        /// The name that the file has in a list of digests.
        source_hash_name: Option<String> = (),
        /// Whether a copy of the source stays in the cache.
        keep_source: bool = true,
        /// The owner.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// The mode, octal and quoted; `keep`: that of the source.
        mode: Value = (),
        /// The attributes that lsattr(1) should show.
        attrs: Option<String> = (),
        /// A template engine for the content.
        template: Option<String> = (),
        /// Make the folders above that are missing.
        makedirs: bool = false,
        /// The mode of folders that are made.
        dir_mode: Value = (),
        /// Variables of the template.
        context: Value = (),
        /// Whether the content of a file that is there is replaced.
        replace: bool = true,
        /// Variables of the template that are not in `context`.
        defaults: Value = (),
        /// `minion`: a copy of what is replaced is kept in the cache.
        backup: Option<String> = "",
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// Whether a file that is missing is made.
        create: bool = true,
        /// The content itself: text, or a list of lines.
        contents: Value = (),
        /// The folder for the file that `check_cmd` sees.
        tmp_dir: Option<String> = (),
        /// The end of that file's name.
        tmp_ext: Option<String> = "",
        /// The path in the pillar where the content is, or several.
        contents_pillar: Value = (),
        /// The path in the grains where the content is, or several.
        contents_grains: Value = (),
        /// Whether a line end is put behind the content.
        contents_newline: bool = true,
        /// What separates the parts of these paths.
        contents_delimiter: String = ":",
        /// The encoding of the file.
        encoding: Option<String> = (),
        /// What is done about what this encoding does not have.
        encoding_errors: String = "strict",
        /// Whether the content may be empty.
        allow_empty: bool = true,
        /// Whether a link is followed; else it is replaced by a file.
        follow_symlinks: bool = true,
        /// A command that says whether the content is right, before it is put in place.
        check_cmd: Option<String> = (),
        /// Take content from elsewhere without a hash.
        skip_verify: bool = false,
        /// The context that SELinux should know: a map of `seuser`, `serole`, `setype` and `serange`.
        selinux: Value = (),
        /// Whether the certificate of a web server is checked.
        verify_ssl: bool = true,
        /// Whether a web server is asked with the ETag of the copy that is there.
        use_etag: bool = false,
        /// The signature of the content: True where it stands within, else its address, or a list of addresses.
        signature: Value = (),
        /// The signature of the list of digests: True where it stands within, else its address.
        source_hash_sig: Value = (),
        /// Keys that may have signed.
        signed_by_any: Value = (),
        /// Keys that must have signed.
        signed_by_all: Value = (),
        /// The keyring that they are in.
        keyring: Value = (),
        /// The folder of GnuPG.
        gnupghome: Value = (),
        /// Lines in another order are no change for whoever requires one.
        ignore_ordering: bool = false,
        /// Blanks around lines are none either.
        ignore_whitespace: bool = false,
        /// What begins a comment: comments are none either.
        ignore_comment_characters: Value = (),
        /// Whether the content of a new file is shown.
        new_file_diff: bool = false,
        /// The module that checks signatures.
        sig_backend: Value = "gpg",
        kwargs: Keywords,
    }
}

/// What test mode says of a file.
fn to_change(name: &str) -> String {
    format!(
        "The file {name} is set to be changed\nNote: No changes made, actual changes may\nbe different due to other states."
    )
}

const EXCLUSIVE: &str =
    "'source' cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'";
const MODELESS: &str =
    "Mode preservation cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'";
const ONE_ONLY: &str = "Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted";

impl State for Managed {
    fn plan(mut self, look: &Look) -> Result<Plan, Fault> {
        self.name = own_name(look.ctx, &self.name);
        if self.name.is_empty() {
            return Ok(failed("Destination file name is required"));
        }
        if self.selinux.truthy() && self.selinux.as_map().is_none() {
            return Ok(failed("selinux must be a map of seuser, serole, setype and serange"));
        }
        let warned = self.kwargs.0.contains("file_mode");
        let plan = self.planned(look)?;
        Ok(if warned { with_warning(plan) } else { plan })
    }
}

/// Says that an argument is taken and not used.
fn with_warning(plan: Plan) -> Plan {
    const WARNING: &str =
        "The 'file_mode' argument will be ignored.  Please use 'mode' instead to set file permissions.";
    let marked = |outcome: Outcome| outcome.with("warnings", Value::list([WARNING]));
    match plan {
        Plan::Stands(outcome) => Plan::Stands(marked(outcome)),
        Plan::Changes { would, apply } => {
            Plan::Changes { would: marked(would), apply: Box::new(move |ctx| apply(ctx).map(marked)) }
        }
    }
}

impl Managed {
    fn planned(mut self, look: &Look) -> Result<Plan, Fault> {
        let ctx = look.ctx;
        let keeps_mode = self.mode.as_str().is_some_and(|mode| mode.eq_ignore_ascii_case("keep"));
        let mode = match mode(&self.mode) {
            Ok(mode) => mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let given = [&self.contents, &self.contents_pillar, &self.contents_grains];
        let count = given.iter().filter(|given| !given.is_null()).count();
        if let Some(wrong) = match count {
            0 => None,
            _ if self.source.truthy() => Some(EXCLUSIVE),
            _ if keeps_mode => Some(MODELESS),
            1 => None,
            _ => Some(ONE_ONLY),
        } {
            return Ok(failed(wrong));
        }
        let name = self.name.clone();
        self.replace &= self.source.truthy() || count > 0;
        let context = [("Context", &self.context), ("Defaults", &self.defaults)];
        if let Some((what, _)) = context.iter().find(|(_, value)| value.truthy() && as_map(value).is_none()) {
            return Ok(failed(format!("{what} must be formed as a dict")));
        }
        let contents = match self.contents(look) {
            Ok(contents) => contents,
            Err(complaint) => return Ok(failed(complaint)),
        };
        let path = Path::new(&name);
        if !self.create && !paths::is_file(ctx.host, &name) {
            return Ok(already(format!("File {name} is not present and is not set for creation")));
        }
        let user = if self.user.truthy() { &self.user } else { self.kwargs.0.at("owner").unwrap_or(&self.user) };
        let owner = Owner::new(ctx, user, &self.group, mode);
        let missing = owner.missing();
        if !path.is_absolute() {
            return Ok(failed(missing.unwrap_or_else(|| format!("Specified file {name} is not an absolute path"))));
        }
        if is_folder(ctx, path) {
            return Ok(failed(missing.unwrap_or_else(|| format!("Specified target {name} is a directory"))));
        }
        let has_engine = self.template.as_ref().is_some_and(|engine| !engine.is_empty());
        self.replace &= has_engine || !self.source().is_at(look, &name);
        let plan = match !self.replace && paths::exists(ctx.host, &name) {
            true => self.of_attributes(ctx, owner)?,
            false => self.of_content(look, contents, owner, keeps_mode)?,
        };
        Ok(owned(missing, plan))
    }

    /// Owner, mode and attributes alone: the content that is there stays.
    fn of_attributes(&self, ctx: &Ctx, owner: Owner) -> Result<Plan, Fault> {
        let (name, mode) = (self.name.clone(), owner.mode);
        let target = Target {
            name: name.clone(),
            owner,
            attrs: self.attrs.clone(),
            selinux: self.context_of_selinux(),
            replaces_link: !self.follow_symlinks,
            ..Target::default()
        };
        let seen = target.seen(ctx)?;
        let had = paths::followed(ctx.host, Path::new(&name)).map(|stat| stat.mode).unwrap_or_default();
        let comment = match mode.filter(|mode| *mode != had) {
            Some(mode) => {
                let (mode, had) = (super::shown(mode), super::shown(had));
                format!("File {name} will be updated with permissions {mode} from its current state of {had}")
            }
            None => format!("File {name} not updated"),
        };
        if seen.changes.is_empty() {
            let done = format!("File {name} exists with proper permissions. No changes made.");
            return Ok(stands(Outcome::done(comment), Outcome::done(done)));
        }
        let would = Outcome::new(None, comment).with_changes(seen.changes.clone());
        let apply = move |ctx: &Ctx| {
            let outcome = target.make(ctx, seen)?;
            let comment = if outcome.result == Some(false) { outcome.comment } else { String::new() };
            Ok(Outcome { comment, ..outcome })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }

    fn of_content(
        &self,
        look: &Look,
        contents: Option<Vec<u8>>,
        mut owner: Owner,
        keeps_mode: bool,
    ) -> Result<Plan, Fault> {
        let (ctx, name) = (look.ctx, self.name.clone());
        let mut template = self.template(ctx, &name);
        let mut mismatch = None;
        let loaded = match contents {
            Some(bytes) => template.apply(look, &name, bytes).map(|bytes| Some(Content { bytes, origin: Origin::Sls })),
            None => match self.source().load(look, &name) {
                Ok(Ok(None)) => Ok(None),
                Ok(Ok(Some(Found { address, bytes, mismatch: other }))) => {
                    mismatch = other.map(|[kind, wanted, own]| (address.clone(), kind, wanted, own));
                    if keeps_mode {
                        owner.mode = self.source().mode(look, &address);
                    }
                    template.context.entry_or("source", || address.as_str().into());
                    let applied = template.apply(look, &address, bytes);
                    applied.map(|bytes| Some(Content { bytes, origin: Origin::Source }))
                }
                Ok(Err(complaint)) => Err(complaint),
                Err(fault) => {
                    let comment = format!("Unable to manage file: {fault}");
                    return Ok(failed(comment));
                }
            },
        };
        let content = match loaded {
            Ok(content) => content,
            Err(complaint) => {
                let done = match self.source.truthy() {
                    true => format!("Unable to manage file: {complaint}"),
                    false => complaint.clone(),
                };
                return Ok(stands(Outcome::failed(complaint), Outcome::failed(done)));
            }
        };
        let dir_mode = match mode(&self.dir_mode) {
            Ok(dir_mode) => dir_mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let unsigned = match self.unsigned(look, &name, content.as_ref()) {
            Ok(()) => None,
            Err(fault) => Some(format!("Failed checking new file's signature: {fault}")),
        };
        let mut target = Target {
            name: name.clone(),
            content,
            owner,
            dir_mode,
            attrs: self.attrs.clone(),
            selinux: self.context_of_selinux(),
            makedirs: self.makedirs,
            keeps_backup: super::keeps_backup(ctx, self.backup.as_deref()),
            shown: Shown::when(self.show_changes),
            replaces_link: !self.follow_symlinks,
            shows_new: self.new_file_diff,
            ignored: Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters),
        };
        let seen = target.seen(ctx)?;
        if let Some((address, kind, wanted, own)) = mismatch {
            let (of, hint) = match seen.is_new() {
                true => (name.as_str(), ""),
                false => (
                    address.as_str(),
                    ". If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be \
                     necessary to set 'source_hash_name'.",
                ),
            };
            let comment =
                format!("Specified {kind} checksum for {of} ({wanted}) does not match actual checksum ({own}){hint}");
            let would = Outcome::new(None, to_change(&name)).with_changes(seen.changes);
            return Ok(stands(would, Outcome::failed(comment)));
        }
        if let Some(comment) = unsigned {
            let would = Outcome::new(None, to_change(&name)).with_changes(seen.changes);
            return Ok(stands(would, Outcome::failed(comment)));
        }
        if seen.changes.is_empty() {
            let would = Outcome::done(format!("The file {name} is in the correct state"));
            return Ok(stands(would, Outcome::done(format!("File {name} is in the correct state"))));
        }
        let would = Outcome::new(None, to_change(&name)).with_changes(seen.changes.clone());
        let check = self.check_cmd.clone().filter(|command| !command.is_empty()).map(|command| Check {
            command,
            folder: self.tmp_dir.clone(),
            ending: self.tmp_ext.clone().unwrap_or_default(),
        });
        let put_off = self.put_off(look, &mut target);
        let apply = move |ctx: &Ctx| {
            if let Some(put_off) = put_off
                && let Err(complaint) = put_off.bring(ctx, &mut target)?
            {
                return Ok(Outcome::failed(complaint));
            }
            match checked(ctx, &target, check)? {
                Some(complaint) => Ok(complaint),
                None => target.make(ctx, seen),
            }
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }

    /// Lets go of a content that is large and can be brought again: `file.recurse` plans all its files before it writes
    /// the first one.
    fn put_off(&self, look: &Look, target: &mut Target) -> Option<PutOff> {
        let content = target.content.as_mut()?;
        let has_engine = self.template.as_ref().is_some_and(|engine| !engine.is_empty());
        if content.origin != Origin::Source || has_engine || content.bytes.len() <= KEPT {
            return None;
        }
        content.bytes = Vec::new();
        Some(PutOff { source: self.source(), saltenv: look.saltenv.to_owned() })
    }

    fn context_of_selinux(&self) -> SelinuxContext {
        let part = |name: &str| self.selinux.at(name).filter(|part| part.truthy()).map(Value::to_text);
        SelinuxContext { user: part("seuser"), role: part("serole"), kind: part("setype"), range: part("serange") }
    }

    fn source(&self) -> Source {
        Source {
            address: self.source.clone(),
            hash: self.source_hash.clone(),
            hash_name: self.source_hash_name.clone(),
            verify: match (self.skip_verify, self.use_etag) {
                (true, _) => Verify::Skip,
                (false, true) => Verify::Etag,
                (false, false) => Verify::Hash,
            },
            unchecked: !self.verify_ssl,
            signed: match self.source_hash_sig.truthy() {
                true => self.signed(&self.source_hash_sig).arguments("source_hash_sig"),
                false => Map::new(),
            },
        }
    }

    fn signed<'s>(&'s self, signature: &'s Value) -> Given<'s> {
        Given {
            signature,
            signed_by_any: &self.signed_by_any,
            signed_by_all: &self.signed_by_all,
            keyring: &self.keyring,
            gnupghome: &self.gnupghome,
            sig_backend: &self.sig_backend,
        }
    }

    /// Fails where new content from elsewhere is not signed as it should be.
    fn unsigned(&self, look: &Look, name: &str, content: Option<&Content>) -> Result<(), Fault> {
        let Some(signature) = self.signed(&self.signature).read(look.ctx)? else { return Ok(()) };
        let Some(content) = content.filter(|content| matches!(content.origin, Origin::Source)) else { return Ok(()) };
        let real = paths::real(look.ctx.host, name);
        match look.ctx.host.read(Path::new(&real)).is_ok_and(|own| own == content.bytes) {
            true => Ok(()),
            false => signature.check(look.ctx, &content.bytes, look.saltenv, !self.verify_ssl),
        }
    }

    /// The engine with its variables: what the state is given, what others have accumulated, and the SLS's own.
    fn template(&self, ctx: &Ctx, name: &str) -> Template {
        let mut own = Map::from_iter([("name", Value::from(name)), ("user", self.user.clone())]);
        own.insert("group", self.group.clone());
        own.insert("mode", self.mode.clone());
        own.extend(self.kwargs.0.clone());
        own.extend(as_map(&self.defaults).unwrap_or_default());
        own.extend(as_map(&self.context).unwrap_or_default());
        if let Some(texts) = accumulated::of_file(ctx, name) {
            own.extend(single("accumulator", texts));
        }
        Template { engine: self.template.clone().filter(|engine| !engine.is_empty()), context: own }
    }
}

/// How many bytes of a source are kept between the plan and its execution.
const KEPT: usize = 64 * 1024;

/// A source whose content is brought when the file is written.
struct PutOff {
    source: Source,
    saltenv: String,
}

impl PutOff {
    fn bring(self, ctx: &Ctx, target: &mut Target) -> Result<Result<(), Complaint>, Fault> {
        let look = Look { ctx, low: &Map::new(), saltenv: &self.saltenv, changed: &[], rehearsal: None };
        match self.source.load(&look, &target.name)? {
            Ok(Some(Found { bytes, mismatch: None, .. })) => {
                target.content = Some(Content { bytes, origin: Origin::Source });
                Ok(Ok(()))
            }
            Ok(Some(Found { address, .. })) => Ok(Err(format!("{address} has changed while it was looked at"))),
            Ok(None) => Ok(Err(format!("The source of {} is not there any more", target.name))),
            Err(complaint) => Ok(Err(complaint)),
        }
    }
}

/// Variables as an SLS gives them: a map, or a list of maps.
fn as_map(value: &Value) -> Option<Map> {
    match value {
        Value::Map(map) => Some(map.clone()),
        Value::List(items) => items.iter().try_fold(Map::new(), |mut all, item| {
            all.extend(item.as_map()?.clone());
            Some(all)
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::Host;
    use halite_core::host::fake::{Fake, Folder};
    use halite_value::record::Arguments;
    use std::path::Path;

    #[test]
    fn a_large_source_is_brought_when_the_file_is_written_and_missed_where_it_has_gone() {
        let folder = Folder::new();
        let source = folder.path().join("image");
        let bytes = "line\n".repeat(100_000);
        std::fs::write(&source, &bytes).unwrap();
        let source = source.to_str().unwrap();
        let world = World::on(Fake::new().file(source, &bytes).folder("/srv"));
        let wanted = || Arguments::default().with("name", "/srv/image").with("source", source);
        let gone = planned(&world, "file.managed", wanted());
        let (_, done) = both(&world, planned(&world, "file.managed", wanted()));
        assert_eq!(done.comment, "File /srv/image updated");
        assert_eq!(world.host.read(Path::new("/srv/image")).unwrap(), bytes.as_bytes());
        std::fs::remove_file(source).unwrap();
        let (_, done) = both(&world, gone);
        assert_eq!((done.result, done.comment), (Some(false), format!("Local file source {source} does not exist")));
        assert_eq!(world.host.read(Path::new("/srv/image")).unwrap(), bytes.as_bytes());
    }
}
