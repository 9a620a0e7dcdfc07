//! `git.detached`: a checkout of one commit, on no branch.

use super::{Account, complaint, fail, joined};
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, from_to, single};
use halite_core::{Ctx, Fault, paths};
use halite_node::fileserver::address::Url;
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a repository is cloned and that one commit of it is checked out, on no branch.
    ///
    ///   https://github.com/saltstack/salt.git:
    ///     git.detached:
    ///       - rev: v3006.9
    ///       - target: /srv/salt
    pub struct Detached {
        /// The address of the repository.
        name: String,
        /// The commit: a branch or a tag of the other side, or a hash.
        rev: Value,
        /// The directory of the checkout.
        target: Option<String>,
        /// What the other side is called.
        remote: String = "origin",
        /// The account that does it.
        user: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
        /// Remove what is in the directory and is no repository.
        force_clone: bool = false,
        /// Lose local changes when the commit is checked out.
        force_checkout: bool = false,
        /// Whether it is asked what is new on the other side.
        fetch_remote: bool = true,
        /// Lose local changes in any case.
        hard_reset: bool = false,
        /// Bring submodules up to date.
        submodules: bool = false,
        /// Keys for SSH.
        identity: Value = (),
        /// The user for https.
        https_user: Value = (),
        /// The password for https.
        https_pass: Value = (),
        /// The encoding of what git says.
        output_encoding: Value = (),
    }
}

/// What is wanted, checked.
struct Wanted {
    url: String,
    rev: String,
    /// Whether `rev` is a hash, or a part of one.
    is_hash: bool,
    target: String,
    remote: String,
    account: Account,
    /// What the SLS says of the way there.
    by: Detached,
}

/// What is at the target.
enum Found {
    Nothing,
    /// Files that are no checkout.
    Others,
    Checkout {
        head: Option<String>,
        /// The commit is there, so that nobody has to be asked for it.
        has_commit: bool,
        /// The address that the remote has; nothing: it is the right one, or does not matter.
        other_url: Option<Option<String>>,
    },
}

impl State for Detached {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let wanted = match self.checked(ctx) {
            Ok(wanted) => wanted,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let found = wanted.found(ctx)?;
        let (name, target, remote) = (&wanted.url, &wanted.target, &wanted.remote);
        let mut changes = Map::new();
        let comment = match &found {
            Found::Nothing => format!("Repository {name} would be cloned to {target}"),
            Found::Others if wanted.by.force_clone => format!(
                "Target directory {target} exists. Since force_clone=True, the contents of {target} would be deleted, and \
                 {name} would be cloned into this directory."
            ),
            Found::Others => {
                return Ok(failed(format!(
                    "Target '{target}' exists, is non-empty and is not a git repository. Set the 'force_clone' option to \
                     True to remove this directory's contents and proceed with cloning the remote repository"
                )));
            }
            Found::Checkout { other_url: Some(_), .. } => format!("Remote {remote} would be set to {name}"),
            Found::Checkout { has_commit: false, .. } if wanted.by.fetch_remote => {
                format!("Repository remote {remote} would be fetched")
            }
            Found::Checkout { head, .. } => {
                let commit = match wanted.commit(ctx)? {
                    Ok(commit) => commit,
                    Err(missing) => return Ok(failed(missing)),
                };
                let is_there = head.as_ref().is_some_and(|head| head.starts_with(&commit));
                if wanted.by.hard_reset {
                    format!("Hard reset to HEAD would be performed on {target}")
                } else if !is_there {
                    changes = single("HEAD", from_to(head.clone(), commit.as_str()));
                    format!("Commit ID {commit} would be checked out at {target}")
                } else if wanted.by.submodules {
                    format!("Submodules of {target} would be updated")
                } else {
                    return Ok(already("Already checked out at correct revision"));
                }
            }
        };
        let would = Outcome::new(None, comment).with_changes(changes);
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| wanted.apply(ctx, found)) })
    }
}

impl Detached {
    fn checked(self, ctx: &Ctx) -> Result<Wanted, String> {
        let rev = self.rev.to_text();
        if !self.rev.truthy() {
            return Err(format!("'{rev}' is not a valid value for the 'rev' argument"));
        }
        let Some(target) = self.target.clone().filter(|target| !target.is_empty()) else {
            return Err("target is missing: the directory of the checkout".to_owned());
        };
        if !target.starts_with('/') {
            return Err(format!("Target '{target}' is not an absolute path"));
        }
        let identity = match &self.identity {
            Value::Null => Value::Null,
            Value::List(items) => Value::List(items.clone()),
            Value::Str(one) => Value::list([one.as_str()]),
            _ => return Err("Identity must be either a list or a string".to_owned()),
        };
        for path in identity.as_list().unwrap_or_default().iter().map(Value::to_text) {
            let path = paths::expand_user(ctx.host, &path);
            if !path.starts_with('/') && !path.starts_with("salt://") {
                return Err(format!("Identity '{path}' is not an absolute path"));
            }
        }
        if paths::is_file(ctx.host, &target) {
            return Err(format!("Target '{target}' exists and is a regular file, cannot proceed"));
        }
        let has_login = self.https_user.truthy() || self.https_pass.truthy();
        if has_login && Url::parse(&self.name).scheme != "https" {
            return Err("Basic Auth only supported for HTTPS".to_owned());
        }
        let is_hash = rev.len() <= 40 && rev.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(Wanted {
            url: self.name.clone(),
            rev: if is_hash { rev.to_lowercase() } else { rev },
            is_hash,
            target,
            remote: self.remote.clone(),
            account: Account {
                user: self.user.clone(),
                password: self.password.clone(),
                output_encoding: self.output_encoding.clone(),
                identity,
                https_user: self.https_user.clone(),
                https_pass: self.https_pass.clone(),
            },
            by: self,
        })
    }
}

impl Wanted {
    fn git(&self, ctx: &Ctx, function: &str, words: &[(&str, Value)]) -> Result<Value, Fault> {
        let cwd = ("cwd", Value::from(self.target.as_str()));
        let all: Vec<(&str, Value)> = words.iter().cloned().chain([cwd]).collect();
        self.account.ask(ctx, function, &all)
    }

    fn found(&self, ctx: &Ctx) -> Result<Found, Fault> {
        let is_checkout = paths::is_directory(ctx.host, &format!("{}/.git", self.target))
            || paths::is_directory(ctx.host, &self.target) && self.git(ctx, "git.is_worktree", &[])?.truthy();
        if !is_checkout {
            let names = ctx.host.list(Path::new(&self.target)).unwrap_or_default();
            return Ok(if names.is_empty() { Found::Nothing } else { Found::Others });
        }
        let quiet = ("ignore_retcode", Value::from(true));
        let has_commit =
            self.is_hash && self.git(ctx, "git.describe", &[("rev", self.rev.as_str().into()), quiet.clone()]).is_ok();
        let other_url = if self.is_hash { None } else { self.other_url(ctx)? };
        Ok(Found::Checkout { head: self.head(ctx), has_commit, other_url })
    }

    /// The commit that is checked out.
    fn head(&self, ctx: &Ctx) -> Option<String> {
        let head = self.git(ctx, "git.revision", &[("ignore_retcode", true.into())]).ok()?.to_text();
        Some(head).filter(|head| !head.is_empty())
    }

    fn other_url(&self, ctx: &Ctx) -> Result<Option<Option<String>>, Fault> {
        let remotes = self.git(ctx, "git.remotes", &[("redact_auth", false.into())])?;
        let url = remotes.at(&self.remote).and_then(|remote| remote.at("fetch")).map(Value::to_text);
        Ok((!url.as_ref().is_some_and(|url| url.contains(&self.url))).then_some(url))
    }

    /// The commit that `rev` means here, or that it means none.
    fn commit(&self, ctx: &Ctx) -> Result<Result<String, String>, Fault> {
        let missing = || Err(format!("Revision '{}' does not exist", self.rev));
        if self.is_hash {
            let is_known = self.git(ctx, "git.describe", &[("rev", self.rev.as_str().into())]).is_ok();
            return Ok(if is_known { Ok(self.rev.clone()) } else { missing() });
        }
        let words = [("url", Value::from(self.target.as_str()))];
        let refs = match self.account.ask(ctx, "git.remote_refs", &words) {
            Ok(refs) => refs,
            Err(fault) => return Ok(Err(format!("Failed to list refs for {}: {}", self.remote, complaint(&fault)))),
        };
        // A tag with a text of its own is an object beside the commit that it means.
        let names = [
            format!("refs/remotes/{}/{}", self.remote, self.rev),
            format!("refs/tags/{}^{{}}", self.rev),
            format!("refs/tags/{}", self.rev),
        ];
        Ok(names.iter().find_map(|name| refs.at(name)).map_or_else(missing, |commit| Ok(commit.to_text())))
    }

    fn apply(self, ctx: &Ctx, found: Found) -> Result<Outcome, Fault> {
        let (mut comments, mut changes) = (Vec::new(), Map::new());
        let made = self.make(ctx, found, &mut comments, &mut changes);
        Ok(match made {
            Ok(()) => Outcome::done(joined(&comments)).with_changes(changes),
            Err(what) => fail(what, &comments, changes),
        })
    }

    /// Does all of it; an error is what is told.
    fn make(&self, ctx: &Ctx, found: Found, comments: &mut Vec<String>, changes: &mut Map) -> Result<(), String> {
        let told = |fault: Fault| complaint(&fault);
        let (mut head, mut fetches) = (None, self.by.fetch_remote);
        match found {
            Found::Nothing => self.clone_it(ctx, comments)?,
            Found::Others => {
                self.clear(ctx)?;
                changes.insert("forced clone", true);
                self.clone_it(ctx, comments)?;
            }
            Found::Checkout { head: own, has_commit, other_url } => {
                head = own;
                fetches &= !has_commit;
                if let Some(old) = other_url {
                    self.set_remote(ctx, old, comments)?;
                }
            }
        }
        if fetches {
            self.fetch(ctx, comments)?;
        }
        let commit = match self.commit(ctx).map_err(told)? {
            Ok(commit) => commit,
            Err(missing) => {
                // What was done for it is of no use.
                comments.clear();
                return Err(missing);
            }
        };
        if self.by.hard_reset {
            self.git(ctx, "git.reset", &[("opts", Value::list(["--hard", "HEAD"]))]).map_err(told)?;
            comments.push("Repository was reset to HEAD before checking out revision".to_owned());
        }
        let is_there = head.as_ref().is_some_and(|head| head.starts_with(&commit));
        if !is_there {
            let words = [("rev", commit.as_str().into()), ("force", self.by.force_checkout.into())];
            self.git(ctx, "git.checkout", &words).map_err(|fault| fault.to_string())?;
            comments.push(format!("Commit ID {commit} was checked out at {}", self.target));
            changes.insert("HEAD", from_to(head, self.head(ctx)));
        }
        if self.by.submodules {
            let words = [
                ("command", "update".into()),
                ("opts", Value::list(["--init", "--recursive"])),
                ("identity", self.account.identity.clone()),
            ];
            self.git(ctx, "git.submodule", &words).map_err(told)?;
            comments.push("Submodules were updated".to_owned());
        }
        if is_there {
            comments.push("Already checked out at correct revision".to_owned());
        }
        Ok(())
    }

    fn clear(&self, ctx: &Ctx) -> Result<(), String> {
        for name in ctx.host.list(Path::new(&self.target)).unwrap_or_default() {
            let path = Path::new(&self.target).join(name);
            remove_all(ctx.host, &path)
                .map_err(|error| format!("Unable to remove\n  {}\n    {error}", path.display()))?;
        }
        Ok(())
    }

    fn clone_it(&self, ctx: &Ctx, comments: &mut Vec<String>) -> Result<(), String> {
        let mut opts = vec!["--no-checkout"];
        if self.remote != "origin" {
            opts.extend(["--origin", &self.remote]);
        }
        let words =
            [("cwd", self.target.as_str().into()), ("url", self.url.as_str().into()), ("opts", Value::list(opts))];
        self.account.ask_remote(ctx, "git.clone", &words).map_err(|fault| complaint(&fault))?;
        comments.push(format!("{} cloned to {}", self.url, self.target));
        Ok(())
    }

    fn set_remote(&self, ctx: &Ctx, old: Option<String>, comments: &mut Vec<String>) -> Result<(), String> {
        let words = [
            ("url", self.url.as_str().into()),
            ("remote", self.remote.as_str().into()),
            ("https_user", self.account.https_user.clone()),
            ("https_pass", self.account.https_pass.clone()),
        ];
        self.git(ctx, "git.remote_set", &words).map_err(|fault| complaint(&fault))?;
        let old = old.unwrap_or_else(|| "None".to_owned());
        comments.push(format!("Remote {} updated from '{old}' to '{}'", self.remote, self.url));
        Ok(())
    }

    fn fetch(&self, ctx: &Ctx, comments: &mut Vec<String>) -> Result<(), String> {
        let remote = self.remote.as_str();
        let refspecs = [format!("refs/heads/*:refs/remotes/{remote}/*"), "+refs/tags/*:refs/tags/*".to_owned()];
        let words = [
            ("remote", remote.into()),
            ("force", true.into()),
            ("refspecs", Value::list(refspecs)),
            ("identity", self.account.identity.clone()),
        ];
        let fetched = self.git(ctx, "git.fetch", &words).map_err(|fault| format!("Fetch failed:\n\n{fault}"))?;
        if fetched.truthy() {
            comments.push(format!("Remote {remote} was fetched, resulting in updated refs"));
        }
        Ok(())
    }
}
