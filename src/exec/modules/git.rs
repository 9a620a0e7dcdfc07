//! `git.*`: git repositories, with the host's git.

mod config;
mod refs;
mod remote;
#[cfg(test)]
mod tests;
mod work;
mod worktree;

use halite_core::host::Attributes;
use halite_core::module::{Module, function};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault, paths};
use halite_lang::words::split;
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::Value;

pub const MODULE: Module = Module {
    name: "git",
    doc: "Git repositories.",
    functions: &[
        function::<work::Add>("add"),
        function::<work::Archive>("archive"),
        function::<refs::Branch>("branch"),
        function::<work::Checkout>("checkout"),
        function::<remote::Clone>("clone"),
        function::<work::Commit>("commit"),
        function::<config::ConfigGet>("config_get"),
        function::<config::ConfigGetRegexp>("config_get_regex"),
        function::<config::ConfigGetRegexp>("config_get_regexp"),
        function::<config::ConfigSet>("config_set"),
        function::<config::ConfigUnset>("config_unset"),
        function::<refs::CurrentBranch>("current_branch"),
        function::<refs::Describe>("describe"),
        function::<work::Diff>("diff"),
        function::<work::DiscardLocalChanges>("discard_local_changes"),
        function::<remote::Fetch>("fetch"),
        function::<work::Init>("init"),
        function::<worktree::IsWorktree>("is_worktree"),
        function::<refs::ListBranches>("list_branches"),
        function::<refs::ListTags>("list_tags"),
        function::<worktree::ListWorktrees>("list_worktrees"),
        function::<remote::LsRemote>("ls_remote"),
        function::<work::Merge>("merge"),
        function::<refs::MergeBase>("merge_base"),
        function::<refs::MergeTree>("merge_tree"),
        function::<remote::Pull>("pull"),
        function::<remote::Push>("push"),
        function::<work::Rebase>("rebase"),
        function::<remote::RemoteGet>("remote_get"),
        function::<remote::RemoteRefs>("remote_refs"),
        function::<remote::RemoteSet>("remote_set"),
        function::<remote::Remotes>("remotes"),
        function::<work::Reset>("reset"),
        function::<refs::RevParse>("rev_parse"),
        function::<refs::Revision>("revision"),
        function::<work::Rm>("rm"),
        function::<work::Stash>("stash"),
        function::<work::Status>("status"),
        function::<remote::Submodule>("submodule"),
        function::<refs::SymbolicRef>("symbolic_ref"),
        function::<refs::Tag>("tag"),
        function::<refs::Version>("version"),
        function::<worktree::WorktreeAdd>("worktree_add"),
        function::<worktree::WorktreePrune>("worktree_prune"),
        function::<worktree::WorktreeRm>("worktree_rm"),
    ],
};

/// How git is run: what all functions take besides their own arguments.
pub(super) struct Git<'a> {
    pub ctx: &'a Ctx<'a>,
    pub user: Option<String>,
    /// Files with private keys, tried one after the other.
    pub identity: Vec<String>,
    pub saltenv: String,
    pub opts: Vec<String>,
    pub git_opts: Vec<String>,
}

/// Whether a command changes anything: what only looks runs in test mode too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Looks,
    Changes,
}

pub(super) use Kind::{Changes, Looks};

impl<'a> Git<'a> {
    pub fn new(ctx: &'a Ctx<'a>, user: Option<String>) -> Git<'a> {
        let none = Vec::new;
        Git { ctx, user, identity: none(), saltenv: String::new(), opts: none(), git_opts: none() }
    }

    pub fn with_opts(mut self, opts: &Value, git_opts: &Value) -> Result<Git<'a>, Fault> {
        self.opts = options(opts)?;
        self.git_opts = options(git_opts)?;
        Ok(self)
    }

    pub fn with_identity(mut self, identity: &Value, environment: Option<&str>) -> Git<'a> {
        self.identity = match identity {
            Value::List(files) => files.iter().map(Value::to_text).collect(),
            file if file.truthy() => vec![file.to_text()],
            _ => Vec::new(),
        };
        self.saltenv = saltenv(self.ctx, environment);
        self
    }

    /// A path; one that is not absolute is below the home of the account.
    pub fn path(&self, path: &str) -> String {
        let home = format!("~{}", self.user.as_deref().unwrap_or_default());
        paths::join(&[paths::expand_user(self.ctx.host, &home), path.to_owned()])
    }

    pub fn has_opt(&self, names: &[&str]) -> bool {
        self.opts.iter().any(|opt| names.contains(&opt.as_str()))
    }

    fn program(&self, cwd: Option<&str>, words: &[&str]) -> Result<Program, Fault> {
        let program = Program::new(["git"]).args(self.git_opts.iter().map(String::as_str)).args(words.iter().copied());
        let mut program = program.runas_name(self.ctx, self.user.as_deref())?;
        if let Some(cwd) = cwd {
            if !cwd.starts_with('/') || !paths::is_directory(self.ctx.host, cwd) {
                return Err(Fault::execution(format!("Specified cwd '{cwd}' either not absolute or does not exist")));
            }
            program = program.cwd(cwd);
        }
        Ok(program)
    }

    fn finished(&self, program: &Program, kind: Kind) -> Result<Answer, Fault> {
        match kind {
            Looks => program.query(self.ctx),
            Changes => program.run(self.ctx),
        }
    }

    /// What git answers, be it a failure.
    pub fn answer(&self, kind: Kind, cwd: Option<&str>, words: &[&str]) -> Result<Answer, Fault> {
        self.finished(&self.program(cwd, words)?, kind)
    }

    /// What git says where it must not fail.
    pub fn run(&self, kind: Kind, cwd: Option<&str>, words: &[&str]) -> Result<String, Fault> {
        Ok(self.tried(kind, cwd, words, false)?.stdout)
    }

    /// The same, with what git says as errors: it tells what it does there.
    pub fn run_mixed(&self, kind: Kind, cwd: Option<&str>, words: &[&str]) -> Result<String, Fault> {
        Ok(self.tried(kind, cwd, words, true)?.stdout)
    }

    pub fn tried(&self, kind: Kind, cwd: Option<&str>, words: &[&str], mixed: bool) -> Result<Answer, Fault> {
        let mut program = self.program(cwd, words)?;
        if mixed {
            program = program.mixed();
        }
        let complaint = |answer: &Answer| if mixed { answer.stdout.clone() } else { answer.stderr.clone() };
        if self.identity.is_empty() {
            let answer = self.finished(&program, kind)?;
            if answer.is_success() {
                return Ok(answer);
            }
            let said = complaint(&answer);
            let said = if said.is_empty() { String::new() } else { format!(": {}", redacted(&said)) };
            return Err(Fault::execution(format!("Command '{}' failed{said}", redacted(&program.line()))));
        }
        let mut errors = Vec::new();
        let mut missing = Vec::new();
        for given in &self.identity {
            let Some(file) = self.key_file(given)? else {
                missing.push(given.as_str());
                continue;
            };
            let shell = "ssh -oStrictHostKeyChecking=no -oPasswordAuthentication=no \
                         -oKbdInteractiveAuthentication=no -oBatchMode=yes -i";
            let quoted = file.replace('\'', r"'\''");
            let own = program.clone().env("GIT_SSH_COMMAND", &format!("{shell} '{quoted}'"));
            let answer = self.finished(&own, kind)?;
            if answer.is_success() {
                return Ok(answer);
            }
            errors.push(redacted(&complaint(&answer)));
        }
        let mut message = format!("Unable to authenticate using identity file:\n\n{}", errors.join("\n"));
        if !missing.is_empty() {
            if !errors.is_empty() {
                message.push_str("\n\n");
            }
            message.push_str(&format!("The following identity file(s) were not found: {}", missing.join(", ")));
        }
        Err(Fault::execution(message))
    }

    /// Where a private key is on this host; one of the file server comes into the cache, for the account alone.
    fn key_file(&self, given: &str) -> Result<Option<String>, Fault> {
        if !given.contains("salt://") {
            return Ok(Some(given.to_owned()).filter(|file| paths::is_file(self.ctx.host, file)));
        }
        let cached = FileClient::new(self.ctx).cache_file(given, &self.saltenv, &Wanted::default())?;
        if let Some(file) = &cached {
            let ours = |error| Fault::execution(format!("Unable to protect {file}: {error}"));
            let user = self.user.as_deref().and_then(|name| self.ctx.host.user(name).ok().flatten());
            let attributes = Attributes { mode: Some(0o600), uid: user.map(|user| user.uid), ..Attributes::default() };
            self.ctx.host.set(file.as_ref(), attributes).map_err(ours)?;
        }
        Ok(cached)
    }
}

/// Options as a command line or as a list.
fn options(given: &Value) -> Result<Vec<String>, Fault> {
    let mut words = match given {
        Value::Null => Vec::new(),
        Value::List(items) => return Ok(items.iter().map(Value::to_text).collect()),
        Value::Str(text) => split(text).map_err(Fault::invocation)?,
        other => vec![other.to_text()],
    };
    if words.last().is_some_and(|word| word == "--") {
        words.pop();
    }
    Ok(words)
}

/// A list, or words between commas.
pub(super) fn listed(given: &Value) -> Vec<String> {
    match given {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        other => other.to_text().split(',').map(str::to_owned).collect(),
    }
}

/// Without the name and the password in http addresses.
pub(super) fn redacted(text: &str) -> String {
    let line = |line: &str| {
        let found = ["https://", "http://"].into_iter().find_map(|scheme| Some((line.find(scheme)?, scheme)));
        match (found, line.rfind('@')) {
            (Some((start, scheme)), Some(at)) if at > start + scheme.len() => {
                format!("{}{scheme}<redacted>{}", &line[..start], &line[at..])
            }
            _ => line.to_owned(),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// An https address with a name and a password in it.
pub(super) fn with_login(url: &str, name: Option<&str>, password: Option<&str>) -> Result<String, Fault> {
    let (name, password) = (name.filter(|text| !text.is_empty()), password.filter(|text| !text.is_empty()));
    let Some(name) = name else {
        return match password {
            Some(_) => Err(Fault::invocation("User is required when specifying password")),
            None => Ok(url.to_owned()),
        };
    };
    let rest = url.strip_prefix("https://").ok_or_else(|| Fault::invocation("Basic Auth only supported for HTTPS"))?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    let login = password.map_or(name.to_owned(), |password| format!("{name}:{password}"));
    Ok(format!("https://{login}@{host}{path}"))
}

/// A function of git: its own arguments, what it shares with the others after them, and what it does.
macro_rules! command {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($own:tt)* } plain |$me:ident, $git:ident| $body:block
    ) => {
        halite_value::record! {
            $(#[doc = $doc])*
            pub struct $name {
                $($own)*
                /// The account to do it as.
                user: Option<String> = (),
                /// Taken, and ignored: accounts of Linux need none.
                password: Value = (),
                /// Do not log a failure.
                ignore_retcode: bool = false,
                /// Taken, and ignored: text is UTF-8.
                output_encoding: Value = (),
            }
        }
        impl halite_core::module::Run for $name {
            fn run($me, ctx: &halite_core::Ctx) -> halite_core::Reply {
                let $git = $crate::git::Git::new(ctx, $me.user.clone());
                $body
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($own:tt)* } opts |$me:ident, $git:ident| $body:block
    ) => {
        halite_value::record! {
            $(#[doc = $doc])*
            pub struct $name {
                $($own)*
                /// More options of the command.
                opts: Value = "",
                /// More options of git itself.
                git_opts: Value = "",
                /// The account to do it as.
                user: Option<String> = (),
                /// Taken, and ignored: accounts of Linux need none.
                password: Value = (),
                /// Do not log a failure.
                ignore_retcode: bool = false,
                /// Taken, and ignored: text is UTF-8.
                output_encoding: Value = (),
            }
        }
        impl halite_core::module::Run for $name {
            fn run($me, ctx: &halite_core::Ctx) -> halite_core::Reply {
                let $git = $crate::git::Git::new(ctx, $me.user.clone())
                    .with_opts(&$me.opts, &$me.git_opts)?;
                $body
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($own:tt)* } identity |$me:ident, $git:ident| $body:block
    ) => {
        halite_value::record! {
            $(#[doc = $doc])*
            pub struct $name {
                $($own)*
                /// More options of the command.
                opts: Value = "",
                /// More options of git itself.
                git_opts: Value = "",
                /// The account to do it as.
                user: Option<String> = (),
                /// Taken, and ignored: accounts of Linux need none.
                password: Value = (),
                /// Private keys for ssh: files of this host or of the file server.
                identity: Value = (),
                /// The name for https.
                https_user: Option<String> = (),
                /// The password for https.
                https_pass: Option<String> = (),
                /// Do not log a failure.
                ignore_retcode: bool = false,
                /// The environment of the private keys.
                saltenv: Option<String> = "base",
                /// Taken, and ignored: text is UTF-8.
                output_encoding: Value = (),
            }
        }
        impl halite_core::module::Run for $name {
            fn run($me, ctx: &halite_core::Ctx) -> halite_core::Reply {
                let $git = $crate::git::Git::new(ctx, $me.user.clone())
                    .with_opts(&$me.opts, &$me.git_opts)?
                    .with_identity(&$me.identity, $me.saltenv.as_deref());
                $body
            }
        }
    };
}

pub(super) use command;
