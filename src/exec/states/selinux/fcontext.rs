//! `selinux.fcontext_policy_present`, `absent` and `applied`: the contexts that the policy has for files.

use super::is_done;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, from_to, single};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that the policy has a context for files.
    ///
    ///   /srv/web(/.*)?:
    ///     selinux.fcontext_policy_present:
    ///       - sel_type: httpd_sys_content_t
    pub struct FcontextPolicyPresent {
        /// The path, a pattern of semanage-fcontext(8).
        name: String,
        /// The type.
        sel_type: String,
        /// The kind of file, a letter: a (all), f, d, c, b, s, l or p.
        filetype: String = "a",
        /// The user.
        sel_user: Option<String> = (),
        /// The range of levels.
        sel_level: Option<String> = (),
    }
}

record! {
    /// Makes sure that the policy has no context of its own for files.
    ///
    ///   /srv/web(/.*)?:
    ///     selinux.fcontext_policy_absent: []
    pub struct FcontextPolicyAbsent {
        /// The path, a pattern of semanage-fcontext(8).
        name: String,
        /// The kind of file, a letter: a (all), f, d, c, b, s, l or p.
        filetype: String = "a",
        /// The type.
        sel_type: Option<String> = (),
        /// The user.
        sel_user: Option<String> = (),
        /// The range of levels.
        sel_level: Option<String> = (),
    }
}

record! {
    /// Makes sure that files have the contexts that the policy has for them.
    ///
    ///   /srv/web:
    ///     selinux.fcontext_policy_applied:
    ///       - recursive: True
    pub struct FcontextPolicyApplied {
        /// The file or directory.
        name: String,
        /// Whether it is for all below a directory.
        recursive: bool = false,
    }
}

/// Which contexts are meant.
struct Policy {
    name: String,
    filetype: String,
    sel_type: Option<String>,
    sel_user: Option<String>,
    sel_level: Option<String>,
}

impl Policy {
    fn ask(&self, ctx: &Ctx, fun: &str) -> Result<Value, Fault> {
        self.ask_with(ctx, fun, self.sel_type.as_deref())
    }

    fn ask_with(&self, ctx: &Ctx, fun: &str, sel_type: Option<&str>) -> Result<Value, Fault> {
        let words = [
            ("name", self.name.as_str().into()),
            ("filetype", self.filetype.as_str().into()),
            ("sel_type", sel_type.into()),
            ("sel_user", self.sel_user.as_deref().into()),
            ("sel_level", self.sel_level.as_deref().into()),
        ];
        ask(ctx, fun, words)
    }
}

impl State for FcontextPolicyPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let FcontextPolicyPresent { name, sel_type, filetype, sel_user, sel_level } = self;
        let kind =
            ask(context.ctx, "selinux.filetype_id_to_string", [("filetype", filetype.as_str().into())])?.to_text();
        let policy = Policy { name, filetype, sel_type: Some(sel_type.clone()), sel_user, sel_level };
        // It is looked for with its type: one of another type is not found, and is replaced.
        if policy.ask(context.ctx, "selinux.fcontext_get_policy")?.truthy() {
            return Ok(already(format!(
                "SELinux policy for \"{}\" already present with specified filetype \"{kind}\" and sel_type \"{sel_type}\".",
                policy.name
            )));
        }
        let new = Map::from_iter([("filetype", kind), ("sel_type", sel_type)]);
        Ok(change(Map::new(), "", move |ctx: &Ctx| {
            let answer = policy.ask(ctx, "selinux.fcontext_add_policy")?;
            Ok(match is_done(&answer) {
                true => Outcome::done("").with_changes(from_to(Map::new(), single(&policy.name, new))),
                false => Outcome::failed(format!("Error adding new rule: {}", answer.to_text())),
            })
        }))
    }
}

impl State for FcontextPolicyAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let FcontextPolicyAbsent { name, filetype, sel_type, sel_user, sel_level } = self;
        let policy = Policy { name, filetype, sel_type, sel_user, sel_level };
        let current = policy.ask(context.ctx, "selinux.fcontext_get_policy")?;
        if !current.truthy() {
            return Ok(already(format!(
                "SELinux policy for \"{}\" already absent with specified filetype \"{}\" and sel_type \"{}\".",
                policy.name,
                policy.filetype,
                policy.sel_type.as_deref().unwrap_or("None")
            )));
        }
        let sel_type = policy.sel_type.clone().or_else(|| current.at("sel_type").map(Value::to_text));
        let changes = from_to(single(&policy.name, current), Map::new());
        Ok(change(changes.clone(), "", move |ctx: &Ctx| {
            let answer = policy.ask_with(ctx, "selinux.fcontext_delete_policy", sel_type.as_deref())?;
            Ok(match is_done(&answer) {
                true => Outcome::done("").with_changes(changes),
                false => Outcome::failed(format!("Error removing policy: {}", answer.to_text())),
            })
        }))
    }
}

impl State for FcontextPolicyApplied {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let FcontextPolicyApplied { name, recursive } = self;
        let words = move |name: &str| [("name", Value::from(name)), ("recursive", recursive.into())];
        let differing = ask(context.ctx, "selinux.fcontext_policy_is_applied", words(&name))?;
        if differing.as_str().is_none_or(str::is_empty) {
            return Ok(already(format!("SElinux policies are already applied for filespec \"{name}\"")));
        }
        Ok(change(Map::new(), "", move |ctx: &Ctx| {
            let answer = ask(ctx, "selinux.fcontext_apply_policy", words(&name))?;
            Ok(match is_done(&answer) {
                true => {
                    let changes = answer.at("changes").and_then(Value::as_map).cloned().unwrap_or_default();
                    Outcome::done("").with_changes(changes)
                }
                false => Outcome::failed(answer.to_text()),
            })
        }))
    }
}
