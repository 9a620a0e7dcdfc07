//! `git.present`.

use super::{Account, fail, joined};
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, single};
use halite_core::{Ctx, Fault, paths};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that there is a repository, a new and empty one if there is none.
    ///
    ///   /srv/git/project.git:
    ///     git.present: []
    pub struct Present {
        /// Its directory.
        name: String,
        /// Remove what is in the directory and is no repository.
        force: bool = false,
        /// Whether it is one without files checked out.
        bare: bool = true,
        /// The directory that a new one is copied from.
        template: Value = (),
        /// Another directory for what git keeps.
        separate_git_dir: Value = (),
        /// Who else may write to it.
        shared: Value = (),
        /// The account that does it.
        user: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
        /// The encoding of what git says.
        output_encoding: Value = (),
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let host = context.ctx.host;
        let name = self.name;
        let bare = if self.bare { "bare " } else { "" };
        let account = Account {
            user: self.user,
            password: self.password,
            output_encoding: self.output_encoding,
            ..Account::default()
        };
        let mut changes = Map::new();
        let mut comment = format!("New {bare}repository would be created");
        if paths::is_directory(host, &name) {
            let cwd = [("cwd", Value::from(name.as_str()))];
            let is_one = match self.bare {
                true => paths::is_file(host, &format!("{name}/HEAD")),
                false => {
                    paths::is_directory(host, &format!("{name}/.git"))
                        || account.ask(context.ctx, "git.is_worktree", &cwd)?.truthy()
                }
            };
            if is_one {
                return Ok(already(""));
            }
            if self.force {
                changes.insert("new", name.as_str());
                changes.insert("forced init", true);
                comment = format!(
                    "Target directory {name} exists. Since force=True, the contents of {name} would be deleted, and a \
                     {bare}repository would be initialized in its place."
                );
            } else if !host.list(Path::new(&name)).unwrap_or_default().is_empty() {
                return Ok(failed(format!(
                    "Target '{name}' exists, is non-empty, and is not a git repository. Set the 'force' option to True to \
                     remove this directory's contents and proceed with initializing a repository"
                )));
            }
        }
        if changes.is_empty() {
            changes = single("new", name.as_str());
        }
        let would = Outcome::new(None, comment).with_changes(changes.clone());
        let apply = move |ctx: &Ctx| {
            if changes.contains("forced init")
                && let Err(error) = remove_all(ctx.host, Path::new(&name))
            {
                return Ok(fail(format!("Unable to remove {name}: {error}"), &[], Map::new()));
            }
            let words = [
                ("cwd", name.as_str().into()),
                ("bare", self.bare.into()),
                ("template", self.template.clone()),
                ("separate_git_dir", self.separate_git_dir.clone()),
                ("shared", self.shared),
            ];
            account.ask(ctx, "git.init", &words)?;
            let bare = if self.bare { "bare " } else { "" };
            let verb = if changes.contains("forced init") { "Reinitialized" } else { "Initialized" };
            let mut comments = vec![format!("{verb} {bare}repository in {name}")];
            for (what, value) in [("Template directory", &self.template), ("Gitdir", &self.separate_git_dir)] {
                if value.truthy() {
                    comments.push(format!("{what} set to {}", value.to_text()));
                }
            }
            Ok(Outcome::done(joined(&comments)).with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
