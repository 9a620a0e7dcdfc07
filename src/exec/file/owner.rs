//! Who owns a file and who may use it, as states are told it: accounts are looked up and compared by their numbers.

use super::shown_mode;
use halite_core::Ctx;
use halite_core::host::{Attributes, FileKind, Stat};
use halite_value::{Map, Value};

/// The owner, group and mode that a file should have; nothing where that does not matter.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    user: Option<Account>,
    group: Option<Account>,
    pub mode: Option<u32>,
}

/// A user or a group, as the SLS names it.
#[derive(Clone, Debug)]
struct Account {
    name: Value,
    /// Nothing where there is none of that name. A state before this one may make it, so test mode goes on.
    id: Option<u32>,
}

impl Owner {
    /// Looks up the names; numbers are taken as they are.
    pub fn new(ctx: &Ctx, user: &Value, group: &Value, mode: Option<u32>) -> Owner {
        let found = |value: &Value, look_up: &dyn Fn(&str) -> Option<u32>| {
            // To look up what is not given would start a program for each file of a directory.
            let is_given = value.truthy() || *value == Value::Int(0);
            is_given.then(|| {
                let name = value.to_text();
                Account { name: value.clone(), id: name.parse().ok().or_else(|| look_up(&name)) }
            })
        };
        Owner {
            user: found(user, &|name| ctx.host.user(name).ok().flatten().map(|user| user.uid)),
            group: found(group, &|name| ctx.host.group(name).ok().flatten()),
            mode,
        }
    }

    /// What an SLS gives that there is not, as an error says it; nothing where all is there.
    pub fn missing(&self) -> Option<String> {
        let of = |account: &Option<Account>| {
            account.as_ref().filter(|account| account.id.is_none()).map(|account| account.name.to_text())
        };
        let user = of(&self.user).map(|name| format!("User {name} is not available ")).unwrap_or_default();
        let group = of(&self.group).map(|name| format!("Group {name} is not available")).unwrap_or_default();
        Some(user + &group).filter(|text| !text.is_empty())
    }

    /// The same, one sentence for each.
    pub fn unknown(&self) -> Vec<String> {
        let of = |kind: &str, account: &Option<Account>| {
            let unknown = account.as_ref().filter(|account| account.id.is_none());
            unknown.map(|account| format!("{kind} {} does not exist", account.name.to_text()))
        };
        [of("User", &self.user), of("Group", &self.group)].into_iter().flatten().collect()
    }

    /// Whom there is not and what else is wrong, as the states of links say it; nothing where all is well.
    pub fn wrong(&self, others: impl IntoIterator<Item = String>) -> Option<String> {
        let all: Vec<String> = self.unknown().into_iter().chain(others).collect();
        let end = if all.len() > 1 { "." } else { "" };
        (!all.is_empty()).then(|| all.join(". ") + end)
    }

    /// The same owner, with another mode.
    pub fn with_mode(&self, mode: Option<u32>) -> Owner {
        Owner { mode, ..self.clone() }
    }

    /// What of it is to be set below a directory.
    pub fn only(&self, user: bool, group: bool, mode: bool) -> Owner {
        Owner {
            user: self.user.clone().filter(|_| user),
            group: self.group.clone().filter(|_| group),
            mode: self.mode.filter(|_| mode),
        }
    }

    pub fn attributes(&self) -> Attributes {
        Attributes {
            mode: self.mode,
            uid: self.user.as_ref().and_then(|user| user.id),
            gid: self.group.as_ref().and_then(|group| group.id),
        }
    }

    /// As functions take them: user, group and mode.
    pub fn values(&self) -> [(&'static str, Value); 3] {
        [
            ("user", self.user.as_ref().map(|user| user.name.clone()).into()),
            ("group", self.group.as_ref().map(|group| group.name.clone()).into()),
            ("mode", self.mode.map(shown_mode).into()),
        ]
    }

    /// What is not as it should be, with what it should be. A link has no mode of its own.
    pub fn differences(&self, stat: &Stat) -> Map {
        let mut changes = Map::new();
        if let Some(user) = self.user.as_ref().filter(|user| user.id != Some(stat.uid)) {
            changes.insert("user", user.name.clone());
        }
        if let Some(group) = self.group.as_ref().filter(|group| group.id != Some(stat.gid)) {
            changes.insert("group", group.name.clone());
        }
        if let Some(mode) = self.mode.filter(|mode| *mode != stat.mode && stat.kind != FileKind::Link) {
            changes.insert("mode", shown_mode(mode));
        }
        changes
    }
}
