//! `git.config_*`.

use super::{Changes, Git, Looks, command, listed};
use halite_core::Fault;
use halite_core::program::Answer;
use halite_value::{Map, Value};

/// Where to run, or nothing: what is configured for the account.
fn place(git: &Git, cwd: Option<&str>, is_global: bool) -> Result<Option<String>, Fault> {
    match cwd {
        Some(cwd) => Ok(Some(git.path(cwd))),
        None if is_global => Ok(None),
        None => Err(Fault::invocation("'cwd' argument required unless global=True")),
    }
}

fn got(git: &Git, cwd: Option<&str>, is_global: bool, words: &[&str]) -> Result<Answer, Fault> {
    let cwd = place(git, cwd, is_global)?;
    let scope = if is_global { "--global" } else { "--local" };
    git.answer(Looks, cwd.as_deref(), &[&["config", scope], words].concat())
}

fn values(git: &Git, key: &str, cwd: Option<&str>, is_global: bool) -> Result<Option<Vec<String>>, Fault> {
    let answer = got(git, cwd, is_global, &["--get-all", key])?;
    Ok((answer.retcode != 1).then(|| answer.stdout.lines().map(str::to_owned).collect()))
}

command! {
    /// Shows a setting: its last value.
    ///
    ///   salt '*' git.config_get user.name cwd=/srv/repo
    ///   salt '*' git.config_get user.email global=True
    ///   salt '*' git.config_get core.gitproxy cwd=/srv/repo all=True
    ConfigGet {
        /// The name of the setting.
        key: String,
        /// The repository.
        cwd: Option<String> = (),
        /// Show all values, as a list.
        all: bool = false,
        /// The setting of the account, not that of a repository.
        global: bool = false,
    } plain |self, git| {
        let values = values(&git, &self.key, self.cwd.as_deref(), self.global)?;
        Ok(match values {
            None => Value::Null,
            Some(values) if self.all => Value::list(values),
            Some(values) => values.last().map_or("", String::as_str).into(),
        }
        .into())
    }
}

fn matching(git: &Git, key: &str, value_regex: Option<&str>, cwd: Option<&str>, is_global: bool) -> Result<Map, Fault> {
    let mut words = vec!["--get-regexp", key];
    words.extend(value_regex);
    let answer = got(git, cwd, is_global, &words)?;
    let mut shown: Vec<(String, Vec<&str>)> = Vec::new();
    for line in answer.stdout.lines().filter(|_| answer.retcode != 1) {
        let Some((name, value)) = line.split_once(char::is_whitespace) else { continue };
        match shown.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => shown.push((name.to_owned(), vec![value])),
        }
    }
    Ok(shown.into_iter().map(|(name, values)| (name, Value::list(values))).collect())
}

command! {
    /// Shows the settings whose names match a regular expression, each with a list of values.
    ///
    ///   salt '*' git.config_get_regexp 'user\..*' cwd=/srv/repo
    ///   salt '*' git.config_get_regex 'user\..*' cwd=/srv/repo
    ConfigGetRegexp {
        /// The expression for names.
        key: String,
        /// An expression for values.
        value_regex: Option<String> = (),
        /// The repository.
        cwd: Option<String> = (),
        /// The settings of the account, not those of a repository.
        global: bool = false,
    } plain |self, git| {
        Ok(matching(&git, &self.key, self.value_regex.as_deref(), self.cwd.as_deref(), self.global)?.into())
    }
}

command! {
    /// Sets something. Returns its values.
    ///
    ///   salt '*' git.config_set user.email me@example.com cwd=/srv/repo
    ///   salt '*' git.config_set user.name 'Foo Bar' global=True
    ConfigSet {
        /// The name of the setting.
        key: String,
        /// Its value.
        value: Option<String> = (),
        /// Several values, instead of one.
        multivar: Value = (),
        /// The repository.
        cwd: Option<String> = (),
        /// Leave the values there are.
        add: bool = false,
        /// The setting of the account, not that of a repository.
        global: bool = false,
    } plain |self, git| {
        let cwd = place(&git, self.cwd.as_deref(), self.global)?;
        let set = match &self.value {
            Some(_) if !self.multivar.is_null() => {
                return Err(Fault::invocation("Only one of 'value' and 'multivar' is permitted"));
            }
            Some(value) => vec![value.clone()],
            None if self.multivar.is_null() => {
                return Err(Fault::invocation("One of 'value' and 'multivar' is required"));
            }
            None => listed(&self.multivar),
        };
        for (number, value) in set.iter().enumerate() {
            let how = if number > 0 || (self.add && self.value.is_some()) { "--add" } else { "--replace-all" };
            let mut words = vec!["config"];
            words.extend(self.global.then_some("--global"));
            words.extend([how, &self.key, value]);
            git.run(Changes, cwd.as_deref(), &words)?;
        }
        Ok(values(&git, &self.key, self.cwd.as_deref(), self.global)?.map_or(Value::Null, Value::list).into())
    }
}

command! {
    /// Removes a setting.
    ///
    ///   salt '*' git.config_unset foo.bar cwd=/srv/repo
    ///   salt '*' git.config_unset foo.bar cwd=/srv/repo all=True
    ConfigUnset {
        /// The name of the setting.
        key: String,
        /// An expression for the values to be removed.
        value_regex: Option<String> = (),
        /// The repository.
        cwd: Option<String> = (),
        /// Remove all values.
        all: bool = false,
        /// The setting of the account, not that of a repository.
        global: bool = false,
    } plain |self, git| {
        let cwd = place(&git, self.cwd.as_deref(), self.global)?;
        let mut words = vec!["config", if self.all { "--unset-all" } else { "--unset" }];
        words.extend([if self.global { "--global" } else { "--local" }, self.key.as_str()]);
        words.extend(self.value_regex.as_deref());
        let answer = git.answer(Changes, cwd.as_deref(), &words)?;
        let key = &self.key;
        let complaint = match answer.retcode {
            0 => return Ok(true.into()),
            1 => "Section or key is invalid".to_owned(),
            5 if values(&git, key, self.cwd.as_deref(), self.global)?.is_none() => {
                format!("Key '{key}' does not exist")
            }
            5 if self.value_regex.is_some() => {
                format!("Multiple values exist for key '{key}' and value_regex matches multiple values")
            }
            5 => format!("Multiple values exist for key '{key}'"),
            6 => "The value_regex is invalid".to_owned(),
            code => {
                let said = if answer.stderr.is_empty() { String::new() } else { format!("; {}", answer.stderr) };
                format!("Failed to unset key '{key}', git config returned exit code {code}{said}")
            }
        };
        Err(Fault::execution(complaint))
    }
}
