//! Who owns a file and who may use it.

use halite_core::host::{Attributes, Host};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::access::{Access, gid, group_name, normalized, uid, user_name};
use halite_file::attributes::SelinuxContext;
use halite_file::{refused, shown_mode, stat};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

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
        let wanted = Access {
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
