//! `git.cloned`.

use super::{Account, complaint, fail};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, from_to, single};
use halite_core::{Ctx, Fault, paths};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that a repository is cloned; what is there already is not brought up to date.
    ///
    ///   https://github.com/saltstack/salt.git:
    ///     git.cloned:
    ///       - target: /srv/salt
    pub struct Cloned {
        /// The address of the repository.
        name: String,
        /// The directory of the checkout.
        target: Option<String>,
        /// The branch that is checked out.
        branch: Option<String> = (),
        /// The account that does it.
        user: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
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

impl State for Cloned {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let failed = |comment: String| Ok(Plan::Stands(Outcome::failed(comment)));
        let Some(target) = self.target else { return failed("'target' argument is required".to_owned()) };
        if !target.starts_with('/') {
            return failed("'target' path must be absolute".to_owned());
        }
        if self.branch.as_ref().is_some_and(String::is_empty) {
            return failed("Invalid 'branch' argument".to_owned());
        }
        let (name, branch) = (self.name, self.branch);
        let account = Account {
            user: self.user,
            password: self.password,
            output_encoding: self.output_encoding,
            identity: self.identity,
            https_user: self.https_user,
            https_pass: self.https_pass,
        };
        let cwd = ("cwd", Value::from(target.as_str()));
        if !paths::exists(context.ctx.host, &target) {
            let with = branch.as_ref().map(|branch| format!(" with branch '{branch}'")).unwrap_or_default();
            let changes = single("new", format!("{name} => {target}"));
            let would = Outcome::new(None, format!("{name} would be cloned to {target}{with}"));
            let done = format!("{name} cloned to {target}{with}");
            let given = changes.clone();
            let apply = move |ctx: &Ctx| {
                let opts = branch.map(|branch| Value::list(["--branch".to_owned(), branch]));
                let words = [cwd, ("url", name.into()), ("opts", opts.into())];
                Ok(match account.ask_remote(ctx, "git.clone", &words) {
                    Ok(_) => Outcome::done(done).with_changes(given),
                    Err(fault) => fail(format!("Clone failed: {}", complaint(&fault)), &[], Map::new()),
                })
            };
            return Ok(Plan::Changes { would: would.with_changes(changes), apply: Box::new(apply) });
        }
        if let Err(fault) = account.ask(context.ctx, "git.status", std::slice::from_ref(&cwd)) {
            return failed(fault.to_string());
        }
        let exists = format!("Repository already exists at {target}");
        let Some(branch) = branch else { return Ok(already(exists)) };
        let current = account.ask(context.ctx, "git.current_branch", std::slice::from_ref(&cwd))?.to_text();
        if current == branch {
            return Ok(already(format!("{exists} and is checked out to branch '{branch}'")));
        }
        let changes = single("branch", from_to(current, branch.as_str()));
        let would = Outcome::new(None, format!("Branch would be changed to '{branch}'")).with_changes(changes.clone());
        let apply = move |ctx: &Ctx| {
            let known = [cwd.clone(), ("rev", branch.as_str().into()), ("ignore_retcode", true.into())];
            let (rev, opts) = match account.ask(ctx, "git.rev_parse", &known) {
                Ok(_) => (branch.clone(), Value::Null),
                Err(_) => (format!("origin/{branch}"), Value::list(["-b", &branch])),
            };
            Ok(match account.ask(ctx, "git.checkout", &[cwd, ("rev", rev.into()), ("opts", opts)]) {
                Ok(_) => Outcome::done(format!("Branch changed to '{branch}'")).with_changes(changes),
                Err(fault) => fail(format!("Failed to change branch to '{branch}': {fault}"), &[], Map::new()),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
