//! Work trees besides the first.

use super::{Changes, Git, Looks, command};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::record;
use halite_value::{Map, Value};

fn is_worktree(git: &Git, cwd: &str) -> bool {
    let Ok(top) = git.run(Looks, Some(cwd), &["rev-parse", "--show-toplevel"]) else { return false };
    let text = text_file::read(git.ctx.host, &format!("{top}/.git")).unwrap_or_default();
    let first = text.lines().next().and_then(|line| line.split_once(char::is_whitespace));
    first.is_some_and(|(label, path)| label == "gitdir:" && path.trim_start().starts_with('/'))
}

record! {
    /// Tells whether a directory is a work tree besides the first of its repository.
    ///
    ///   salt '*' git.is_worktree /srv/repo
    pub struct IsWorktree {
        /// The directory.
        cwd: String,
        /// The account to do it as.
        user: Option<String> = (),
        /// Taken, and ignored: accounts of Linux need none.
        password: Value = (),
        /// Taken, and ignored: text is UTF-8.
        output_encoding: Value = (),
    }
}

impl Run for IsWorktree {
    fn run(self, ctx: &Ctx) -> Reply {
        let git = Git::new(ctx, self.user);
        Ok(is_worktree(&git, &git.path(&self.cwd)).into())
    }
}

record! {
    /// Shows the work trees of a repository.
    ///
    ///   salt '*' git.list_worktrees /srv/repo
    ///   salt '*' git.list_worktrees /srv/repo all=True
    pub struct ListWorktrees {
        /// The repository.
        cwd: String,
        /// Only those whose directory is gone.
        stale: bool = false,
        /// The account to do it as.
        user: Option<String> = (),
        /// Taken, and ignored: accounts of Linux need none.
        password: Value = (),
        /// Taken, and ignored: text is UTF-8.
        output_encoding: Value = (),
        /// Those whose directory is gone too.
        all: bool = false,
    }
}

impl Run for ListWorktrees {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.all && self.stale {
            return Err(Fault::execution("'all' and 'stale' cannot both be set to True"));
        }
        let git = Git::new(ctx, self.user);
        let cwd = git.path(&self.cwd);
        let told = git.run(Looks, Some(&cwd), &["worktree", "list", "--porcelain"])?;
        let mut shown = Map::new();
        for tree in told.trim().split("\n\n") {
            let field =
                |name: &str| tree.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::trim);
            let (Some(place), Some(head)) = (field("worktree"), field("HEAD")) else { continue };
            let is_detached = tree.lines().any(|line| line == "detached");
            let branch = field("branch");
            if branch.is_none() && !is_detached {
                continue;
            }
            let is_stale = !paths::is_directory(ctx.host, place);
            if !self.all && is_stale != self.stale {
                continue;
            }
            let mut entry = Map::from_iter([
                ("stale", Value::from(is_stale)),
                ("HEAD", head.into()),
                ("detached", is_detached.into()),
            ]);
            let branch = branch.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
            entry.insert("branch", branch.filter(|_| !is_detached));
            if is_detached {
                let tags = git.run(Looks, Some(&cwd), &["tag", "--points-at", head])?;
                if !tags.is_empty() {
                    entry.insert("tags", Value::list(tags.lines()));
                }
            }
            shown.insert(place, entry);
        }
        Ok(shown.into())
    }
}

command! {
    /// Adds a work tree.
    ///
    ///   salt '*' git.worktree_add /srv/repo ../hotfix ref=origin/main
    ///   salt '*' git.worktree_add /srv/repo ../hotfix branch=hotfix21 ref=v2.1.9.3
    WorktreeAdd {
        /// The repository.
        cwd: String,
        /// The directory of the new work tree.
        worktree_path: String,
        /// The commit to check out.
        r#ref: Option<String> = (),
        /// Move the branch if there is one.
        reset_branch: Option<bool> = (),
        /// Add it though the branch is checked out elsewhere.
        force: Option<bool> = (),
        /// Do not make a branch.
        detach: bool = false,
        /// The name of the branch. Default: the name of the directory.
        branch: Option<String> = (),
    } opts |self, git| {
        let branch = self.branch.filter(|branch| !branch.is_empty());
        if branch.is_some() && self.detach {
            return Err(Fault::invocation("Only one of 'branch' and 'detach' is allowed"));
        }
        let branch = branch.unwrap_or_else(|| paths::name_of(&self.worktree_path).to_owned());
        let mut words = vec!["worktree", "add"];
        match self.detach {
            true => words.push("--detach"),
            false => words.extend([if self.reset_branch == Some(true) { "-B" } else { "-b" }, &branch]),
        }
        words.extend((self.force == Some(true)).then_some("--force"));
        words.extend(git.opts.iter().map(String::as_str));
        words.push(&self.worktree_path);
        words.extend(self.r#ref.as_deref().filter(|name| !name.is_empty()));
        Ok(git.run_mixed(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Forgets the work trees whose directories are gone.
    ///
    ///   salt '*' git.worktree_prune /srv/repo
    ///   salt '*' git.worktree_prune /srv/repo dry_run=True
    WorktreePrune {
        /// The repository.
        cwd: String,
        /// Only tell which.
        dry_run: bool = false,
        /// Tell which.
        verbose: bool = true,
        /// Only those that are gone as long as this.
        expire: Option<String> = (),
    } opts |self, git| {
        let mut words = vec!["worktree", "prune"];
        words.extend(self.dry_run.then_some("--dry-run"));
        words.extend(self.verbose.then_some("--verbose"));
        if let Some(expire) = self.expire.as_deref().filter(|expire| !expire.is_empty()) {
            words.extend(["--expire", expire]);
        }
        words.extend(git.opts.iter().map(String::as_str));
        let kind = if self.dry_run { Looks } else { Changes };
        // Newer versions of git tell it as errors, older ones do not.
        Ok(git.run_mixed(kind, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

record! {
    /// Removes the directory of a work tree.
    ///
    ///   salt '*' git.worktree_rm /srv/worktree
    pub struct WorktreeRm {
        /// The directory.
        cwd: String,
        /// The account to do it as.
        user: Option<String> = (),
        /// Taken, and ignored: text is UTF-8.
        output_encoding: Value = (),
    }
}

impl Run for WorktreeRm {
    fn run(self, ctx: &Ctx) -> Reply {
        let git = Git::new(ctx, self.user);
        let cwd = git.path(&self.cwd);
        if !paths::exists(ctx.host, &cwd) {
            return Err(Fault::execution(format!("{cwd} does not exist")));
        }
        if !is_worktree(&git, &cwd) {
            return Err(Fault::execution(format!("{cwd} is not a git worktree")));
        }
        halite_core::paths::remove_all(ctx.host, cwd.as_ref())
            .map_err(|error| Fault::execution(format!("Unable to remove {cwd}: {error}")))?;
        Ok(true.into())
    }
}
