//! What lsattr(1) and SELinux know of a file.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_file::attributes::{LETTERS, SelinuxContext, context, listed};
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Keywords, Rest};

record! {
    /// Shows the attributes of a file, or of the files in a directory. None: lsattr(1) is not there.
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
        let wish = SelinuxContext { user: self.user, role: self.role, kind: self.r#type, range: self.range };
        if wish.is_empty() {
            return Ok(false.into());
        }
        Ok(wish.set(ctx, &self.path, self.persist)?.map_or(false.into(), Value::from).into())
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
