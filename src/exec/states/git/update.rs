//! Bringing a checkout up to date.

use super::remote::{Kind, Wanted, short};
use super::{Account, complaint, fail, joined};
use halite_core::state::{Outcome, Plan, already, failed, from_to};
use halite_core::{Ctx, Fault};
use halite_node::fileserver::address::redacted;
use halite_value::{Map, Value};

/// What an SLS asks for.
pub struct Settings {
    pub url: String,
    pub target: String,
    pub rev: String,
    pub branch: Option<String>,
    pub account: Account,
    pub update_head: bool,
    pub force_checkout: bool,
    pub force_fetch: bool,
    /// Local changes and commits are lost.
    pub forces: bool,
    /// The same, but only when there is something new.
    pub forces_by_remote: bool,
    pub submodules: bool,
    pub bare: bool,
    pub remote: String,
    pub sync_tags: bool,
    pub refspecs: Vec<String>,
}

/// What a checkout is like.
pub struct Local {
    pub rev: Option<String>,
    pub branch: Option<String>,
    pub branches: Vec<String>,
    pub tags: Vec<String>,
}

impl Wanted {
    /// Where a new branch begins.
    pub fn start(&self) -> String {
        match self.rev.as_str() {
            "HEAD" => self.sha1.clone().unwrap_or_default(),
            rev => self.upstream.clone().unwrap_or_else(|| rev.to_owned()),
        }
    }
}

impl Settings {
    /// Asks git about the checkout.
    pub fn git(&self, ctx: &Ctx, function: &str, words: &[(&str, Value)]) -> Result<Value, Fault> {
        let mut all = vec![("cwd", Value::from(self.target.as_str()))];
        all.extend(words.iter().map(|(name, value)| (*name, value.clone())));
        self.account.ask(ctx, function, &all)
    }

    fn hash(&self, ctx: &Ctx, rev: &str) -> Option<String> {
        let words = [("rev", rev.into()), ("ignore_retcode", true.into())];
        self.git(ctx, "git.rev_parse", &words).ok().map(|sha1| sha1.to_text())
    }

    pub fn local(&self, ctx: &Ctx) -> Result<Local, Fault> {
        let quiet = [("ignore_retcode", Value::from(true))];
        let text = |value: Value| Some(value.to_text()).filter(|text| !text.is_empty() && text != "HEAD");
        let list = |value: Value| value.as_list().unwrap_or_default().iter().map(Value::to_text).collect();
        Ok(Local {
            rev: self.git(ctx, "git.revision", &quiet).ok().and_then(text),
            branch: self.git(ctx, "git.current_branch", &quiet).ok().and_then(text),
            branches: list(self.git(ctx, "git.list_branches", &[])?),
            tags: list(self.git(ctx, "git.list_tags", &[])?),
        })
    }

    fn upstream(&self, ctx: &Ctx, branch: &str) -> Option<String> {
        let opts = Value::list(["--abbrev-ref"]);
        let rev = format!("{branch}@{{upstream}}");
        let words = [("rev", rev.into()), ("opts", opts), ("ignore_retcode", true.into())];
        self.git(ctx, "git.rev_parse", &words).ok().map(|upstream| upstream.to_text())
    }

    /// What the local branch is to follow, in words for a comment, with git's options; nothing: it does already.
    fn following(&self, ctx: &Ctx, wanted: &Wanted) -> Result<Option<(String, Vec<String>)>, Fault> {
        let local = self.local(ctx)?;
        let branch = self.branch.clone().filter(|branch| local.branches.contains(branch)).or(local.branch);
        let Some(branch) = branch else { return Ok(None) };
        let own = self.upstream(ctx, &branch);
        Ok(match (&own, &wanted.upstream) {
            (None, Some(upstream)) => {
                Some((format!("set to {upstream}"), vec!["--set-upstream-to".to_owned(), upstream.clone()]))
            }
            (Some(own), Some(upstream)) if own != upstream => {
                Some((format!("updated to {upstream}"), vec!["--set-upstream-to".to_owned(), upstream.clone()]))
            }
            (Some(_), None) if !wanted.follows_any => Some(("unset".to_owned(), vec!["--unset-upstream".to_owned()])),
            _ => None,
        })
    }

    /// Has the local branch follow the one that is wanted.
    pub fn follow(&self, ctx: &Ctx, wanted: &Wanted, comments: &mut Vec<String>) -> Result<(), Fault> {
        if let Some((what, opts)) = self.following(ctx, wanted)? {
            self.git(ctx, "git.branch", &[("opts", Value::list(opts))])?;
            comments.push(format!("Tracking branch was {what}"));
        }
        Ok(())
    }

    pub fn submodules(&self, ctx: &Ctx) -> Result<(), Fault> {
        let words = [("command", "update".into()), ("opts", Value::list(["--init", "--recursive"]))];
        let mut words = words.to_vec();
        words.push(("identity", self.account.identity.clone()));
        let done = self.git(ctx, "git.submodule", &words);
        let wrong = |fault: Fault| Fault::execution(format!("Failed to update submodules: {}", complaint(&fault)));
        done.map(drop).map_err(wrong)
    }

    fn is_ancestor(&self, ctx: &Ctx, base: &str, wanted: &str) -> Result<bool, Fault> {
        let words =
            [("refs", Value::list([base, wanted])), ("is_ancestor", true.into()), ("ignore_retcode", true.into())];
        Ok(self.git(ctx, "git.merge_base", &words)?.truthy())
    }
}

/// A checkout that is there.
pub struct Checkout {
    settings: Settings,
    wanted: Wanted,
    local: Local,
    has_changes: bool,
    /// The address of the other side that it knows.
    fetch_url: Option<String>,
}

impl Checkout {
    pub fn plan(ctx: &Ctx, settings: Settings, wanted: Wanted) -> Result<Plan, Fault> {
        let local = match settings.local(ctx) {
            Ok(local) => local,
            Err(fault) => return Ok(failed(complaint(&fault))),
        };
        let target = settings.target.clone();
        if settings.bare {
            let would = Outcome::done(format!(
                "Repository {target} is up-to-date\n\nChanges that would be made: Bare repository at {target} would be fetched"
            ));
            let apply = move |ctx: &Ctx| fetched_bare(ctx, &settings, &local);
            return Ok(Plan::Changes { would, apply: Box::new(apply) });
        }
        if wanted.sha1.is_none() {
            return Ok(match local.rev {
                Some(_) => failed("Remote repository is empty, cannot update from a non-empty to an empty repository"),
                None => already(format!("Repository {target} is up-to-date")),
            });
        }
        let has_changes = settings.git(ctx, "git.diff", &[("item1", "HEAD".into())]).is_ok_and(|diff| diff.truthy());
        let remotes = settings.git(ctx, "git.remotes", &[("redact_auth", false.into())])?;
        let fetch_url = remotes.at(&settings.remote).and_then(|remote| remote.at("fetch")).map(Value::to_text);
        let checkout = Checkout { settings, wanted, local, has_changes, fetch_url };
        checkout.planned(ctx)
    }

    fn matches(&self) -> bool {
        self.wanted.is(self.local.rev.as_deref())
    }

    fn changes_branch(&self) -> bool {
        self.settings.branch.is_some() && self.settings.branch != self.local.branch
    }

    /// The revision that is moved to the one that is wanted.
    fn base(&self, ctx: &Ctx) -> Option<String> {
        match self.settings.branch.as_ref().filter(|_| self.changes_branch()) {
            None => self.local.rev.clone(),
            Some(branch) if self.local.branches.contains(branch) => {
                self.settings.hash(ctx, &format!("{branch}^{{commit}}"))
            }
            Some(_) => self.wanted.sha1.clone(),
        }
    }

    fn has_wanted(&self, ctx: &Ctx) -> bool {
        let sha1 = self.wanted.sha1.clone().unwrap_or_default();
        if self.settings.hash(ctx, &format!("{sha1}^{{commit}}")).is_none() {
            return false;
        }
        match (self.wanted.kind, &self.wanted.upstream) {
            (Some(Kind::Branch), Some(upstream)) => self.settings.hash(ctx, upstream) == self.wanted.sha1,
            (Some(Kind::Tag), _) => {
                self.settings.hash(ctx, &format!("{}^{{commit}}", self.settings.rev)) == self.wanted.sha1
            }
            _ => true,
        }
    }

    fn planned(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let target = &self.settings.target;
        let current = format!("Repository {target} is up-to-date");
        if self.has_changes && self.matches() && !self.settings.forces {
            return Ok(already(format!(
                "{current}, but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
            )));
        }
        let has_wanted = self.has_wanted(ctx);
        let base = self.base(ctx);
        let sha1 = self.wanted.sha1.clone().unwrap_or_default();
        let loses = self.has_changes && !self.settings.forces_by_remote;
        let forward = match (&base, has_wanted) {
            _ if loses => Some(false),
            (None, true) => Some(true),
            (Some(base), true) => Some(self.settings.is_ancestor(ctx, base, &sha1)?),
            (_, false) => None,
        };
        if forward == Some(false) && !self.settings.forces && !self.settings.forces_by_remote {
            return Ok(Plan::Stands(self.not_forward(base.as_deref(), &[])));
        }
        let would = self.would(ctx, has_wanted, forward)?;
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.apply(ctx, has_wanted)) })
    }

    fn would(&self, ctx: &Ctx, has_wanted: bool, forward: Option<bool>) -> Result<Outcome, Fault> {
        let (settings, wanted, local) = (&self.settings, &self.wanted, &self.local);
        if self.has_changes && self.matches() && settings.forces {
            let comment = format!(
                "{} is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these local changes \
                 would be reset. To only reset when there are changes in the remote repository, set 'force_reset' to \
                 'remote-changes'.",
                settings.target
            );
            return Ok(Outcome::new(None, comment).with_changes(halite_core::state::single("forced update", true)));
        }
        let sha1 = wanted.sha1.as_deref().unwrap_or_default();
        let old = local.rev.as_deref().unwrap_or_default();
        let action = match forward {
            Some(true) => "fast-forwarded",
            Some(false) => "hard-reset",
            None => "updated",
        };
        let mut actions = Vec::new();
        let mut changes = Map::new();
        if self.fetch_url.as_deref() != Some(&settings.url) {
            let shown = self.fetch_url.as_deref().map_or("None".to_owned(), redacted);
            let new = redacted(&settings.url);
            actions.push(format!("Remote '{}' would be changed from {shown} to {new}", settings.remote));
        }
        if !has_wanted {
            actions.push(format!("Remote '{}' would be fetched", settings.remote));
        }
        if !self.matches() && (settings.update_head || self.changes_branch()) {
            changes.insert("revision", from_to(local.rev.clone(), sha1));
        }
        match settings.branch.as_ref().filter(|_| self.changes_branch()) {
            Some(branch) if local.branches.contains(branch) => {
                actions.push(format!("Branch '{branch}' would be checked out and {action} to {}", short(sha1)));
            }
            Some(branch) => {
                let place = &wanted.place;
                actions.push(format!("New branch '{branch}' would be checked out, with {place} as a starting point"));
            }
            None if !self.matches() && settings.update_head => {
                let action = if forward.is_none() && settings.forces && has_wanted { "hard-reset" } else { action };
                actions.push(format!("Repository would be {action} from {} to {}", short(old), short(sha1)));
            }
            None if !self.matches() => actions.push(format!(
                "Local HEAD ({}) does not match {} but update_head=False, HEAD would not be updated locally",
                short(old),
                wanted.place
            )),
            None => {}
        }
        if let Some((what, _)) = settings.following(ctx, wanted)? {
            actions.push(format!("Tracking branch would be {what}"));
        }
        if !changes.is_empty() {
            return Ok(Outcome::new(None, joined(&actions)).with_changes(changes));
        }
        if !self.matches() && !settings.update_head && !actions.is_empty() {
            return Ok(Outcome::done(joined(&actions)));
        }
        let mut comment = format!("Repository {} is up-to-date", settings.target);
        if !actions.is_empty() {
            comment.push_str(&format!("\n\nChanges that would be made: {}", joined(&actions)));
        }
        Ok(Outcome::done(comment))
    }

    fn not_forward(&self, base: Option<&str>, comments: &[String]) -> Outcome {
        let (settings, wanted, local) = (&self.settings, &self.wanted, &self.local);
        let sha1 = wanted.sha1.as_deref().unwrap_or_default();
        let own = local.branch.as_deref().unwrap_or("None");
        let hint = match (&settings.branch, settings.rev.as_str(), &wanted.default_branch) {
            (None, rev, _) if rev != "HEAD" && own != rev => format!(
                " The desired rev ({rev}) differs from the name of the local branch ({own}), if the desired rev is a branch \
                 name then a forced update could possibly be avoided by setting the 'branch' argument to '{rev}' instead."
            ),
            (None, "HEAD", Some(default)) if default != own => format!(
                " The default remote branch ({default}) differs from the local branch ({own}). This could be caused by \
                 changing the default remote branch, or if the local branch was manually changed. Rather than forcing an \
                 update, it may be advisable to set the 'branch' argument to '{default}' instead. To ensure that this state \
                 follows the '{default}' branch instead of the remote HEAD, set the 'rev' argument to '{default}'."
            ),
            _ => String::new(),
        };
        let base = base.unwrap_or_default();
        let from = match self.has_changes && base != sha1 {
            true => format!("from {} to {}", short(base), short(sha1)),
            false => format!("to {}", short(sha1)),
        };
        let after = match settings.branch.as_ref().filter(|_| self.changes_branch()) {
            Some(branch) => format!(" (after checking out local branch '{branch}')"),
            None => String::new(),
        };
        let (why, or, lost) = match self.has_changes {
            true => ("there are uncommitted changes", " (or 'remote-changes')", " and discard these changes"),
            false => ("this is not a fast-forward merge", "", ""),
        };
        let comment = format!(
            "Repository would be updated {from}{after}, but {why}. Set 'force_reset' to True{or} to force this update{lost}.{hint}"
        );
        fail(comment, comments, Map::new())
    }

    fn apply(self, ctx: &Ctx, has_wanted: bool) -> Result<Outcome, Fault> {
        let mut comments = Vec::new();
        let mut changes = Map::new();
        match self.update(ctx, has_wanted, &mut comments, &mut changes) {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
            Err(fault) => return Ok(fail(complaint(&fault), &comments, changes)),
        }
        let new = self.settings.local(ctx)?.rev;
        if !self.wanted.is(new.as_deref()) && self.settings.update_head {
            return Ok(fail("Failed to update repository", &comments, changes));
        }
        if new != self.local.rev {
            changes.insert("revision", from_to(self.local.rev, new));
            return Ok(Outcome::done(joined(&comments)).with_changes(changes));
        }
        let mut comment = format!("Repository {} is up-to-date", self.settings.target);
        if !comments.is_empty() {
            comment.push_str(&format!("\n\nChanges made: {}", joined(&comments)));
        }
        Ok(Outcome::done(comment).with_changes(changes))
    }

    /// An outcome that comes back is the end of it.
    fn update(
        &self,
        ctx: &Ctx,
        mut has_wanted: bool,
        comments: &mut Vec<String>,
        changes: &mut Map,
    ) -> Result<Option<Outcome>, Fault> {
        let (settings, wanted, local) = (&self.settings, &self.wanted, &self.local);
        let sha1 = wanted.sha1.clone().unwrap_or_default();
        if self.fetch_url.as_deref() != Some(&settings.url) {
            let account = &settings.account;
            let words = [
                ("url", settings.url.as_str().into()),
                ("remote", settings.remote.as_str().into()),
                ("https_user", account.https_user.clone()),
                ("https_pass", account.https_pass.clone()),
            ];
            settings.git(ctx, "git.remote_set", &words)?;
            let new = redacted(&settings.url);
            comments.push(match &self.fetch_url {
                None => format!("Remote '{}' set to {new}", settings.remote),
                Some(old) => format!("Remote '{}' changed from {} to {new}", settings.remote, redacted(old)),
            });
        }
        has_wanted &= self.synced_tags(ctx, comments, changes)?;
        if !has_wanted {
            self.fetch(ctx, comments)?;
        }
        let words = [("rev", format!("{sha1}^{{commit}}").into()), ("ignore_retcode", true.into())];
        if let Err(fault) = settings.git(ctx, "git.rev_parse", &words) {
            let url = redacted(&settings.url);
            let comment = format!("Fetch did not successfully retrieve rev '{}' from {url}: {fault}", settings.rev);
            return Ok(Some(Outcome::failed(comment)));
        }
        if !self.matches() && !settings.update_head && !self.changes_branch() {
            let place = match wanted.rev.as_str() {
                "HEAD" => wanted.place.to_lowercase().replacen("remote", "Remote", 1),
                _ => wanted.place.clone(),
            };
            let head = local.rev.as_deref().map(short).unwrap_or_default();
            return Ok(Some(Outcome::done(format!(
                "{place} is already present and local HEAD ({head}) does not match, but update_head=False. HEAD has not \
                 been updated locally."
            ))));
        }
        let base = self.base(ctx);
        let ancestor = match &base {
            None => true,
            Some(base) => settings.is_ancestor(ctx, base, &sha1)?,
        };
        let forces = settings.forces || settings.forces_by_remote;
        if (!ancestor || self.has_changes) && !forces {
            return Ok(Some(self.not_forward(base.as_deref(), comments)));
        }
        if let Some(branch) = settings.branch.as_ref().filter(|_| self.changes_branch()) {
            self.check_out(ctx, branch, comments)?;
        }
        if !ancestor || self.has_changes && settings.forces && self.matches() {
            settings.git(ctx, "git.reset", &[("opts", Value::list(["--hard".to_owned(), sha1.clone()]))])?;
            changes.insert("forced update", true);
            if self.has_changes {
                comments.push("Uncommitted changes were discarded".to_owned());
            }
            comments.push(format!("Repository was hard-reset to {}", wanted.place));
        } else if self.has_changes {
            settings.git(ctx, "git.discard_local_changes", &[])?;
            comments.push("Uncommitted changes were discarded".to_owned());
        }
        settings.follow(ctx, wanted, comments)?;
        if ancestor && !wanted.is(base.as_deref()) {
            self.forward(ctx, &sha1, comments)?;
        }
        if settings.submodules {
            settings.submodules(ctx)?;
        }
        Ok(None)
    }

    fn fetch(&self, ctx: &Ctx, comments: &mut Vec<String>) -> Result<(), Fault> {
        if fetch(ctx, &self.settings)? {
            comments.push(format!("{} was fetched, resulting in updated refs", redacted(&self.settings.url)));
        }
        Ok(())
    }

    /// Whether the tags are those of the other side; those that it does not have go.
    fn synced_tags(&self, ctx: &Ctx, comments: &mut Vec<String>, changes: &mut Map) -> Result<bool, Fault> {
        let settings = &self.settings;
        let words = [
            ("cwd", settings.target.as_str().into()),
            ("remote", settings.remote.as_str().into()),
            ("opts", "--tags".into()),
            ("ignore_retcode", true.into()),
        ];
        let answer = settings.account.ask_remote(ctx, "git.ls_remote", &words)?;
        let names = answer.as_map().into_iter().flat_map(|map| map.keys()).map(Value::to_text);
        let names: Vec<String> =
            names.filter(|name| !name.ends_with("^{}")).map(|name| name.replace("refs/tags/", "")).collect();
        let new: Vec<&String> = names.iter().filter(|name| !self.local.tags.contains(name)).collect();
        let gone: Vec<&String> = self.local.tags.iter().filter(|name| !names.contains(name)).collect();
        if !new.is_empty() {
            changes.insert("new_tags", Value::list(new.iter().map(|name| name.as_str())));
        }
        if settings.sync_tags && !gone.is_empty() {
            for name in &gone {
                settings.git(ctx, "git.tag", &[("name", name.as_str().into()), ("opts", "-d".into())])?;
            }
            let names: Vec<&str> = gone.iter().map(|name| name.as_str()).collect();
            changes.insert("deleted_tags", Value::list(names.iter().copied()));
            comments.push(format!("The following tags were removed from the local checkout: {}", names.join(", ")));
        }
        Ok(new.is_empty() && gone.is_empty())
    }

    fn check_out(&self, ctx: &Ctx, branch: &String, comments: &mut Vec<String>) -> Result<(), Fault> {
        let settings = &self.settings;
        if self.has_changes && !settings.force_checkout {
            let own = self.local.branch.as_deref().unwrap_or("None");
            return Err(Fault::execution(format!(
                "Local branch '{own}' has uncommitted changes. Set 'force_checkout' to True to discard them and proceed."
            )));
        }
        let (rev, opts, comment) = match self.local.branches.contains(branch) {
            true => (branch.clone(), Vec::new(), format!("'{branch}' was checked out")),
            false => {
                let place = &self.wanted.place;
                let comment = format!("New branch '{branch}' was checked out, with {place} as a starting point");
                (self.wanted.start(), vec!["-b".to_owned(), branch.clone()], comment)
            }
        };
        let words = [("rev", rev.into()), ("force", settings.force_checkout.into()), ("opts", Value::list(opts))];
        settings.git(ctx, "git.checkout", &words)?;
        comments.push(comment);
        Ok(())
    }

    fn forward(&self, ctx: &Ctx, sha1: &str, comments: &mut Vec<String>) -> Result<(), Fault> {
        let (settings, wanted) = (&self.settings, &self.wanted);
        if wanted.upstream.is_none() && wanted.rev != "HEAD" {
            let opts = Value::list(["--hard".to_owned(), settings.rev.clone()]);
            settings.git(ctx, "git.reset", &[("opts", opts)])?;
            comments.push(format!("Repository was reset to {} (fast-forward)", settings.rev));
            return Ok(());
        }
        let words = [("ref", "HEAD".into()), ("opts", Value::list(["--quiet"])), ("ignore_retcode", true.into())];
        if !settings.git(ctx, "git.symbolic_ref", &words).is_ok_and(|head| head.truthy()) {
            return Err(Fault::execution("Unable to fast-forward, HEAD is detached"));
        }
        settings.git(ctx, "git.merge", &[("rev", sha1.into()), ("opts", Value::list(["--ff-only"]))])?;
        comments.push(format!("Repository was fast-forwarded to {}", wanted.place));
        Ok(())
    }
}

/// Whether something new came.
fn fetch(ctx: &Ctx, settings: &Settings) -> Result<bool, Fault> {
    let words = [
        ("cwd", settings.target.as_str().into()),
        ("remote", settings.remote.as_str().into()),
        ("force", settings.force_fetch.into()),
        ("refspecs", Value::list(settings.refspecs.iter().map(String::as_str))),
        ("identity", settings.account.identity.clone()),
    ];
    let fetched = settings.account.ask(ctx, "git.fetch", &words).map_err(|fault| {
        Fault::execution(format!(
            "Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to \
             fast-forward. Output of the fetch command follows:\n\n{}",
            complaint(&fault)
        ))
    })?;
    Ok(fetched.truthy())
}

fn fetched_bare(ctx: &Ctx, settings: &Settings, local: &Local) -> Result<Outcome, Fault> {
    let target = &settings.target;
    let came = match fetch(ctx, settings) {
        Ok(came) => came,
        Err(fault) => return Ok(fail(fault.to_string(), &[], Map::new())),
    };
    let updated = if came { ", resulting in updated refs" } else { "" };
    let comment = format!("Bare repository at {target} was fetched{updated}");
    let new = settings.local(ctx)?.rev;
    Ok(match new == local.rev {
        true => Outcome::done(format!("Repository {target} is up-to-date\n\nChanges made: {comment}")),
        false => {
            let changes = halite_core::state::single("revision", from_to(local.rev.clone(), new));
            Outcome::done(comment).with_changes(changes)
        }
    })
}
