//! Who owns a file and who may use it.

use super::shown;
use crate::exec::Ctx;
use crate::exec::host::{Attributes, Stat};
use crate::wire::value::{Map, Value};

/// The owner, group and mode that a file should have; nothing where that does not matter.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    user: Option<(String, u32)>,
    group: Option<(String, u32)>,
    pub mode: Option<u32>,
}

impl Owner {
    /// Looks up the names; numbers are taken as they are. The error is a name that there is not: a state before this one
    /// may make it, so test mode goes on.
    pub fn new(ctx: &Ctx, user: &Value, group: &Value, mode: Option<u32>) -> Result<Owner, String> {
        let missing = |kind: &str, name: &str| format!("{kind} {name} is not available");
        let user = match name(user) {
            None => None,
            Some(name) => match (name.parse(), ctx.host.user(&name)) {
                (Ok(uid), _) => Some((name, uid)),
                (_, Ok(Some(found))) => Some((name, found.uid)),
                _ => return Err(missing("User", &name)),
            },
        };
        let group = match name(group) {
            None => None,
            Some(name) => match (name.parse(), ctx.host.group(&name)) {
                (Ok(gid), _) => Some((name, gid)),
                (_, Ok(Some(gid))) => Some((name, gid)),
                _ => return Err(missing("Group", &name)),
            },
        };
        Ok(Owner { user, group, mode })
    }

    /// The same owner, with another mode.
    pub fn with_mode(&self, mode: Option<u32>) -> Owner {
        Owner { mode, ..self.clone() }
    }

    pub fn attributes(&self) -> Attributes {
        Attributes {
            mode: self.mode,
            uid: self.user.as_ref().map(|(_, uid)| *uid),
            gid: self.group.as_ref().map(|(_, gid)| *gid),
        }
    }

    /// What is not as it should be, with what it should be.
    pub fn differences(&self, stat: &Stat) -> Map {
        let mut changes = Map::new();
        if let Some((name, _)) = self.user.as_ref().filter(|(_, uid)| *uid != stat.uid) {
            changes.insert("user", name.as_str());
        }
        if let Some((name, _)) = self.group.as_ref().filter(|(_, gid)| *gid != stat.gid) {
            changes.insert("group", name.as_str());
        }
        if let Some(mode) = self.mode.filter(|mode| *mode != stat.mode) {
            changes.insert("mode", shown(mode));
        }
        changes
    }
}

fn name(value: &Value) -> Option<String> {
    value.truthy().then(|| value.to_text()).or_else(|| (*value == Value::Int(0)).then(|| "0".to_owned()))
}
