//! Who owns a file and who may use it.

use super::attributes::{self, SelinuxContext};
use super::facts::{shown_mode, stat};
use super::refused;
use halite_core::host::{Attributes, FileKind, Host};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

/// The name of an account, its number where it has none.
pub(super) fn user_name(host: &dyn Host, uid: u32) -> Value {
    host.user_by_uid(uid).ok().flatten().map_or_else(|| uid.into(), |user| user.name.into())
}

pub(super) fn group_name(host: &dyn Host, gid: u32) -> Value {
    host.group_by_gid(gid).ok().flatten().map_or_else(|| gid.into(), Value::from)
}

/// The number of an account by name or number. Nothing: there is none of that name.
fn uid(host: &dyn Host, user: &Value) -> Option<u32> {
    match user {
        Value::Int(uid) => u32::try_from(*uid).ok(),
        user => host.user(&user.to_text()).ok().flatten().map(|user| user.uid),
    }
}

fn gid(host: &dyn Host, group: &Value) -> Option<u32> {
    match group {
        Value::Int(gid) => u32::try_from(*gid).ok(),
        group => host.group(&group.to_text()).ok().flatten(),
    }
}

record! {
    /// Shows the name of the account with a number, the number itself where there is none.
    ///
    ///   salt '*' file.uid_to_user 0
    pub struct UidToUser {
        /// The number.
        uid: Value,
    }
}

impl Run for UidToUser {
    fn run(self, ctx: &Ctx) -> Reply {
        match self.uid.as_int() {
            Some(uid) => Ok(u32::try_from(uid).map_or_else(|_| self.uid, |uid| user_name(ctx.host, uid)).into()),
            None => Err(Fault::invocation(format!("'{}' is not the number of an account", self.uid.to_text()))),
        }
    }
}

record! {
    /// Shows the number of an account, an empty text where there is none.
    ///
    ///   salt '*' file.user_to_uid root
    pub struct UserToUid {
        /// The name. None: whoever the minion runs as.
        user: Value,
    }
}

impl Run for UserToUid {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.user.is_null() {
            return Ok(ctx.host.uid().into());
        }
        if let Value::Int(uid) = self.user {
            return Ok(uid.into());
        }
        Ok(uid(ctx.host, &self.user).map_or_else(|| "".into(), Value::from).into())
    }
}

record! {
    /// Shows the name of the group with a number, the number itself where there is none.
    ///
    ///   salt '*' file.gid_to_group 0
    pub struct GidToGroup {
        /// The number, or a name.
        gid: Value,
    }
}

impl Run for GidToGroup {
    fn run(self, ctx: &Ctx) -> Reply {
        let number = match &self.gid {
            Value::Int(number) => Some(*number),
            Value::Str(text) => text.trim().parse().ok().or_else(|| gid(ctx.host, &self.gid).map(i64::from)),
            _ => return Err(Fault::invocation("a group is a number or a name")),
        };
        let Some(number) = number else { return Ok("".into()) };
        Ok(u32::try_from(number).map_or_else(|_| number.into(), |gid| group_name(ctx.host, gid)).into())
    }
}

record! {
    /// Shows the number of a group, an empty text where there is none.
    ///
    ///   salt '*' file.group_to_gid root
    pub struct GroupToGid {
        /// The name.
        group: Value,
    }
}

impl Run for GroupToGid {
    fn run(self, ctx: &Ctx) -> Reply {
        match &self.group {
            Value::Null => Ok("".into()),
            Value::Int(gid) => Ok((*gid).into()),
            group => Ok(gid(ctx.host, group).map_or_else(|| "".into(), Value::from).into()),
        }
    }
}

record! {
    /// Shows the number of the account that owns a file.
    ///
    ///   salt '*' file.get_uid /etc/passwd
    pub struct GetUid {
        /// The path.
        path: String,
        /// Whether a link is followed.
        follow_symlinks: bool = true,
    }
}

impl Run for GetUid {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(stat(ctx.host, &paths::expand_user(ctx.host, &self.path), self.follow_symlinks)?.uid.into())
    }
}

record! {
    /// Shows the account that owns a file.
    ///
    ///   salt '*' file.get_user /etc/passwd
    pub struct GetUser {
        /// The path.
        path: String,
        /// Whether a link is followed.
        follow_symlinks: bool = true,
    }
}

impl Run for GetUser {
    fn run(self, ctx: &Ctx) -> Reply {
        let stat = stat(ctx.host, &paths::expand_user(ctx.host, &self.path), self.follow_symlinks)?;
        Ok(user_name(ctx.host, stat.uid).into())
    }
}

record! {
    /// Shows the number of the group that owns a file.
    ///
    ///   salt '*' file.get_gid /etc/passwd
    pub struct GetGid {
        /// The path.
        path: String,
        /// Whether a link is followed.
        follow_symlinks: bool = true,
    }
}

impl Run for GetGid {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(stat(ctx.host, &paths::expand_user(ctx.host, &self.path), self.follow_symlinks)?.gid.into())
    }
}

record! {
    /// Shows the group that owns a file.
    ///
    ///   salt '*' file.get_group /etc/passwd
    pub struct GetGroup {
        /// The path.
        path: String,
        /// Whether a link is followed.
        follow_symlinks: bool = true,
    }
}

impl Run for GetGroup {
    fn run(self, ctx: &Ctx) -> Reply {
        let stat = stat(ctx.host, &paths::expand_user(ctx.host, &self.path), self.follow_symlinks)?;
        Ok(group_name(ctx.host, stat.gid).into())
    }
}

record! {
    /// Shows the mode of a file.
    ///
    ///   salt '*' file.get_mode /etc/passwd
    pub struct GetMode {
        /// The path.
        path: String,
        /// Whether a link is followed.
        follow_symlinks: bool = true,
    }
}

impl Run for GetMode {
    fn run(self, ctx: &Ctx) -> Reply {
        let stat = stat(ctx.host, &paths::expand_user(ctx.host, &self.path), self.follow_symlinks)?;
        Ok(shown_mode(stat.mode).into())
    }
}

record! {
    /// Sets the mode of a file and shows it.
    ///
    ///   salt '*' file.set_mode /etc/passwd 0644
    pub struct SetMode {
        /// The path.
        path: String,
        /// The mode, in octal digits.
        mode: Value,
    }
}

impl Run for SetMode {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let digits = self.mode.to_text();
        let digits = match digits.trim_start_matches(['0', 'O', 'o']) {
            "" => "0",
            digits => digits,
        };
        if !paths::exists(ctx.host, &path) {
            return Err(Fault::execution(format!("{path}: File not found")));
        }
        let Ok(mode @ ..=0o7777) = u32::from_str_radix(digits, 8) else {
            return Ok(format!("Invalid Mode {digits}").into());
        };
        let real = paths::real(ctx.host, &path);
        ctx.host
            .set(Path::new(&real), Attributes { mode: Some(mode), ..Attributes::default() })
            .map_err(|error| refused(&path, &error))?;
        Ok(shown_mode(stat(ctx.host, &path, true)?.mode).into())
    }
}

record! {
    /// Sets the owner of a file, links followed. Returns None, or what is wrong.
    ///
    ///   salt '*' file.chown /etc/passwd root root
    pub struct Chown {
        /// The path.
        path: String,
        /// The account; empty: as it is.
        user: Value,
        /// The group; empty: as it is.
        group: Value,
    }
}

impl Run for Chown {
    fn run(self, ctx: &Ctx) -> Reply {
        chown(ctx, &paths::expand_user(ctx.host, &self.path), &self.user, &self.group)
    }
}

fn chown(ctx: &Ctx, path: &str, user: &Value, group: &Value) -> Reply {
    let (uid, gid) = (uid(ctx.host, user), gid(ctx.host, group));
    let mut complaints = String::new();
    if uid.is_none() && user.truthy() {
        complaints.push_str("User does not exist\n");
    }
    if gid.is_none() && group.truthy() {
        complaints.push_str("Group does not exist\n");
    }
    let is_there = paths::exists(ctx.host, path);
    if !is_there && ctx.host.stat(Path::new(path)).is_err() {
        complaints.push_str("File not found");
    }
    if !complaints.is_empty() {
        return Ok(complaints.into());
    }
    let real = if is_there { paths::real(ctx.host, path) } else { path.to_owned() };
    set_owner(ctx.host, &real, uid, gid).map(|()| Value::Null.into())
}

fn set_owner(host: &dyn Host, path: &str, uid: Option<u32>, gid: Option<u32>) -> Result<(), Fault> {
    host.set(Path::new(path), Attributes { mode: None, uid, gid }).map_err(|error| refused(path, &error))
}

record! {
    /// Sets the owner of a file or of a link itself.
    ///
    ///   salt '*' file.lchown /etc/mtab root root
    pub struct Lchown {
        /// The path.
        path: String,
        /// The account; empty: as it is.
        user: Value,
        /// The group; empty: as it is.
        group: Value,
    }
}

impl Run for Lchown {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let (uid, gid) = (uid(ctx.host, &self.user), gid(ctx.host, &self.group));
        if uid.is_none() && self.user.truthy() {
            return Err(Fault::invocation(format!("User {} does not exist", self.user.to_text())));
        }
        if gid.is_none() && self.group.truthy() {
            return Err(Fault::invocation(format!("Group {} does not exist", self.group.to_text())));
        }
        set_owner(ctx.host, &path, uid, gid)?;
        Ok(Value::Null.into())
    }
}

record! {
    /// Sets the group of a file, links followed. Returns None, or what is wrong.
    ///
    ///   salt '*' file.chgrp /etc/passwd root
    pub struct Chgrp {
        /// The path.
        path: String,
        /// The group.
        group: Value,
    }
}

impl Run for Chgrp {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let uid = stat(ctx.host, &path, true)?.uid;
        chown(ctx, &path, &uid.into(), &self.group)
    }
}

record! {
    /// Makes owner and mode of a file what they should be. Returns what a state returns, and what was to be changed.
    ///
    ///   salt '*' file.check_perms /etc/sudoers '{}' root root 0400
    pub struct CheckPerms {
        /// The path.
        name: String,
        /// A state's return to be added to; empty for a new one.
        ret: Option<Map>,
        /// The account that should own it.
        user: Value,
        /// The group.
        group: Value,
        /// The mode, in octal digits.
        mode: Value,
        /// The attributes that lsattr(1) should show.
        attrs: Option<String> = (),
        /// Whether a link is followed.
        follow_symlinks: bool = false,
        /// The user of the context that SELinux should know.
        seuser: Option<String> = (),
        /// Its role.
        serole: Option<String> = (),
        /// Its type.
        setype: Option<String> = (),
        /// Its range.
        serange: Option<String> = (),
    }
}

impl Run for CheckPerms {
    fn run(self, ctx: &Ctx) -> Reply {
        let name = paths::expand_user(ctx.host, &self.name);
        let wanted = Wanted {
            user: self.user,
            group: self.group,
            mode: normalized(&self.mode),
            attrs: self.attrs,
            context: SelinuxContext { user: self.seuser, role: self.serole, kind: self.setype, range: self.serange },
        };
        let (ret, perms) = wanted.check(ctx, &name, self.ret.unwrap_or_default(), self.follow_symlinks)?;
        Ok(Value::List(vec![ret.into(), perms.into()]).into())
    }
}

pub(super) fn is_test(ctx: &Ctx) -> bool {
    ctx.opt("test").is_some_and(Value::truthy)
}

/// Owner, mode and what else says who may use a file, as they should be.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
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

impl Wanted {
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
