//! `group.*`: groups, with the host's groupadd, groupmod, groupdel and gpasswd.

use halite_core::accounts::{Group, group, groups, tool};
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "group",
    doc: "Groups of the host.",
    functions: &[
        function::<Add>("add"),
        function::<Adduser>("adduser"),
        function::<Chgid>("chgid"),
        function::<Delete>("delete"),
        function::<Deluser>("deluser"),
        function::<Getent>("getent"),
        function::<Info>("info"),
        function::<Members>("members"),
    ],
};

fn shown(group: &Group) -> Map {
    Map::from_iter([
        ("name", Value::from(group.name.as_str())),
        ("passwd", group.passwd.as_str().into()),
        ("gid", group.gid.into()),
        ("members", Value::list(group.members.iter().map(String::as_str))),
    ])
}

fn is_done(ctx: &Ctx, program: Program) -> Reply {
    let answer = program.run(ctx)?;
    if !answer.is_success() {
        log::error!("{}", answer.complaint());
    }
    Ok(answer.is_success().into())
}

/// A program with `-R ROOT`.
fn with_root(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<Program, Fault> {
    let program = Program::new([tool(ctx, name)?]);
    Ok(match root {
        Some(root) => program.args(["-R", root]),
        None => program,
    })
}

record! {
    /// Shows a group; nothing where there is none.
    ///
    ///   salt '*' group.info root
    pub struct Info {
        /// Its name.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Info {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(group(ctx, &self.name, self.root.as_deref())?.map(|group| shown(&group)).unwrap_or_default().into())
    }
}

record! {
    /// Shows all groups.
    ///
    ///   salt '*' group.getent
    pub struct Getent {
        /// Taken, not used: the file is read each time.
        refresh: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Getent {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(groups(ctx, self.root.as_deref())?.iter().map(shown)).into())
    }
}

record! {
    /// Makes a group. Returns whether it was made.
    ///
    ///   salt '*' group.add foo 3456
    pub struct Add {
        /// Its name.
        name: String,
        /// Its number.
        gid: Value = (),
        /// Whether it is one of the system's.
        system: bool = false,
        /// Another root.
        root: Option<String> = (),
        /// Whether another group may have its number.
        non_unique: bool = false,
        /// Use lgroupadd, for a local group on a host with others.
        local: bool = false,
    }
}

impl Run for Add {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut program = Program::new([tool(ctx, if self.local { "lgroupadd" } else { "groupadd" })?]);
        if self.gid.truthy() {
            program = program.args(["-g".to_owned(), self.gid.to_text()]);
            if self.non_unique && !self.local {
                program = program.arg("-o");
            }
        }
        if self.system {
            program = program.arg("-r");
        }
        if let Some(root) = self.root.as_deref().filter(|_| !self.local) {
            program = program.args(["-R", root]);
        }
        is_done(ctx, program.arg(self.name))
    }
}

record! {
    /// Removes a group. Returns whether it was removed.
    ///
    ///   salt '*' group.delete foo
    pub struct Delete {
        /// Its name.
        name: String,
        /// Another root.
        root: Option<String> = (),
        /// Use lgroupdel, for a local group on a host with others.
        local: bool = false,
    }
}

impl Run for Delete {
    fn run(self, ctx: &Ctx) -> Reply {
        let program = match self.local {
            true => Program::new([tool(ctx, "lgroupdel")?]),
            false => with_root(ctx, "groupdel", self.root.as_deref())?,
        };
        is_done(ctx, program.arg(self.name))
    }
}

record! {
    /// Changes the number of a group. Returns whether it has it.
    ///
    ///   salt '*' group.chgid foo 4376
    pub struct Chgid {
        /// Its name.
        name: String,
        /// The number.
        gid: Value,
        /// Another root.
        root: Option<String> = (),
        /// Whether another group may have it.
        non_unique: bool = false,
    }
}

impl Run for Chgid {
    fn run(self, ctx: &Ctx) -> Reply {
        let root = self.root.as_deref();
        let is_so = |group: &Group| group.gid.to_string() == self.gid.to_text();
        let Some(had) = group(ctx, &self.name, root)? else { return Ok(false.into()) };
        if is_so(&had) {
            return Ok(true.into());
        }
        let flag = if self.non_unique { "-og" } else { "-g" };
        with_root(ctx, "groupmod", root)?.arg(flag).arg(self.gid.to_text()).arg(&self.name).run(ctx)?;
        Ok(group(ctx, &self.name, root)?.is_some_and(|now| is_so(&now)).into())
    }
}

/// gpasswd with what it shall do to a group.
fn gpasswd(ctx: &Ctx, flag: &str, word: &str, name: &str, root: Option<&str>) -> Reply {
    let mut program = Program::new([tool(ctx, "gpasswd")?]).args([flag, word, name]);
    if let Some(root) = root {
        program = program.args(["--root", root]);
    }
    is_done(ctx, program)
}

record! {
    /// Puts an account into a group. Returns whether that was done.
    ///
    ///   salt '*' group.adduser foo bar
    pub struct Adduser {
        /// The group.
        name: String,
        /// The account.
        username: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Adduser {
    fn run(self, ctx: &Ctx) -> Reply {
        gpasswd(ctx, "--add", &self.username, &self.name, self.root.as_deref())
    }
}

record! {
    /// Takes an account out of a group. Returns whether it is out of it.
    ///
    ///   salt '*' group.deluser foo bar
    pub struct Deluser {
        /// The group.
        name: String,
        /// The account.
        username: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Deluser {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = group(ctx, &self.name, None)?;
        match found.is_some_and(|group| group.members.contains(&self.username)) {
            true => gpasswd(ctx, "--del", &self.username, &self.name, self.root.as_deref()),
            false => Ok(true.into()),
        }
    }
}

record! {
    /// Makes these accounts the members of a group. Returns whether that was done.
    ///
    ///   salt '*' group.members foo 'user1,user2,user3'
    pub struct Members {
        /// The group.
        name: String,
        /// The accounts, with commas between them.
        members_list: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Members {
    fn run(self, ctx: &Ctx) -> Reply {
        gpasswd(ctx, "--members", &self.members_list, &self.name, self.root.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    #[test]
    fn members_come_and_go() {
        let host = Fake::new().file("/etc/group", "adm:x:4:bob,eve\n").program("/bin/gpasswd").program("/bin/groupmod");
        let world = World::on(host.answers(["/bin/gpasswd", "--del", "bob", "adm"], ""));
        let run = |fun: &str, words: &[&str]| {
            call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().copied())).unwrap().value
        };
        assert_eq!(
            run("group.info", &["adm"]).to_json(),
            r#"{"name": "adm", "passwd": "x", "gid": 4, "members": ["bob", "eve"]}"#
        );
        assert_eq!(run("group.deluser", &["adm", "bob"]), true.into());
        assert_eq!(run("group.deluser", &["adm", "root"]), true.into(), "it is not in it");
        assert_eq!(run("group.chgid", &["adm", "4"]), true.into());
        assert_eq!(world.host.ran().len(), 1);
    }
}
