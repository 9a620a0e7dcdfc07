//! What lsattr(1) and SELinux know of a file.

use super::super::Run;
use super::owner::{Checked, is_test};
use crate::exec::program::Program;
use crate::exec::{Ctx, Fault, Reply, paths};
use crate::record;
use crate::wire::record::{Keywords, Rest};
use crate::wire::value::{Map, Value};
use std::collections::BTreeSet;

/// The letters of chattr(1).
const LETTERS: &str = "aAcCdDeijPsStTu";

record! {
    /// Shows the attributes of a file, or of the files in a folder. None: lsattr(1) is not there.
    ///
    ///   salt '*' file.lsattr /etc/hosts
    pub struct Lsattr {
        /// The path.
        path: String,
    }
}

impl Run for Lsattr {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(listed(ctx, &self.path)?.map_or(Value::Null, Value::Map).into())
    }
}

fn listed(ctx: &Ctx, path: &str) -> Result<Option<Map>, Fault> {
    if ctx.host.which("lsattr").is_none() {
        return Ok(None);
    }
    if !paths::exists(ctx.host, path) {
        return Err(Fault::invocation(format!("File or directory does not exist: {path}")));
    }
    let answer = Program::new(["lsattr", path]).mixed().query(ctx)?;
    let mut shown = Map::new();
    for line in answer.stdout.lines().filter(|line| !line.starts_with("lsattr: ")) {
        if let Some((letters, file)) = line.split_once(char::is_whitespace) {
            let letters = letters.chars().filter(|c| LETTERS.contains(*c)).map(|c| Value::from(c.to_string()));
            shown.insert(file.trim_start(), letters.collect::<Vec<Value>>());
        }
    }
    Ok(Some(shown))
}

record! {
    /// Adds attributes to files or takes them away.
    ///
    ///   salt '*' file.chattr foo1.txt foo2.txt operator=add attributes=ai
    ///   salt '*' file.chattr foo3.txt operator=remove attributes=i version=2
    pub struct Chattr {
        /// The paths.
        files: Rest,
        /// `operator`: add or remove; `attributes`: letters of chattr(1); `flags`: of `RVf`; `version`: the file's version
        /// number.
        kwargs: Keywords,
    }
}

impl Run for Chattr {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = |name: &str| self.kwargs.0.at(name).filter(|value| !value.is_null()).map(Value::to_text);
        let sign = match given("operator").as_deref() {
            Some("add") => "+",
            Some("remove") => "-",
            _ => return Err(Fault::invocation("Need an operator: 'add' or 'remove' to modify attributes.")),
        };
        let Some(attributes) = given("attributes") else {
            return Err(Fault::invocation(format!("Need attributes: [{LETTERS}]")));
        };
        let mut program = Program::new(["chattr".to_owned(), format!("{sign}{attributes}")]).mixed();
        if let Some(flags) = given("flags") {
            program = program.arg(format!("-{flags}"));
        }
        if let Some(version) = given("version") {
            program = program.args(["-v".to_owned(), version]);
        }
        let answer = program.args(self.files.0.iter().map(Value::to_text)).run(ctx)?;
        Ok(answer.stdout.is_empty().into())
    }
}

/// Makes the attributes of a file those that it should have.
pub(super) fn enforce(ctx: &Ctx, name: &str, wanted: &str, checked: &mut Checked) -> Result<(), Fault> {
    if paths::is_folder(ctx.host, name) || paths::is_link(ctx.host, name) {
        return Ok(());
    }
    let letters = || -> Result<Option<BTreeSet<char>>, Fault> {
        let listed = listed(ctx, name)?;
        let own = listed.and_then(|listed| listed.at(name).and_then(Value::as_list).map(<[Value]>::to_vec));
        Ok(own.map(|own| own.iter().filter_map(Value::as_str).flat_map(str::chars).collect()))
    };
    let Some(had) = letters()? else { return Ok(()) };
    let mut wished: BTreeSet<char> = wanted.chars().collect();
    // Whether a file has extents is not for users to say.
    if had.contains(&'e') {
        wished.insert('e');
    }
    if had == wished {
        return Ok(());
    }
    let mut now = wished.clone();
    if !is_test(ctx) {
        for (sign, from, to) in [("+", &had, &wished), ("-", &wished, &had)] {
            let letters: String = to.difference(from).collect();
            if !letters.is_empty() {
                Program::new(["chattr".to_owned(), format!("{sign}{letters}"), name.to_owned()]).run(ctx)?;
            }
        }
        now = letters()?.unwrap_or_default();
    }
    let new = match now == wished {
        true => wanted.to_owned(),
        false => {
            checked.failures.push(format!("Failed to change attributes to {wanted}"));
            now.iter().collect()
        }
    };
    let old: String = had.iter().collect();
    if old != new {
        checked.changes.insert("attrs", Map::from_iter([("old", old), ("new", new)]));
    }
    Ok(())
}

record! {
    /// Shows the context that SELinux has for a file.
    ///
    ///   salt '*' file.get_selinux_context /etc/hosts
    pub struct GetSelinuxContext {
        /// The path.
        path: String,
    }
}

impl Run for GetSelinuxContext {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(context(ctx, &self.path)?.into())
    }
}

fn context(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let answer = Program::new(["stat", "-c", "%C", path]).query(ctx)?;
    Ok(match answer.is_success() {
        true => answer.stdout,
        false => format!("No selinux context information is available for {path}"),
    })
}

record! {
    /// Sets the context that SELinux has for a file, and shows it. False: it could not be set.
    ///
    ///   salt '*' file.set_selinux_context /etc/yum.repos.d/epel.repo user=system_u
    pub struct SetSelinuxContext {
        /// The path.
        path: String,
        /// The user of the context.
        user: Option<String> = (),
        /// Its role.
        role: Option<String> = (),
        /// Its type.
        r#type: Option<String> = (),
        /// Its range.
        range: Option<String> = (),
        /// Also tell the policy, so that it stays.
        persist: bool = false,
    }
}

impl Run for SetSelinuxContext {
    fn run(self, ctx: &Ctx) -> Reply {
        let parts = [("-u", &self.user), ("-r", &self.role), ("-t", &self.r#type), ("-l", &self.range)];
        let parts: Vec<(&str, &String)> = parts
            .iter()
            .filter_map(|(flag, part)| Some((*flag, part.as_ref().filter(|part| !part.is_empty())?)))
            .collect();
        if parts.is_empty() {
            return Ok(false.into());
        }
        if self.persist {
            let mut program = Program::new(["semanage", "fcontext", "--add"]);
            for (flag, part) in [("--type", &self.r#type), ("--seuser", &self.user), ("--range", &self.range)] {
                if let Some(part) = part {
                    program = program.args([flag, part]);
                }
            }
            program.arg(&self.path).run(ctx)?.expect_success("Problem setting fcontext")?;
        }
        let mut program = Program::new(["chcon"]);
        for (flag, part) in parts {
            program = program.args([flag, part]);
        }
        match program.arg(&self.path).run(ctx)?.is_success() {
            true => Ok(context(ctx, &self.path)?.into()),
            false => Ok(false.into()),
        }
    }
}

record! {
    /// Gives a file the context that SELinux's policy has for it.
    ///
    ///   salt '*' file.restorecon /home/user/.ssh/authorized_keys
    pub struct Restorecon {
        /// The path.
        path: String,
        /// All that is below it too.
        recursive: bool = false,
    }
}

impl Run for Restorecon {
    fn run(self, ctx: &Ctx) -> Reply {
        let flag = if self.recursive { "-FR" } else { "-F" };
        let answer = Program::new(["restorecon", flag, &self.path]).run(ctx);
        Ok(answer.is_ok_and(|answer| answer.is_success()).into())
    }
}
