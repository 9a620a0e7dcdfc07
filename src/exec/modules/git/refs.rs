//! Branches, tags and other names of commits.

use super::{Changes, Git, Looks, command};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::Value;
use halite_value::record;

command! {
    /// Makes, moves or removes a branch; `opts` say what.
    ///
    ///   salt '*' git.branch /srv/repo newbranch
    ///   salt '*' git.branch /srv/repo newbranch opts='-d'
    ///   salt '*' git.branch /srv/repo newbranch2 opts='-m newbranch'
    Branch {
        /// The repository.
        cwd: String,
        /// The name of the branch.
        name: Option<String> = (),
    } opts |self, git| {
        let mut words = vec!["branch"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(self.name.as_deref());
        git.run(Changes, Some(&git.path(&self.cwd)), &words)?;
        Ok(true.into())
    }
}

command! {
    /// Shows the name of the branch that is checked out, or `HEAD`.
    ///
    ///   salt '*' git.current_branch /srv/repo
    CurrentBranch {
        /// The repository.
        cwd: String,
    } plain |self, git| {
        Ok(git.run(Looks, Some(&git.path(&self.cwd)), &["rev-parse", "--abbrev-ref", "HEAD"])?.into())
    }
}

command! {
    /// Shows `git describe` of a commit.
    ///
    ///   salt '*' git.describe /srv/repo
    ///   salt '*' git.describe /srv/repo develop
    Describe {
        /// The repository.
        cwd: String,
        /// The commit.
        rev: String = "HEAD",
    } plain |self, git| {
        Ok(git.run(Looks, Some(&git.path(&self.cwd)), &["describe", "--always", &self.rev])?.into())
    }
}

fn names(git: &Git, cwd: &str, below: &str) -> Reply {
    let told = git.run(Looks, Some(&git.path(cwd)), &["for-each-ref", "--format", "%(refname:short)", below])?;
    Ok(Value::list(told.lines()).into())
}

command! {
    /// Lists the branches.
    ///
    ///   salt '*' git.list_branches /srv/repo
    ///   salt '*' git.list_branches /srv/repo remote=True
    ListBranches {
        /// The repository.
        cwd: String,
        /// Those of remote repositories.
        remote: bool = false,
    } plain |self, git| {
        names(&git, &self.cwd, if self.remote { "refs/remotes/" } else { "refs/heads/" })
    }
}

command! {
    /// Lists the tags.
    ///
    ///   salt '*' git.list_tags /srv/repo
    ListTags {
        /// The repository.
        cwd: String,
    } plain |self, git| {
        names(&git, &self.cwd, "refs/tags/")
    }
}

fn merge_base(git: &Git, cwd: &str, words: &[&str]) -> Result<Vec<String>, Fault> {
    let told = git.run(Looks, Some(cwd), &[&["merge-base"], words].concat())?;
    Ok(told.lines().map(str::to_owned).collect())
}

command! {
    /// Shows the commit that others come from, or whether one comes from the other.
    ///
    ///   salt '*' git.merge_base /srv/repo HEAD upstream/mybranch
    ///   salt '*' git.merge_base /srv/repo is_ancestor=True refs="8f2e542,4ad8cab"
    MergeBase {
        /// The repository.
        cwd: String,
        /// The commits.
        refs: Vec<String> = (),
        /// Show the one from which all come.
        octopus: bool = false,
        /// Tell whether the first comes before the second.
        is_ancestor: bool = false,
        /// Show those that do not come from the others.
        independent: bool = false,
        /// Show where this branch started.
        fork_point: Option<String> = (),
        /// Show all, as a list.
        all: bool = false,
    } opts |self, git| {
        let fork_point = self.fork_point.filter(|point| !point.is_empty());
        if self.all && (self.independent || self.is_ancestor || fork_point.is_some()) {
            return Err(Fault::invocation(
                "The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'",
            ));
        }
        let modes = [self.octopus, self.independent, self.is_ancestor, fork_point.is_some()];
        if modes.iter().filter(|mode| **mode).count() > 1 {
            return Err(Fault::invocation(
                "Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted",
            ));
        }
        let mut refs = self.refs;
        if self.is_ancestor && refs.len() != 2 {
            return Err(Fault::invocation("Two refs/commits are required if 'is_ancestor' is True"));
        }
        if fork_point.is_some() {
            match refs.len() {
                0 => refs.push("HEAD".to_owned()),
                1 => {}
                _ => {
                    let message = "At most one ref/commit can be passed if 'fork_point' is specified";
                    return Err(Fault::invocation(message));
                }
            }
        }
        let mut words: Vec<&str> = git.opts.iter().map(String::as_str).collect();
        words.extend(self.all.then_some("--all"));
        words.extend(self.octopus.then_some("--octopus"));
        words.extend(self.is_ancestor.then_some("--is-ancestor"));
        words.extend(self.independent.then_some("--independent"));
        if let Some(point) = &fork_point {
            words.extend(["--fork-point", point]);
        }
        words.extend(refs.iter().map(String::as_str));
        let cwd = git.path(&self.cwd);
        if self.is_ancestor {
            let answer = git.answer(Looks, Some(&cwd), &[vec!["merge-base"], words].concat())?;
            return Ok(answer.is_success().into());
        }
        let found = merge_base(&git, &cwd, &words)?;
        match (self.all, found.first()) {
            (true, _) => Ok(Value::list(found).into()),
            (false, Some(first)) => Ok(first.as_str().into()),
            (false, None) => Err(Fault::execution("git has found no merge base")),
        }
    }
}

command! {
    /// Shows what a merge would do, as `git merge-tree`.
    ///
    ///   salt '*' git.merge_tree /srv/repo HEAD upstream/dev
    MergeTree {
        /// The repository.
        cwd: String,
        /// A commit.
        ref1: String,
        /// The other.
        ref2: String,
        /// Where both come from.
        base: Option<String> = (),
    } plain |self, git| {
        let cwd = git.path(&self.cwd);
        let base = match self.base {
            Some(base) => base,
            None => merge_base(&git, &cwd, &[&self.ref1, &self.ref2])
                .ok()
                .and_then(|found| found.into_iter().next())
                .ok_or_else(|| {
                    let (one, other) = (&self.ref1, &self.ref2);
                    Fault::execution(format!("Unable to determine merge base for {one} and {other}"))
                })?,
        };
        Ok(git.run(Looks, Some(&cwd), &["merge-tree", &base, &self.ref1, &self.ref2])?.into())
    }
}

command! {
    /// Shows what `git rev-parse` does of a name.
    ///
    ///   salt '*' git.rev_parse /srv/repo HEAD
    ///   salt '*' git.rev_parse /srv/repo opts='--is-inside-work-tree'
    RevParse {
        /// The repository.
        cwd: String,
        /// The name.
        rev: Option<String> = (),
    } opts |self, git| {
        let mut words = vec!["rev-parse"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(self.rev.as_deref());
        Ok(git.run(Looks, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Shows the hash of a commit.
    ///
    ///   salt '*' git.revision /srv/repo mybranch
    ///   salt '*' git.revision /srv/repo short=True
    Revision {
        /// The repository.
        cwd: String,
        /// A name of the commit.
        rev: String = "HEAD",
        /// Show its beginning.
        short: bool = false,
    } plain |self, git| {
        let mut words = vec!["rev-parse"];
        words.extend(self.short.then_some("--short"));
        words.push(&self.rev);
        Ok(git.run(Looks, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Shows, sets or (with `-d` in opts) removes a symbolic name.
    ///
    ///   salt '*' git.symbolic_ref /srv/repo HEAD
    ///   salt '*' git.symbolic_ref /srv/repo HEAD refs/heads/main
    SymbolicRef {
        /// The repository.
        cwd: String,
        /// The name.
        r#ref: String,
        /// What it is to stand for.
        value: Option<String> = (),
    } opts |self, git| {
        let removes = git.has_opt(&["-d", "--delete"]);
        if self.value.is_some() && removes {
            return Err(Fault::invocation(
                "Value cannot be set for symbolic ref if -d/--delete is included in opts",
            ));
        }
        let mut words = vec!["symbolic-ref"];
        words.extend(git.opts.iter().map(String::as_str));
        words.push(&self.r#ref);
        words.extend(self.value.as_deref().filter(|value| !value.is_empty()));
        let kind = if removes || self.value.is_some() { Changes } else { Looks };
        Ok(git.run(kind, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Makes a tag, or removes it with `-d` in opts.
    ///
    ///   salt '*' git.tag /srv/repo v1.2
    ///   salt '*' git.tag /srv/repo v1.2 3b2c4a1 message='Version 1.2'
    Tag {
        /// The repository.
        cwd: String,
        /// The name of the tag.
        name: String,
        /// The commit.
        r#ref: String = "HEAD",
        /// A message: the tag is an annotated one.
        message: Option<String> = (),
    } opts |self, git| {
        let opts: Vec<&str> =
            git.opts.iter().map(String::as_str).filter(|opt| !["-a", "--annotate"].contains(opt)).collect();
        if opts.iter().any(|opt| *opt == "-m" || opt.contains("--message")) {
            return Err(Fault::invocation("Tag messages must be passed in the \"message\" argument"));
        }
        let mut words = vec!["tag"];
        if let Some(message) = &self.message {
            words.extend(["-a", "-m", message]);
        }
        words.extend(&opts);
        words.push(&self.name);
        if !git.has_opt(&["-d", "--delete"]) {
            words.push(&self.r#ref);
        }
        Ok(git.run_mixed(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

record! {
    /// Shows the version of git.
    ///
    ///   salt '*' git.version
    ///   salt '*' git.version versioninfo=True
    pub struct Version {
        /// As a list of numbers.
        versioninfo: bool = false,
    }
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = Git::new(ctx, None).run(Looks, None, &["--version"])?;
        let version = told.split('(').next().and_then(|text| text.split_whitespace().last()).unwrap_or("unknown");
        if !self.versioninfo {
            return Ok(version.into());
        }
        let part = |part: &str| part.parse::<i64>().map_or_else(|_| Value::from(part), Value::from);
        Ok(Value::list(version.split('.').map(part)).into())
    }
}
