//! `archive.zip`, `archive.unzip` and the like; `cmd_zip` and `cmd_unzip` with the host's zip and unzip.

use super::pack::pack;
use super::unpack::{Modes, Unpack};
use super::{rendered, sources, told, trimmed};
use halite_core::host::acting_as;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::words::split;
use halite_value::Value;
use halite_value::record;

record! {
    /// Makes a zip archive. Returns what zip said.
    ///
    ///   salt '*' archive.cmd_zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2
    pub struct CmdZip {
        /// The archive.
        zip_file: String,
        /// The files and directories.
        sources: Value,
        /// A renderer for the names.
        template: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
    }
}

impl Run for CmdZip {
    fn run(self, ctx: &Ctx) -> Reply {
        let render = |text: &str| rendered(ctx, text, self.template.as_deref());
        let mut argv = vec!["zip".to_owned(), "-r".to_owned(), render(&self.zip_file)?];
        for source in sources(ctx, &self.sources) {
            argv.push(render(&source)?);
        }
        told(ctx, argv, self.cwd.as_deref(), self.runas.as_deref())
    }
}

record! {
    /// Makes a zip archive. Returns the names of what is in it.
    ///
    ///   salt '*' archive.zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2
    ///   salt '*' archive.zip /tmp/zipfile.zip file1,directory cwd=/srv
    pub struct Zip {
        /// The archive.
        zip_file: String,
        /// The files and directories.
        sources: Value,
        /// A renderer for the names.
        template: Option<String> = (),
        /// The directory that names which are not absolute are in.
        cwd: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
        /// Taken, and ignored: large archives are made as such.
        zip64: bool = false,
    }
}

impl Run for Zip {
    fn run(self, ctx: &Ctx) -> Reply {
        let zip_file = rendered(ctx, &self.zip_file, self.template.as_deref())?;
        let mut names = Vec::new();
        for source in sources(ctx, &self.sources) {
            names.push(rendered(ctx, &source, self.template.as_deref())?);
        }
        let cwd = self.cwd.filter(|cwd| !cwd.is_empty());
        match &cwd {
            None if names.iter().any(|name| !name.starts_with('/')) => {
                return Err(Fault::invocation("Relative paths require the 'cwd' parameter"));
            }
            Some(cwd) if !cwd.starts_with('/') => return Err(Fault::invocation("cwd must be absolute")),
            _ => {}
        }
        let absolute = |name: String| match &cwd {
            Some(cwd) => paths::join(&[cwd.clone(), name]),
            None => name,
        };
        let found: Vec<String> = names.into_iter().map(absolute).filter(|path| paths::exists(ctx.host, path)).collect();
        let host = ctx.host;
        let packed = as_account(ctx, self.runas.as_deref(), || pack(host, &zip_file, &found, cwd.as_deref()))?;
        let names = packed.map_err(|why| Fault::execution(format!("Exception encountered creating zipfile: {why}")))?;
        Ok(Value::list(names).into())
    }
}

/// Does something as an account, where one is given.
fn as_account<T: Send>(ctx: &Ctx, runas: Option<&str>, work: impl FnOnce() -> T + Send) -> Result<T, Fault> {
    let Some(name) = runas.filter(|name| !name.is_empty()) else { return Ok(work()) };
    match ctx.host.user(name) {
        Ok(Some(user)) => acting_as(&user, work)
            .map_err(|error| Fault::execution(format!("this cannot be done as user '{name}': {error}"))),
        Ok(None) => Err(Fault::invocation(format!("User '{name}' does not exist"))),
        Err(error) => Err(Fault::execution(format!("the accounts of this host cannot be read: {error}"))),
    }
}

record! {
    /// Unpacks a zip archive. Returns what unzip said, line by line.
    ///
    ///   salt '*' archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2
    pub struct CmdUnzip {
        /// The archive.
        zip_file: String,
        /// The directory to unpack to.
        dest: String,
        /// The files to leave out.
        excludes: Vec<String> = (),
        /// Options of unzip.
        options: Option<String> = (),
        /// A renderer for the names.
        template: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
        /// Return this many lines at most; True: a hundred.
        trim_output: Value = false,
        /// The password of the archive.
        password: Option<String> = (),
    }
}

impl Run for CmdUnzip {
    fn run(self, ctx: &Ctx) -> Reply {
        let zip_file = rendered(ctx, &self.zip_file, self.template.as_deref())?;
        let dest = rendered(ctx, &self.dest, self.template.as_deref())?;
        let options = split(self.options.as_deref().unwrap_or_default()).map_err(Fault::invocation)?;
        let mut program = Program::new(["unzip"]).args(options).args([zip_file.as_str(), "-d", &dest]);
        if !self.excludes.is_empty() {
            program = program.arg("-x").args(self.excludes);
        }
        if let Some(password) = self.password.filter(|password| !password.is_empty()) {
            program = program.env("UNZIP", &of_environment(&password));
        }
        let answer = program.mixed().runas_name(ctx, self.runas.as_deref())?.run(ctx)?;
        let told = answer.stdout_shown();
        if !answer.is_success() {
            return Err(Fault::execution(told));
        }
        Ok(trimmed(told.lines().map(str::to_owned).collect(), &self.trim_output).into())
    }
}

/// A password as unzip takes it from its environment, which no other account can see, as it can see arguments.
fn of_environment(password: &str) -> String {
    let quoted = password.replace('\\', "\\\\").replace('"', "\\\"");
    format!("-P \"{quoted}\"")
}

record! {
    /// Unpacks a zip archive. Returns the names of what was in it.
    ///
    ///   salt '*' archive.unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2
    pub struct Unzip {
        /// The archive.
        zip_file: String,
        /// The directory to unpack to.
        dest: String,
        /// The files to leave out.
        excludes: Vec<String> = (),
        /// Taken, and ignored.
        options: Value = (),
        /// A renderer for the names.
        template: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
        /// Return this many names at most; True: a hundred.
        trim_output: Value = false,
        /// The password of the archive.
        password: Option<String> = (),
        /// Give the files the modes they have in the archive.
        extract_perms: bool = true,
    }
}

impl Run for Unzip {
    fn run(self, ctx: &Ctx) -> Reply {
        let zip_file = rendered(ctx, &self.zip_file, self.template.as_deref())?;
        let dest = rendered(ctx, &self.dest, self.template.as_deref())?;
        let job = Unpack {
            zip_file: &zip_file,
            dest: &dest,
            excludes: &self.excludes,
            password: self.password.as_deref().filter(|password| !password.is_empty()),
            modes: if self.extract_perms { Modes::OfArchive } else { Modes::OfHost },
        };
        let host = ctx.host;
        let unpacked = as_account(ctx, self.runas.as_deref(), || job.run(host))?;
        let names =
            unpacked.map_err(|why| Fault::execution(format!("Exception encountered unpacking zipfile: {why}")))?;
        Ok(trimmed(names, &self.trim_output).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::NoMaster;
    use halite_core::host::Machine;
    use halite_core::host::fake::{Directory, Fake};
    use halite_core::module::call;
    use halite_core::testing::{Need, host_has};
    use halite_value::record::Arguments;

    #[test]
    fn a_password_stood_among_the_arguments_of_unzip_where_everybody_sees_it() {
        let world = World::on(Fake::new().answers(["unzip", "/a.zip", "-d", "/out"], "said"));
        let asked = Arguments::positional(["/a.zip", "/out"]).with("password", "pass \"wo\\rd");
        call(&world.ctx(&NoMaster), "archive.cmd_unzip", asked).unwrap();
        let ran = world.host.ran();
        assert!(ran[0].argv.iter().all(|word| !word.contains("pass")), "{:?}", ran[0].argv);
        assert_eq!(ran[0].env["UNZIP"].as_deref(), Some(r#"-P "pass \"wo\\rd""#));
    }

    #[test]
    fn unzip_takes_a_password_with_blanks_and_quotes_from_its_environment() {
        if !host_has(&[Need::Program("zip"), Need::Program("unzip")]) {
            return;
        }
        let directory = Directory::new();
        let password = "pass \"wo\\rd";
        std::fs::write(directory.path().join("f"), "content").unwrap();
        let packed = std::process::Command::new("zip")
            .args(["-q", "-P", password, "p.zip", "f"])
            .current_dir(directory.path())
            .status();
        assert!(packed.unwrap().success());
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        let world = World::new();
        let ctx = world.ctx_on(&Machine, &NoMaster);
        let asked = |fun: &str, out: &str| {
            let arguments = Arguments::positional([at("p.zip"), at(out)]).with("password", password);
            call(&ctx, fun, arguments).map(|returned| returned.value)
        };
        asked("archive.cmd_unzip", "one").unwrap();
        assert_eq!(asked("archive.unzip", "two").unwrap(), Value::list(["f"]));
        for out in ["one", "two"] {
            assert_eq!(std::fs::read_to_string(directory.path().join(out).join("f")).unwrap(), "content");
        }
    }
}
