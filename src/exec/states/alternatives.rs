//! `alternatives.*`: which of several programs stands under a common name.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, failed, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

pub const MODULE: Module =
    Module { name: "alternatives", doc: "Which of several programs stands under a common name.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] =
    &[state::<Auto>("auto"), state::<Install>("install"), state::<Remove>("remove"), state::<Set>("set")];

record! {
    /// Makes sure that a program is one of those for a name.
    ///
    ///   pager:
    ///     alternatives.install:
    ///       - link: /usr/bin/pager
    ///       - path: /usr/bin/less
    ///       - priority: 5
    pub struct Install {
        /// The name of the group.
        name: String,
        /// The link that all of them stand under.
        link: String,
        /// The program.
        path: String,
        /// The priority: the highest one is chosen.
        priority: i64,
    }
}

fn group(name: &str) -> (&'static str, Value) {
    ("name", name.into())
}

fn is_installed(ctx: &Ctx, name: &str, path: &str) -> Result<bool, Fault> {
    Ok(ask(ctx, "alternatives.check_exists", [group(name), ("path", path.into())])?.truthy())
}

impl State for Install {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let Install { name, link, path, priority } = self;
        if is_installed(context.ctx, &name, &path)? {
            return Ok(already(format!("Alternative {path} for {name} is already registered")));
        }
        let changes = Map::from_iter([
            ("name", Value::from(name.as_str())),
            ("link", link.as_str().into()),
            ("path", path.as_str().into()),
            ("priority", priority.into()),
        ]);
        let would =
            Outcome::new(None, format!("Alternative will be set for {name} to {path} with priority {priority}"));
        let apply = move |ctx: &Ctx| {
            let arguments = [
                group(&name),
                ("link", link.as_str().into()),
                ("path", path.as_str().into()),
                ("priority", priority.into()),
            ];
            let answer = ask(ctx, "alternatives.install", arguments)?;
            if !is_installed(ctx, &name, &path)? {
                let what = answer.to_text();
                return Ok(Outcome::failed(format!("Alternative for {name} not installed: {what}")));
            }
            let is_chosen = ask(ctx, "alternatives.check_installed", [group(&name), ("path", path.as_str().into())])?;
            let comment = match is_chosen.truthy() {
                true => format!("Alternative for {name} set to path {path} with priority {priority}"),
                false => {
                    format!("Alternative {path} for {name} registered with priority {priority} and not set to default")
                }
            };
            Ok(Outcome::done(comment).with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that a program is none of those for a name.
    ///
    ///   pager:
    ///     alternatives.remove:
    ///       - path: /usr/bin/less
    pub struct Remove {
        /// The name of the group.
        name: String,
        /// The program.
        path: String,
    }
}

impl State for Remove {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let Remove { name, path } = self;
        if !is_installed(context.ctx, &name, &path)? {
            return unregistered(context.ctx, &name);
        }
        let would = Outcome::new(None, format!("Alternative for {name} will be removed"));
        let apply = move |ctx: &Ctx| {
            ask(ctx, "alternatives.remove", [group(&name), ("path", path.as_str().into())])?;
            let current = ask(ctx, "alternatives.show_current", [group(&name)])?;
            Ok(match current.as_str().filter(|current| !current.is_empty()) {
                Some(current) if current != path => {
                    Outcome::done(format!("Alternative for {name} removed. Falling back to path {current}"))
                        .with_changes(single("path", current))
                }
                Some(_) => Outcome::failed(format!("Alternative for {name} was not removed")),
                None => Outcome::done(format!("Alternative for {name} removed")).with_changes(Map::new()),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// What is said of a program that is not registered.
fn unregistered(ctx: &Ctx, name: &str) -> Result<Plan, Fault> {
    let current = ask(ctx, "alternatives.show_current", [group(name)])?;
    Ok(match current.as_str().filter(|current| !current.is_empty()) {
        Some(current) => already(format!("Alternative for {name} is set to it's default path {current}")),
        None => failed(format!("Alternative for {name} doesn't exist")),
    })
}

record! {
    /// Makes sure that the program with the highest priority is chosen.
    ///
    ///   pager:
    ///     alternatives.auto: []
    pub struct Auto {
        /// The name of the group.
        name: String,
    }
}

impl State for Auto {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let shown = ask(context.ctx, "alternatives.display", [group(&name)])?.to_text();
        if shown.is_empty() || shown.contains(": error: ") {
            return Ok(failed(format!("Alternative for {name} doesn't exist")));
        }
        if shown.lines().any(|line| line.trim_end().ends_with("auto mode")) {
            return Ok(already(format!("{name} already in auto mode")));
        }
        let would = Outcome::new(None, format!("{name} will be put in auto mode"));
        let apply = move |ctx: &Ctx| {
            let answer = ask(ctx, "alternatives.auto", [group(&name)])?;
            Ok(Outcome::done("").with_changes(single("result", answer)))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that a program is the one that is chosen, whatever its priority.
    ///
    ///   pager:
    ///     alternatives.set:
    ///       - path: /usr/bin/less
    pub struct Set {
        /// The name of the group.
        name: String,
        /// The program.
        path: String,
    }
}

impl State for Set {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let Set { name, path } = self;
        let current = ask(context.ctx, "alternatives.show_current", [group(&name)])?.to_text();
        if current == path {
            return Ok(already(format!("Alternative for {name} already set to {path}")));
        }
        let shown = ask(context.ctx, "alternatives.display", [group(&name)])?.to_text();
        let is_known = shown.lines().any(|line| line.starts_with(&path)) || Path::new(&path) == Path::new(&current);
        if !is_known {
            return Ok(failed(format!("Alternative {path} for {name} doesn't exist")));
        }
        let would = Outcome::new(None, format!("Alternative for {name} will be set to path {path}"));
        let apply = move |ctx: &Ctx| {
            ask(ctx, "alternatives.set", [group(&name), ("path", path.as_str().into())])?;
            let current = ask(ctx, "alternatives.show_current", [group(&name)])?.to_text();
            Ok(match current == path {
                true => Outcome::done(format!("Alternative for {name} set to path {current}"))
                    .with_changes(single("path", current)),
                false => Outcome::done(format!("Alternative for {name} not updated")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
