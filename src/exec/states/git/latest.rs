//! `git.latest`.

use super::remote::{Kind, Wanted};
use super::update::{Checkout, Settings};
use super::{Account, complaint, fail, joined};
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, failed, single};
use halite_core::{Ctx, Fault, paths};
use halite_node::fileserver::address::{Url, redacted};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a repository is cloned and that its checkout is what the other side has now.
    ///
    ///   https://gitlab.com/user/website.git:
    ///     git.latest:
    ///       - target: /var/www/website
    ///       - rev: main
    ///       - force_reset: True
    pub struct Latest {
        /// The address of the repository.
        name: String,
        /// The directory of the checkout.
        target: Option<String>,
        /// The branch, the tag or the hash that is wanted.
        rev: Value = "HEAD",
        /// The local branch; the one that is checked out, if not given.
        branch: Option<String> = (),
        /// The account that does it.
        user: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
        /// Whether the local branch is moved; else things are only fetched.
        update_head: bool = true,
        /// Change branches although there are local changes.
        force_checkout: bool = false,
        /// Remove what is in the directory and is no repository.
        force_clone: bool = false,
        /// Fetch also where branches were rewritten.
        force_fetch: bool = false,
        /// Lose local changes and commits; `remote-changes`: only when there is something new.
        force_reset: Value = false,
        /// Bring submodules up to date.
        submodules: bool = false,
        /// Without files checked out.
        bare: bool = false,
        /// With all that the other side has, names and all.
        mirror: bool = false,
        /// The name of the other side.
        remote: Option<String> = "origin",
        /// Whether tags are fetched.
        fetch_tags: bool = true,
        /// Whether tags that the other side does not have are removed.
        sync_tags: bool = true,
        /// So many commits of the past.
        depth: Option<i64> = (),
        /// Keys for SSH: a path, or several.
        identity: Value = (),
        /// The user for https.
        https_user: Value = (),
        /// The password for https.
        https_pass: Value = (),
        /// Which branches are fetched.
        refspec_branch: String = "*",
        /// Which tags are fetched.
        refspec_tag: String = "*",
        /// The encoding of what git says.
        output_encoding: Value = (),
    }
}

impl State for Latest {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let settings = self.settings(context)?;
        let ctx = context.ctx;
        let target = settings.target.clone();
        let wanted = match settings.bare {
            // Whatever the other side has is wanted; that it answers is looked at all the same.
            true => {
                let found = Wanted::find(ctx, &settings.account, &settings.url, &settings.remote, "HEAD")?;
                Wanted { rev: found.rev, has_head: found.has_head, ..Wanted::default() }
            }
            false => Wanted::find(ctx, &settings.account, &settings.url, &settings.remote, &settings.rev)?,
        };
        if self.depth.is_some() && !matches!(wanted.kind, Some(Kind::Branch | Kind::Tag)) {
            return Ok(failed(
                "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository",
            ));
        }
        let check = if settings.bare { "refs" } else { ".git" };
        let cwd = [("cwd", Value::from(target.as_str()))];
        let is_checkout = paths::is_directory(ctx.host, &format!("{target}/{check}"))
            || paths::is_directory(ctx.host, &target)
                && settings.account.ask(ctx, "git.is_worktree", &cwd).is_ok_and(|worktree| worktree.truthy());
        if is_checkout {
            return Checkout::plan(ctx, settings, wanted);
        }
        self.plan_clone(ctx, settings, wanted)
    }
}

impl Latest {
    fn settings(&self, context: &PlanContext) -> Result<Settings, Fault> {
        let text = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
        let Some(remote) = text(&self.remote) else {
            return Err(Fault::comment("'remote' argument is required".to_owned()));
        };
        let Some(target) = text(&self.target) else {
            return Err(Fault::comment("'target' argument is required".to_owned()));
        };
        let rev = self.rev.to_text();
        if !self.rev.truthy() {
            return Err(Fault::comment(format!("'{rev}' is not a valid value for the 'rev' argument")));
        }
        let by_remote = self.force_reset.as_str() == Some("remote-changes");
        if !by_remote && !matches!(self.force_reset, Value::Bool(_)) {
            return Err(Fault::comment("'force_reset' must be one of True, False, or 'remote-changes'".to_owned()));
        }
        if !target.starts_with('/') {
            return Err(Fault::comment(format!("target '{target}' is not an absolute path")));
        }
        let identity = match &self.identity {
            Value::Null => Value::Null,
            Value::List(items) => Value::List(items.clone()),
            one => Value::list([one.to_text()]),
        };
        for path in identity.as_list().unwrap_or_default().iter().map(Value::to_text) {
            let path = paths::expand_user(context.ctx.host, &path);
            if !path.starts_with('/') && !path.starts_with("salt://") {
                return Err(Fault::comment(format!("identity '{path}' is not an absolute path")));
            }
        }
        if paths::is_file(context.ctx.host, &target) {
            return Err(Fault::comment(format!("Target '{target}' exists and is a regular file, cannot proceed")));
        }
        let has_login = self.https_user.truthy() || self.https_pass.truthy();
        if has_login && Url::parse(&self.name).scheme != "https" {
            return Err(Fault::comment("Basic Auth only supported for HTTPS".to_owned()));
        }
        let bare = self.bare || self.mirror;
        if rev != "HEAD" && bare {
            return Err(Fault::comment("'rev' is not compatible with the 'mirror' and 'bare' arguments".to_owned()));
        }
        let mut refspecs = Vec::new();
        if self.fetch_tags {
            let (branch, tag) = (&self.refspec_branch, &self.refspec_tag);
            refspecs.push(format!("refs/heads/{branch}:refs/remotes/{remote}/{branch}"));
            refspecs.push(format!("+refs/tags/{tag}:refs/tags/{tag}"));
        }
        Ok(Settings {
            url: self.name.clone(),
            target,
            rev,
            branch: text(&self.branch),
            account: Account {
                user: self.user.clone(),
                password: self.password.clone(),
                output_encoding: self.output_encoding.clone(),
                identity,
                https_user: self.https_user.clone(),
                https_pass: self.https_pass.clone(),
            },
            update_head: self.update_head,
            force_checkout: self.force_checkout,
            force_fetch: self.force_fetch,
            forces: self.force_reset == Value::Bool(true),
            forces_by_remote: by_remote,
            submodules: self.submodules,
            bare,
            remote,
            sync_tags: self.sync_tags,
            refspecs,
        })
    }

    fn plan_clone(self, ctx: &Ctx, settings: Settings, wanted: Wanted) -> Result<Plan, Fault> {
        let (name, target) = (redacted(&self.name), settings.target.clone());
        let mut changes = single("new", format!("{name} => {target}"));
        let mut would = format!("Repository {name} would be cloned to {target}");
        let there = ctx.host.list(Path::new(&target)).unwrap_or_default();
        if paths::is_directory(ctx.host, &target) && self.force_clone {
            changes.insert("forced clone", true);
            would = format!(
                "Target directory {target} exists. Since force_clone=True, the contents of {target} would be deleted, and \
                 {name} would be cloned into this directory."
            );
        } else if !there.is_empty() {
            return Ok(failed(format!(
                "Target '{target}' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True \
                 to remove this directory's contents and proceed with cloning the remote repository"
            )));
        }
        let would = Outcome::new(None, would).with_changes(changes.clone());
        let apply = move |ctx: &Ctx| {
            let mut comments = Vec::new();
            for entry in there {
                let path = Path::new(&target).join(entry);
                if let Err(error) = remove_all(ctx.host, &path) {
                    return Ok(fail(format!("Unable to remove\n  {}\n    {error}", path.display()), &[], Map::new()));
                }
            }
            match self.clone_and_set(ctx, &settings, &wanted, &mut comments) {
                Ok(revision) => {
                    if let Some(revision) = revision {
                        changes.insert("revision", halite_core::state::from_to((), revision));
                    }
                    Ok(Outcome::done(joined(&comments)).with_changes(changes))
                }
                Err(fault) => {
                    Ok(fail(complaint(&fault), &comments, if comments.is_empty() { Map::new() } else { changes }))
                }
            }
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }

    /// The revision that is checked out then.
    fn clone_and_set(
        &self,
        ctx: &Ctx,
        settings: &Settings,
        wanted: &Wanted,
        comments: &mut Vec<String>,
    ) -> Result<Option<String>, Fault> {
        let (name, target) = (redacted(&self.name), &settings.target);
        let mut opts: Vec<String> = match (self.mirror, settings.bare) {
            (true, _) => vec!["--mirror".to_owned()],
            (false, true) => vec!["--bare".to_owned()],
            (false, false) => Vec::new(),
        };
        if settings.remote != "origin" {
            opts.extend(["--origin".to_owned(), settings.remote.clone()]);
        }
        if let Some(depth) = self.depth {
            opts.extend(["--depth".to_owned(), depth.to_string(), "--branch".to_owned(), settings.rev.clone()]);
        }
        let words = [("cwd", target.as_str().into()), ("url", self.name.as_str().into()), ("opts", Value::list(opts))];
        let cloned = settings.account.ask_remote(ctx, "git.clone", &words);
        cloned.map_err(|fault| Fault::execution(format!("Clone failed: {}", complaint(&fault))))?;
        let kind = match (self.mirror, settings.bare) {
            (true, _) => " as mirror",
            (false, true) => " as bare repository",
            (false, false) => "",
        };
        comments.push(format!("{name} cloned to {target}{kind}"));
        if !settings.bare && wanted.sha1.is_some() {
            let local = settings.local(ctx)?;
            if wanted.kind == Some(Kind::Tag) && !local.tags.contains(&settings.rev) {
                return Err(Fault::execution(format!("Revision '{}' does not exist in clone", settings.rev)));
            }
            if let Some(branch) = settings.branch.as_ref().filter(|branch| !local.branches.contains(branch)) {
                let from = wanted.start();
                settings.git(ctx, "git.checkout", &[("rev", from.into()), ("opts", Value::list(["-b", branch]))])?;
                comments.push(format!("Branch '{branch}' checked out, with {} as a starting point", wanted.place));
            }
            let local = settings.local(ctx)?;
            if local.branch.is_none() && !wanted.has_head {
                return Err(Fault::execution(
                    "Remote HEAD refers to a ref that does not exist. This can happen when the default branch on the \
                     remote repository is renamed or deleted. If you are unable to fix the remote repository, you can work \
                     around this by setting the 'branch' argument (which will ensure that the named branch is created if it \
                     does not already exist).",
                ));
            }
            if !wanted.is(local.rev.as_deref()) {
                let sha1 = wanted.sha1.clone().unwrap_or_default();
                settings.git(ctx, "git.reset", &[("opts", Value::list(["--hard".to_owned(), sha1]))])?;
                comments.push(format!("Repository was reset to {}", wanted.place));
            }
            settings.follow(ctx, wanted, comments)?;
        }
        if settings.submodules && wanted.sha1.is_some() {
            settings.submodules(ctx)?;
        }
        Ok(settings.local(ctx)?.rev)
    }
}
