//! Packages that are held: no upgrade changes them.

use super::manager::Manager;
use super::{apt, check_names, dnf, pairs, zypper};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Holds packages: no upgrade changes them. Returns what a state returns, for each.
    ///
    ///   salt '*' pkg.hold bash
    ///   salt '*' pkg.hold pkgs='["foo", "bar"]'
    pub struct Hold {
        /// A package.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        /// A list of `NAME: ADDRESS`: their names count.
        sources: Value = (),
        /// `root`: another root, for zypper.
        kwargs: Keywords,
    }
}

impl Run for Hold {
    fn run(self, ctx: &Ctx) -> Reply {
        change(ctx, self.name, &self.pkgs, &self.sources, &self.kwargs.0, Verb::Hold)
    }
}

record! {
    /// Lets packages go that are held. Returns what a state returns, for each.
    ///
    ///   salt '*' pkg.unhold bash
    ///   salt '*' pkg.unhold pkgs='["foo", "bar"]'
    pub struct Unhold {
        /// A package.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        /// A list of `NAME: ADDRESS`: their names count.
        sources: Value = (),
        /// `root`: another root, for zypper.
        kwargs: Keywords,
    }
}

impl Run for Unhold {
    fn run(self, ctx: &Ctx) -> Reply {
        change(ctx, self.name, &self.pkgs, &self.sources, &self.kwargs.0, Verb::Unhold)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Hold,
    Unhold,
}

fn change(ctx: &Ctx, name: Option<String>, pkgs: &Value, sources: &Value, more: &Map, verb: Verb) -> Reply {
    let function = if verb == Verb::Hold { "hold" } else { "unhold" };
    let manager = Manager::expect(ctx, function, &[Manager::Apt, Manager::Dnf, Manager::Zypper])?;
    if manager == Manager::Dnf {
        dnf::locks::check(ctx)?;
    }
    if pkgs.truthy() && sources.truthy() {
        return Err(Fault::invocation("Only one of pkgs or sources can be specified."));
    }
    let targets = match (name.filter(|name| !name.is_empty()), pkgs.truthy(), sources.truthy()) {
        (_, true, _) => pairs(pkgs)?,
        (_, _, true) => pairs(sources)?.into_iter().map(|(name, _)| (name, None)).collect(),
        (Some(name), ..) => vec![(name, None)],
        _ if manager == Manager::Zypper => return Err(Fault::execution("Name or packages must be specified.")),
        _ => return Err(Fault::invocation("One of name, pkgs, or sources must be specified.")),
    };
    check_names(targets.iter().map(|(name, _)| name))?;
    let is_test = ctx.opt("test").is_some_and(Value::truthy);
    let root = more.str_at("root");
    let one = |name: &str| match (manager, verb) {
        (Manager::Dnf, Verb::Hold) => dnf::locks::hold(ctx, name, is_test),
        (Manager::Dnf, Verb::Unhold) => dnf::locks::unhold(ctx, name, is_test),
        (_, verb) => selected(ctx, name, verb, is_test),
    };
    Ok(match (manager, verb) {
        (Manager::Zypper, Verb::Hold) => zypper::locks::hold(ctx, &targets, root)?,
        (Manager::Zypper, Verb::Unhold) => zypper::locks::unhold(ctx, &targets, root)?,
        _ => {
            let mut shown = Map::new();
            for (name, _) in &targets {
                shown.insert(name.as_str(), one(name)?);
            }
            shown
        }
    }
    .into())
}

/// Tells dpkg what to do with a package, and what came of it.
fn selected(ctx: &Ctx, name: &str, verb: Verb, is_test: bool) -> Result<Map, Fault> {
    let (not, word) = match verb {
        Verb::Hold => ("", "hold"),
        Verb::Unhold => ("not ", "install"),
    };
    let states = apt::selections(ctx, None)?;
    let old = states.iter().find(|(_, names)| names.iter().any(|known| known == name)).map(|(state, _)| state);
    let is_held = old.is_some_and(|old| old == "hold");
    let (changes, result, comment) = if verb == Verb::Unhold && apt::selections(ctx, Some(name))?.is_empty() {
        (Map::new(), Value::Bool(false), format!("Package {name} does not have a state."))
    } else if is_held == (verb == Verb::Hold) {
        (Map::new(), true.into(), format!("Package {name} is already set {not}to be held."))
    } else if is_test {
        (Map::new(), Value::Null, format!("Package {name} is set {not}to be held."))
    } else {
        apt::select(ctx, name, word)?;
        let changes = Map::from_iter([("old", Value::from(old.cloned())), ("new", word.into())]);
        let is = if verb == Verb::Hold { "is now being held" } else { "is no longer being held" };
        (changes, true.into(), format!("Package {name} {is}."))
    };
    Ok(Map::from_iter([
        ("name", Value::from(name)),
        ("changes", changes.into()),
        ("result", result),
        ("comment", comment.into()),
    ]))
}

record! {
    /// Lists packages that are held, with dnf and zypper: `NAME-EPOCH:VERSION.*`.
    ///
    ///   salt '*' pkg.list_holds
    ///   salt '*' pkg.list_holds full=False
    ///   salt '*' pkg.get_locked_packages
    pub struct ListHolds {
        /// A regular expression for the names that are listed.
        pattern: Option<String> = (),
        /// Show versions too.
        full: bool = true,
        /// `root`: another root, for zypper.
        kwargs: Keywords,
    }
}

impl Run for ListHolds {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(match Manager::expect(ctx, "list_holds", &[Manager::Dnf, Manager::Zypper])? {
            Manager::Zypper => {
                let show = if self.full { zypper::locks::Show::Versions } else { zypper::locks::Show::Names };
                Value::list(zypper::locks::held(ctx, self.pattern.as_deref(), show, self.kwargs.0.str_at("root"))?)
            }
            _ => {
                let show = if self.full { dnf::locks::Show::Versions } else { dnf::locks::Show::Names };
                Value::list(dnf::locks::held(ctx, self.pattern.as_deref().unwrap_or(dnf::locks::NAMES), show)?)
            }
        }
        .into())
    }
}

record! {
    /// Lists the locks of zypper, by what is locked.
    ///
    ///   salt '*' pkg.list_locks
    pub struct ListLocks {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for ListLocks {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "list_locks", &[Manager::Zypper])?;
        Ok(zypper::locks::locks(ctx, self.root.as_deref()).into())
    }
}

record! {
    /// Removes locks of zypper that lock nothing. Returns how many.
    ///
    ///   salt '*' pkg.clean_locks
    pub struct CleanLocks {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for CleanLocks {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "clean_locks", &[Manager::Zypper])?;
        Ok(zypper::locks::clean(ctx, self.root.as_deref())?.into())
    }
}
