//! `kmod.*`: modules of the kernel.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "kmod", doc: "Modules of the kernel.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Present>("present")];

record! {
    /// Makes sure that modules of the kernel are loaded.
    ///
    ///   kvm_amd:
    ///     kmod.present: []
    pub struct Present {
        /// The module.
        name: String,
        /// Whether they are loaded at the next boot too.
        persist: bool = false,
        /// Several modules, instead of the one that is named.
        mods: Value = (),
    }
}

record! {
    /// Makes sure that modules of the kernel are not loaded.
    ///
    ///   pcspkr:
    ///     kmod.absent:
    ///       - persist: True
    pub struct Absent {
        /// The module.
        name: String,
        /// Whether they are not loaded at the next boot either.
        persist: bool = false,
        /// Whether their lines in the file of modules are commented out instead of removed.
        comment: bool = true,
        /// Several modules, instead of the one that is named.
        mods: Value = (),
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let (mods, persist) = (wanted(&self.name, &self.mods), self.persist);
        let mut loaded = listed(context.ctx, false)?;
        if persist {
            let kept = listed(context.ctx, true)?;
            loaded.retain(|name| kept.contains(name));
        }
        let (there, missing): (Vec<String>, Vec<String>) = mods.into_iter().partition(|name| loaded.contains(name));
        let mut said = Said::default();
        said.line(&there, "is already present", "are already present");
        if missing.is_empty() {
            return Ok(already(said.0));
        }
        let mut would = said.clone();
        if !would.0.is_empty() {
            would.0.push('\n');
        }
        would.line(&missing, "is set to be loaded", "are set to be loaded");
        let apply = move |ctx: &Ctx| load(ctx, missing, persist, said);
        Ok(Plan::Changes { would: Outcome::new(None, would.0), apply: Box::new(apply) })
    }
}

fn load(ctx: &Ctx, missing: Vec<String>, persist: bool, mut said: Said) -> Result<Outcome, Fault> {
    let available = names(&ask(ctx, "kmod.available", [])?);
    let (available, unavailable): (Vec<String>, Vec<String>) =
        missing.into_iter().partition(|name| available.contains(name));
    said.line(&unavailable, "is unavailable", "are unavailable");
    let mut fates = Fates::default();
    for name in available {
        if fates.changes.contains(name.as_str()) {
            // Another of them has brought it.
            fates.done.push(name);
            continue;
        }
        let answer = ask(ctx, "kmod.load", [("mod", name.as_str().into()), ("persist", persist.into())]);
        fates.note(name, answer, "loaded");
    }
    let all = fates.nothing_failed() && unavailable.is_empty();
    fates.say(&mut said, "Loaded kernel module", "Failed to load kernel module");
    Ok(Outcome::new(Some(all), said.0).with_changes(fates.changes))
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let (mods, persist, comment) = (wanted(&self.name, &self.mods), self.persist, self.comment);
        let mut loaded = listed(context.ctx, false)?;
        if persist {
            loaded.extend(listed(context.ctx, true)?);
        }
        let there: Vec<String> = mods.iter().filter(|name| loaded.contains(name)).cloned().collect();
        if there.is_empty() {
            let mut said = Said::default();
            said.line(&mods, "is already removed", "are already removed");
            return Ok(already(said.0));
        }
        let mut would = Said::default();
        would.line(&there, "is set to be removed", "are set to be removed");
        let apply = move |ctx: &Ctx| {
            let mut fates = Fates::default();
            for name in there {
                let words = [("mod", name.as_str().into()), ("persist", persist.into()), ("comment", comment.into())];
                let answer = ask(ctx, "kmod.remove", words);
                fates.note(name, answer, "removed");
            }
            let mut said = Said::default();
            fates.say(&mut said, "Removed kernel module", "Failed to remove kernel module");
            Ok(Outcome::new(Some(fates.nothing_failed()), said.0).with_changes(fates.changes))
        };
        Ok(Plan::Changes { would: Outcome::new(None, would.0), apply: Box::new(apply) })
    }
}

fn wanted(name: &str, mods: &Value) -> Vec<String> {
    match mods {
        Value::List(_) => names(mods),
        _ => vec![name.to_owned()],
    }
}

fn listed(ctx: &Ctx, only_persist: bool) -> Result<Vec<String>, Fault> {
    Ok(names(&ask(ctx, "kmod.mod_list", [("only_persist", only_persist.into())])?))
}

fn names(list: &Value) -> Vec<String> {
    list.as_list().unwrap_or_default().iter().map(Value::to_text).collect()
}

/// What became of each module.
#[derive(Default)]
struct Fates {
    changes: Map,
    done: Vec<String>,
    not: Vec<String>,
    failed: Vec<(String, String)>,
}

impl Fates {
    fn note(&mut self, name: String, answer: Result<Value, Fault>, fate: &str) {
        match answer {
            Ok(Value::List(touched)) if touched.is_empty() => self.not.push(name),
            Ok(Value::List(touched)) => {
                for module in touched {
                    self.changes.insert(module, fate);
                }
                self.done.push(name);
            }
            Ok(other) => self.failed.push((name, other.to_text())),
            Err(fault) => self.failed.push((name, fault.to_string())),
        }
    }

    fn nothing_failed(&self) -> bool {
        self.not.is_empty() && self.failed.is_empty()
    }

    fn say(&self, said: &mut Said, done: &str, failed: &str) {
        for (names, text) in [(&self.done, done), (&self.not, failed)] {
            match names.as_slice() {
                [] => {}
                [name] => said.add(&format!("{text} {name}")),
                names => said.add(&format!("{text}s {}", names.join(", "))),
            }
        }
        for (name, why) in &self.failed {
            said.add(&format!("{failed} {name}: {why}"));
        }
    }
}

/// A comment that grows by lines.
#[derive(Clone, Default)]
struct Said(String);

impl Said {
    fn add(&mut self, line: &str) {
        if !self.0.is_empty() {
            self.0.truncate(self.0.trim_end().len());
            self.0.push('\n');
        }
        self.0.push_str(line);
    }

    /// A line about one module or several; none about none.
    fn line(&mut self, names: &[String], one: &str, several: &str) {
        match names {
            [] => {}
            [name] => self.add(&format!("Kernel module {name} {one}")),
            names => self.add(&format!("Kernel modules {} {several}", names.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;

    const LSMOD: &str = "Module                  Size  Used by\nkvm   1  0\n";

    fn world() -> World {
        World::on(Fake::new().program("/bin/lsmod").answers(["/bin/lsmod"], LSMOD))
    }

    #[test]
    fn what_is_loaded_is_left_alone() {
        let (would, done) = both(&world(), planned(&world(), "kmod.present", Arguments::default().with("name", "kvm")));
        assert_eq!((would.result, done.comment.as_str()), (Some(true), "Kernel module kvm is already present"));
        let (would, _) = both(&world(), planned(&world(), "kmod.absent", Arguments::default().with("name", "zram")));
        assert_eq!(would.comment, "Kernel module zram is already removed");
    }
}
