//! `archive.zip`, `archive.unzip` and the like, with the host's zip and unzip.

use super::{list, rendered, sources, told, trimmed};
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
        /// The files and folders.
        sources: Value,
        /// A renderer for the names.
        template: Option<String> = (),
        /// The folder to be in.
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
    ///   salt '*' archive.zip /tmp/zipfile.zip file1,folder cwd=/srv
    pub struct Zip {
        /// The archive.
        zip_file: String,
        /// The files and folders.
        sources: Value,
        /// A renderer for the names.
        template: Option<String> = (),
        /// The folder that names which are not absolute are in.
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
        let folder = cwd.unwrap_or_else(|| "/".to_owned());
        // Names in an archive have no slash before them.
        let inside = |name: &String| {
            let path = paths::normal(&paths::join(&[folder.clone(), name.clone()]));
            let below = path.strip_prefix(folder.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            below.unwrap_or(path.trim_start_matches('/')).to_owned()
        };
        let found: Vec<String> = names.iter().map(inside).filter(|name| !name.is_empty()).collect();
        let found: Vec<String> = found
            .into_iter()
            .filter(|name| paths::exists(ctx.host, &paths::join(&[folder.clone(), name.clone()])))
            .collect();
        if found.is_empty() {
            return Ok(Value::List(Vec::new()).into());
        }
        if paths::is_file(ctx.host, &zip_file) {
            // zip would add to the archive that is there.
            ctx.host
                .remove(zip_file.as_ref())
                .map_err(|error| Fault::execution(format!("Exception encountered creating zipfile: {error}")))?;
        }
        let program = Program::new(["zip", "-q", "-r", zip_file.as_str(), "--"]).args(found).cwd(folder).mixed();
        let answer = program.runas_name(ctx, self.runas.as_deref())?.run(ctx)?;
        if !answer.is_success() {
            let said = answer.stdout;
            return Err(Fault::execution(format!("Exception encountered creating zipfile: {said}")));
        }
        let members = list::members(ctx, &zip_file)?;
        Ok(Value::list(members.into_iter().map(|member| member.name)).into())
    }
}

record! {
    /// Unpacks a zip archive. Returns what unzip said, line by line.
    ///
    ///   salt '*' archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2
    pub struct CmdUnzip {
        /// The archive.
        zip_file: String,
        /// The folder to unpack to.
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

fn unzip(
    ctx: &Ctx,
    options: &[String],
    password: Option<&str>,
    names: (&str, &str),
    excludes: &[String],
    runas: Option<&str>,
) -> Result<String, Fault> {
    let mut program = Program::new(["unzip"]);
    if let Some(password) = password.filter(|password| !password.is_empty()) {
        program = program.args(["-P", password]);
    }
    let (zip_file, dest) = names;
    program = program.args(options.iter().map(String::as_str)).args([zip_file, "-d", dest]);
    if !excludes.is_empty() {
        program = program.arg("-x").args(excludes.iter().map(String::as_str));
    }
    let answer = program.mixed().runas_name(ctx, runas)?.run(ctx)?;
    match answer.is_success() {
        true => Ok(answer.stdout),
        false => Err(Fault::execution(answer.stdout)),
    }
}

impl Run for CmdUnzip {
    fn run(self, ctx: &Ctx) -> Reply {
        let zip_file = rendered(ctx, &self.zip_file, self.template.as_deref())?;
        let dest = rendered(ctx, &self.dest, self.template.as_deref())?;
        let options = split(self.options.as_deref().unwrap_or_default()).map_err(Fault::invocation)?;
        let (password, runas) = (self.password.as_deref(), self.runas.as_deref());
        let told = unzip(ctx, &options, password, (&zip_file, &dest), &self.excludes, runas)?;
        Ok(trimmed(told.lines().map(str::to_owned).collect(), &self.trim_output).into())
    }
}

record! {
    /// Unpacks a zip archive. Returns the names of what was in it.
    ///
    ///   salt '*' archive.unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2
    pub struct Unzip {
        /// The archive.
        zip_file: String,
        /// The folder to unpack to.
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
        let failed = |fault: Fault| {
            let (said, _) = fault.shown("archive.unzip");
            Fault::execution(format!("Exception encountered unpacking zipfile: {}", said.to_text()))
        };
        let members = list::members(ctx, &zip_file).map_err(failed)?;
        let names = members.into_iter().map(|member| member.name);
        let wanted: Vec<String> = names.filter(|name| !self.excludes.contains(name)).collect();
        let options = ["-o".to_owned(), "-q".to_owned()];
        let (password, runas) = (self.password.as_deref(), self.runas.as_deref());
        if !wanted.is_empty() {
            unzip(ctx, &options, password, (&zip_file, &dest), &self.excludes, runas).map_err(failed)?;
        }
        Ok(trimmed(wanted, &self.trim_output).into())
    }
}
