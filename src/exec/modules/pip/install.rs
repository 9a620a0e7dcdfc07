//! `pip.install` and `pip.uninstall`.

use super::Pip;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_node::fileserver::address::scheme;
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::record;
use halite_value::{Map, Value};

pub fn is_address(text: &str) -> bool {
    matches!(scheme(text).as_str(), "http" | "https" | "ftp" | "file") && text.contains("://")
}

/// A list, or words between commas.
fn listed(given: &Value) -> Vec<String> {
    match given {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        given if given.truthy() => given.to_text().split(',').map(|word| word.trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// The command line of pip as it is put together.
struct Words<'a> {
    ctx: &'a Ctx<'a>,
    words: Vec<String>,
}

impl Words<'_> {
    fn flag(&mut self, flag: &str, is_set: bool) {
        self.words.extend(is_set.then(|| flag.to_owned()));
    }

    fn option(&mut self, option: &str, value: &Value) {
        if value.truthy() {
            self.words.extend([option.to_owned(), value.to_text()]);
        }
    }

    fn each(&mut self, option: &str, values: &Value) {
        self.words.extend(listed(values).into_iter().flat_map(|value| [option.to_owned(), value]));
    }

    fn address(&mut self, option: &str, value: &Value) -> Result<(), Fault> {
        if value.truthy() && !is_address(&value.to_text()) {
            return Err(Fault::execution(format!("'{}' is not a valid URL", value.to_text())));
        }
        self.option(option, value);
        Ok(())
    }

    fn timeout(&mut self, value: &Value) -> Result<(), Fault> {
        if value.truthy() && value.to_text().parse::<i64>().is_err() {
            let message = format!("'{}' is not a valid timeout, must be an integer", value.to_text());
            return Err(Fault::invocation(message));
        }
        self.option("--timeout", value);
        Ok(())
    }

    /// The proxy that is given, or the configured one.
    fn proxy(&mut self, given: &Value) {
        let opt = |name: &str| self.ctx.opts.at(name).filter(|value| value.truthy()).map(Value::to_text);
        let configured = || {
            let host = format!("{}:{}", opt("proxy_host")?, opt("proxy_port")?);
            let login = opt("proxy_username").zip(opt("proxy_password"));
            Some(match login {
                Some((name, password)) => format!("http://{name}:{password}@{host}"),
                None => format!("http://{host}"),
            })
        };
        let proxy = match given {
            Value::Bool(false) => None,
            given if given.truthy() => Some(given.to_text()),
            _ => configured(),
        };
        self.option("--proxy", &proxy.map_or(Value::Null, Value::from));
    }

    fn log(&mut self, path: Option<&str>) -> Result<(), Fault> {
        let Some(path) = path.filter(|path| !path.is_empty()) else { return Ok(()) };
        if paths::is_directory(self.ctx.host, path) {
            return Err(Fault::execution(format!("'{path}' is a directory. Use --log path_to_file")));
        }
        let directory = paths::directory_of(path);
        if !directory.is_empty() && !paths::exists(self.ctx.host, &directory) {
            return Err(Fault::execution(format!(
                "Trying to create '{path}' but parent directory '{directory}' does not exist."
            )));
        }
        self.words.extend(["--log".to_owned(), path.to_owned()]);
        Ok(())
    }

    /// Files with requirements; those of the file server come into the cache. What to answer where one is missing.
    fn requirements(&mut self, given: &Value, environment: Option<&str>) -> Result<Option<Map>, Fault> {
        for file in listed(given) {
            let mut place = file.clone();
            if file.starts_with("salt://") {
                let environment = saltenv(self.ctx, environment);
                let cached = FileClient::new(self.ctx).cache_file(&file, &environment, &Wanted::default())?;
                let Some(cached) = cached else {
                    let comment = format!("pip requirements file '{file}' not found");
                    return Ok(Some(Map::from_iter([("result", Value::Bool(false)), ("comment", comment.into())])));
                };
                place = cached;
            }
            self.words.extend(["--requirement".to_owned(), place]);
        }
        Ok(None)
    }

    fn more(&mut self, given: &Value) -> Result<(), Fault> {
        for item in given.as_list().unwrap_or_default() {
            match item.as_map().and_then(|map| map.iter().next()) {
                Some((key, Value::Map(_) | Value::List(_))) => {
                    return Err(Fault::invocation(format!("Too many levels in: {}", key.to_text())));
                }
                Some((key, value)) => self.words.extend([key.to_text(), value.to_text()]),
                None => self.words.push(item.to_text()),
            }
        }
        Ok(())
    }
}

record! {
    /// Installs packages. Returns what pip said.
    ///
    ///   salt '*' pip.install django
    ///   salt '*' pip.install requirements=/srv/requirements.txt bin_env=/srv/venv
    ///   salt '*' pip.install markdown,django editable=git+https://example.com/x.git#egg=x upgrade=True
    pub struct Install {
        /// The packages.
        pkgs: Value = (),
        /// Files with requirements.
        requirements: Value = (),
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// Taken, and ignored: of versions before 10.
        use_wheel: bool = false,
        /// Taken, and ignored: of versions before 10.
        no_use_wheel: bool = false,
        /// The file for pip's log.
        log: Option<String> = (),
        /// The proxy; False: not even the configured one.
        proxy: Value = (),
        /// How many seconds to wait for an answer.
        timeout: Value = (),
        /// What to install as it is in its directory.
        editable: Value = (),
        /// Directories or pages with packages.
        find_links: Value = (),
        /// Where to look.
        index_url: Value = (),
        /// Where to look as well.
        extra_index_url: Value = (),
        /// Do not look on the net.
        no_index: bool = false,
        /// Not supported since version 7.
        mirrors: Value = (),
        /// The directory to build in.
        build: Value = (),
        /// The directory to install to.
        target: Value = (),
        /// The directory to download to.
        download: Value = (),
        /// The directory with what was downloaded before.
        download_cache: Value = (),
        /// The directory for what is editable.
        source: Value = (),
        /// Upgrade what is there.
        upgrade: bool = false,
        /// Install what is there again.
        force_reinstall: bool = false,
        /// Install beside what is there.
        ignore_installed: bool = false,
        /// What to do where a directory is there: s, i, w or b.
        exists_action: Option<String> = (),
        /// Not what the packages need.
        no_deps: bool = false,
        /// Only download.
        no_install: bool = false,
        /// Only install what was downloaded.
        no_download: bool = false,
        /// Options for all builds.
        global_options: Value = (),
        /// Options for the installation.
        install_options: Value = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Take versions that are not final.
        pre_releases: bool = false,
        /// The file with certificates.
        cert: Value = (),
        /// Of versions before 10.
        allow_all_external: bool = false,
        /// Of versions before 10.
        allow_external: Value = (),
        /// Of versions before 10.
        allow_unverified: Value = (),
        /// Of versions before 19.
        process_dependency_links: bool = false,
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// Variables of the environment.
        env_vars: Value = (),
        /// Taken, and ignored.
        use_vt: bool = false,
        /// The server that needs no valid certificate.
        trusted_host: Value = (),
        /// Do not keep what is downloaded.
        no_cache_dir: bool = false,
        /// Another name of download_cache.
        cache_dir: Value = (),
        /// The packages not to take ready built: names, `:all:` or `:none:`.
        no_binary: Value = (),
        /// More arguments: words, or maps of one option and its value.
        extra_args: Value = (),
        /// Do not ask whether there is a newer pip.
        disable_version_check: bool = false,
    }
}

impl Run for Install {
    fn run(self, ctx: &Ctx) -> Reply {
        let pip = Pip::find(ctx, self.bin_env, self.user, self.cwd)?;
        let mut line = Words { ctx, words: vec!["install".to_owned()] };
        if let Some(answer) = line.requirements(&self.requirements, self.saltenv.as_deref())? {
            return Ok(answer.into());
        }
        let no_binary = listed(&self.no_binary).join(",");
        line.option("--no-binary", &no_binary.into());
        line.log(self.log.as_deref())?;
        line.proxy(&self.proxy);
        line.timeout(&self.timeout)?;
        for link in listed(&self.find_links) {
            if !is_address(&link) && !paths::exists(ctx.host, &link) {
                return Err(Fault::execution(format!("'{link}' is not a valid URL or path")));
            }
            line.option("--find-links", &link.into());
        }
        if self.no_index && (self.index_url.truthy() || self.extra_index_url.truthy()) {
            return Err(Fault::execution("'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive."));
        }
        line.address("--index-url", &self.index_url)?;
        line.address("--extra-index-url", &self.extra_index_url)?;
        line.flag("--no-index", self.no_index);
        if self.mirrors.truthy() {
            return Err(Fault::execution(
                "pip >= 7.0.0 does not support mirror argument: use index_url and/or extra_index_url instead",
            ));
        }
        line.flag("--disable-pip-version-check", self.disable_version_check);
        let cache = if self.download_cache.truthy() { &self.download_cache } else { &self.cache_dir };
        for (option, value) in [
            ("--build", &self.build),
            ("--target", &self.target),
            ("--download", &self.download),
            ("--cache-dir", cache),
            ("--source", &self.source),
        ] {
            line.option(option, value);
        }
        line.flag("--upgrade", self.upgrade);
        line.flag("--force-reinstall", self.force_reinstall);
        line.flag("--ignore-installed", self.ignore_installed);
        if let Some(action) = self.exists_action.as_deref().filter(|action| !action.is_empty()) {
            if !["s", "i", "w", "b"].contains(&action.to_lowercase().as_str()) {
                return Err(Fault::execution(format!(
                    "The exists_action pip option only supports the values s, i, w, and b. '{action}' is not valid."
                )));
            }
            line.option("--exists-action", &action.into());
        }
        line.flag("--no-deps", self.no_deps);
        line.flag("--no-install", self.no_install);
        line.flag("--no-download", self.no_download);
        line.flag("--no-cache-dir", self.no_cache_dir);
        line.flag("--pre", self.pre_releases);
        line.option("--cert", &self.cert);
        line.each("--global-option", &self.global_options);
        line.each("--install-option", &self.install_options);
        let packages = listed(&self.pkgs);
        if packages.is_empty() && !self.requirements.truthy() && !self.editable.truthy() {
            return Ok(
                Map::from_iter([("retcode", Value::Int(0)), ("stdout", "No packages to install.".into())]).into()
            );
        }
        line.words.extend(packages.into_iter().map(|name| name.replace(';', ",")));
        for entry in listed(&self.editable) {
            let has_egg = entry.split(['#', '&']).skip(1).any(|part| part.len() > 4 && part.starts_with("egg="));
            if entry != "." && !entry.starts_with("file://") && !entry.starts_with('/') && !has_egg {
                return Err(Fault::execution("You must specify an egg for this editable"));
            }
            line.option("--editable", &entry.into());
        }
        line.flag("--allow-all-external", self.allow_all_external);
        line.each("--allow-external", &self.allow_external);
        line.each("--allow-unverified", &self.allow_unverified);
        line.flag("--process-dependency-links", self.process_dependency_links);
        line.option("--trusted-host", &self.trusted_host);
        line.more(&self.extra_args)?;
        let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
        let mut program = pip.program(&words)?;
        match &self.env_vars {
            Value::Map(variables) => {
                for (name, value) in variables.iter() {
                    program = program.env(&name.to_text(), &value.to_text());
                }
            }
            given if given.truthy() => {
                return Err(Fault::execution(format!("env_vars {} is not a dictionary", given.to_text())));
            }
            _ => {}
        }
        Ok(program.run(ctx)?.shown().into())
    }
}

record! {
    /// Removes packages. Returns what pip said.
    ///
    ///   salt '*' pip.uninstall django,markdown
    ///   salt '*' pip.uninstall requirements=/srv/requirements.txt bin_env=/srv/venv
    pub struct Uninstall {
        /// The packages.
        pkgs: Value = (),
        /// Files with requirements.
        requirements: Value = (),
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The file for pip's log.
        log: Option<String> = (),
        /// The proxy; False: not even the configured one.
        proxy: Value = (),
        /// How many seconds to wait for an answer.
        timeout: Value = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// Taken, and ignored.
        use_vt: bool = false,
        /// More arguments: words, or maps of one option and its value.
        extra_args: Value = (),
    }
}

impl Run for Uninstall {
    fn run(self, ctx: &Ctx) -> Reply {
        let pip = Pip::find(ctx, self.bin_env, self.user, self.cwd)?;
        let mut line = Words { ctx, words: vec!["uninstall".to_owned(), "-y".to_owned()] };
        if let Some(answer) = line.requirements(&self.requirements, self.saltenv.as_deref())? {
            return Ok(answer.into());
        }
        line.log(self.log.as_deref())?;
        line.proxy(&self.proxy);
        line.timeout(&self.timeout)?;
        line.words.extend(listed(&self.pkgs));
        line.more(&self.extra_args)?;
        let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
        Ok(pip.program(&words)?.run(ctx)?.shown().into())
    }
}
