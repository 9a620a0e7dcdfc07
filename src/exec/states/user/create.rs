//! Making an account.

use super::{HIDDEN, Present, shadow};
use halite_core::state::{Outcome, ask, given};
use halite_core::{Ctx, Fault};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

impl Present {
    pub(super) fn create(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let name = self.name.as_str();
        let groups = self.groups.iter().chain(&self.optional_groups).flatten().map(String::as_str);
        let groups: Vec<&str> = groups.collect();
        let arguments = given([
            ("name", name.into()),
            ("uid", self.uid.into()),
            ("gid", self.gid.clone()),
            ("groups", if groups.is_empty() { Value::Null } else { Value::list(groups) }),
            ("home", self.home.clone().into()),
            ("shell", self.shell.clone().into()),
            ("unique", self.unique.into()),
            ("system", self.system.into()),
            ("fullname", self.fullname.clone()),
            ("roomnumber", self.roomnumber.clone()),
            ("workphone", self.workphone.clone()),
            ("homephone", self.homephone.clone()),
            ("other", self.other.clone()),
            ("createhome", self.createhome.into()),
            ("nologinit", self.nologinit.into()),
            ("local", self.local.into()),
            ("usergroup", self.usergroup.into()),
        ]);
        match ctx.run("user.add", Arguments::keywords(arguments))? {
            Value::Bool(true) => {}
            Value::Str(text) => return Ok(Outcome::failed(text)),
            _ => return Ok(Outcome::failed(format!("Failed to create new user {name}"))),
        }
        let mut outcome = Outcome::done(format!("New user {name} created"));
        outcome.changes = self.info(ctx)?;
        if !self.createhome {
            outcome.changes.insert("home", "");
        }
        self.set_password(ctx, &mut outcome)?;
        for (key, field, function, what, value) in [
            ("date", "lstchg", "shadow.set_date", "set last change date", self.date),
            ("mindays", "min", "shadow.set_mindays", "set minimum days", some(self.mindays)),
            ("maxdays", "max", "shadow.set_maxdays", "set maximum days", some(self.maxdays)),
            ("inactdays", "inact", "shadow.set_inactdays", "set inactive days", some(self.inactdays)),
            ("warndays", "warn", "shadow.set_warndays", "set warn days", some(self.warndays)),
            ("expire", "expire", "shadow.set_expire", "set expire days", some(self.expire)),
        ] {
            let Some(value) = value else { continue };
            ctx.run(function, Arguments::positional([Value::from(name), value.into()]))?;
            if shadow(ctx, name)?.at(field).and_then(Value::as_int) != Some(value) {
                outcome.result = Some(false);
                outcome.comment = format!("User {name} created but failed to {what} to {value}");
            }
            outcome.changes.insert(key, value);
        }
        Ok(outcome)
    }

    fn set_password(&self, ctx: &Ctx, outcome: &mut Outcome) -> Result<(), Fault> {
        let name = self.name.as_str();
        let own = |ctx: &Ctx| -> Result<String, Fault> {
            let shadow: Map = shadow(ctx, name)?;
            Ok(shadow.str_at("passwd").unwrap_or_default().to_owned())
        };
        let password = self.password.as_deref().filter(|password| !password.is_empty());
        if let Some(password) = password.filter(|_| !self.empty_password) {
            ask(ctx, "shadow.set_password", [("name", name.into()), ("password", password.into())])?;
            if own(ctx)? != password {
                outcome.result = Some(false);
                outcome.comment = format!("User {name} created but failed to set password to {HIDDEN}");
            }
            outcome.changes.insert("password", HIDDEN);
        }
        if self.empty_password && password.is_none() {
            ask(ctx, "shadow.del_password", [("name", name.into())])?;
            if !own(ctx)?.is_empty() {
                outcome.result = Some(false);
                outcome.comment = format!("User {name} created but failed to empty password");
            }
            outcome.changes.insert("password", "");
        }
        Ok(())
    }
}

/// Zero is as good as nothing for a new account.
fn some(days: Option<i64>) -> Option<i64> {
    days.filter(|days| *days != 0)
}
