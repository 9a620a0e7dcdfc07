//! Who may use a file, as functions are told it: names are compared as they are given, and what cannot be set is told
//! and no end.

use super::attributes::{self, SelinuxContext};
use super::{is_test, shown_mode, stat};
use halite_core::host::{Attributes, FileKind, Host, Stat};
use halite_core::{Ctx, Fault, paths};
use halite_value::{Map, Value};
use std::path::Path;

/// Owner, mode and what else says who may use a file, as they should be.
#[derive(Clone, Debug, Default)]
pub struct Access {
    pub user: Value,
    pub group: Value,
    /// As [`normalized`] gives it.
    pub mode: Option<String>,
    /// The letters that lsattr(1) should show.
    pub attrs: Option<String>,
    pub context: SelinuxContext,
}

/// What was found and done.
#[derive(Default)]
pub struct Checked {
    pub changes: Map,
    pub failures: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    pub perms: Map,
}

/// A mode as Salt compares it: four digits, without quotes or `0o`.
pub fn normalized(mode: &Value) -> Option<String> {
    if mode.is_null() {
        return None;
    }
    let text = mode.to_text();
    let digits = text.trim_matches(['"', '\'', 'o', 'O']).replace("0o", "0");
    let digits = digits.trim_start_matches('0');
    Some(format!("{:0>4}", if digits.is_empty() { "0" } else { digits }))
}

impl Access {
    /// Sees to it, and adds what came of it to a state's return, an empty one for a new one. The other map says what was
    /// found and changed.
    pub fn check(&self, ctx: &Ctx, name: &str, mut ret: Map, follow: bool) -> Result<(Map, Map), Fault> {
        if ret.is_empty() {
            ret.insert("name", name);
            ret.insert("changes", Map::new());
            ret.insert("comment", "");
            ret.insert("result", true);
        }
        let before = ret.at("comment").map(Value::to_text).unwrap_or_default();
        let mut checked = self.enforce(ctx, name, follow)?;
        let is_link = !follow && paths::is_link(ctx.host, name);
        if let Some(attrs) = self.attrs.as_ref().filter(|_| !is_link) {
            attributes::enforce(ctx, name, attrs, &mut checked)?;
        }
        self.context.enforce(ctx, name, &mut checked)?;
        let comments = Some(before).into_iter().filter(|before| !before.is_empty());
        let comments: Vec<String> = comments.chain(checked.notes).chain(checked.failures.iter().cloned()).collect();
        ret.insert("comment", comments.join("; "));
        if !checked.failures.is_empty() {
            ret.insert("result", false);
        }
        match ret.at_mut("changes") {
            Some(Value::Map(changes)) => changes.extend(checked.changes),
            _ => drop(ret.insert("changes", checked.changes)),
        }
        if is_test(ctx) && ret.at("changes").is_some_and(Value::truthy) {
            ret.insert("result", Value::Null);
        }
        Ok((ret, checked.perms))
    }

    /// What is not as it should be, with what it should be: names are compared as they are given.
    pub fn differences(&self, ctx: &Ctx, path: &str, stat: &Stat) -> Result<Map, Fault> {
        let mut changes = Map::new();
        let differs = |wanted: &Value, number: u32, name: &dyn Fn() -> Value| {
            !wanted.is_null() && *wanted != Value::from(number) && *wanted != name()
        };
        if differs(&self.user, stat.uid, &|| user_name(ctx.host, stat.uid)) {
            changes.insert("user", self.user.clone());
        }
        if differs(&self.group, stat.gid, &|| group_name(ctx.host, stat.gid)) {
            changes.insert("group", self.group.clone());
        }
        if let Some(mode) = self.mode.as_ref().filter(|mode| **mode != shown_mode(stat.mode)) {
            changes.insert("mode", mode.as_str());
        }
        if let Some(attrs) = self.attrs.as_ref().filter(|attrs| !attrs.is_empty())
            && attributes::differ(ctx, path, attrs)?
        {
            changes.insert("attrs", attrs.as_str());
        }
        if !self.context.is_empty() {
            let unknown = || Fault::execution(format!("SELinux knows no context of {path}"));
            for one in self.context.differences(ctx, path)?.ok_or_else(unknown)? {
                changes.insert("selinux", Map::from_iter([(one.part, one.wished)]));
            }
        }
        Ok(changes)
    }

    /// Whether there is more to it than owner and mode.
    pub fn has_attributes(&self) -> bool {
        self.attrs.is_some() || !self.context.is_empty()
    }

    /// Sees to owner and mode alone.
    pub fn enforce(&self, ctx: &Ctx, name: &str, follow: bool) -> Result<Checked, Fault> {
        let host = ctx.host;
        let had = stat(host, name, follow)?;
        let mut checked = Checked::default();
        let shown = |by_number: bool, number: u32, name: Value| if by_number { number.into() } else { name };
        let user = shown(self.user.as_int().is_some(), had.uid, user_name(host, had.uid));
        let group = shown(self.group.as_int().is_some(), had.gid, group_name(host, had.gid));
        checked.perms.insert("luser", user);
        checked.perms.insert("lgroup", group);
        checked.perms.insert("lmode", shown_mode(had.mode));
        let is_link = !follow && had.kind == FileKind::Link;
        let other_user = self.user.truthy() && uid(host, &self.user) != Some(had.uid);
        let other_group = self.group.truthy() && gid(host, &self.group) != Some(had.gid);
        if other_user {
            checked.perms.insert("cuser", self.user.clone());
        }
        if other_group {
            checked.perms.insert("cgroup", self.group.clone());
        }
        let mode = self.mode.as_ref().filter(|_| !is_link);
        let other_mode = mode.filter(|mode| **mode != shown_mode(had.mode));
        if is_test(ctx) {
            if other_user {
                checked.changes.insert("user", self.user.clone());
            }
            if other_group {
                checked.changes.insert("group", self.group.clone());
            }
            if let Some(mode) = other_mode {
                checked.changes.insert("mode", mode.as_str());
            }
            return Ok(checked);
        }
        let real = if is_link { name.to_owned() } else { paths::real(host, name) };
        for (kind, other, wanted, number) in [
            ("user", other_user, &self.user, uid(host, &self.user)),
            ("group", other_group, &self.group, gid(host, &self.group)),
        ] {
            if !other {
                continue;
            }
            let owner = match kind {
                "user" => Attributes { uid: number, ..Attributes::default() },
                _ => Attributes { gid: number, ..Attributes::default() },
            };
            match number.map(|_| host.set(Path::new(&real), owner)) {
                Some(Ok(())) => drop(checked.changes.insert(kind, wanted.clone())),
                _ => checked.failures.push(format!("Failed to change {kind} to {}", wanted.to_text())),
            }
        }
        // A change of owner clears setuid and setgid.
        let restored = (other_user || other_group) && !is_link;
        let digits = other_mode.cloned().or_else(|| restored.then(|| shown_mode(had.mode)));
        if let Some(digits) = digits {
            let mode = u32::from_str_radix(&digits, 8).ok().filter(|mode| *mode <= 0o7777);
            let set =
                mode.map(|mode| host.set(Path::new(&real), Attributes { mode: Some(mode), ..Attributes::default() }));
            if let Some(mode) = other_mode {
                checked.perms.insert("cmode", mode.as_str());
            }
            match (set, other_mode) {
                (Some(Ok(())), Some(mode)) => {
                    checked.changes.insert("mode", mode.as_str());
                }
                (Some(Ok(())), None) => {}
                _ => checked.failures.push(format!("Failed to change mode to {digits}")),
            }
        }
        Ok(checked)
    }
}

/// The name of an account, its number where it has none.
pub fn user_name(host: &dyn Host, uid: u32) -> Value {
    host.user_by_uid(uid).ok().flatten().map_or_else(|| uid.into(), |user| user.name.into())
}

pub fn group_name(host: &dyn Host, gid: u32) -> Value {
    host.group_by_gid(gid).ok().flatten().map_or_else(|| gid.into(), Value::from)
}

/// The number of an account by name or number. Nothing: there is none of that name.
pub fn uid(host: &dyn Host, user: &Value) -> Option<u32> {
    match user {
        Value::Int(uid) => u32::try_from(*uid).ok(),
        user => host.user(&user.to_text()).ok().flatten().map(|user| user.uid),
    }
}

pub fn gid(host: &dyn Host, group: &Value) -> Option<u32> {
    match group {
        Value::Int(gid) => u32::try_from(*gid).ok(),
        group => host.group(&group.to_text()).ok().flatten(),
    }
}
