//! Unpacking an archive.

use super::super::file::directory::Directory;
use super::contents::Contents;
use super::{Extracted, Format};
use halite_core::host::{ReadOnly, own};
use halite_core::paths::remove_all;
use halite_core::program::Program;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, commented, failed, given};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_lang::words;
use halite_node::fileserver::address::redacted;
use halite_value::record::{Arguments, Record};
use halite_value::{Map, Value};
use std::path::Path;

/// An archive that is to be unpacked.
pub struct Work {
    pub state: Extracted,
    /// The directory, with a slash at its end.
    pub name: String,
    /// The archive's address or path.
    pub address: String,
    pub format: Format,
    pub saltenv: String,
    /// The hash that it should have.
    pub source_sum: Option<Value>,
}

impl Work {
    pub fn sum(&self, ctx: &Ctx) -> Result<Value, Fault> {
        let mut arguments = given([
            ("source", self.address.as_str().into()),
            ("source_hash", self.state.source_hash.clone()),
            ("source_hash_name", self.state.source_hash_name.clone().into()),
            ("saltenv", self.saltenv.as_str().into()),
        ]);
        if self.state.source_hash_sig.truthy() {
            arguments.extend(self.state.signed(&self.state.source_hash_sig).arguments("source_hash_sig"));
        }
        ctx.run("file.get_source_sum", Arguments::keywords(arguments))
    }

    fn digest(&self) -> Option<String> {
        self.source_sum.as_ref().and_then(|sum| sum.at("hsum")).map(Value::to_text)
    }

    /// Where the hash of the archive that was unpacked last is kept.
    fn kept_at(&self, ctx: &Ctx, path: &str) -> String {
        let cache = ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion");
        let below = path.strip_prefix(&format!("{}/", cache.trim_end_matches('/')));
        let below =
            below.map_or_else(|| format!("local/{}", path.trim_start_matches('/')), |path| format!("{path}.hash"));
        format!("{cache}/archive_hash/{below}")
    }

    fn kept_hash(&self, ctx: &Ctx, path: &str) -> Option<String> {
        let kept = own::read_text(Path::new(&self.kept_at(ctx, path))).ok()?;
        let kind = ctx.opts.str_at("hash_type").unwrap_or("sha256");
        kept.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(':').map(str::to_owned))
    }

    fn keep_hash(&self, ctx: &Ctx, path: &str) -> Result<(), Fault> {
        let kind = ctx.opts.str_at("hash_type").unwrap_or("sha256").to_owned();
        let digest = ask(ctx, "file.get_hash", [("path", path.into()), ("form", kind.as_str().into())])?.to_text();
        let place = self.kept_at(ctx, path);
        let written = own::make_public_directories(Path::new(&paths::directory_of(&place)))
            .and_then(|()| own::write(Path::new(&place), format!("{kind}:{digest}\n").as_bytes()));
        written.map_err(|error| Fault::execution(format!("{place}: {error}")))
    }

    /// Brings the archive into the cache, and does what is to be done then.
    pub fn fetch(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let view = ReadOnly(ctx.host);
        let looking = ctx.on(&view);
        let context =
            PlanContext { ctx: &looking, low: &Map::new(), saltenv: &self.saltenv, changed: &[], rehearsal: None };
        let cached = match self.state.cached(&self.address, &self.saltenv)?.planned(&context)? {
            Plan::Stands(outcome) => outcome,
            Plan::Changes { apply, .. } => apply(ctx)?,
        };
        if cached.result != Some(true) {
            return Ok(cached);
        }
        let arguments = [("path", self.address.as_str().into()), ("saltenv", self.saltenv.as_str().into())];
        let path = ask(ctx, "cp.is_cached", arguments)?.to_text();
        let (keeps, saltenv, address) = (self.state.keeps_source(), self.saltenv.clone(), self.address.clone());
        let outcome = match commented(self.plan_at(&looking, &path))? {
            Plan::Stands(outcome) => outcome,
            Plan::Changes { apply, .. } => apply(ctx)?,
        };
        if !keeps && ctx.host.remove(Path::new(&path)).is_err() {
            log::warn!("the copy of {} in saltenv '{saltenv}' stays in the cache", redacted(&address));
        }
        Ok(outcome)
    }

    /// What is to be done with the archive that stands at a path.
    pub fn plan_at(self, ctx: &Ctx, path: &str) -> Result<Plan, Fault> {
        let shown = redacted(&self.address);
        if let Some(signature) = self.state.signed(&self.state.signature).read(ctx)?
            && let Err(fault) = signature.check_file(ctx, path, &self.saltenv, false)
        {
            return Ok(failed(format!("Failed verifying the source file's signature: {fault}")));
        }
        let kept = self.kept_hash(ctx, path);
        if self.state.skip_files_list_verify && kept.is_some() && kept == self.digest() {
            return Ok(already(format!(
                "Archive {shown} existing source sum is the same as the expected one and skip_files_list_verify argument \
                 was set to True. Extraction is not needed"
            )));
        }
        let has_password = self.state.password.as_ref().is_some_and(|password| !password.is_empty());
        if self.format == Format::Zip && !has_password {
            let arguments = Arguments::positional([path]).with("clean", false);
            if ctx.run("archive.is_encrypted", arguments).is_ok_and(|encrypted| encrypted.truthy()) {
                return Ok(failed(format!(
                    "Archive {shown} is password-protected, but no password was specified. Please set the 'password' \
                     argument."
                )));
            }
        }
        let contents = self.contents(ctx, path)?;
        if self.state.enforce_toplevel && (contents.top_dirs.len() > 1 || !contents.top_files.is_empty()) {
            return Ok(failed(format!(
                "Archive does not have a single top-level directory. To allow this archive to be extracted, set \
                 'enforce_toplevel' to False. To avoid a '{}-bomb' it may also be advisable to set a top-level directory by \
                 adding it to the 'name' value (for example, setting 'name' to {}some_dir instead of {}).",
                self.format.name(),
                self.name,
                self.name
            )));
        }
        let compared = self.compare(ctx, &contents);
        let mut in_the_way = Vec::new();
        if !compared.of_other_kind.is_empty() && !self.state.clean {
            let list: String =
                compared.of_other_kind.iter().map(|name| format!("- {name}")).collect::<Vec<_>>().join("\n");
            let head = format!(
                "The below paths (relative to {}) exist, but are the incorrect type (file instead of directory, symlink \
                 instead of file, etc.).",
                self.name
            );
            if !self.state.force && !self.state.clean_parent {
                return Ok(failed(format!(
                    "{head} To proceed with extraction, set 'force' to True. Note that this will remove these paths before \
                     extracting.\n\n{list}"
                )));
            }
            in_the_way = compared.of_other_kind.iter().map(|name| format!("{}{name}", self.name)).collect();
        }
        let has_new_hash = self.state.source_hash_update && kept.is_some() && {
            let kind = ctx.opts.str_at("hash_type").unwrap_or("sha256");
            let own = ask(ctx, "file.get_hash", [("path", path.into()), ("form", kind.into())])?.to_text();
            kept.as_ref() != Some(&own)
        };
        let is_needed = self.state.overwrite || compared.is_missing || !compared.of_other_kind.is_empty();
        let by_hash = !is_needed && has_new_hash;
        let why = match (by_hash, compared.is_missing) {
            (true, _) => ", due to source_hash update",
            (false, true) => ", due to absence of one or more files/dirs",
            (false, false) => "",
        };
        let job = Job { path: path.to_owned(), contents, in_the_way, why, extracts: is_needed || by_hash };
        if job.extracts {
            if let Some(wrong) = self.wrong_hash(ctx, path)? {
                return Ok(failed(wrong));
            }
            let cleans = if self.state.clean { ", after cleaning destination path(s)" } else { "" };
            let would = format!("Archive {shown} would be extracted to {}{cleans}{why}", self.name);
            return Ok(Plan::Changes {
                would: Outcome::new(None, would),
                apply: Box::new(move |ctx| self.extract(ctx, job)),
            });
        }
        let owned = self.unowned(ctx, &job.contents);
        let done = "All files in archive are already present";
        if owned.is_empty() {
            if self.state.source_hash_update && self.source_sum.is_some() {
                let would = Outcome::done(done);
                return Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.extract(ctx, job)) });
            }
            return Ok(already(done));
        }
        let would = Outcome::new(None, format!("{done}. Ownership would be updated on one or more files/directories."))
            .with_changes(Map::from_iter([("updated ownership", true)]));
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.extract(ctx, job)) })
    }

    fn wrong_hash(&self, ctx: &Ctx, path: &str) -> Result<Option<String>, Fault> {
        let Some(sum) = self.source_sum.as_ref().filter(|_| !self.state.skip_verify) else { return Ok(None) };
        let kind = sum.at("hash_type").cloned().unwrap_or_default();
        let own = ask(ctx, "file.get_hash", [("path", path.into()), ("form", kind)])?.to_text();
        let wanted = self.digest().unwrap_or_default();
        Ok((own != wanted)
            .then(|| format!("{} does not match the desired source_hash {wanted}", redacted(&self.address))))
    }

    fn owner(&self, ctx: &Ctx) -> Owner {
        Owner::new(ctx, &self.state.user, &self.state.group, None)
    }

    /// Paths on the top level whose owner is another one, or that have such paths below them.
    fn unowned(&self, ctx: &Ctx, contents: &Contents) -> Vec<String> {
        let owner = self.owner(ctx);
        if !self.state.user.truthy() && !self.state.group.truthy() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for path in self.owned_paths(contents) {
            let path = path.trim_end_matches('/').to_owned();
            if differs(ctx, &path, &owner) {
                all.push(path);
            }
        }
        all
    }

    fn owned_paths(&self, contents: &Contents) -> Vec<String> {
        match &self.state.enforce_ownership_on {
            Some(path) => vec![path.clone()],
            None => {
                let names = contents.top_dirs.iter().chain(&contents.top_files).chain(&contents.top_links);
                names.map(|name| format!("{}{name}", self.name)).collect()
            }
        }
    }

    fn extract(self, ctx: &Ctx, job: Job) -> Result<Outcome, Fault> {
        let mut changes = Map::new();
        let mut outcome = Outcome::done("All files in archive are already present");
        let directory = self.name.trim_end_matches('/').to_owned();
        if job.extracts {
            let mut removed = job.in_the_way.clone();
            if self.state.clean_parent && ctx.host.stat(Path::new(&directory)).is_ok() {
                remove(ctx, &directory)?;
                changes.insert("removed", format!("Directory {} was removed prior to the extraction", self.name));
                removed.clear();
            }
            if self.state.clean {
                let top = job.contents.top_dirs.iter().chain(&job.contents.top_files);
                removed = top.map(|name| format!("{}{name}", self.name)).collect();
            }
            removed.retain(|path| ctx.host.stat(Path::new(path.trim_end_matches('/'))).is_ok());
            for path in &removed {
                remove(ctx, path)?;
            }
            if !removed.is_empty() {
                changes.insert("removed", Value::list(removed));
            }
            let is_new = !paths::is_directory(ctx.host, &directory);
            if is_new {
                let made = self.directory(ctx, &directory, false)?;
                if made.result == Some(false) {
                    return Ok(made);
                }
            }
            let mut files = match self.unpacked(ctx, &job.path)? {
                Ok(files) => files,
                Err(wrong) => return Ok(Outcome { changes, ..wrong }),
            };
            let trim = self.trim();
            if let (Some(most), Value::List(files)) = (trim, &mut files) {
                files.truncate(most);
            }
            if !files.truthy() {
                let comment = format!("No files were extracted from {}", redacted(&self.address));
                return Ok(Outcome::failed(comment).with_changes(changes));
            }
            if is_new {
                changes.insert("directories_created", Value::list([self.name.as_str()]));
            }
            changes.insert("extracted_files", files);
            let trimmed = trim.map(|most| format!(". Output was trimmed to {most} number of lines"));
            outcome.comment = format!(
                "{} extracted to {}{}{}",
                redacted(&self.address),
                self.name,
                job.why,
                trimmed.unwrap_or_default()
            );
        }
        if self.state.source_hash_update && self.source_sum.is_some() && !self.state.skip_verify {
            self.keep_hash(ctx, &job.path)?;
        }
        self.give_away(ctx, &job.contents, &mut outcome, &mut changes)?;
        Ok(outcome.with_changes(changes))
    }

    fn trim(&self) -> Option<usize> {
        match &self.state.trim_output {
            Value::Bool(true) => Some(100),
            other => other.as_int().and_then(|most| usize::try_from(most).ok()).filter(|most| *most > 0),
        }
    }

    fn give_away(&self, ctx: &Ctx, contents: &Contents, outcome: &mut Outcome, changes: &mut Map) -> Result<(), Fault> {
        let (mut missing, mut failures) = (Vec::new(), Vec::new());
        if self.state.user.truthy() || self.state.group.truthy() {
            let gone = |path: &String| ctx.host.stat(Path::new(path.trim_end_matches('/'))).is_err();
            missing = self.owned_paths(contents).into_iter().filter(gone).collect();
        }
        for path in self.unowned(ctx, contents) {
            let done = match paths::is_directory(ctx.host, &path) && !paths::is_link(ctx.host, &path) {
                true => self.directory(ctx, &path, true)?.result != Some(false),
                false => ctx.host.set(Path::new(&path), self.owner(ctx).attributes()).is_ok(),
            };
            match done {
                true => drop(changes.insert("updated ownership", true)),
                false => failures.push(path),
            }
        }
        for (paths, what) in [
            (&missing, "the following paths were missing"),
            (&failures, "Salt was unable to change ownership on the following paths"),
        ] {
            if paths.is_empty() {
                continue;
            }
            if !std::ptr::eq(paths, &missing) || self.state.if_missing.is_none() {
                outcome.result = Some(false);
            }
            let list: String = paths.iter().map(|path| format!("\n- {path}")).collect();
            outcome.comment.push_str(&format!("\n\nWhile trying to enforce user/group ownership, {what}:\n{list}"));
        }
        Ok(())
    }

    /// Has `file.directory` make a directory, or give away what is in it.
    fn directory(&self, ctx: &Ctx, path: &str, recurses: bool) -> Result<Outcome, Fault> {
        let mut arguments =
            given([("name", path.into()), ("user", self.state.user.clone()), ("makedirs", true.into())]);
        if recurses {
            let words = [("user", self.state.user.truthy()), ("group", self.state.group.truthy())];
            let words = words.into_iter().filter(|(_, given)| *given).map(|(word, _)| word);
            arguments.insert("recurse", Value::list(words));
            arguments.insert("group", self.state.group.clone());
        }
        let view = ReadOnly(ctx.host);
        let looking = ctx.on(&view);
        let context =
            PlanContext { ctx: &looking, low: &Map::new(), saltenv: &self.saltenv, changed: &[], rehearsal: None };
        let bound = Directory::bind(Arguments::keywords(arguments));
        let directory = bound.map_err(|error| Fault::arguments::<Directory>("file.directory", error))?;
        match directory.planned(&context)? {
            Plan::Stands(outcome) => Ok(outcome),
            Plan::Changes { apply, .. } => apply(ctx),
        }
    }

    /// Unpacks the archive: the names of what came out of it.
    fn unpacked(&self, ctx: &Ctx, path: &str) -> Result<Result<Value, Outcome>, Fault> {
        let common = |source: &str| {
            given([(source, Value::from(path)), ("dest", self.name.as_str().into()), ("trim_output", false.into())])
        };
        let function = match self.format {
            Format::Tar => return self.untarred(ctx, path),
            Format::Rar => ("archive.unrar", common("rarfile")),
            Format::Zip => {
                let mut arguments = common("zip_file");
                arguments.extend(given([("password", self.state.password.clone().into())]));
                let options = self.options().filter(|options| !options.is_empty());
                match self.state.use_cmd_unzip.unwrap_or(options.is_some()) {
                    true => {
                        arguments.extend(given([("options", options.into())]));
                        ("archive.cmd_unzip", arguments)
                    }
                    false => {
                        arguments.insert("extract_perms", self.state.extract_perms);
                        ("archive.unzip", arguments)
                    }
                }
            }
        };
        Ok(ctx.run(function.0, Arguments::keywords(function.1)).map_err(|fault| Outcome::failed(fault.to_string())))
    }

    fn untarred(&self, ctx: &Ctx, path: &str) -> Result<Result<Value, Outcome>, Fault> {
        if ctx.host.which("tar").is_none() {
            return Ok(Err(Outcome::failed("tar command not available, it might not be installed on minion")));
        }
        let mut short = "xv".to_owned();
        let mut long = Vec::new();
        let given = self.options().map(|options| words::split(&options)).transpose().map_err(Fault::invocation)?;
        let given =
            given.unwrap_or_default().into_iter().filter(|word| !["v", "-v", "--verbose"].contains(&word.as_str()));
        for (at, word) in given.enumerate() {
            match word.starts_with('-') || at > 0 {
                true => long.push(word),
                false => short.push_str(&word.replace(['x', 'f'], "")),
            }
        }
        let program = Program::new(["tar".to_owned(), short]).args(long).args(["-f", path]).cwd(self.name.as_str());
        let answer = program.run(ctx)?;
        if !answer.is_success() {
            return Ok(Err(Outcome::failed(answer.complaint()).with_changes(answer.shown())));
        }
        // What is named without options is what stands in the archive: directories without a slash.
        let names = answer.stdout.lines().map(|name| name.trim_end_matches('/').to_owned());
        Ok(Ok(match self.options() {
            None => Value::list(names),
            Some(_) if answer.stdout.is_empty() => "no tar output so far".into(),
            Some(_) => Value::list(answer.stdout.lines()),
        }))
    }
}

/// What was found out before anything is done.
struct Job {
    path: String,
    contents: Contents,
    in_the_way: Vec<String>,
    /// Why it is unpacked, as results say it.
    why: &'static str,
    extracts: bool,
}

fn differs(ctx: &Ctx, path: &str, owner: &Owner) -> bool {
    let Ok(stat) = ctx.host.stat(Path::new(path)) else { return false };
    if !owner.differences(&stat).is_empty() {
        return true;
    }
    stat.kind == halite_core::host::FileKind::Directory
        && ctx
            .host
            .list(Path::new(path))
            .unwrap_or_default()
            .into_iter()
            .any(|name| differs(ctx, &paths::join(&[path.to_owned(), name]), owner))
}

fn remove(ctx: &Ctx, path: &str) -> Result<(), Fault> {
    let path = path.trim_end_matches('/');
    match ctx.host.stat(Path::new(path)) {
        Ok(_) => remove_all(ctx.host, Path::new(path)).map_err(|error| Fault::execution(format!("{path}: {error}"))),
        Err(_) => Ok(()),
    }
}
