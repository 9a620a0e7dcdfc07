//! Changing an account that is there.

use super::{HIDDEN, Present, shadow};
use halite_core::host::Attributes;
use halite_core::state::{Outcome, ask, given};
use halite_core::{Ctx, Fault, paths};
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

impl Present {
    pub(super) fn update(self, ctx: &Ctx, changes: Map) -> Result<Outcome, Fault> {
        let (before, shadow_before) = (self.info(ctx)?, shadow(ctx, &self.name)?);
        self.change(ctx, &changes, &before)?;
        let (after, shadow_after) = (self.info(ctx)?, shadow(ctx, &self.name)?);
        let mut shown = Map::new();
        for (key, value) in after.iter().filter(|(key, value)| before.at_value(key) != Some(*value)) {
            shown.insert(key.clone(), value.clone());
        }
        for (key, value) in shadow_after.iter().filter(|(key, value)| shadow_before.at_value(key) != Some(*value)) {
            let is_secret = key.as_str() == Some("passwd");
            shown.insert(key.clone(), if is_secret { HIDDEN.into() } else { value.clone() });
        }
        let comment = match shown.is_empty() {
            true => format!("User {} is present and up to date", self.name),
            false => format!("Updated user {}", self.name),
        };
        let wanted = Present { allow_uid_change: true, allow_gid_change: true, ..self };
        Ok(match wanted.differences(ctx, &wanted.gid.clone())? {
            Ok(Some(left)) if left.is_empty() => Outcome::done(comment).with_changes(shown),
            Ok(left) => {
                let mut left = left.unwrap_or_default();
                if left.contains("passwd") {
                    left.insert("passwd", HIDDEN);
                }
                let comment = format!("These values could not be changed: {}", Value::Map(left).repr());
                Outcome::failed(comment).with_changes(shown)
            }
            Err(wrong) => Outcome::failed(wrong).with_changes(shown),
        })
    }

    fn change(&self, ctx: &Ctx, changes: &Map, before: &Map) -> Result<(), Fault> {
        let name = || ("name", Value::from(self.name.as_str()));
        if let Some(password) = changes.at("passwd") {
            ask(ctx, "shadow.set_password", [name(), ("password", password.clone())])?;
        }
        if changes.contains("empty_password") {
            ask(ctx, "shadow.del_password", [name()])?;
        }
        match changes.at("password_lock").map(Value::truthy) {
            Some(true) => drop(ask(ctx, "shadow.lock_password", [name()])?),
            Some(false) => drop(ask(ctx, "shadow.unlock_password", [name()])?),
            None => {}
        }
        let home = changes.at("home").or_else(|| changes.at("homeDoesNotExist")).cloned();
        if changes.contains("home")
            && let Some(home) = &home
        {
            ask(ctx, "user.chhome", [name(), ("home", home.clone()), ("persist", self.persist_home.into())])?;
        }
        if let Some(missing) = changes.at("homeDoesNotExist").map(Value::to_text)
            && !paths::is_directory(ctx.host, &missing)
        {
            let of = |key: &str| before.at(key).cloned().unwrap_or_default();
            ask(ctx, "file.mkdir", [("dir_path", missing.as_str().into()), ("user", of("uid")), ("group", of("gid"))])?;
            let mode = Attributes { mode: Some(0o755), ..Attributes::default() };
            ctx.host.set(Path::new(&missing), mode).map_err(|error| Fault::execution(format!("{missing}: {error}")))?;
        }
        for (key, function) in [
            ("date", "shadow.set_date"),
            ("mindays", "shadow.set_mindays"),
            ("maxdays", "shadow.set_maxdays"),
            ("inactdays", "shadow.set_inactdays"),
            ("warndays", "shadow.set_warndays"),
            ("expire", "shadow.set_expire"),
            ("uid", "user.chuid"),
            ("gid", "user.chgid"),
            ("shell", "user.chshell"),
            ("fullname", "user.chfullname"),
            ("roomnumber", "user.chroomnumber"),
            ("workphone", "user.chworkphone"),
            ("homephone", "user.chhomephone"),
            ("other", "user.chother"),
        ] {
            if let Some(value) = changes.at(key) {
                ctx.run(function, Arguments::positional([Value::from(self.name.as_str()), value.clone()]))?;
            }
        }
        if let Some(groups) = changes.at("groups") {
            let append = !self.remove_groups;
            let arguments = given([name(), ("groups", groups.clone()), ("append", append.into())]);
            ctx.run("user.chgroups", Arguments::keywords(arguments))?;
        }
        Ok(())
    }
}
