//! `alias.*`: to whom mail for a name goes.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, single, state};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record;

pub const MODULE: Module = Module { name: "alias", doc: "To whom mail for a name goes.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Present>("present")];

record! {
    /// Makes sure that mail for a name goes to somebody.
    ///
    ///   root:
    ///     alias.present:
    ///       - target: admin@example.org
    pub struct Present {
        /// The name.
        name: String,
        /// To whom it goes: one, or a list.
        target: Value,
    }
}

record! {
    /// Makes sure that a name has no entry.
    ///
    ///   root:
    ///     alias.absent: []
    pub struct Absent {
        /// The name.
        name: String,
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let Present { name, target } = self;
        let words = [("alias", name.as_str().into()), ("target", target.clone())];
        if ask(context.ctx, "aliases.has_target", words)?.truthy() {
            return Ok(already(format!("Alias {name} already present")));
        }
        let shown = target.to_text();
        let would = Outcome::new(None, format!("Alias {name} -> {shown} is set to be added"));
        let apply = move |ctx: &Ctx| {
            let words = [("alias", name.as_str().into()), ("target", target)];
            Ok(match ask(ctx, "aliases.set_target", words)?.truthy() {
                true => Outcome::done(format!("Set email alias {name} -> {shown}")).with_changes(single("alias", name)),
                false => Outcome::failed(format!("Failed to set alias {name} -> {shown}")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        if !ask(context.ctx, "aliases.get_target", [("alias", name.as_str().into())])?.truthy() {
            return Ok(already(format!("Alias {name} already absent")));
        }
        let would = Outcome::new(None, format!("Alias {name} is set to be removed"));
        let apply = move |ctx: &Ctx| {
            Ok(match ask(ctx, "aliases.rm_alias", [("alias", name.as_str().into())])?.truthy() {
                true => Outcome::done(format!("Removed alias {name}")).with_changes(single("alias", name)),
                false => Outcome::failed(format!("Failed to remove alias {name}")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;

    #[test]
    fn an_entry_is_made_kept_and_removed() {
        let world = World::on(Fake::new().file("/etc/aliases", "root: admin\n"));
        let to = |target: &str| Arguments::default().with("name", "root").with("target", target);
        let (_, there) = both(&world, planned(&world, "alias.present", to("admin")));
        assert_eq!(there.comment, "Alias root already present");
        let (would, done) = both(&world, planned(&world, "alias.present", to("other@example.org")));
        assert_eq!(would.comment, "Alias root -> other@example.org is set to be added");
        assert_eq!(done.comment, "Set email alias root -> other@example.org");
        let name = || Arguments::default().with("name", "root");
        let (_, done) = both(&world, planned(&world, "alias.absent", name()));
        assert_eq!(done.comment, "Removed alias root");
        let (_, gone) = both(&world, planned(&world, "alias.absent", name()));
        assert_eq!(gone.comment, "Alias root already absent");
    }
}
