//! What can be changed of an account that there is.

use super::{account, info, tool};
use halite_core::accounts::groups_of;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::Value;
use halite_value::record;

/// Sets something with usermod, unless it is so. Returns whether it is so afterwards.
fn set(ctx: &Ctx, name: &str, key: &str, value: &Value, flags: &[&str], root: Option<&str>) -> Reply {
    let Some(had) = info(ctx, name, root)? else {
        return Err(Fault::execution(format!("User '{name}' does not exist")));
    };
    let is_so = |had: &halite_value::Map| had.at(key).is_some_and(|had| had.to_text() == value.to_text());
    if is_so(&had) {
        return Ok(true.into());
    }
    let mut program = Program::new([tool(ctx, "usermod")?]);
    if let Some(root) = root {
        program = program.args(["-R", root]);
    }
    program.args(flags.iter().copied()).arg(value.to_text()).arg(name).run(ctx)?;
    let now = if key == "name" { value.to_text() } else { name.to_owned() };
    Ok(info(ctx, &now, root)?.is_some_and(|now| is_so(&now)).into())
}

record! {
    /// Changes the number of an account.
    ///
    ///   salt '*' user.chuid foo 4376
    pub struct Chuid {
        /// Its name.
        name: String,
        /// The number.
        uid: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chuid {
    fn run(self, ctx: &Ctx) -> Reply {
        set(ctx, &self.name, "uid", &self.uid, &["-u"], self.root.as_deref())
    }
}

record! {
    /// Changes the first group of an account.
    ///
    ///   salt '*' user.chgid foo 4376
    pub struct Chgid {
        /// Its name.
        name: String,
        /// The number of the group.
        gid: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chgid {
    fn run(self, ctx: &Ctx) -> Reply {
        set(ctx, &self.name, "gid", &self.gid, &["-g"], self.root.as_deref())
    }
}

record! {
    /// Changes the shell of an account.
    ///
    ///   salt '*' user.chshell foo /bin/zsh
    pub struct Chshell {
        /// Its name.
        name: String,
        /// The shell.
        shell: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chshell {
    fn run(self, ctx: &Ctx) -> Reply {
        set(ctx, &self.name, "shell", &self.shell, &["-s"], self.root.as_deref())
    }
}

record! {
    /// Changes the home of an account.
    ///
    ///   salt '*' user.chhome foo /home/users/foo
    pub struct Chhome {
        /// Its name.
        name: String,
        /// The home.
        home: Value,
        /// Move what is in the old one.
        persist: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chhome {
    fn run(self, ctx: &Ctx) -> Reply {
        let flags: &[&str] = if self.persist { &["-m", "-d"] } else { &["-d"] };
        set(ctx, &self.name, "home", &self.home, flags, self.root.as_deref())
    }
}

record! {
    /// Gives an account another name.
    ///
    ///   salt '*' user.rename name new_name
    pub struct Rename {
        /// Its name.
        name: String,
        /// The new one.
        new_name: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Rename {
    fn run(self, ctx: &Ctx) -> Reply {
        let (new, root) = (self.new_name.to_text(), self.root.as_deref());
        if account(ctx, &new, root)?.is_some() {
            return Err(Fault::execution(format!("User '{new}' already exists")));
        }
        if account(ctx, &self.name, root)?.is_none() {
            return Err(Fault::execution(format!("User '{}' does not exist", self.name)));
        }
        set(ctx, &self.name, "name", &self.new_name, &["-l"], root)
    }
}

record! {
    /// Makes the further groups of an account these, or adds them.
    ///
    ///   salt '*' user.chgroups foo wheel,root
    ///   salt '*' user.chgroups foo wheel append=True
    pub struct Chgroups {
        /// Its name.
        name: String,
        /// The groups: a list, or text with commas.
        groups: Value,
        /// Leave it in those that it is in.
        append: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chgroups {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(set_groups(ctx, &self.name, &names(&self.groups), self.append, self.root.as_deref())?.into())
    }
}

/// A list of names, or text with commas.
pub(super) fn names(given: &Value) -> Vec<String> {
    match given {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        other => other.to_text().split(',').map(str::to_owned).collect(),
    }
}

pub(super) fn set_groups(
    ctx: &Ctx,
    name: &str,
    groups: &[String],
    append: bool,
    root: Option<&str>,
) -> Result<bool, Fault> {
    if let Some(account) = account(ctx, name, None)? {
        let mut wanted = groups.to_vec();
        wanted.sort();
        wanted.dedup();
        if groups_of(ctx, &account)? == wanted {
            return Ok(true);
        }
    }
    let mut program = Program::new([tool(ctx, "usermod")?]);
    if append {
        program = program.arg("-a");
    }
    program = program.args(["-G".to_owned(), groups.join(","), name.to_owned()]);
    if let Some(root) = root {
        program = program.args(["-R", root]);
    }
    let answer = program.run(ctx)?;
    if !answer.is_success() && answer.stderr.contains("not found in") {
        // usermod does not know accounts of LDAP and its like.
        let mut all = true;
        for group in groups {
            all &= Program::new(["gpasswd", "-a", name, group]).run(ctx)?.is_success();
        }
        return Ok(all);
    }
    Ok(answer.is_success())
}

/// Sets a part of what is said of an account.
pub(super) fn set_gecos(ctx: &Ctx, name: &str, at: usize, value: &Value, root: Option<&str>) -> Reply {
    let text = if value.is_null() { String::new() } else { value.to_text() };
    let Some(known) = account(ctx, name, root)? else {
        return Err(Fault::execution(format!("User '{name}' does not exist")));
    };
    let mut parts = known.gecos();
    if parts[at] == text {
        return Ok(true.into());
    }
    parts[at].clone_from(&text);
    let whole = parts.join(",").trim_end_matches(',').to_owned();
    let mut program = Program::new([tool(ctx, "usermod")?]);
    if let Some(root) = root {
        program = program.args(["-R", root]);
    }
    program.args(["-c", &whole, name]).run(ctx)?;
    Ok(account(ctx, name, root)?.is_some_and(|now| now.gecos()[at] == text).into())
}

record! {
    /// Changes the full name of an account.
    ///
    ///   salt '*' user.chfullname foo 'Foo Bar'
    pub struct Chfullname {
        /// Its name.
        name: String,
        /// The full name.
        fullname: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chfullname {
    fn run(self, ctx: &Ctx) -> Reply {
        set_gecos(ctx, &self.name, 0, &self.fullname, self.root.as_deref())
    }
}

record! {
    /// Changes the number of the room of an account.
    ///
    ///   salt '*' user.chroomnumber foo 123
    pub struct Chroomnumber {
        /// Its name.
        name: String,
        /// The number of the room.
        roomnumber: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chroomnumber {
    fn run(self, ctx: &Ctx) -> Reply {
        set_gecos(ctx, &self.name, 1, &self.roomnumber, self.root.as_deref())
    }
}

record! {
    /// Changes the phone at work of an account.
    ///
    ///   salt '*' user.chworkphone foo 7735550123
    pub struct Chworkphone {
        /// Its name.
        name: String,
        /// The phone at work.
        workphone: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chworkphone {
    fn run(self, ctx: &Ctx) -> Reply {
        set_gecos(ctx, &self.name, 2, &self.workphone, self.root.as_deref())
    }
}

record! {
    /// Changes the phone at home of an account.
    ///
    ///   salt '*' user.chhomephone foo 7735551234
    pub struct Chhomephone {
        /// Its name.
        name: String,
        /// The phone at home.
        homephone: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chhomephone {
    fn run(self, ctx: &Ctx) -> Reply {
        set_gecos(ctx, &self.name, 3, &self.homephone, self.root.as_deref())
    }
}

record! {
    /// Changes the further words on an account.
    ///
    ///   salt '*' user.chother foo 'fax 555'
    pub struct Chother {
        /// Its name.
        name: String,
        /// The words.
        other: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chother {
    fn run(self, ctx: &Ctx) -> Reply {
        set_gecos(ctx, &self.name, 4, &self.other, self.root.as_deref())
    }
}

record! {
    /// Changes the login class of an account: False, there are some on OpenBSD alone.
    ///
    ///   salt '*' user.chloginclass foo staff
    pub struct Chloginclass {
        /// Its name.
        name: String,
        /// The login class.
        loginclass: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Chloginclass {
    fn run(self, _: &Ctx) -> Reply {
        Ok(false.into())
    }
}
