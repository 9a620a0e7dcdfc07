//! `user.*`: accounts, with the host's useradd, usermod and userdel.

mod change;

use halite_core::accounts::{Account, account, accounts, groups_of, tool};
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

pub const MODULE: Module = Module {
    name: "user",
    doc: "Accounts of the host.",
    functions: &[
        function::<Add>("add"),
        function::<change::Chfullname>("chfullname"),
        function::<change::Chgid>("chgid"),
        function::<change::Chgroups>("chgroups"),
        function::<change::Chhome>("chhome"),
        function::<change::Chhomephone>("chhomephone"),
        function::<change::Chloginclass>("chloginclass"),
        function::<change::Chother>("chother"),
        function::<change::Chroomnumber>("chroomnumber"),
        function::<change::Chshell>("chshell"),
        function::<change::Chuid>("chuid"),
        function::<change::Chworkphone>("chworkphone"),
        function::<Delete>("delete"),
        function::<GetLoginclass>("get_loginclass"),
        function::<Getent>("getent"),
        function::<Info>("info"),
        function::<ListGroups>("list_groups"),
        function::<ListUsers>("list_users"),
        function::<PrimaryGroup>("primary_group"),
        function::<change::Rename>("rename"),
    ],
};

/// What `user.info` shows of an account.
fn shown(ctx: &Ctx, account: &Account) -> Result<Map, Fault> {
    let [fullname, roomnumber, workphone, homephone, other] = account.gecos();
    let groups = groups_of(ctx, account)?;
    Ok(Map::from_iter([
        ("gid", Value::from(account.gid)),
        ("groups", Value::list(groups)),
        ("home", account.home.as_str().into()),
        ("name", account.name.as_str().into()),
        ("passwd", account.passwd.as_str().into()),
        ("shell", account.shell.as_str().into()),
        ("uid", account.uid.into()),
        ("fullname", fullname.into()),
        ("roomnumber", roomnumber.into()),
        ("workphone", workphone.into()),
        ("homephone", homephone.into()),
        ("other", other.into()),
    ]))
}

fn info(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<Option<Map>, Fault> {
    account(ctx, name, root)?.map(|account| shown(ctx, &account)).transpose()
}

record! {
    /// Shows an account; nothing where there is none.
    ///
    ///   salt '*' user.info root
    pub struct Info {
        /// Its name.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Info {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(info(ctx, &self.name, self.root.as_deref())?.unwrap_or_default().into())
    }
}

record! {
    /// Shows all accounts.
    ///
    ///   salt '*' user.getent
    pub struct Getent {
        /// Taken, not used: the file is read each time.
        refresh: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Getent {
    fn run(self, ctx: &Ctx) -> Reply {
        let all = accounts(ctx, self.root.as_deref())?;
        let shown: Result<Vec<Map>, Fault> = all.iter().map(|account| shown(ctx, account)).collect();
        Ok(Value::list(shown?).into())
    }
}

record! {
    /// Lists the names of all accounts.
    ///
    ///   salt '*' user.list_users
    pub struct ListUsers {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for ListUsers {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut names: Vec<String> =
            accounts(ctx, self.root.as_deref())?.into_iter().map(|account| account.name).collect();
        names.sort();
        Ok(Value::list(names).into())
    }
}

record! {
    /// Lists the groups that an account is in.
    ///
    ///   salt '*' user.list_groups root
    pub struct ListGroups {
        /// Its name.
        name: String,
    }
}

impl Run for ListGroups {
    fn run(self, ctx: &Ctx) -> Reply {
        let groups = match account(ctx, &self.name, None)? {
            Some(account) => groups_of(ctx, &account)?,
            None => Vec::new(),
        };
        Ok(Value::list(groups).into())
    }
}

record! {
    /// Shows the first group of an account.
    ///
    ///   salt '*' user.primary_group root
    pub struct PrimaryGroup {
        /// Its name.
        name: String,
    }
}

impl Run for PrimaryGroup {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(account) = account(ctx, &self.name, None)? else {
            return Ok(format!("id: '{}': no such user", self.name).into());
        };
        let name = ctx.host.group_by_gid(account.gid).ok().flatten();
        Ok(name.unwrap_or_else(|| account.gid.to_string()).into())
    }
}

record! {
    /// Shows the login class of an account: False, there are some on OpenBSD alone.
    ///
    ///   salt '*' user.get_loginclass root
    pub struct GetLoginclass {
        /// Its name.
        name: String,
    }
}

impl Run for GetLoginclass {
    fn run(self, _: &Ctx) -> Reply {
        Ok(false.into())
    }
}

record! {
    /// Makes an account. Returns whether it was made.
    ///
    ///   salt '*' user.add fred 1200 home=/srv/fred shell=/bin/sh
    pub struct Add {
        /// Its name.
        name: String,
        /// Its number.
        uid: Value = (),
        /// The number or name of its first group.
        gid: Value = (),
        /// Further groups: a list, or text with commas.
        groups: Value = (),
        /// Its home.
        home: Option<String> = (),
        /// Its shell.
        shell: Option<String> = (),
        /// Whether no other account may have its number.
        unique: bool = true,
        /// Whether it is one of the system's.
        system: bool = false,
        /// The full name.
        fullname: Value = "",
        /// The number of the room.
        roomnumber: Value = "",
        /// The phone at work.
        workphone: Value = "",
        /// The phone at home.
        homephone: Value = "",
        /// Further words on it.
        other: Value = "",
        /// Whether its home is made.
        createhome: bool = true,
        /// Taken, not used: for OpenBSD.
        loginclass: Value = (),
        /// Do not add it to the databases of last logins.
        nologinit: bool = false,
        /// Another root.
        root: Option<String> = (),
        /// Whether it gets a group with its name; without it as the host is set up.
        usergroup: Option<bool> = (),
        /// Use luseradd, for a local account on a host with others.
        local: bool = false,
    }
}

impl Run for Add {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut program = Program::new([tool(ctx, if self.local { "luseradd" } else { "useradd" })?]);
        let given = |value: &Value| !value.is_null() && value.as_str() != Some("");
        if let Some(shell) = self.shell.as_deref().filter(|shell| !shell.is_empty()) {
            program = program.args(["-s", shell]);
        }
        if given(&self.uid) {
            program = program.args(["-u".to_owned(), self.uid.to_text()]);
        }
        let groups = change::names(&self.groups);
        if given(&self.gid) {
            program = program.args(["-g".to_owned(), self.gid.to_text()]);
        } else if self.usergroup == Some(true) {
            program = if self.local { program } else { program.arg("-U") };
        } else if groups.contains(&self.name)
            && has_usergroups(ctx)
            && let Ok(Some(gid)) = ctx.host.group(&self.name)
        {
            program = program.args(["-g".to_owned(), gid.to_string()]);
        }
        if self.usergroup == Some(false) {
            program = program.arg(if self.local { "-n" } else { "-N" });
        }
        let flags = [(self.createhome && !self.local, "-m"), (!self.createhome, "-M"), (self.nologinit, "-l")];
        program = program.args(flags.into_iter().filter_map(|(wanted, flag)| wanted.then_some(flag)));
        if let Some(home) = &self.home {
            program = program.args(["-d", home]);
        }
        let flags = [(!self.unique, "-o"), (self.system, "-r")];
        program = program.args(flags.into_iter().filter_map(|(wanted, flag)| wanted.then_some(flag))).arg(&self.name);
        if let Some(root) = self.root.as_deref().filter(|_| !self.local) {
            program = program.args(["-R", root]);
        }
        let answer = program.run(ctx)?;
        if !answer.is_success() {
            log::error!("useradd: {}", answer.complaint());
            return Ok(false.into());
        }
        let root = self.root.as_deref();
        if !groups.is_empty() {
            change::set_groups(ctx, &self.name, &groups, false, root)?;
        }
        for (at, value) in
            [self.fullname, self.roomnumber, self.workphone, self.homephone, self.other].iter().enumerate()
        {
            if value.truthy() {
                change::set_gecos(ctx, &self.name, at, value, root)?;
            }
        }
        Ok(true.into())
    }
}

/// Whether the host gives each account a group with its name.
fn has_usergroups(ctx: &Ctx) -> bool {
    let bytes = ctx.host.read(Path::new("/etc/login.defs")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().find(|line| line.starts_with("USERGROUPS_ENAB")).is_some_and(|line| line.contains("yes"))
}

record! {
    /// Removes an account. Returns whether it was removed.
    ///
    ///   salt '*' user.delete fred remove=True force=True
    pub struct Delete {
        /// Its name.
        name: String,
        /// Remove its home and its mail too.
        remove: bool = false,
        /// Also one that is logged in.
        force: bool = false,
        /// Another root.
        root: Option<String> = (),
        /// Use luserdel, for a local account on a host with others.
        local: bool = false,
    }
}

impl Run for Delete {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut program = Program::new([tool(ctx, if self.local { "luserdel" } else { "userdel" })?]);
        if self.remove {
            program = program.arg("-r");
        }
        if self.force && !self.local {
            program = program.arg("-f");
        }
        program = program.arg(self.name);
        if let Some(root) = self.root.filter(|_| !self.local) {
            program = program.args(["-R".to_owned(), root]);
        }
        let answer = program.run(ctx)?;
        // Debian's userdel ends with 12 when there is no mailbox to remove.
        let no_mail = answer.retcode == 12
            && ctx.grains.str_at("os_family") == Some("Debian")
            && (answer.stderr.contains("var/mail") || answer.stderr.contains("var/spool/mail"));
        Ok((answer.is_success() || no_mail).into())
    }
}

#[cfg(test)]
mod tests;
