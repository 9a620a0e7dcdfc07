//! `archive.*`: archives, with the host's tar, gzip and rar; zip archives are read and written here.

mod list;
mod pack;
mod tarred;
mod unpack;
mod zip;
mod zipped;

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::words::split;
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;

pub const MODULE: Module = Module {
    name: "archive",
    doc: "Archives of files.",
    functions: &[
        function::<zip::CmdUnzip>("cmd_unzip"),
        function::<zip::CmdZip>("cmd_zip"),
        function::<Gunzip>("gunzip"),
        function::<Gzip>("gzip"),
        function::<list::IsEncrypted>("is_encrypted"),
        function::<list::List>("list"),
        function::<Rar>("rar"),
        function::<Tar>("tar"),
        function::<Unrar>("unrar"),
        function::<zip::Unzip>("unzip"),
        function::<zip::Zip>("zip"),
    ],
};

/// A text as it is, or as a template of it says.
fn rendered(ctx: &Ctx, text: &str, template: Option<&str>) -> Result<String, Fault> {
    let Some(template) = template.filter(|template| !template.is_empty()) else { return Ok(text.to_owned()) };
    let arguments = Arguments::default().with("string", text).with("default_renderer", template);
    Ok(ctx.run("slsutil.renderer", arguments)?.to_text())
}

/// The files that are meant: a list, or names between commas, each of which may be a pattern.
fn sources(ctx: &Ctx, given: &Value) -> Vec<String> {
    let names: Vec<String> = match given {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        given => given.to_text().split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let found = |name: String| match name.contains(['*', '?', '[']) {
        true => paths::glob(ctx.host, &name),
        false => vec![name],
    };
    names.into_iter().flat_map(found).collect()
}

/// What a program says, line by line, be it a failure.
fn told(ctx: &Ctx, argv: Vec<String>, cwd: Option<&str>, runas: Option<&str>) -> Reply {
    let mut program = Program::new(argv).mixed().runas_name(ctx, runas)?;
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) {
        if !paths::is_directory(ctx.host, cwd) {
            return Err(Fault::execution(format!("Specified cwd '{cwd}' either not absolute or does not exist")));
        }
        program = program.cwd(cwd);
    }
    let answer = program.run(ctx)?;
    let returned = halite_core::Returned::from(Value::list(answer.stdout_shown().lines()));
    Ok(if answer.is_success() { returned } else { returned.with_retcode(answer.retcode) })
}

/// The first of a hundred names, or of as many as are wanted.
fn trimmed(mut names: Vec<String>, trim: &Value) -> Value {
    let most = match trim {
        Value::Bool(true) => Some(100),
        Value::Int(count) => usize::try_from(*count).ok(),
        _ => None,
    };
    if let Some(most) = most
        && names.len() > most
    {
        names.truncate(most);
        names.push(format!("List trimmed after {most} files."));
    }
    Value::list(names)
}

/// Where an archive is on this host; one from elsewhere comes into the cache.
fn cached(ctx: &Ctx, name: &str, environment: Option<&str>, wanted: &Wanted) -> Result<String, Fault> {
    let found = FileClient::new(ctx).cache_file(name, &saltenv(ctx, environment), wanted)?;
    found.ok_or_else(|| Fault::execution(format!("Failed to cache {name}")))
}

record! {
    /// Runs tar. Returns what it said, line by line.
    ///
    ///   salt '*' archive.tar -cjvf /tmp/salt.tar.bz2 /tmp/file_1,/tmp/file_2
    ///   salt '*' archive.tar xf foo.tar dest=/target/directory
    pub struct Tar {
        /// What to do: tar's options, blanks between.
        options: String,
        /// The archive.
        tarfile: String,
        /// The files that go in, or that are meant.
        sources: Value = (),
        /// The directory to unpack to.
        dest: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// A renderer for the names.
        template: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
    }
}

impl Run for Tar {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.options.is_empty() {
            return Err(Fault::invocation("Tar options can not be empty"));
        }
        let render = |text: &str| rendered(ctx, text, self.template.as_deref());
        let mut argv = vec!["tar".to_owned()];
        argv.extend(self.options.split_whitespace().map(str::to_owned));
        argv.push(render(&self.tarfile)?);
        if let Some(dest) = self.dest.as_deref().filter(|dest| !dest.is_empty()) {
            argv.extend(["-C".to_owned(), render(dest)?]);
        }
        for source in sources(ctx, &self.sources) {
            argv.push(render(&source)?);
        }
        told(ctx, argv, self.cwd.as_deref(), self.runas.as_deref())
    }
}

fn gzip(
    ctx: &Ctx,
    program: &str,
    file: &str,
    options: Option<&str>,
    template: Option<&str>,
    runas: Option<&str>,
) -> Reply {
    let mut argv = vec![program.to_owned()];
    argv.extend(split(options.unwrap_or_default()).map_err(Fault::invocation)?);
    argv.push(rendered(ctx, file, template)?);
    told(ctx, argv, None, runas)
}

record! {
    /// Packs a file with gzip. Returns what it said.
    ///
    ///   salt '*' archive.gzip /tmp/sourcefile.txt
    pub struct Gzip {
        /// The file.
        sourcefile: String,
        /// A renderer for the name.
        template: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
        /// Options of gzip.
        options: Option<String> = (),
    }
}

impl Run for Gzip {
    fn run(self, ctx: &Ctx) -> Reply {
        let (options, template) = (self.options.as_deref(), self.template.as_deref());
        gzip(ctx, "gzip", &self.sourcefile, options, template, self.runas.as_deref())
    }
}

record! {
    /// Unpacks a file with gunzip. Returns what it said.
    ///
    ///   salt '*' archive.gunzip /tmp/sourcefile.txt.gz
    pub struct Gunzip {
        /// The file.
        gzipfile: String,
        /// A renderer for the name.
        template: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
        /// Options of gunzip.
        options: Option<String> = (),
    }
}

impl Run for Gunzip {
    fn run(self, ctx: &Ctx) -> Reply {
        let (options, template) = (self.options.as_deref(), self.template.as_deref());
        gzip(ctx, "gunzip", &self.gzipfile, options, template, self.runas.as_deref())
    }
}

record! {
    /// Makes a rar archive. Returns what rar said.
    ///
    ///   salt '*' archive.rar /tmp/rarfile.rar /tmp/sourcefile1,/tmp/sourcefile2
    pub struct Rar {
        /// The archive.
        rarfile: String,
        /// The files.
        sources: Value,
        /// A renderer for the names.
        template: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
    }
}

impl Run for Rar {
    fn run(self, ctx: &Ctx) -> Reply {
        let render = |text: &str| rendered(ctx, text, self.template.as_deref());
        let mut argv = ["rar", "a", "-idp"].map(str::to_owned).to_vec();
        argv.push(render(&self.rarfile)?);
        for source in sources(ctx, &self.sources) {
            argv.push(render(&source)?);
        }
        told(ctx, argv, self.cwd.as_deref(), self.runas.as_deref())
    }
}

record! {
    /// Unpacks a rar archive. Returns what the program said.
    ///
    ///   salt '*' archive.unrar /tmp/rarfile.rar /home/strongbad/ excludes=file_1,file_2
    pub struct Unrar {
        /// The archive.
        rarfile: String,
        /// The directory to unpack to.
        dest: String,
        /// The files to leave out.
        excludes: Vec<String> = (),
        /// A renderer for the names.
        template: Option<String> = (),
        /// The account to do it as.
        runas: Option<String> = (),
        /// Return this many lines at most; True: a hundred.
        trim_output: Value = false,
    }
}

impl Run for Unrar {
    fn run(self, ctx: &Ctx) -> Reply {
        let render = |text: &str| rendered(ctx, text, self.template.as_deref());
        let found = ["unrar", "rar"].into_iter().find(|name| ctx.host.which(name).is_some());
        let mut argv = [found.unwrap_or("unrar"), "x", "-idp"].map(str::to_owned).to_vec();
        argv.push(render(&self.rarfile)?);
        argv.extend(self.excludes.iter().flat_map(|name| ["-x".to_owned(), name.clone()]));
        argv.push(render(&self.dest)?);
        let answer = Program::new(argv).mixed().runas_name(ctx, self.runas.as_deref())?.run(ctx)?;
        Ok(trimmed(answer.stdout.lines().map(str::to_owned).collect(), &self.trim_output).into())
    }
}
