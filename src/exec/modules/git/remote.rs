//! Remote repositories.

use super::{Changes, Git, Looks, command, listed, redacted, with_login};
use halite_core::paths::make_directories;
use halite_core::{Fault, paths};
use halite_value::{Map, Value};

command! {
    /// Clones a repository.
    ///
    ///   salt '*' git.clone /srv/repo https://git.example.com/repo.git
    ///   salt '*' git.clone /srv git@git.example.com:repo.git name=mine identity=/root/.ssh/id_ed25519
    Clone {
        /// The directory of the clone, or with a name the directory it goes into.
        cwd: String,
        /// Where the repository is.
        url: Option<String> = (),
        /// The name of the clone.
        name: Option<String> = (),
    } identity |self, git| {
        let cwd = git.path(&self.cwd);
        let url = self.url.as_deref().filter(|url| !url.is_empty());
        let url = url.ok_or_else(|| Fault::invocation("Missing 'url' argument"))?;
        let url = with_login(url, self.https_user.as_deref(), self.https_pass.as_deref())?;
        let mut words = vec!["clone"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(["--", &url]);
        let place = match &self.name {
            Some(name) => {
                words.push(name);
                if !paths::exists(git.ctx.host, &cwd) {
                    make_directories(git.ctx.host, cwd.as_ref())
                        .map_err(|error| Fault::execution(format!("Unable to make {cwd}: {error}")))?;
                }
                cwd.as_str()
            }
            None => {
                words.push(&cwd);
                "/tmp"
            }
        };
        git.run(Changes, Some(place), &words)?;
        Ok(true.into())
    }
}

/// The two hashes of a ref that has moved.
type Moved<'a> = Option<(&'a str, &'a str)>;

/// What `git fetch` says of a ref: what has happened, its name and whither it has moved.
fn fetched(line: &str) -> Option<(&'static str, &str, Moved<'_>)> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || c == '*');
    let (what, rest) = match line.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => line.split_once(char::is_whitespace)?,
    };
    if !rest.starts_with(char::is_whitespace) && !line.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let (name, _) = rest.rsplit_once("->")?;
    let name = name.trim();
    let key = match what {
        "new tag" => "new tags",
        "new branch" => "new branches",
        "tag update" => "updated tags",
        hashes => {
            let (old, new) = hashes.split_once("..")?;
            let is_hash = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
            return (is_hash(old) && is_hash(new)).then_some(("updated branches", name, Some((old, new))));
        }
    };
    Some((key, name, None))
}

command! {
    /// Fetches from a remote repository. Returns which refs are new or have moved.
    ///
    ///   salt '*' git.fetch /srv/repo upstream
    ///   salt '*' git.fetch /srv/repo identity=/root/.ssh/id_ed25519
    Fetch {
        /// The repository.
        cwd: String,
        /// The name of the remote repository.
        remote: Option<String> = (),
        /// Take refs over that have gone back.
        force: bool = false,
        /// What to fetch.
        refspecs: Value = (),
    } identity |self, git| {
        let mut words = vec!["fetch"];
        words.extend(self.force.then_some("--force"));
        words.extend(git.opts.iter().map(String::as_str).filter(|opt| !["-f", "--force"].contains(opt)));
        words.extend(self.remote.as_deref().filter(|remote| !remote.is_empty()));
        let refspecs = listed(&self.refspecs);
        words.extend(refspecs.iter().map(String::as_str));
        let told = git.run_mixed(Changes, Some(&git.path(&self.cwd)), &words)?;
        let mut shown = Map::new();
        let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut moved = Map::new();
        for (key, name, hashes) in told.lines().filter_map(fetched) {
            match (hashes, names.iter_mut().find(|(known, _)| *known == key)) {
                (Some((old, new)), _) => drop(moved.insert(name, Map::from_iter([("old", old), ("new", new)]))),
                (None, Some((_, list))) => list.push(name),
                (None, None) => names.push((key, vec![name])),
            }
        }
        if !moved.is_empty() {
            shown.insert("updated branches", moved);
        }
        for (key, list) in names {
            shown.insert(key, Value::list(list));
        }
        Ok(shown.into())
    }
}

/// The refs that `git ls-remote` lists, each with its hash.
fn refs(told: &str) -> Map {
    let line = |line: &str| {
        let (hash, name) = line.split_once(char::is_whitespace)?;
        Some((name.trim_start().to_owned(), hash.to_owned()))
    };
    told.lines().filter_map(line).collect()
}

command! {
    /// Shows the refs of a remote repository, each with its hash.
    ///
    ///   salt '*' git.ls_remote /srv/repo
    ///   salt '*' git.ls_remote remote=https://git.example.com/repo.git ref=main
    LsRemote {
        /// A repository in which the remote one is known.
        cwd: Option<String> = (),
        /// The name of the remote repository, or where it is.
        remote: String = "origin",
        /// Only this ref.
        r#ref: Option<String> = (),
    } identity |self, git| {
        let cwd = self.cwd.as_deref().map(|cwd| git.path(cwd));
        let remote = with_login(&self.remote, self.https_user.as_deref(), self.https_pass.as_deref())?;
        let mut words = vec!["ls-remote"];
        words.extend(git.opts.iter().map(String::as_str));
        words.push(&remote);
        words.extend(self.r#ref.as_deref().filter(|name| !name.is_empty()));
        Ok(refs(&git.run(Looks, cwd.as_deref(), &words)?).into())
    }
}

command! {
    /// Fetches from the remote repository and merges.
    ///
    ///   salt '*' git.pull /srv/repo opts='--rebase origin main'
    Pull {
        /// The repository.
        cwd: String,
    } identity |self, git| {
        let mut words = vec!["pull"];
        words.extend(git.opts.iter().map(String::as_str));
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

command! {
    /// Pushes to a remote repository.
    ///
    ///   salt '*' git.push /srv/repo origin main
    ///   salt '*' git.push /srv/repo upstream issue21:develop
    Push {
        /// The repository.
        cwd: String,
        /// The name of the remote repository, or where it is.
        remote: Option<String> = (),
        /// What to push.
        r#ref: Option<String> = (),
    } identity |self, git| {
        let mut words = vec!["push"];
        words.extend(git.opts.iter().map(String::as_str));
        words.extend(self.remote.as_deref());
        words.extend(self.r#ref.as_deref());
        Ok(git.run(Changes, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

fn remotes(git: &Git, cwd: &str, redact: bool) -> Result<Vec<(String, Map)>, Fault> {
    let told = git.run(Looks, Some(cwd), &["remote", "--verbose"])?;
    let mut shown: Vec<(String, Map)> = Vec::new();
    for line in told.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, url, action, ..] = words.as_slice() else { continue };
        let action = action.trim_matches(['(', ')']).to_lowercase();
        if action != "fetch" && action != "push" {
            continue;
        }
        let url = if redact { redacted(url) } else { url.to_string() };
        match shown.iter_mut().find(|(known, _)| known == name) {
            Some((_, urls)) => drop(urls.insert(action, url)),
            None => shown.push((name.to_string(), Map::from_iter([(action, url)]))),
        }
    }
    Ok(shown)
}

fn remote_get(git: &Git, cwd: &str, remote: &str, redact: bool) -> Result<Map, Fault> {
    let found = remotes(git, cwd, redact)?.into_iter().find(|(name, _)| name == remote);
    found
        .map(|(_, urls)| urls)
        .ok_or_else(|| Fault::execution(format!("Remote '{remote}' not present in git checkout located at {cwd}")))
}

command! {
    /// Shows where a remote repository is.
    ///
    ///   salt '*' git.remote_get /srv/repo
    ///   salt '*' git.remote_get /srv/repo upstream
    RemoteGet {
        /// The repository.
        cwd: String,
        /// The name of the remote repository.
        remote: String = "origin",
        /// Leave names and passwords out.
        redact_auth: bool = true,
    } plain |self, git| {
        Ok(remote_get(&git, &git.path(&self.cwd), &self.remote, self.redact_auth)?.into())
    }
}

command! {
    /// Shows the refs of a remote repository, each with its hash.
    ///
    ///   salt '*' git.remote_refs https://git.example.com/repo.git
    ///   salt '*' git.remote_refs https://git.example.com/repo.git heads=True filter='main*'
    RemoteRefs {
        /// Where the repository is.
        url: String,
        /// Only branches.
        heads: bool = false,
        /// Only tags.
        tags: bool = false,
        /// Only refs that match.
        filter: Option<String> = (),
    } identity |self, git| {
        let url = with_login(&self.url, self.https_user.as_deref(), self.https_pass.as_deref())?;
        let mut words = vec!["ls-remote"];
        words.extend(self.heads.then_some("--heads"));
        words.extend(self.tags.then_some("--tags"));
        words.push(&url);
        words.extend(self.filter.as_deref().filter(|filter| !filter.is_empty()));
        Ok(refs(&git.run(Looks, None, &words)?).into())
    }
}

command! {
    /// Says where a remote repository is.
    ///
    ///   salt '*' git.remote_set /srv/repo git@git.example.com:repo.git
    ///   salt '*' git.remote_set /srv/repo https://git.example.com/repo.git remote=upstream
    RemoteSet {
        /// The repository.
        cwd: String,
        /// Where the remote repository is.
        url: String,
        /// Its name.
        remote: String = "origin",
        /// The name for https.
        https_user: Option<String> = (),
        /// The password for https.
        https_pass: Option<String> = (),
        /// Where to push to, if that is elsewhere.
        push_url: Option<String> = (),
        /// The name for https to push.
        push_https_user: Option<String> = (),
        /// The password for https to push.
        push_https_pass: Option<String> = (),
    } plain |self, git| {
        let cwd = git.path(&self.cwd);
        let url = with_login(&self.url, self.https_user.as_deref(), self.https_pass.as_deref())?;
        if remotes(&git, &cwd, true)?.iter().any(|(name, _)| *name == self.remote) {
            git.run(Changes, Some(&cwd), &["remote", "rm", &self.remote])?;
        }
        git.run(Changes, Some(&cwd), &["remote", "add", &self.remote, &url])?;
        if let Some(push) = self.push_url.as_deref().filter(|push| !push.is_empty()) {
            let push = with_login(push, self.push_https_user.as_deref(), self.push_https_pass.as_deref())?;
            git.run(Changes, Some(&cwd), &["remote", "set-url", "--push", &self.remote, &push])?;
        }
        Ok(remote_get(&git, &cwd, &self.remote, true)?.into())
    }
}

command! {
    /// Shows the remote repositories and where they are.
    ///
    ///   salt '*' git.remotes /srv/repo
    Remotes {
        /// The repository.
        cwd: String,
        /// Leave names and passwords out.
        redact_auth: bool = true,
    } plain |self, git| {
        Ok(remotes(&git, &git.path(&self.cwd), self.redact_auth)?.into_iter().collect::<Map>().into())
    }
}

command! {
    /// Runs `git submodule`.
    ///
    ///   salt '*' git.submodule /srv/repo update opts='--init --recursive'
    ///   salt '*' git.submodule /srv/repo status
    Submodule {
        /// The repository.
        cwd: String,
        /// What to do: add, status, update ...
        command: String,
        /// Not supported: say `init` as the command, or `--init` among the options.
        init: bool = false,
    } identity |self, git| {
        if self.init {
            return Err(Fault::invocation(
                "The 'init' argument is no longer supported. Either set 'command' to 'init', or include '--init' in \
                 the 'opts' argument and set 'command' to 'update'.",
            ));
        }
        let mut words = vec!["submodule", &self.command];
        words.extend(git.opts.iter().map(String::as_str));
        let kind = if ["status", "summary"].contains(&self.command.as_str()) { Looks } else { Changes };
        Ok(git.run(kind, Some(&git.path(&self.cwd)), &words)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fetch_says_is_understood() {
        assert_eq!(fetched(" * [new branch]      main       -> origin/main"), Some(("new branches", "main", None)));
        assert_eq!(fetched(" * [new tag]         v1         -> v1"), Some(("new tags", "v1", None)));
        let moved = Some(("updated branches", "main", Some(("1a2b3c4", "5d6e7f8"))));
        assert_eq!(fetched("   1a2b3c4..5d6e7f8  main       -> origin/main"), moved);
        assert_eq!(fetched("From /srv/repo"), None);
        assert_eq!(fetched(" * branch            main       -> FETCH_HEAD"), None);
    }
}
