//! `virtualenv.*`: environments of Python.

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::Value;
use halite_value::record;

pub const MODULE: Module = Module {
    name: "virtualenv",
    doc: "Environments of Python.",
    functions: &[
        function::<Create>("create"),
        function::<GetDistributionPath>("get_distribution_path"),
        function::<GetResourceContent>("get_resource_content"),
        function::<GetResourcePath>("get_resource_path"),
        function::<GetSitePackages>("get_site_packages"),
        function::<VirtualenvVer>("virtualenv_ver"),
    ],
};

const NAMES: [&str; 2] = ["virtualenv3", "virtualenv"];

fn is_python(program: &str) -> bool {
    let name = paths::name_of(program).to_lowercase();
    let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn refused(option: &str, program: &str) -> Fault {
    Fault::execution(format!("The `{option}`(`--{}`) option is not supported by '{program}'", option.replace('_', "-")))
}

fn needed(ctx: &Ctx, program: &str) -> Result<(), Fault> {
    match ctx.host.which(program) {
        Some(_) => Ok(()),
        None => Err(Fault::execution(format!("Cannot find requested python ({program})."))),
    }
}

fn version(ctx: &Ctx, program: &str, user: Option<&str>) -> Result<Vec<i64>, Fault> {
    let answer = Program::new([program, "--version"]).runas_name(ctx, user)?.mixed().query(ctx)?;
    // `virtualenv 20.17.1 from /usr/lib/...`
    let starts = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let found = answer.stdout.split_whitespace().find(starts).filter(|_| answer.is_success());
    let version = found.ok_or_else(|| {
        Fault::execution(format!(
            "Unable to get the virtualenv version output using '{program} --version'. Returned data: {}",
            answer.stdout
        ))
    })?;
    let number = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
    let version = version.split("rc").next().unwrap_or(version).split('+').next().unwrap_or(version);
    Ok(version.split('.').map(number).collect())
}

record! {
    /// Makes an environment. Returns what the program said.
    ///
    ///   salt '*' virtualenv.create /srv/venv
    ///   salt '*' virtualenv.create /srv/venv venv_bin=venv system_site_packages=True
    pub struct Create {
        /// Its directory.
        path: String,
        /// The program that makes it: `virtualenv`, `venv`, or a Python with the venv module.
        venv_bin: Option<String> = (),
        /// Have the packages of the host as well.
        system_site_packages: bool = false,
        /// Taken, and ignored: of versions before 1.10.
        distribute: bool = false,
        /// Empty the directory before.
        clear: bool = false,
        /// The Python of the environment.
        python: Option<String> = (),
        /// More directories with packages for the first content.
        extra_search_dir: Vec<String> = (),
        /// Do not fetch newer versions of the first content.
        never_download: Option<bool> = (),
        /// The prompt of the shell in the environment.
        prompt: Option<String> = (),
        /// Taken, and ignored: there is always pip.
        pip: bool = false,
        /// Use links.
        symlinks: Option<bool> = (),
        /// Upgrade the environment that there is.
        upgrade: Option<bool> = (),
        /// The account to make it as.
        user: Option<String> = (),
        /// Taken, and ignored.
        use_vt: bool = false,
        /// Taken, and ignored.
        saltenv: Value = "base",
    }
}

impl Run for Create {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = self.venv_bin.or_else(|| ctx.pillar.str_at("venv_bin").map(str::to_owned));
        let program = given.unwrap_or_else(|| {
            let found = NAMES.into_iter().find(|name| ctx.host.which(name).is_some());
            found.unwrap_or("venv").to_owned()
        });
        let word = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let (python, prompt) = (word(&self.python), word(&self.prompt));
        let by_python = program == "venv" || is_python(&program);
        let mut argv = match (&python, program.as_str()) {
            (None, "venv") => vec!["python3".to_owned(), "-m".to_owned(), "venv".to_owned()],
            (Some(python), "venv") => {
                needed(ctx, python)?;
                vec![python.clone(), "-m".to_owned(), "venv".to_owned()]
            }
            (Some(_), _) if by_python => {
                let message = "Pass the target interpreter either as `venv_bin` or as `python`, not both.";
                return Err(Fault::execution(message));
            }
            _ if by_python => {
                needed(ctx, &program)?;
                vec![program.clone(), "-m".to_owned(), "venv".to_owned()]
            }
            _ => vec![program.clone()],
        };
        if by_python || program.contains("venv") {
            if !by_python && python.is_some() {
                return Err(refused("python", &program));
            }
            if !self.extra_search_dir.is_empty() {
                return Err(refused("extra_search_dir", &program));
            }
            if self.never_download.is_some() {
                return Err(refused("never_download", &program));
            }
            argv.extend((self.upgrade == Some(true)).then(|| "--upgrade".to_owned()));
            argv.extend((self.symlinks == Some(true)).then(|| "--symlinks".to_owned()));
            argv.extend(prompt.iter().flat_map(|prompt| ["--prompt".to_owned(), prompt.clone()]));
        } else {
            if self.upgrade.is_some() {
                return Err(refused("upgrade", &program));
            }
            if self.symlinks.is_some() {
                return Err(refused("symlinks", &program));
            }
            let version = version(ctx, &program, self.user.as_deref())?;
            if let Some(python) = &python {
                needed(ctx, python)?;
                argv.push(format!("--python={python}"));
            }
            argv.extend(self.extra_search_dir.iter().map(|directory| format!("--extra-search-dir={directory}")));
            match self.never_download {
                Some(true) if version >= vec![14] => argv.push("--never-download".to_owned()),
                Some(false) if version >= vec![20] => argv.push("--download".to_owned()),
                _ => {}
            }
            argv.extend(prompt.map(|prompt| format!("--prompt='{prompt}'")));
        }
        argv.extend(self.clear.then(|| "--clear".to_owned()));
        argv.extend(self.system_site_packages.then(|| "--system-site-packages".to_owned()));
        argv.push(self.path.clone());
        let was_there = paths::exists(ctx.host, &self.path);
        let answer = Program::new(argv).runas_name(ctx, self.user.as_deref())?.run(ctx)?;
        if !answer.is_success() && !was_there && paths::is_directory(ctx.host, &self.path) {
            // What is half made must not look like an environment.
            if let Err(error) = halite_core::paths::remove_all(ctx.host, self.path.as_ref()) {
                log::warn!("{}: cannot be removed: {error}", self.path);
            }
        }
        Ok(answer.shown().into())
    }
}

/// What a line of Python says in an environment.
fn asked(ctx: &Ctx, venv: &str, code: &str, words: &[&str]) -> Reply {
    let python = format!("{}/bin/python", venv.trim_end_matches('/'));
    if !paths::exists(ctx.host, &python) {
        return Err(Fault::execution(format!(
            "Path '{venv}' does not appear to be a virtualenv: '{python}' not found."
        )));
    }
    // What is asked for are arguments and never code.
    let answer = Program::new([python.as_str(), "-c", code]).args(words.iter().copied()).query(ctx)?;
    match answer.is_success() {
        true => Ok(answer.stdout.into()),
        false => Err(Fault::execution(format!("{}\n{}", answer.stdout, answer.stderr))),
    }
}

record! {
    /// Shows the directory with the packages of an environment.
    ///
    ///   salt '*' virtualenv.get_site_packages /srv/venv
    pub struct GetSitePackages {
        /// The environment.
        venv: String,
    }
}

impl Run for GetSitePackages {
    fn run(self, ctx: &Ctx) -> Reply {
        asked(ctx, &self.venv, "import sysconfig; print(sysconfig.get_path(\"purelib\"))", &[])
    }
}

record! {
    /// Shows the directory of a package in an environment.
    ///
    ///   salt '*' virtualenv.get_distribution_path /srv/venv pip
    pub struct GetDistributionPath {
        /// The environment.
        venv: String,
        /// The name of the package.
        distribution: String,
    }
}

impl Run for GetDistributionPath {
    fn run(self, ctx: &Ctx) -> Reply {
        let code = "import sys\nimport importlib.metadata as m\n\
                    print(m.distribution(sys.argv[1]).locate_file(''))";
        asked(ctx, &self.venv, code, &[&self.distribution])
    }
}

record! {
    /// Shows the path of a file that a package in an environment has.
    ///
    ///   salt '*' virtualenv.get_resource_path /srv/venv pip __main__.py
    pub struct GetResourcePath {
        /// The environment.
        venv: String,
        /// The package.
        package: String,
        /// The file.
        resource: String,
    }
}

impl Run for GetResourcePath {
    fn run(self, ctx: &Ctx) -> Reply {
        let code = "import importlib, os, sys\n\
                    m = importlib.import_module(sys.argv[1])\n\
                    print(os.path.join(os.path.dirname(m.__file__), sys.argv[2]))";
        asked(ctx, &self.venv, code, &[&self.package, &self.resource])
    }
}

record! {
    /// Shows the content of a file that a package in an environment has.
    ///
    ///   salt '*' virtualenv.get_resource_content /srv/venv pip __main__.py
    pub struct GetResourceContent {
        /// The environment.
        venv: String,
        /// The package.
        package: String,
        /// The file.
        resource: String,
    }
}

impl Run for GetResourceContent {
    fn run(self, ctx: &Ctx) -> Reply {
        let code = "import pkgutil, sys\nprint(pkgutil.get_data(sys.argv[1], sys.argv[2]))";
        asked(ctx, &self.venv, code, &[&self.package, &self.resource])
    }
}

record! {
    /// Shows the version of virtualenv as a list of numbers.
    ///
    ///   salt '*' virtualenv.virtualenv_ver virtualenv
    pub struct VirtualenvVer {
        /// The program.
        venv_bin: String,
        /// The account to ask it as.
        user: Option<String> = (),
    }
}

impl Run for VirtualenvVer {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(version(ctx, &self.venv_bin, self.user.as_deref())?).into())
    }
}
