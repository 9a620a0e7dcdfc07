//! `file.managed`.

mod contents;

use super::check_cmd::{Check, checked};
use super::owner::owned;
use super::source::{Found, Source};
use super::target::{Seen, above};
use super::{accumulated, is_directory, mode, own_name, single};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, commented, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::access::Access;
use halite_file::arguments::SignersOfBoth;
use halite_file::attributes::SelinuxContext;
use halite_file::content::{Body, Part};
use halite_file::desired::{Desired, Links};
use halite_file::difference::{Ignored, Shown};
use halite_file::owner::Owner;
use halite_file::source::{Mismatch, Verify};
use halite_file::sum::Sum;
use halite_file::template::Template;
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
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// The mode of directories that are made.
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
        /// The directory for the file that `check_cmd` sees.
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
        ..signers: SignersOfBoth,
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
    fn plan(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        self.name = own_name(context.ctx, &self.name);
        if self.name.is_empty() {
            return Ok(failed("Destination file name is required"));
        }
        if self.selinux.truthy() && self.selinux.as_map().is_none() {
            return Ok(failed("selinux must be a map of seuser, serole, setype and serange"));
        }
        let warned = self.kwargs.0.contains("file_mode");
        let plan = commented(self.examined(context))?;
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
    fn examined(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
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
        let maps = [("Context", &self.context), ("Defaults", &self.defaults)];
        if let Some((what, _)) = maps.iter().find(|(_, value)| value.truthy() && as_map(value).is_none()) {
            return Ok(failed(format!("{what} must be formed as a dict")));
        }
        let contents = match self.contents(context) {
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
        if is_directory(ctx, path) {
            return Ok(failed(missing.unwrap_or_else(|| format!("Specified target {name} is a directory"))));
        }
        let has_engine = self.template.as_ref().is_some_and(|engine| !engine.is_empty());
        self.replace &= has_engine || !self.source().is_at(context, &name);
        let plan = match !self.replace && paths::exists(ctx.host, &name) {
            true => self.of_attributes(ctx, owner)?,
            false => self.of_content(context, contents, owner, keeps_mode)?,
        };
        Ok(owned(missing, plan))
    }

    /// Owner, mode and attributes alone: the content that is there stays.
    fn of_attributes(&self, ctx: &Ctx, owner: Owner) -> Result<Plan, Fault> {
        let (name, mode) = (self.name.clone(), owner.mode);
        let desired = Desired {
            name: name.clone(),
            links: self.links(),
            owner,
            access: self.access(),
            shows_changes: true,
            ..Desired::default()
        };
        let seen = Seen::of(&desired, ctx)?;
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
            let outcome = seen.make(ctx, &desired)?;
            let comment = if outcome.result == Some(false) { outcome.comment } else { String::new() };
            Ok(Outcome { comment, ..outcome })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }

    fn of_content(
        &self,
        context: &PlanContext,
        contents: Option<Vec<u8>>,
        mut owner: Owner,
        keeps_mode: bool,
    ) -> Result<Plan, Fault> {
        let (ctx, name) = (context.ctx, self.name.clone());
        let loaded = match contents {
            Some(bytes) => {
                let made = self.template(ctx, &name).apply(ctx, &name, context.saltenv, bytes);
                let loaded = |bytes| Some(Loaded { body: Body::Bytes(bytes), ..Loaded::default() });
                made.map(loaded).map_err(Fault::comment)
            }
            None => self.loaded(context),
        };
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(Fault::Comment(complaint)) => {
                let done = match self.source.truthy() {
                    true => format!("Unable to manage file: {complaint}"),
                    false => complaint.clone(),
                };
                return Ok(stands(Outcome::failed(complaint), Outcome::failed(done)));
            }
            Err(fault) => return Ok(failed(format!("Unable to manage file: {fault}"))),
        };
        let has_content = loaded.is_some();
        let Loaded { body, address, sum, mismatch } = loaded.unwrap_or_default();
        if let Some(address) = address.as_ref().filter(|_| keeps_mode) {
            owner.mode = self.source().mode(context, address);
        }
        let dir_mode = match mode(&self.dir_mode) {
            Ok(dir_mode) => dir_mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let mut desired = Desired {
            name: name.clone(),
            links: self.links(),
            is_from_source: address.is_some(),
            body: has_content.then_some(body),
            verified: sum,
            above: self.makedirs.then(|| above(&owner, dir_mode)),
            owner,
            access: self.access(),
            keeps_backup: super::keeps_backup(ctx, self.backup.as_deref()),
            shows_changes: self.show_changes,
            shows_new: self.new_file_diff.then_some(Shown::ALL),
            ignored: Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters),
            ..Desired::default()
        };
        let unsigned = match self.unsigned(context, &desired) {
            Ok(()) => None,
            Err(fault) => Some(format!("Failed checking new file's signature: {fault}")),
        };
        let seen = Seen::of(&desired, ctx)?;
        if let Some(Mismatch { kind, wanted, own }) = mismatch {
            let address = address.unwrap_or_default();
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
            directory: self.tmp_dir.clone(),
            ending: self.tmp_ext.clone().unwrap_or_default(),
        });
        let again = Again { source: self.source(), saltenv: context.saltenv.to_owned() };
        let apply = move |ctx: &Ctx| {
            again.bring(ctx, &mut desired)?;
            match checked(ctx, &desired, check)? {
                Some(complaint) => Ok(complaint),
                None => seen.make(ctx, &desired),
            }
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }

    /// The content of the source, run through the template where one is named; nothing where there is no source.
    fn loaded(&self, context: &PlanContext) -> Result<Option<Loaded>, Fault> {
        let Some(found) = self.source().load(context, &self.name)? else { return Ok(None) };
        let Found { address, body, sum, mismatch } = found;
        let mut template = self.template(context.ctx, &self.name);
        template.variables.entry_or("source", || address.as_str().into());
        let body = template.made(context.ctx, &address, context.saltenv, body)?;
        // What a template makes has another digest.
        let sum = sum.filter(|_| matches!(body, Body::At(_)));
        Ok(Some(Loaded { body, address: Some(address), sum, mismatch }))
    }

    fn links(&self) -> Links {
        if self.follow_symlinks { Links::Follow } else { Links::Replace }
    }

    /// What lsattr(1) and SELinux should know.
    fn access(&self) -> Access {
        let part = |name: &str| self.selinux.at(name).filter(|part| part.truthy()).map(Value::to_text);
        let context =
            SelinuxContext { user: part("seuser"), role: part("serole"), kind: part("setype"), range: part("serange") };
        Access { attrs: self.attrs.clone(), context, ..Access::default() }
    }

    fn source(&self) -> Source {
        Source {
            address: self.source.clone(),
            hash: self.source_hash.clone(),
            hash_name: self.source_hash_name.clone(),
            verify: Verify::given(self.skip_verify, self.use_etag),
            unchecked: !self.verify_ssl,
            signed: self.signed(&self.source_hash_sig),
        }
    }

    fn signed(&self, signature: &Value) -> Given {
        self.signers.given(signature, &self.sig_backend)
    }

    /// Fails where new content from elsewhere is not signed as it should be.
    fn unsigned(&self, context: &PlanContext, desired: &Desired) -> Result<(), Fault> {
        let ctx = context.ctx;
        let Some(signature) = self.signed(&self.signature).read(ctx)? else { return Ok(()) };
        let Some(body) = desired.body.as_ref().filter(|_| desired.is_from_source) else { return Ok(()) };
        let real = paths::real(ctx.host, &desired.name);
        let part = body.part().unwrap_or(Part::EMPTY);
        if part.is_same(Part::At(&real), ctx.host).unwrap_or(false) {
            return Ok(());
        }
        match part {
            Part::At(path) => signature.check_at(ctx, path, context.saltenv, !self.verify_ssl),
            Part::Bytes(bytes) => signature.check(ctx, bytes, context.saltenv, !self.verify_ssl),
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
        Template { engine: self.template.clone().filter(|engine| !engine.is_empty()), variables: own }
    }
}

/// A content that was found, with what is known of it.
#[derive(Default)]
struct Loaded {
    body: Body,
    /// Nothing: it stands in the SLS.
    address: Option<String>,
    sum: Option<Sum>,
    mismatch: Option<Mismatch>,
}

/// A source that is brought again where what was found of it has gone: `file.recurse` plans all its files before it writes
/// the first one.
struct Again {
    source: Source,
    saltenv: String,
}

impl Again {
    fn bring(&self, ctx: &Ctx, desired: &mut Desired) -> Result<(), Fault> {
        match &desired.body {
            Some(Body::At(path)) if !paths::exists(ctx.host, path) => {}
            _ => return Ok(()),
        }
        let context = PlanContext { ctx, low: &Map::new(), saltenv: &self.saltenv, changed: &[], rehearsal: None };
        match self.source.load(&context, &desired.name)? {
            Some(Found { body, sum, mismatch: None, .. }) => {
                desired.body = Some(body);
                desired.verified = sum;
                Ok(())
            }
            Some(Found { address, .. }) => Err(Fault::comment(format!("{address} has changed while it was looked at"))),
            None => Err(Fault::comment(format!("The source of {} is not there any more", desired.name))),
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
    use halite_core::host::HostFiles;
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;
    use std::path::Path;

    #[test]
    fn a_large_source_is_brought_when_the_file_is_written_and_missed_where_it_has_gone() {
        let source = "/image";
        let bytes = "line\n".repeat(100_000);
        let world = World::on(Fake::new().file(source, &bytes).directory("/srv"));
        let wanted = || Arguments::default().with("name", "/srv/image").with("source", source);
        let gone = planned(&world, "file.managed", wanted());
        let (_, done) = both(&world, planned(&world, "file.managed", wanted()));
        assert_eq!(done.comment, "File /srv/image updated");
        assert_eq!(world.host.read(Path::new("/srv/image")).unwrap(), bytes.as_bytes());
        world.host.remove(Path::new(source)).unwrap();
        let (_, done) = both(&world, gone);
        assert_eq!((done.result, done.comment), (Some(false), format!("Local file source {source} does not exist")));
        assert_eq!(world.host.read(Path::new("/srv/image")).unwrap(), bytes.as_bytes());
    }
}
