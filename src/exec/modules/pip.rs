//! `pip.*`: packages of Python, with pip.

mod install;

use halite_core::module::{Module, Run, function};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::{Map, Value, parse_json};
use std::cmp::Ordering;
use std::str::FromStr;

pub const MODULE: Module = Module {
    name: "pip",
    doc: "Packages of Python.",
    functions: &[
        function::<Freeze>("freeze"),
        function::<install::Install>("install"),
        function::<IsInstalled>("is_installed"),
        function::<List>("list"),
        function::<ListAllVersions>("list_all_versions"),
        function::<ListFreezeParse>("list_freeze_parse"),
        function::<ListUpgrades>("list_upgrades"),
        function::<Normalize>("normalize"),
        function::<install::Uninstall>("uninstall"),
        function::<Upgrade>("upgrade"),
        function::<UpgradeAvailable>("upgrade_available"),
        function::<Version>("version"),
    ],
};

/// The pip of the host or of an environment, and how it is run.
pub(super) struct Pip<'a> {
    ctx: &'a Ctx<'a>,
    argv: Vec<String>,
    environment: Option<String>,
    user: Option<String>,
    cwd: Option<String>,
}

impl<'a> Pip<'a> {
    /// `bin_env` is the directory of an environment, its Python or its pip.
    fn find(
        ctx: &'a Ctx<'a>,
        bin_env: Option<String>,
        user: Option<String>,
        cwd: Option<String>,
    ) -> Result<Pip<'a>, Fault> {
        let of_python = |python: &str| vec![paths::normal(python), "-m".to_owned(), "pip".to_owned()];
        let given = bin_env.filter(|path| !path.is_empty());
        let environment = given.clone().filter(|path| paths::is_directory(ctx.host, path));
        let argv = match (&given, &environment) {
            (None, _) => vec!["python3".to_owned(), "-m".to_owned(), "pip".to_owned()],
            (_, Some(directory)) => {
                let below = directory.trim_end_matches('/');
                let found = ["python", "bin/python", "bin/python3"].into_iter().map(|name| format!("{below}/{name}"));
                let python = found.into_iter().find(|path| paths::is_file(ctx.host, path));
                let python = python.or_else(|| {
                    let mut found = paths::glob(ctx.host, &format!("{below}/bin/python[0-9]*"));
                    found.sort();
                    found.into_iter().find(|path| paths::is_file(ctx.host, path))
                });
                of_python(&python.ok_or_else(|| {
                    Fault::execution(format!("Could not find a pip binary in virtualenv {directory}"))
                })?)
            }
            (Some(path), None) if paths::is_file(ctx.host, path) => match paths::name_of(path).contains("python") {
                true => of_python(path),
                false => vec![paths::normal(path)],
            },
            (Some(path), None) => {
                return Err(Fault::execution(format!("Access denied to {path}, could not find a pip binary")));
            }
        };
        Ok(Pip { ctx, argv, environment, user, cwd })
    }

    fn program(&self, words: &[&str]) -> Result<Program, Fault> {
        let program = Program::new(self.argv.iter().map(String::as_str)).args(words.iter().copied());
        let mut program = program.runas_name(self.ctx, self.user.as_deref())?;
        if let Some(cwd) = self.cwd.as_deref().filter(|cwd| !cwd.is_empty()) {
            program = program.cwd(cwd);
        }
        Ok(match &self.environment {
            Some(directory) => program.env("VIRTUAL_ENV", directory),
            None => program,
        })
    }

    fn query(&self, words: &[&str]) -> Result<Answer, Fault> {
        self.program(words)?.query(self.ctx)
    }

    fn told(&self, words: &[&str]) -> Result<String, Fault> {
        let answer = self.query(words)?;
        match answer.is_success() {
            true => Ok(answer.stdout),
            false => Err(Fault::execution(answer.stderr)),
        }
    }

    fn version(&self) -> Result<String, Fault> {
        let answer = self.query(&["--version"])?;
        if !answer.is_success() {
            return Err(Fault::execution("Could not find a `pip` binary"));
        }
        Ok(answer.stdout.split_whitespace().nth(1).unwrap_or_default().to_owned())
    }

    fn frozen(&self) -> Result<Vec<String>, Fault> {
        Ok(self.told(&["freeze", "--all", "--disable-pip-version-check"])?.lines().map(str::to_owned).collect())
    }

    fn table(&self, words: &[&str]) -> Result<Vec<Value>, Fault> {
        let told = self.told(words)?;
        match parse_json(&told) {
            Ok(Value::List(packages)) => Ok(packages),
            _ => Err(Fault::execution("Invalid JSON")),
        }
    }

    /// The packages there are, with their versions.
    fn list(&self, prefix: Option<&str>) -> Result<Map, Fault> {
        let prefix = prefix.map(normal).unwrap_or_default();
        let packages = self.table(&["list", "--format=json", "--disable-pip-version-check"])?;
        let entry = |package: &Value| {
            let text = |key: &str| package.at(key).map(Value::to_text);
            Some((normal(&text("name")?), text("version")?))
        };
        Ok(packages.iter().filter_map(entry).filter(|(name, _)| name.starts_with(&prefix)).collect())
    }

    fn upgrades(&self) -> Result<Map, Fault> {
        let words = ["list", "--outdated", "--disable-pip-version-check", "--format=json"];
        let entry = |package: &Value| {
            let text = |key: &str| package.at(key).map(Value::to_text);
            let latest = format!("{} [{}]", text("latest_version")?, text("latest_filetype")?);
            Some((text("name")?, latest))
        };
        Ok(self.table(&words)?.iter().filter_map(entry).collect())
    }
}

/// A name as packages are compared by.
fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']);
    let mut shown: Vec<&str> = Vec::new();
    for (number, part) in parts.clone().enumerate() {
        // Several signs in a row count as one.
        let is_edge = number == 0 || number + 1 == parts.clone().count();
        if is_edge || !part.is_empty() {
            shown.push(part);
        }
    }
    shown.join("-").to_lowercase()
}

record! {
    /// Shows a name as packages are compared by.
    ///
    ///   salt '*' pip.normalize Foo_Bar.baz
    pub struct Normalize {
        /// The name.
        name: String,
    }
}

impl Run for Normalize {
    fn run(self, _: &Ctx) -> Reply {
        Ok(normal(&self.name).into())
    }
}

record! {
    /// Lists the packages there are as lines that pip can install again.
    ///
    ///   salt '*' pip.freeze
    ///   salt '*' pip.freeze bin_env=/srv/venv
    pub struct Freeze {
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
    }
}

impl Run for Freeze {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(Pip::find(ctx, self.bin_env, self.user, self.cwd)?.frozen()?).into())
    }
}

record! {
    /// Lists the packages there are with their versions.
    ///
    ///   salt '*' pip.list
    ///   salt '*' pip.list salt bin_env=/srv/venv
    pub struct List {
        /// Only packages whose names start with this.
        prefix: Option<String> = (),
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
    }
}

impl Run for List {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Pip::find(ctx, self.bin_env, self.user, self.cwd)?.list(self.prefix.as_deref())?.into())
    }
}

record! {
    /// Lists the packages there are with their versions, as pip.freeze has them.
    ///
    ///   salt '*' pip.list_freeze_parse
    ///   salt '*' pip.list_freeze_parse salt
    pub struct ListFreezeParse {
        /// Only packages whose names start with this.
        prefix: Option<String> = (),
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
    }
}

impl Run for ListFreezeParse {
    fn run(self, ctx: &Ctx) -> Reply {
        let pip = Pip::find(ctx, self.bin_env, self.user, self.cwd)?;
        let prefix = self.prefix.as_deref().map(normal).unwrap_or_default();
        let mut shown = Map::new();
        if "pip".starts_with(&prefix) {
            shown.insert("pip", pip.version()?);
        }
        for line in pip.frozen()? {
            let line = line.strip_prefix("-e ").unwrap_or(&line);
            if line.starts_with("-f") || line.starts_with('#') {
                continue;
            }
            let pair = match line.split_once("#egg=") {
                Some((version, name)) => Some((name, version)),
                None => line.split_once("===").or_else(|| line.split_once("==")),
            };
            match pair.map(|(name, version)| (normal(name), version)) {
                Some((name, version)) if name.starts_with(&prefix) => drop(shown.insert(name, version)),
                Some(_) => {}
                None => log::error!("Can't parse line '{line}'"),
            }
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows the version of pip.
    ///
    ///   salt '*' pip.version
    pub struct Version {
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
    }
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Pip::find(ctx, self.bin_env, self.user, self.cwd)?.version()?.into())
    }
}

record! {
    /// Tells whether a package is there.
    ///
    ///   salt '*' pip.is_installed salt
    pub struct IsInstalled {
        /// The package.
        pkgname: String,
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
    }
}

impl Run for IsInstalled {
    fn run(self, ctx: &Ctx) -> Reply {
        let list = Pip::find(ctx, self.bin_env, self.user, self.cwd)?.list(Some(&self.pkgname))?;
        Ok(list.at(&self.pkgname.to_lowercase()).is_some().into())
    }
}

record! {
    /// Lists the packages that there are newer versions of.
    ///
    ///   salt '*' pip.list_upgrades
    pub struct ListUpgrades {
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
    }
}

impl Run for ListUpgrades {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Pip::find(ctx, self.bin_env, self.user, self.cwd)?.upgrades()?.into())
    }
}

record! {
    /// Tells whether there is a newer version of a package.
    ///
    ///   salt '*' pip.upgrade_available salt
    pub struct UpgradeAvailable {
        /// The package.
        pkg: String,
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
    }
}

impl Run for UpgradeAvailable {
    fn run(self, ctx: &Ctx) -> Reply {
        let upgrades = Pip::find(ctx, self.bin_env, self.user, self.cwd)?.upgrades()?;
        Ok(upgrades.at(&self.pkg).is_some().into())
    }
}

record! {
    /// Upgrades all packages that there are newer versions of.
    ///
    ///   salt '*' pip.upgrade
    ///   salt '*' pip.upgrade bin_env=/srv/venv
    pub struct Upgrade {
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Taken, and ignored.
        use_vt: bool = false,
    }
}

impl Run for Upgrade {
    fn run(self, ctx: &Ctx) -> Reply {
        let pip = Pip::find(ctx, self.bin_env, self.user, self.cwd)?;
        let old = pip.list(None)?;
        let mut comment = String::new();
        let mut is_right = true;
        for (name, _) in pip.upgrades()?.iter() {
            let name = name.to_text();
            let answer = pip.program(&["install", "-U", "--disable-pip-version-check", &name])?.run(ctx)?;
            is_right &= answer.is_success();
            comment.push_str(&answer.stderr);
        }
        let new = pip.list(None)?;
        let at = |map: &Map, name: &str| map.str_at(name).unwrap_or_default().to_owned();
        let names = new.iter().chain(old.iter()).map(|(name, _)| name.to_text());
        let changed = names.filter(|name| at(&old, name) != at(&new, name));
        let changes: Map = changed
            .map(|name| (name.clone(), Map::from_iter([("old", at(&old, &name)), ("new", at(&new, &name))])))
            .collect();
        Ok(Map::from_iter([
            ("changes", Value::from(changes)),
            ("result", is_right.into()),
            ("comment", comment.into()),
        ])
        .into())
    }
}

/// By Python's rules; what is no version by them comes first, as text.
fn by_version(a: &str, b: &str) -> Ordering {
    let key = |version: &str| (pep440_rs::Version::from_str(version).ok(), version.to_owned());
    key(a).cmp(&key(b))
}

record! {
    /// Lists all versions of a package that can be installed.
    ///
    ///   salt '*' pip.list_all_versions salt
    ///   salt '*' pip.list_all_versions salt include_rc=True
    pub struct ListAllVersions {
        /// The package.
        pkg: String,
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// List alpha versions too.
        include_alpha: bool = false,
        /// List beta versions too.
        include_beta: bool = false,
        /// List release candidates too.
        include_rc: bool = false,
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Where to look.
        index_url: Option<String> = (),
        /// Where to look as well.
        extra_index_url: Option<String> = (),
    }
}

impl Run for ListAllVersions {
    fn run(self, ctx: &Ctx) -> Reply {
        let pip = Pip::find(ctx, self.bin_env, self.user, self.cwd)?;
        let mut words = vec!["--disable-pip-version-check", "index", "versions", &self.pkg];
        for (option, url) in [("--index-url", &self.index_url), ("--extra-index-url", &self.extra_index_url)] {
            if let Some(url) = url.as_deref().filter(|url| !url.is_empty()) {
                if !install::is_address(url) {
                    return Err(Fault::execution(format!("'{url}' is not a valid URL")));
                }
                words.extend([option, url]);
            }
        }
        let told = pip.program(&words)?.mixed().query(ctx)?.stdout;
        let shown = [(self.include_alpha, "a"), (self.include_beta, "b"), (self.include_rc, "rc")];
        let hidden: Vec<&str> = shown.into_iter().filter(|(shown, _)| !shown).map(|(_, mark)| mark).collect();
        let line = told.lines().find_map(|line| line.trim_start().strip_prefix("Available versions: "));
        let mut versions: Vec<&str> = line.unwrap_or_default().split(", ").filter(|text| !text.is_empty()).collect();
        versions.retain(|version| !hidden.iter().any(|mark| version.contains(mark)));
        versions.sort_by(|a, b| by_version(a, b));
        Ok(if versions.is_empty() { Value::Null } else { Value::list(versions) }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_are_those_of_python() {
        assert_eq!(normal("Foo__Bar.-baz"), "foo-bar-baz");
        assert_eq!(normal("_x"), "-x");
        let mut versions = vec!["1.10", "1.2", "1.2rc1", "1.2.post1", "0.9"];
        versions.sort_by(|a, b| by_version(a, b));
        assert_eq!(versions, ["0.9", "1.2rc1", "1.2", "1.2.post1", "1.10"]);
    }
}
