//! The work tree and its commits.

use super::{Changes, Looks, command, listed};
use halite_core::{Fault, paths};
use halite_value::{Map, Value};

command! {
    /// Adds files to the next commit.
    ///
    ///   salt '*' git.add /srv/repo foo/bar.py
    ///   salt '*' git.add /srv/repo foo/bar.py opts='--dry-run'
    Add {
        /// The repository.
        cwd: String,
        /// The file, or directory.
        filename: String,
    } opts |self, git| {
        let mut words = vec!["add", "--verbose"];
        words.extend(git.opts.iter().map(String::as_str).filter(|opt| !["-v", "--verbose"].contains(opt)));
        words.extend(["--", &self.filename]);
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Makes an archive of a commit.
    ///
    ///   salt '*' git.archive /srv/repo /srv/repo.tar
    ///   salt '*' git.archive /srv/repo /srv/repo.tar.gz rev=v1.2 prefix=repo-1.2/
    Archive {
        /// The repository.
        cwd: String,
        /// The archive.
        output: String,
        /// The commit.
        rev: String = "HEAD",
        /// What all names in the archive start with. Default: the name of the repository's directory.
        prefix: Option<String> = (),
        /// The format. Default: by the name of the archive.
        format: Option<String> = (),
    } opts |self, git| {
        let (cwd, output) = (git.path(&self.cwd), git.path(&self.output));
        let mut words = vec!["archive"];
        let own = format!("{}/", paths::name_of(&cwd));
        match self.prefix.as_deref() {
            Some("") => {}
            prefix => words.extend(["--prefix", prefix.unwrap_or(&own)]),
        }
        if let Some(format) = self.format.as_deref().filter(|format| !format.is_empty()) {
            words.extend(["--format", format]);
        }
        words.extend(["--output", &output, &self.rev]);
        git.run(Changes, Some(&cwd), &words)?;
        Ok(true.into())
    }
}

command! {
    /// Checks something out.
    ///
    ///   salt '*' git.checkout /srv/repo somebranch
    ///   salt '*' git.checkout /srv/repo opts='-b newbranch'
    Checkout {
        /// The repository.
        cwd: String,
        /// A branch or another name of a commit.
        rev: Option<String> = (),
        /// Throw changes away.
        force: bool = false,
    } opts |self, git| {
        if self.rev.is_none() && !git.has_opt(&["-b", "-B"]) {
            return Err(Fault::invocation("'rev' argument is required unless -b or -B in opts"));
        }
        let mut words = vec!["checkout"];
        words.extend(self.force.then_some("--force"));
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(self.rev.as_deref());
        Ok(git.run_mixed(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Makes a commit.
    ///
    ///   salt '*' git.commit /srv/repo 'The commit message'
    ///   salt '*' git.commit /srv/repo 'The commit message' filename=foo.py
    Commit {
        /// The repository.
        cwd: String,
        /// The message.
        message: String,
        /// Only this file.
        filename: Option<String> = (),
    } opts |self, git| {
        let mut words = vec!["commit", "-m", &self.message];
        words.extend(git.opts.iter().map(String::as_str));
        if let Some(filename) = self.filename.as_deref().filter(|filename| !filename.is_empty()) {
            words.extend(["--", filename]);
        }
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Shows what is different: in the work tree, between commits, or between files.
    ///
    ///   salt '*' git.diff /srv/repo
    ///   salt '*' git.diff /srv/repo HEAD~3 HEAD paths=foo.py
    ///   salt '*' git.diff /srv/repo no_index=True paths='one.txt,two.txt'
    Diff {
        /// The repository.
        cwd: String,
        /// A commit.
        item1: Option<String> = (),
        /// Another one.
        item2: Option<String> = (),
        /// Compare two files that are in no repository.
        no_index: bool = false,
        /// Compare what the next commit will have.
        cached: bool = false,
        /// Only these files.
        paths: Value = (),
    } opts |self, git| {
        if self.no_index && self.cached {
            return Err(Fault::execution("The 'no_index' and 'cached' options cannot be used together"));
        }
        let mut words = vec!["diff"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(self.no_index.then_some("--no-index"));
        words.extend(self.cached.then_some("--cached"));
        let items = [self.item1.as_deref(), self.item2.as_deref().filter(|_| !self.cached)];
        words.extend(items.into_iter().flatten().filter(|item| !self.no_index && !item.is_empty()));
        let paths = listed(&self.paths);
        if !paths.is_empty() {
            words.push("--");
            words.extend(paths.iter().map(String::as_str));
        }
        let cwd = git.path(&self.cwd);
        match git.run_mixed(Looks, Some(&cwd), &words) {
            // git fails where the files differ.
            Err(_) if self.no_index => Ok(git.answer(Looks, Some(&cwd), &words)?.stdout.into()),
            told => Ok(told?.into()),
        }
    }
}

command! {
    /// Throws changes of the work tree away.
    ///
    ///   salt '*' git.discard_local_changes /srv/repo
    ///   salt '*' git.discard_local_changes /srv/repo path=foo
    DiscardLocalChanges {
        /// The repository.
        cwd: String,
        /// Only those of this file or directory.
        path: String = ".",
    } plain |self, git| {
        Ok(git.run_mixed(Changes, Some(&git.path(&self.cwd)), &["checkout", "--", &self.path])?.into())
    }
}

command! {
    /// Makes a repository.
    ///
    ///   salt '*' git.init /srv/repo
    ///   salt '*' git.init /srv/bare.git bare=True
    Init {
        /// Its directory.
        cwd: String,
        /// Without a work tree.
        bare: bool = false,
        /// The directory to take the first content of `.git` from.
        template: Option<String> = (),
        /// Have `.git` elsewhere.
        separate_git_dir: Option<String> = (),
        /// Who else may use the repository.
        shared: Value = (),
    } opts |self, git| {
        let mut words = vec!["init".to_owned()];
        words.extend(self.bare.then(|| "--bare".to_owned()));
        words.extend(self.template.map(|template| format!("--template={template}")));
        words.extend(self.separate_git_dir.map(|directory| format!("--separate-git-dir={directory}")));
        match &self.shared {
            Value::Null => {}
            Value::Int(mode) => words.push(format!("--shared=0{mode}")),
            Value::Str(shared) => words.push(format!("--shared={shared}")),
            shared => words.push(format!("--shared={}", shared.to_text().to_lowercase())),
        }
        words.extend(git.opts.iter().cloned());
        words.push(git.path(&self.cwd));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(git.run(Changes, None, &words)?.into())
    }
}

command! {
    /// Merges a branch into the one that is checked out.
    ///
    ///   salt '*' git.merge /srv/repo
    ///   salt '*' git.merge /srv/repo rev=upstream/foo
    Merge {
        /// The repository.
        cwd: String,
        /// The branch. Default: that of the remote repository.
        rev: Option<String> = (),
        /// Taken, and ignored.
        identity: Value = (),
    } opts |self, git| {
        let mut words = vec!["merge"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(self.rev.as_deref().filter(|rev| !rev.is_empty()));
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Puts the commits of this branch onto another one.
    ///
    ///   salt '*' git.rebase /srv/repo
    ///   salt '*' git.rebase /srv/repo 'origin main'
    Rebase {
        /// The repository.
        cwd: String,
        /// What to put them onto; several words are several arguments.
        rev: String = "master",
    } opts |self, git| {
        if git.has_opt(&["-i", "--interactive"]) {
            return Err(Fault::invocation("Interactive rebases are not supported"));
        }
        let revs = super::options(&self.rev.as_str().into())?;
        let mut words = vec!["rebase"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(revs.iter().map(String::as_str));
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Sets the branch, the next commit or the work tree back, as the options say.
    ///
    ///   salt '*' git.reset /srv/repo opts='--hard origin/develop'
    Reset {
        /// The repository.
        cwd: String,
    } opts |self, git| {
        let mut words = vec!["reset"];
        words.extend(git.opts.iter().map(String::as_str));
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Removes files from the work tree and the next commit.
    ///
    ///   salt '*' git.rm /srv/repo foo/bar.py
    ///   salt '*' git.rm /srv/repo foo opts='-r'
    Rm {
        /// The repository.
        cwd: String,
        /// The file.
        filename: String,
    } opts |self, git| {
        let mut words = vec!["rm"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(["--", &self.filename]);
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Puts changes of the work tree aside, or back.
    ///
    ///   salt '*' git.stash /srv/repo save opts='unfinished'
    ///   salt '*' git.stash /srv/repo pop
    ///   salt '*' git.stash /srv/repo list
    Stash {
        /// The repository.
        cwd: String,
        /// What to do.
        action: String = "save",
    } opts |self, git| {
        let mut words = vec!["stash", &self.action];
        words.extend(git.opts.iter().map(String::as_str));
        let kind = if ["list", "show"].contains(&self.action.as_str()) { Looks } else { Changes };
        Ok(git.run(kind, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Shows which files have changed, by what has happened to them.
    ///
    ///   salt '*' git.status /srv/repo
    Status {
        /// The repository.
        cwd: String,
    } plain |self, git| {
        let told = git.run(Looks, Some(&git.path(&self.cwd)), &["status", "-z", "--porcelain"])?;
        let mut shown: Vec<(&str, Vec<&str>)> = Vec::new();
        for entry in told.split('\0') {
            let Some((state, name)) = entry.trim_start().split_once(char::is_whitespace) else { continue };
            let state = match state {
                "M" => "modified",
                "A" => "new",
                "D" => "deleted",
                "??" => "untracked",
                other => other,
            };
            match shown.iter_mut().find(|(known, _)| *known == state) {
                Some((_, names)) => names.push(name.trim_start()),
                None => shown.push((state, vec![name.trim_start()])),
            }
        }
        Ok(shown.into_iter().map(|(state, names)| (state, Value::list(names))).collect::<Map>().into())
    }
}
