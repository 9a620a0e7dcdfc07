//! `mount.swap`.

use halite_core::state::{Outcome, Plan, PlanContext, State, ask};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;
use std::path::Path;

record! {
    /// Makes sure that swap is in use, now and from the next boot on.
    ///
    ///   /swapfile:
    ///     mount.swap: []
    pub struct Swap {
        /// The device or the file.
        name: String,
        /// Also at boot.
        persist: bool = true,
        /// The file that says what is used at boot.
        config: String = "/etc/fstab",
    }
}

impl State for Swap {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = self.name.clone();
        let device = match ctx.host.stat(Path::new(&name)).ok().and_then(|stat| stat.target) {
            Some(target) if target.is_absolute() => target.to_string_lossy().into_owned(),
            Some(target) => format!("/dev/{}", halite_core::paths::name_of(&target.to_string_lossy())),
            None => name.clone(),
        };
        let is_on = ctx.run("mount.swaps", Arguments::default())?.at(&device).is_some();
        let is_kept = match self.persist {
            true => {
                let all = ask(ctx, "mount.fstab", [("config", self.config.as_str().into())])?;
                let mut entries = all.as_map().into_iter().flat_map(|all| all.iter());
                entries.any(|(place, entry)| {
                    place.as_str() == Some(&name) || entry.at("device").and_then(Value::as_str) == Some(&name)
                })
            }
            false => true,
        };
        let active = format!("Swap {name} already active");
        let would = match (is_on, is_kept) {
            (true, true) => Outcome::done(active.clone()),
            (true, false) => {
                Outcome::new(None, format!("Swap {name} is set to be added to the fstab and to be activated"))
            }
            (false, _) => Outcome::new(None, format!("Swap {name} is set to be activated")),
        };
        let apply = move |ctx: &Ctx| {
            let mut outcome = Outcome::done(active);
            if !is_on {
                ask(ctx, "mount.swapon", [("name", device.as_str().into())])?;
                outcome = match ctx.run("mount.swaps", Arguments::default())?.at(&device) {
                    Some(info) => Outcome::done(format!("Swap {name} activated"))
                        .with_changes(info.as_map().cloned().unwrap_or_default()),
                    None => Outcome::failed(format!("Swap {name} failed to activate")),
                };
            }
            if self.persist {
                let arguments = [
                    ("name", "none".into()),
                    ("device", name.as_str().into()),
                    ("fstype", "swap".into()),
                    ("opts", Value::list(["defaults"])),
                    ("config", self.config.as_str().into()),
                ];
                let status = ask(ctx, "mount.set_fstab", arguments)?.to_text();
                super::mounted::note_kept(&mut outcome, &status);
            }
            Ok(outcome)
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
