//! Packages that were fetched and are kept, and what they say of installed files.

use super::dnf;
use super::manager::Manager;
use super::{apt, check_names, rpm, zypper};
use halite_core::accounts::below;
use halite_core::host::FileKind;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};
use std::collections::BTreeMap;

const WITH_DOWNLOADS: [Manager; 2] = [Manager::Dnf, Manager::Zypper];

record! {
    /// Lists the packages that were fetched and are kept.
    ///
    ///   salt '*' pkg.list_downloaded
    pub struct ListDownloaded {
        /// Another root.
        root: Option<String> = (),
        kwargs: Keywords,
    }
}

impl Run for ListDownloaded {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(downloaded(ctx, self.root.as_deref())?.into())
    }
}

/// The packages that are kept: path, size and time of each, by name and version.
pub fn downloaded(ctx: &Ctx, root: Option<&str>) -> Result<Map, Fault> {
    let those = [Manager::Apt, Manager::Dnf, Manager::Zypper];
    let manager = Manager::expect(ctx, "list_downloaded", &those)?;
    let (directory, end) = match manager {
        Manager::Dnf => (format!("var/cache/{}", dnf::tool(ctx)), ".rpm"),
        Manager::Zypper => ("var/cache/zypp/packages".to_owned(), ".rpm"),
        _ => ("var/cache/apt".to_owned(), ".deb"),
    };
    let mut shown = Map::new();
    let mut todo = vec![below(root, &directory)];
    while let Some(directory) = todo.pop() {
        for name in ctx.host.list(&directory).unwrap_or_default() {
            let path = directory.join(&name);
            let Ok(stat) = ctx.host.stat(&path) else { continue };
            if stat.kind == FileKind::Directory {
                todo.push(path);
                continue;
            }
            if !name.ends_with(end) {
                continue;
            }
            let path = path.to_string_lossy().into_owned();
            let (package, version) = match manager {
                Manager::Apt => apt::package_of(ctx, &path)?,
                _ => match rpm::package_of(ctx, &path)? {
                    Some(package) => (package.name.clone(), package.full_version()),
                    None => continue,
                },
            };
            let made = jiff::Timestamp::try_from(stat.changed).map_err(|error| Fault::Internal(error.to_string()))?;
            let entry = Map::from_iter([
                ("path", Value::from(path)),
                ("size", stat.size.into()),
                ("creation_date_time_t", made.as_second().into()),
                ("creation_date_time", made.strftime("%Y-%m-%dT%H:%M:%S").to_string().into()),
            ]);
            if let Value::Map(versions) = shown.entry_or(package, || Map::new().into()) {
                versions.insert(version, entry);
            }
        }
    }
    Ok(shown)
}

/// What is other than before, of what is kept.
pub fn changes(old: &Map, new: &Map) -> Map {
    let empty = || Value::from("");
    let mut changes = Map::new();
    for (name, after) in new.iter().filter(|(name, after)| old.at_value(name) != Some(after)) {
        let before = old.at_value(name).cloned().unwrap_or_else(empty);
        changes.insert(name.clone(), Map::from_iter([("old", before), ("new", after.clone())]));
    }
    for (name, before) in old.iter().filter(|(name, _)| !new.contains_value(name)) {
        changes.insert(name.clone(), Map::from_iter([("old", before.clone()), ("new", empty())]));
    }
    changes
}

record! {
    /// Fetches packages and does not install them, with dnf and zypper. Returns where each is.
    ///
    ///   salt '*' pkg.download httpd
    ///   salt '*' pkg.download httpd postfix
    pub struct Download {
        /// The packages.
        packages: Rest,
        /// `root`: another root, `refresh`: read the lists anew first, for zypper.
        kwargs: Keywords,
    }
}

impl Run for Download {
    fn run(self, ctx: &Ctx) -> Reply {
        let names: Vec<String> = self.packages.0.iter().map(Value::to_text).collect();
        Ok(fetch(ctx, &names, &self.kwargs.0)?.into())
    }
}

fn fetch(ctx: &Ctx, names: &[String], more: &Map) -> Result<Map, Fault> {
    let manager = Manager::expect(ctx, "download", &WITH_DOWNLOADS)?;
    if names.is_empty() {
        return Err(Fault::invocation("No packages were specified"));
    }
    check_names(names)?;
    let mut shown = match manager {
        Manager::Zypper => {
            let root = more.str_at("root");
            if more.at("refresh").is_some_and(Value::truthy) {
                zypper::refresh(ctx, more, root)?;
            }
            zypper::download(ctx, names, root)?
        }
        _ => dnf::download(ctx, names)?,
    };
    if shown.is_empty() {
        return Err(Fault::execution(format!(
            "Unable to download any of the following packages: {}",
            names.join(", ")
        )));
    }
    let missing: Vec<&str> = names.iter().map(String::as_str).filter(|name| !shown.contains(name)).collect();
    if !missing.is_empty() {
        shown.insert("_error", format!("The following package(s) failed to download: {}", missing.join(", ")));
    }
    Ok(shown)
}

record! {
    /// Shows how files differ from those in the packages that they belong to, with dnf and zypper. The packages are fetched.
    ///
    ///   salt '*' pkg.diff /etc/httpd/conf/httpd.conf /etc/sudoers
    pub struct Diff {
        /// The files.
        paths: Rest,
        /// `root`: another root, for zypper.
        kwargs: Keywords,
    }
}

impl Run for Diff {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "diff", &WITH_DOWNLOADS)?;
        let mut shown = Map::new();
        let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in self.paths.0.iter().map(Value::to_text) {
            match rpm::owner(ctx, &path, self.kwargs.0.str_at("root"))? {
                none if none.is_empty() => {
                    let what = if paths::exists(ctx.host, &path) { "Not managed" } else { "N/A" };
                    shown.insert(path, what);
                }
                package => packages.entry(package).or_default().push(path),
            }
        }
        if packages.is_empty() {
            return Ok(shown.into());
        }
        let names: Vec<String> = packages.keys().cloned().collect();
        let files = fetch(ctx, &names, &self.kwargs.0)?;
        for (package, paths) in packages {
            let file = files.at(&package).and_then(|told| told.at("path").or(Some(told))).map(Value::to_text);
            for path in paths {
                let told = match &file {
                    Some(file) => rpm::difference(ctx, file, &path)?,
                    None => return Err(Fault::execution(format!("{package}, which has {path}, cannot be fetched"))),
                };
                shown.insert(path, if told.is_empty() { "Unchanged".to_owned() } else { told });
            }
        }
        Ok(shown.into())
    }
}
