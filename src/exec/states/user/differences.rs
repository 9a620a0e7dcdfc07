//! What of an account is not as it should be.

use super::{Present, shadow};
use halite_core::{Ctx, Fault, paths};
use halite_value::{Map, Value};
use std::collections::BTreeSet;

impl Present {
    /// What is to be changed; nothing where there is no such account. The error is for whoever wrote the SLS.
    pub(super) fn differences(&self, ctx: &Ctx, gid: &Value) -> Result<Result<Option<Map>, String>, Fault> {
        let info = self.info(ctx)?;
        if info.is_empty() {
            return Ok(Ok(None));
        }
        let mut changes = Map::new();
        let own_uid = info.at("uid").and_then(Value::as_int);
        let own_gid = info.at("gid").and_then(Value::as_int);
        let mut refused = Vec::new();
        let not_permitted = |what: &str, old: Option<i64>, new: &str| {
            let old = old.map_or("None".to_owned(), |old| old.to_string());
            format!(
                "Changing {what} ({old} -> {new}) not permitted, set allow_{what}_change to True to force this change. Note \
                 that this will not change file ownership."
            )
        };
        if let Some(uid) = self.uid.filter(|uid| *uid != 0 && own_uid != Some(*uid)) {
            changes.insert("uid", uid);
            if !self.allow_uid_change {
                refused.push(not_permitted("uid", own_uid, &uid.to_string()));
            }
        }
        if !gid.is_null() && own_gid != number_of(ctx, gid) {
            changes.insert("gid", gid.clone());
            if !self.allow_gid_change {
                refused.push(not_permitted("gid", own_gid, &gid.to_text()));
            }
        }
        self.groups(ctx, &info, gid, &mut changes);
        let text = |key: &str| info.at(key).map(Value::to_text).unwrap_or_default();
        if let Some(home) = self.home.as_ref().filter(|home| !home.is_empty() && text("home") != **home) {
            changes.insert("home", home.as_str());
        }
        let home = self.home.clone().filter(|home| !home.is_empty()).unwrap_or_else(|| text("home"));
        if self.createhome && !paths::is_directory(ctx.host, &home) {
            changes.insert("homeDoesNotExist", home);
        }
        if let Some(shell) = self.shell.as_ref().filter(|shell| !shell.is_empty() && text("shell") != **shell) {
            changes.insert("shell", shell.as_str());
        }
        self.password(ctx, &mut changes)?;
        let people = [
            ("fullname", &self.fullname),
            ("roomnumber", &self.roomnumber),
            ("workphone", &self.workphone),
            ("homephone", &self.homephone),
            ("other", &self.other),
        ];
        for (key, wanted) in people {
            let wanted = (!wanted.is_null()).then(|| wanted.to_text());
            if let Some(wanted) = wanted.filter(|wanted| text(key) != *wanted) {
                changes.insert(key, wanted);
            }
        }
        Ok(match refused.is_empty() {
            true => Ok(Some(changes)),
            false => Err(format!(
                "Encountered error checking for needed changes. Additional info follows:\n\n{}",
                refused.iter().map(|text| format!("- {text}")).collect::<Vec<String>>().join("\n")
            )),
        })
    }

    /// The further groups: neither the first one nor the account's own counts.
    fn groups(&self, ctx: &Ctx, info: &Map, gid: &Value, changes: &mut Map) {
        let listed = |value: Option<&Value>| -> BTreeSet<String> {
            value.and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect()
        };
        let mut own = listed(info.at("groups"));
        let given = || self.groups.iter().chain(&self.optional_groups).flatten().cloned();
        let mut wanted: BTreeSet<String> = given().collect();
        let says_none = self.groups.is_none() && self.optional_groups.as_ref().is_none_or(Vec::is_empty);
        if !self.remove_groups || says_none {
            wanted.extend(own.iter().cloned());
        }
        let name_of = |gid: &Value| match gid {
            Value::Str(name) if name.parse::<u32>().is_err() => Some(name.to_string()),
            other => other.to_text().parse().ok().and_then(|gid| ctx.host.group_by_gid(gid).ok().flatten()),
        };
        let own_gid = info.at("gid").cloned().unwrap_or_default();
        let first = name_of(if gid.is_null() { &own_gid } else { gid });
        if let Some(first) = &first {
            own.remove(first);
            wanted.remove(first);
        }
        if let Some(old) = name_of(&own_gid) {
            own.remove(&old);
        }
        if !wanted.contains(&self.name) {
            own.remove(&self.name);
        }
        let differs = match self.remove_groups {
            true => own != wanted,
            false => !wanted.is_subset(&own),
        };
        if differs && (!wanted.is_empty() || self.remove_groups) {
            changes.insert("groups", Value::list(wanted));
        }
    }

    fn password(&self, ctx: &Ctx, changes: &mut Map) -> Result<(), Fault> {
        let shadow = shadow(ctx, &self.name)?;
        let own = shadow.str_at("passwd").unwrap_or_default();
        if let Some(password) = self.password.as_ref().filter(|password| !password.is_empty() && !self.empty_password) {
            let default = ctx.run("shadow.default_hash", Default::default())?.to_text();
            if (own == default || self.enforce_password) && own != password {
                changes.insert("passwd", password.as_str());
            }
        }
        if self.empty_password && !own.is_empty() {
            changes.insert("empty_password", true);
        }
        for (key, field, wanted) in [
            ("date", "lstchg", self.date),
            ("mindays", "min", self.mindays),
            ("maxdays", "max", self.maxdays),
            ("inactdays", "inact", self.inactdays),
            ("warndays", "warn", self.warndays),
            ("expire", "expire", self.expire.filter(|expire| *expire != 0)),
        ] {
            if let Some(wanted) = wanted.filter(|wanted| shadow.at(field).and_then(Value::as_int) != Some(*wanted)) {
                changes.insert(key, wanted);
            }
        }
        if let Some(lock) = self.password_lock.filter(|lock| *lock != own.starts_with('!')) {
            changes.insert("password_lock", lock);
        }
        Ok(())
    }
}

/// The number of a group that is given by name or number.
fn number_of(ctx: &Ctx, gid: &Value) -> Option<i64> {
    match gid.as_int() {
        Some(number) => Some(number),
        None => {
            let text = gid.to_text();
            let found = ctx.host.group(&text).ok().flatten();
            found.map(i64::from).or_else(|| text.parse().ok())
        }
    }
}
