//! What `pkg.installed` is to install: what an SLS names, compared with what is there.

use super::verify::{Altered, Verify};
use super::version::{Rules, fulfills};
use super::{installed_versions, normal, versions_of};
use halite_core::program::Program;
use halite_core::state::ask;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// Names, each with its version or, for `sources`, its address.
pub type Pairs = Vec<(String, Option<String>)>;

/// What an SLS asks for.
pub struct Request {
    pub name: String,
    pub version: Option<String>,
    pub pkgs: Value,
    pub sources: Value,
    pub reinstall: bool,
    /// How the files of what is installed are checked, if they are.
    pub verify: Option<Verify>,
    pub rules: Rules,
}

/// What of it is to be done.
#[derive(Debug, Default)]
pub struct Found {
    pub desired: Pairs,
    pub targets: Pairs,
    pub reinstalled: Pairs,
    /// Why they are installed again: what of their files is not as it was.
    pub altered: Altered,
    /// How that was found out.
    pub verify: Option<Verify>,
    /// Packages that the host has marked to be purged.
    pub unpurged: Vec<String>,
    /// Whether a version was compared.
    pub compared: bool,
}

impl Found {
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.reinstalled.is_empty() && self.unpurged.is_empty()
    }
}

impl Request {
    /// What is to be done. The error is for whoever wrote the SLS.
    pub fn find(mut self, ctx: &Ctx) -> Result<Found, Fault> {
        let is_source = self.sources.truthy();
        if self.pkgs.truthy() && is_source {
            return Err(Fault::comment("Only one of \"pkgs\" and \"sources\" is permitted.".to_owned()));
        }
        let installed = installed_versions(ctx)?;
        let desired = match (self.pkgs.truthy(), is_source) {
            (true, _) => pairs(&self.pkgs),
            (_, true) => pairs(&self.sources),
            _ => Some(vec![(self.name.clone(), self.version.clone())]),
        };
        let Some(mut desired) = desired.filter(|desired| !desired.is_empty()) else {
            let kind = if is_source { "sources" } else { "pkgs" };
            return Err(Fault::comment(format!("Invalidly formatted '{kind}' parameter. See minion log.")));
        };
        if !is_source {
            self.resolve_latest(ctx, &mut desired, &installed)?;
        }
        let marked = ask(ctx, "pkg.list_pkgs", [("purge_desired", true.into())])?;
        let mut found = Found {
            unpurged: desired.iter().map(|(name, _)| name.clone()).filter(|name| marked.at(name).is_some()).collect(),
            ..Found::default()
        };
        for (name, wanted) in &desired {
            let target = (name.clone(), wanted.clone());
            let mut versions = versions_of(&installed, name);
            if versions.is_empty() {
                versions = versions_of(&installed, &normal(ctx, name)?);
            }
            if versions.is_empty() {
                found.targets.push(target);
                continue;
            }
            if self.reinstall {
                found.reinstalled.push(target);
                continue;
            }
            let wanted = match (is_source, wanted) {
                (true, Some(address)) => file_version(ctx, address)?,
                (_, wanted) => wanted.clone(),
            };
            if let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) {
                found.compared = true;
                if !fulfills(ctx, &versions, &wanted, self.rules)? {
                    found.targets.push(target);
                    continue;
                }
            }
            if let Some(verify) = &self.verify {
                match verify.altered(ctx, name) {
                    Ok(files) if files.is_empty() => {}
                    Ok(files) => {
                        // Without a version, of which what is installed may be but one that is as good.
                        found.reinstalled.push((name.clone(), target.1.filter(|_| is_source)));
                        found.altered.push((name.clone(), files));
                    }
                    Err(fault) => return Err(Fault::comment(fault.to_string())),
                }
            }
        }
        found.desired = desired;
        found.verify = self.verify.take();
        Ok(found)
    }

    /// `latest` as a version is the newest that there is.
    fn resolve_latest(&self, ctx: &Ctx, desired: &mut Pairs, installed: &Map) -> Result<(), Fault> {
        for (name, version) in desired.iter_mut().filter(|(_, version)| version.as_deref() == Some("latest")) {
            let newest = newest(ctx, std::slice::from_ref(name))?.remove(0);
            let own = versions_of(installed, name).pop();
            *version = newest.or(own);
        }
        Ok(())
    }
}

/// The newest version of each package, where it is newer than what is installed.
pub fn newest(ctx: &Ctx, names: &[String]) -> Result<Vec<Option<String>>, Fault> {
    let arguments = halite_value::record::Arguments::positional(names.iter().map(String::as_str));
    let answer = ctx.run("pkg.latest_version", arguments.with("refresh", false))?;
    let text = |value: &Value| Some(value.to_text()).filter(|text| !text.is_empty());
    Ok(match &answer {
        Value::Map(map) => names.iter().map(|name| map.at(name).and_then(text)).collect(),
        other => names.iter().map(|_| text(other)).collect(),
    })
}

/// `[a, {b: 1.2}]`, a map, or one name; nothing for what is none of these.
pub fn pairs(given: &Value) -> Option<Pairs> {
    let entry = |(name, version): (&Value, &Value)| {
        let version = (!version.is_null()).then(|| version.to_text()).filter(|version| !version.is_empty());
        (name.to_text(), version)
    };
    match given {
        Value::Map(map) => Some(map.iter().map(entry).collect()),
        Value::Str(text) => Some(text.split(',').map(|name| (name.trim().to_owned(), None)).collect()),
        Value::List(items) => items.iter().try_fold(Pairs::new(), |mut all, item| {
            match item {
                Value::Map(map) => all.extend(map.iter().map(entry)),
                Value::List(_) | Value::Null => return None,
                name => all.push((name.to_text(), None)),
            }
            // A name that stands twice counts once, as it would in a map.
            if let Some((name, version)) = all.pop() {
                match all.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, known)) => *known = version,
                    None => all.push((name, version)),
                }
            }
            Some(all)
        }),
        _ => None,
    }
}

/// A name with its version, as results show it.
pub fn shown((name, version): &(String, Option<String>)) -> String {
    match version.as_deref() {
        None | Some("") => name.clone(),
        Some(version) if version.starts_with(['<', '>', '=']) => format!("{name}{version}"),
        Some(version) => format!("{name}={version}"),
    }
}

/// The version of a package that is a file; nothing where the host's tools cannot say. The error is why it is not there.
fn file_version(ctx: &Ctx, address: &str) -> Result<Option<String>, Fault> {
    let kept = match ask(ctx, "cp.cache_file", [("path", address.into())]) {
        Ok(kept) => kept,
        Err(fault) => return Err(Fault::comment(format!("Unable to cache {address}: {fault}"))),
    };
    let Some(path) = kept.as_str().filter(|path| !path.is_empty()) else {
        return Err(Fault::comment(format!("Unable to cache {address}: file not found")));
    };
    let program = if ctx.host.which("dpkg-deb").is_some() {
        Program::new(["dpkg-deb", "-f", path, "Version"])
    } else if ctx.host.which("rpm").is_some() {
        Program::new(["rpm", "-qp", "--queryformat", "%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}", path])
    } else {
        return Ok(None);
    };
    let answer = program.query(ctx)?;
    Ok(answer.is_success().then(|| answer.stdout.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_in_several_ways() {
        let listed = Value::list([
            Value::from("a"),
            Value::from(Map::from_iter([("b", "1.2")])),
            Value::from(Map::from_iter([("c", ">=3")])),
        ]);
        let named: Vec<String> = pairs(&listed).unwrap().iter().map(shown).collect();
        assert_eq!(named, ["a", "b=1.2", "c>=3"]);
        assert_eq!(pairs(&Value::list([Value::Null])), None);
    }
}
