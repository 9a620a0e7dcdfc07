//! Where packages come from, selections, services: what Debian's tools have of it, and the way to the others'.
//!
//! It is long because it is many small functions, each with its arguments and its example.

use super::apt::{self, Keep, Source, Sources};
use super::dnf::{self, repos::Where};
use super::keys::AddRepoKey;
use super::manager::Manager;
use super::zypper;
use halite_core::host::Host;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::yaml;
use halite_node::apt_sources::{asked, is_true, listed, wanted};
use halite_node::fileserver::client::FileClient;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What dpkg-query says where it does not know one of the packages.
pub(super) fn unknown(ctx: &Ctx, names: &[String]) -> Result<Option<String>, Fault> {
    super::check_names(names)?;
    let format = "-f=${db:Status-Status}\t${binary:Package}\n";
    let told = Program::new(["dpkg-query", format, "-W"]).args(names.iter().map(String::as_str)).query(ctx)?;
    Ok((!told.is_success()).then(|| format!("Error:  {}", told.stderr)))
}

/// `pkg.show`.
pub(super) fn show(ctx: &Ctx, names: &[String], keywords: &Map) -> Reply {
    super::check_names(names)?;
    if keywords.at("refresh").is_some_and(is_true) {
        apt::refresh(ctx)?;
    }
    if names.is_empty() {
        return Ok(Map::new().into());
    }
    let fields: Vec<String> = match keywords.at("filter") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(items)) => items.iter().map(|item| item.to_text().to_lowercase()).collect(),
        Some(text) => text.to_text().split(',').map(|field| field.trim().to_lowercase()).collect(),
    };
    let told = Program::new(["apt-cache", "show"]).args(names.iter().map(String::as_str)).query(ctx)?;
    let mut shown = Map::new();
    for stanza in told.stdout.split("\n\n") {
        let (mut name, mut version, mut rest) = (None, None, Map::new());
        for line in stanza.lines() {
            let Some((key, value)) = line.trim().split_once(':') else { continue };
            let (key, value) = (key.trim(), value.trim());
            match key {
                "Package" => name = Some(value.to_owned()),
                "Version" => version = Some(value.to_owned()),
                key if fields.is_empty() || fields.contains(&key.to_lowercase()) => {
                    rest.insert(key, value);
                }
                _ => {}
            }
        }
        if let (Some(name), Some(version)) = (name, version)
            && let Value::Map(versions) = shown.entry_or(name, || Map::new().into())
            && let Value::Map(known) = versions.entry_or(version, || Map::new().into())
        {
            known.extend(rest);
        }
    }
    Ok(shown.into())
}

/// `pkg.info_installed`.
pub(super) fn info(ctx: &Ctx, names: &[String], failhard: bool) -> Reply {
    const FIELDS: [(&str, &str); 15] = [
        ("name", "${Package}"),
        ("revision", "${binary:Revision}"),
        ("architecture", "${Architecture}"),
        ("packager", "${Maintainer}"),
        ("summary", "${Summary}"),
        ("source", "${source:Package}"),
        ("version", "${Version}"),
        ("group", "${Section}"),
        ("size", "${Size}"),
        ("MD5", "${MD5sum}"),
        ("vendor", "${Origin}"),
        ("url", "${Homepage}"),
        ("status", "${db:Status-Abbrev}"),
        ("install_date", "${db-fsys:Last-Modified}"),
        ("description", "${Description}"),
    ];
    // Unit separators: no field has one.
    let format: String = FIELDS.iter().map(|(_, field)| format!("{field}\u{1f}")).collect();
    let format = format!("-f={format}\u{1e}");
    let told = Program::new(["dpkg-query", "-W", &format]).args(names.iter().map(String::as_str)).query(ctx)?;
    if !told.is_success() && failhard {
        return Err(Fault::execution(format!("Error getting packages information: {}", told.stderr)));
    }
    let mut shown = Map::new();
    for package in told.stdout.split('\u{1e}') {
        let values: Vec<&str> = package.split('\u{1f}').collect();
        let Some(name) = values.first().filter(|name| !name.is_empty()) else { continue };
        let mut info = Map::new();
        for ((key, _), value) in FIELDS.iter().zip(&values) {
            match *key {
                "status" => {}
                "install_date" => {
                    let date = value.parse().ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
                    if let Some(date) = date {
                        info.insert("install_date", date.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
                    }
                }
                "description" => drop(info.insert(*key, *value)),
                _ if value.is_empty() => {}
                key => drop(info.insert(key, *value)),
            }
        }
        if let Some(license) = license(ctx.host, name) {
            info.insert("license", license);
        }
        if values.get(12).is_none_or(|status| status.chars().nth(1) == Some('i')) {
            shown.insert(*name, info);
        }
    }
    Ok(shown.into())
}

fn license(host: &dyn Host, name: &str) -> Option<String> {
    let bytes = host.read(Path::new(&format!("/usr/share/doc/{name}/copyright"))).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut licenses: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("License:")).map(str::trim).collect();
    licenses.sort_unstable();
    licenses.dedup();
    Some(licenses.join(", ")).filter(|licenses| !licenses.is_empty())
}

record! {
    /// Shows what dpkg is told to do with packages: their names by state.
    ///
    ///   salt '*' pkg.get_selections
    ///   salt '*' pkg.get_selections 'python-*' state=hold
    pub struct GetSelections {
        /// A package or a shell pattern.
        pattern: Option<String> = (),
        /// Only those in this state.
        state: Option<String> = (),
    }
}

impl Run for GetSelections {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "get_selections", &[Manager::Apt])?;
        let mut found = apt::selections(ctx, self.pattern.as_deref().filter(|pattern| !pattern.is_empty()))?;
        let list = |names: Vec<String>| Value::list(names);
        if let Some(state) = self.state.filter(|state| !state.is_empty()) {
            let names = found.remove(&state).unwrap_or_default();
            return Ok(Map::from_iter([(state, list(names))]).into());
        }
        Ok(found.into_iter().map(|(state, names)| (state, list(names))).collect::<Map>().into())
    }
}

record! {
    /// Tells dpkg what to do with packages. Returns what has changed.
    ///
    ///   salt '*' pkg.set_selections selection='{"install": ["netcat"]}'
    pub struct SetSelections {
        /// The address of a file as `dpkg --get-selections` prints it.
        path: Option<String> = (),
        /// Names by state: install, hold, deinstall, purge.
        selection: Value = (),
        /// Forget first what it was told.
        clear: bool = false,
        /// The environment of files.
        saltenv: String = "base",
    }
}

impl Run for SetSelections {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "set_selections", &[Manager::Apt])?;
        let path = self.path.filter(|path| !path.is_empty());
        if path.is_some() && self.selection.truthy() {
            return Err(Fault::invocation(
                "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, and cannot be specified \
                 together",
            ));
        }
        let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if let Some(path) = path {
            let client = FileClient::new(ctx);
            let kept = client.cache_file(&path, &self.saltenv, &Default::default())?;
            let kept = kept.ok_or_else(|| Fault::execution(format!("{path} is not there")))?;
            let text = client.read_text(&kept).map_err(|error| Fault::execution(format!("{kept}: {error}")))?;
            wanted = apt::parse_selections(&text);
        } else if self.selection.truthy() {
            let given = match &self.selection {
                Value::Str(text) => yaml::load(text)
                    .map_err(|error| Fault::invocation(format!("Improperly-formatted selection: {error}")))?,
                other => other.clone(),
            };
            let Value::Map(map) = given else { return Err(Fault::invocation("selection: a map of states is wanted")) };
            for (state, names) in &map {
                let names = match names {
                    Value::List(names) => names.iter().map(Value::to_text).collect(),
                    name => vec![name.to_text()],
                };
                wanted.insert(state.to_text(), names);
            }
        }
        let states = ["install", "hold", "deinstall", "purge"];
        let bad: Vec<&str> = wanted.keys().map(String::as_str).filter(|state| !states.contains(state)).collect();
        if !bad.is_empty() {
            return Err(Fault::invocation(format!("Invalid state(s): {}", bad.join(", "))));
        }
        if wanted.is_empty() {
            return Ok(Map::new().into());
        }
        let is_test = ctx.opt("test").is_some_and(Value::truthy);
        if self.clear && !is_test {
            let answer = apt::call(ctx, &["dpkg", "--clear-selections"], None)?;
            answer.expect_success("Running dpkg --clear-selections failed")?;
        }
        let had = apt::selections(ctx, None)?;
        let state_of =
            |name: &String| had.iter().find(|(_, names)| names.contains(name)).map(|(state, _)| state.as_str());
        let mut changed = Map::new();
        for (state, names) in &wanted {
            super::check_names(names)?;
            for name in names.iter().filter(|name| state_of(name) != Some(state)) {
                if !is_test {
                    apt::select(ctx, name, state)?;
                    let change = [("old", Value::from(state_of(name))), ("new", state.as_str().into())];
                    changed.insert(name.as_str(), Map::from_iter(change));
                }
            }
        }
        Ok(changed.into())
    }
}

record! {
    /// Lists where packages come from: by address with apt, by name with dnf and zypper.
    ///
    ///   salt '*' pkg.list_repos
    pub struct ListRepos {
        /// `basedir` (directories of `.repo` files), `strict_config` of dnf; `root` of zypper.
        kwargs: Keywords,
    }
}

impl Run for ListRepos {
    fn run(self, ctx: &Ctx) -> Reply {
        let more = &self.kwargs.0;
        Ok(match Manager::expect(ctx, "list_repos", &WITH_REPOS)? {
            Manager::Dnf => dnf::repos::all(ctx, &Where::read(more))?,
            Manager::Zypper => zypper::repos::all(ctx, more.str_at("root"))?,
            _ => Sources::read(ctx).shown(),
        }
        .into())
    }
}

/// Tools that are told where packages come from.
const WITH_REPOS: [Manager; 3] = [Manager::Apt, Manager::Dnf, Manager::Zypper];

/// The entry of `pkg.list_repos` that a source means; nothing where there is none.
fn shown(sources: &Sources, wanted: &Source) -> Map {
    let has = |entry: &Value, key: &str, value: Option<&String>| {
        let own = entry.at(key).map(Value::to_text).unwrap_or_default();
        value.is_some_and(|value| own.trim_end_matches('/') == value.trim_end_matches('/'))
    };
    let all = sources.shown();
    let entries = all.values().filter_map(Value::as_list).flatten();
    let at = |entry: &&Value| {
        has(entry, "type", wanted.types.first())
            && has(entry, "uri", wanted.uris.first())
            && has(entry, "dist", wanted.suites.first())
    };
    let shares = |entry: &&Value| {
        let own = entry.at("comps").and_then(Value::as_list).unwrap_or_default();
        wanted.comps.is_empty() || own.iter().any(|comp| wanted.comps.contains(&comp.to_text()))
    };
    entries.filter(at).find(shares).and_then(Value::as_map).cloned().unwrap_or_default()
}

record! {
    /// Shows a source of packages; nothing where there is no such one.
    ///
    ///   salt '*' pkg.get_repo 'deb http://deb.debian.org/debian stable main'
    pub struct GetRepo {
        /// The source, as it stands in sources.list.
        repo: String,
        kwargs: Keywords,
    }
}

impl Run for GetRepo {
    fn run(self, ctx: &Ctx) -> Reply {
        let more = &self.kwargs.0;
        match Manager::expect(ctx, "get_repo", &WITH_REPOS)? {
            Manager::Dnf => return Ok(dnf::repos::one(ctx, &self.repo, &Where::read(more))?.into()),
            Manager::Zypper => return Ok(zypper::repos::one(ctx, &self.repo, more.str_at("root"))?.into()),
            _ => {}
        }
        let sources = Sources::read(ctx);
        if sources.iter().next().is_none() {
            return Ok(Map::new().into());
        }
        match Source::parse(&self.repo) {
            Some(source) => Ok(shown(&sources, &source).into()),
            None if self.repo.starts_with("ppa:") => Ok(shown(&sources, &wanted(ctx, &self.repo)?).into()),
            None => Ok(Map::new().into()),
        }
    }
}

record! {
    /// Removes a source of packages, or some components of it. Returns what was removed, in words.
    ///
    ///   salt '*' pkg.del_repo 'deb http://deb.example.org/debian stable main'
    pub struct DelRepo {
        /// The source, as it stands in sources.list; with dnf and zypper its name.
        repo: String,
        /// `refresh_db` (True): read the lists anew afterwards, with apt; `basedir`, `strict_config` of dnf; `root` of
        /// zypper.
        kwargs: Keywords,
    }
}

impl Run for DelRepo {
    fn run(self, ctx: &Ctx) -> Reply {
        let more = &self.kwargs.0;
        match Manager::expect(ctx, "del_repo", &WITH_REPOS)? {
            Manager::Dnf => return Ok(dnf::repos::delete(ctx, &self.repo, &Where::read(more))?.into()),
            Manager::Zypper => return Ok(zypper::repos::delete(ctx, &self.repo, more.str_at("root"))?.into()),
            _ => {}
        }
        let gone = wanted(ctx, &self.repo)?;
        let mut sources = Sources::read(ctx);
        let suite = gone.suites.first().cloned().unwrap_or_default();
        let touched = sources.change(|source| {
            if !source.is_at(&gone) || source.architectures != gone.architectures {
                return Keep::AsItIs;
            }
            let same = |a: &[String], b: &[String]| a.len() == b.len() && a.iter().all(|item| b.contains(item));
            if same(&source.comps, &gone.comps) {
                source.suites.retain(|own| *own != suite);
            } else {
                let before = source.comps.len();
                source.comps.retain(|comp| !gone.comps.contains(comp));
                if source.comps.len() == before {
                    return Keep::AsItIs;
                }
            }
            if source.suites.is_empty() || source.comps.is_empty() && !gone.comps.is_empty() {
                Keep::Not
            } else {
                Keep::Changed
            }
        });
        if touched.is_empty() {
            return Err(Fault::execution(format!("Repo {} doesn't exist in the sources.list(s)", self.repo)));
        }
        sources.save(ctx.host)?;
        let mut told = String::new();
        for path in touched {
            let shown = path.display();
            if !sources.has_sources(&path) && path.starts_with("/etc/apt/sources.list.d") {
                ctx.host.remove(&path).map_err(|error| Fault::execution(format!("{shown}: {error}")))?;
                told.push_str(&format!("File {shown} containing repo '{}' has been removed.", self.repo));
            } else {
                told.push_str(&format!("Repo '{}' has been removed from {shown}.\n", self.repo));
            }
        }
        if self.kwargs.0.at("refresh_db").is_none_or(is_true) {
            apt::refresh(ctx)?;
        }
        Ok(told.into())
    }
}

record! {
    /// Makes sure that there is a source of packages. Returns it, as `pkg.get_repo` does.
    ///
    ///   salt '*' pkg.mod_repo 'deb http://deb.example.org/debian stable main' file=/etc/apt/sources.list.d/e.list
    pub struct ModRepo {
        /// The source, as it stands in sources.list; with dnf and zypper its name, with dnf also `copr:OWNER/PROJECT`.
        repo: String,
        /// The environment of files.
        saltenv: String = "base",
        /// Whether keys go to apt-key, where there is one; else to the file that `signed-by` names.
        aptkey: bool = true,
        /// `comps`, `architectures` (text with commas), `disabled`, `enabled`, `file`, `comments`, `trusted`; `key_url`,
        /// `key_text`, `keyid` with `keyserver`: its key; `refresh` (True): read the lists anew afterwards. With dnf the
        /// settings of its file, such as `name`, `baseurl`, `enabled`, `gpgkey`; with zypper `baseurl`, `name`, `enabled`,
        /// `refresh`, `cache`, `gpgcheck`, `priority`, `gpgautoimport`, `root`.
        kwargs: Keywords,
    }
}

impl Run for ModRepo {
    fn run(self, ctx: &Ctx) -> Reply {
        let more = &self.kwargs.0;
        match Manager::expect(ctx, "mod_repo", &WITH_REPOS)? {
            Manager::Dnf => return Ok(dnf::repos::change(ctx, &self.repo, more, &Where::read(more))?.into()),
            Manager::Zypper => return Ok(zypper::repos::change(ctx, &self.repo, more, more.str_at("root"))?.into()),
            _ => {}
        }
        let mut source = asked(ctx, &self.repo, more)?;
        let list = |name: &str| listed(more, name);
        let mut comps = wanted(ctx, &self.repo)?.comps;
        for comp in list("comps").unwrap_or_default() {
            if !comps.contains(&comp) {
                comps.push(comp);
            }
        }
        let comment = list("comments").map(|comments| comments.join(" ")).unwrap_or_default();
        self.add_key(ctx, &source)?;
        let mut sources = Sources::read(ctx);
        let fits = |known: &Source| {
            known.is_at(&source)
                && (comps.is_empty() || known.comps.is_empty() || known.comps.iter().any(|comp| comps.contains(comp)))
        };
        if let Some(known) = sources.find_mut(fits) {
            let chosen = list("comps").is_some();
            known.comps = if chosen { list("comps").unwrap_or_default() } else { comps };
            known.architectures.clone_from(&source.architectures);
            known.disabled = source.disabled;
            known.signedby.clone_from(&source.signedby);
            if more.contains("comments") {
                known.comment = comment;
            }
            known.raw.clear();
        } else {
            source.comps = comps;
            if more.contains("comments") {
                source.comment = comment;
            }
            let file = more.str_at("file").unwrap_or("/etc/apt/sources.list");
            if !file.starts_with('/') {
                return Err(Fault::invocation(format!("file: {file} is not an absolute path")));
            }
            source.file = PathBuf::from(file);
            sources.add(source.clone());
        }
        sources.save(ctx.host)?;
        if more.at("refresh_db").or_else(|| more.at("refresh")).is_none_or(is_true) {
            apt::refresh(ctx)?;
        }
        Ok(Map::from_iter([(self.repo, shown(&Sources::read(ctx), &source))]).into())
    }
}

impl ModRepo {
    fn add_key(&self, ctx: &Ctx, source: &Source) -> Result<(), Fault> {
        let more = &self.kwargs.0;
        let text = |name: &str| more.at(name).filter(|value| value.truthy()).map(Value::to_text);
        let keyring = Path::new(&source.signedby);
        let mut key = AddRepoKey {
            path: text("key_url"),
            text: text("key_text"),
            keyserver: text("keyserver"),
            keyid: text("keyid"),
            saltenv: self.saltenv.clone(),
            aptkey: self.aptkey,
            keydir: None,
            keyfile: None,
        };
        if key.path.is_none() && key.text.is_none() && key.keyid.is_none() {
            return Ok(());
        }
        if key.keyid.is_some() && key.keyserver.is_none() {
            return Err(Fault::invocation("both keyserver and keyid options required."));
        }
        if !source.signedby.is_empty() {
            key.aptkey = false;
            key.keydir = keyring.parent().map(|directory| directory.to_string_lossy().into_owned());
            key.keyfile = keyring.file_name().map(|name| name.to_string_lossy().into_owned());
        }
        match key.add(ctx)? {
            true => Ok(()),
            false => Err(Fault::execution("Error: Could not add key")),
        }
    }
}

record! {
    /// Lists the services that use files which were upgraded since they started: with checkrestart on Debian, with dnf's
    /// needs-restarting, with `zypper ps`.
    ///
    ///   salt '*' pkg.services_need_restart
    pub struct ServicesNeedRestart {
        /// `root`: another root, for zypper.
        kwargs: Keywords,
    }
}

impl Run for ServicesNeedRestart {
    fn run(self, ctx: &Ctx) -> Reply {
        match Manager::expect(ctx, "services_need_restart", &WITH_REPOS)? {
            Manager::Dnf => return Ok(Value::list(dnf::services_to_restart(ctx)?).into()),
            Manager::Zypper => {
                return Ok(Value::list(zypper::services_to_restart(ctx, self.kwargs.0.str_at("root"))?).into());
            }
            _ => {}
        }
        if ctx.host.which("checkrestart").is_none() {
            return Err(Fault::execution(
                "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official \
                 repositories.",
            ));
        }
        let told = Program::new(["checkrestart", "--machine", "--package"]).query(ctx)?;
        let lines = told.stdout.lines().filter_map(|line| line.strip_prefix("SERVICE:"));
        let mut names: Vec<&str> = lines.map(|line| line.split(',').next().unwrap_or(line)).collect();
        names.sort_unstable();
        names.dedup();
        Ok(Value::list(names).into())
    }
}

record! {
    /// Shows which package a file belongs to: None where no package has it, False where it is not there.
    ///
    ///   salt '*' pkg.which /usr/bin/apt-get
    pub struct Which {
        /// The path, absolute.
        path: String,
    }
}

impl Run for Which {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "which", &[Manager::Apt])?;
        if !self.path.starts_with('/') || !paths::exists(ctx.host, &self.path) {
            return Ok(false.into());
        }
        let owner = apt::owner(ctx, &self.path)?;
        Ok(if owner.is_empty() { Value::Null } else { owner.into() }.into())
    }
}
