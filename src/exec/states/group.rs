//! `group.*`: groups of the host.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, given, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::collections::BTreeSet;

pub const MODULE: Module = Module { name: "group", doc: "Groups of the host.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Present>("present")];

record! {
    /// Makes sure that there is a group, and who is in it.
    ///
    ///   cheese:
    ///     group.present:
    ///       - gid: 7648
    ///       - addusers:
    ///         - user1
    pub struct Present {
        /// The group.
        name: String,
        /// Its number.
        gid: Value = (),
        /// A new group is one of the system.
        system: bool = false,
        /// Who must be in it.
        addusers: Option<Vec<String>> = (),
        /// Who must not.
        delusers: Option<Vec<String>> = (),
        /// All who are in it.
        members: Option<Vec<String>> = (),
        /// Whether another group may have the same number.
        non_unique: bool = false,
        /// Whether only the files of this host count.
        local: bool = false,
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        let unclear = |comment: &str| Ok(Plan::Stands(Outcome::new(None, comment)));
        if self.members.is_some() && (self.addusers.is_some() || self.delusers.is_some()) {
            return unclear(
                "Error: Conflicting options \"members\" with \"addusers\" and/or \"delusers\" can not be used together. ",
            );
        }
        let both = |user: &String| self.delusers.as_ref().is_some_and(|users| users.contains(user));
        if self.addusers.iter().flatten().any(both) {
            return unclear("Error. Same user(s) can not be added and deleted simultaneously");
        }
        let changes = match self.differences(context.ctx)? {
            Err(()) => {
                let changes = Map::from_iter([("result", Value::from(false)), ("comment", "Invalid gid".into())]);
                return Ok(Plan::Stands(Outcome::failed(listed(&changes)).with_changes(Map::new())));
            }
            Ok(changes) => changes,
        };
        Ok(match changes {
            None => {
                let would = Outcome::new(None, format!("Group {name} set to be added"));
                Plan::Changes { would, apply: Box::new(move |ctx| self.create(ctx)) }
            }
            Some(changes) if changes.is_empty() => already(format!("Group {name} is present and up to date")),
            Some(changes) => {
                let would = Outcome::new(None, listed(&changes));
                Plan::Changes { would, apply: Box::new(move |ctx| self.change(ctx, changes)) }
            }
        })
    }
}

fn listed(changes: &Map) -> String {
    let lines = changes.iter().map(|(key, value)| format!("{}: {}\n", key.to_text(), value.to_text()));
    std::iter::once("The following group attributes are set to be changed:\n".to_owned()).chain(lines).collect()
}

impl Present {
    fn info(&self, ctx: &Ctx) -> Result<Value, Fault> {
        let root = if self.local { Value::from("/") } else { Value::Null };
        ask(ctx, "group.info", [("name", self.name.as_str().into()), ("root", root)])
    }

    /// What is to be changed; nothing where there is no such group. The error: the number is none.
    fn differences(&self, ctx: &Ctx) -> Result<Result<Option<Map>, ()>, Fault> {
        let info = self.info(ctx)?;
        if !info.truthy() {
            return Ok(Ok(None));
        }
        let mut changes = Map::new();
        if self.gid.truthy() {
            let Ok(gid) = self.gid.to_text().parse::<i64>() else { return Ok(Err(())) };
            if info.at("gid").and_then(Value::as_int) != Some(gid) {
                changes.insert("gid", gid);
            }
        }
        let own: BTreeSet<String> =
            info.at("members").and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect();
        let list = |users: Vec<String>| Value::list(users);
        match self.members.as_deref() {
            Some([]) if !own.is_empty() => drop(changes.insert("delusers", list(own.iter().cloned().collect()))),
            Some(members) if own != members.iter().cloned().collect() => {
                changes.insert("members", list(members.to_vec()));
            }
            _ => {}
        }
        let added: Vec<String> = self.addusers.iter().flatten().filter(|user| !own.contains(*user)).cloned().collect();
        let removed: Vec<String> = self.delusers.iter().flatten().filter(|user| own.contains(*user)).cloned().collect();
        if !added.is_empty() {
            changes.insert("addusers", list(added));
        }
        if !removed.is_empty() {
            changes.insert("delusers", list(removed));
        }
        Ok(Ok(Some(changes)))
    }

    fn change(self, ctx: &Ctx, changes: Map) -> Result<Outcome, Fault> {
        let name = self.name.as_str();
        for (key, value) in changes.iter() {
            match key.as_str() {
                Some("gid") => {
                    let non_unique = self.non_unique.into();
                    ask(
                        ctx,
                        "group.chgid",
                        [("name", name.into()), ("gid", value.clone()), ("non_unique", non_unique)],
                    )?;
                }
                Some("members") => self.set_members(ctx, self.members.as_deref().unwrap_or_default())?,
                Some(kind) => {
                    let function = if kind == "addusers" { "group.adduser" } else { "group.deluser" };
                    for user in value.as_list().unwrap_or_default() {
                        ctx.run(function, Arguments::positional([name.into(), user.clone()]))?;
                    }
                }
                None => {}
            }
        }
        let comment = listed(&changes);
        let left = self.differences(ctx)?.ok().flatten().unwrap_or_default();
        Ok(match left.is_empty() {
            true => Outcome::done(comment).with_changes(single("Final", "All changes applied successfully")),
            false => {
                let comment = comment + "Some changes could not be applied";
                Outcome::failed(comment).with_changes(single("Failed", left))
            }
        })
    }

    fn set_members(&self, ctx: &Ctx, members: &[String]) -> Result<(), Fault> {
        ctx.run("group.members", Arguments::positional([self.name.as_str(), &members.join(",")])).map(drop)
    }

    fn create(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let name = self.name.as_str();
        let gid = self.gid.to_text().parse::<i64>().ok();
        if let Some(gid) = gid.filter(|_| !self.non_unique) {
            let all = ctx.run("group.getent", Arguments::default())?;
            let taken = all
                .as_list()
                .unwrap_or_default()
                .iter()
                .find(|group| group.at("gid").and_then(Value::as_int) == Some(gid));
            if let Some(other) = taken.and_then(|group| group.at("name")) {
                let other = other.to_text();
                let comment = format!("Group {name} is not present but gid {gid} is already taken by group {other}");
                return Ok(Outcome::failed(comment));
            }
        }
        let arguments = given([
            ("name", name.into()),
            ("gid", self.gid.clone()),
            ("system", self.system.into()),
            ("non_unique", self.non_unique.into()),
            ("local", self.local.into()),
        ]);
        if !ctx.run("group.add", Arguments::keywords(arguments))?.truthy() {
            return Ok(Outcome::failed(format!("Failed to create new group {name}")));
        }
        let given = |users: &Option<Vec<String>>| users.clone().filter(|users| !users.is_empty());
        if let Some(members) = given(&self.addusers).or_else(|| given(&self.members)) {
            self.set_members(ctx, &members)?;
        }
        let left = self.differences(ctx)?.ok().flatten().unwrap_or_default();
        if !left.is_empty() {
            let comment = format!("Group {name} has been created but, some changes could not be applied");
            return Ok(Outcome::failed(comment).with_changes(single("Failed", left)));
        }
        let info = self.info(ctx)?.as_map().cloned().unwrap_or_default();
        Ok(Outcome::done(format!("New group {name} created")).with_changes(info))
    }
}

record! {
    /// Makes sure that there is no such group.
    ///
    ///   cheese:
    ///     group.absent: []
    pub struct Absent {
        /// The group.
        name: String,
        /// Whether only the files of this host count.
        local: bool = false,
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let root = if self.local { Value::from("/") } else { Value::Null };
        if !ask(context.ctx, "group.info", [("name", name.as_str().into()), ("root", root)])?.truthy() {
            return Ok(already("Group not present"));
        }
        let would = Outcome::new(None, format!("Group {name} is set for removal"));
        let apply = move |ctx: &Ctx| {
            let done = ask(ctx, "group.delete", [("name", name.as_str().into()), ("local", self.local.into())])?;
            Ok(match done.truthy() {
                true => Outcome::done(format!("Removed group {name}")).with_changes(single(&name, "")),
                false => Outcome::failed(format!("Failed to remove group {name}")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
