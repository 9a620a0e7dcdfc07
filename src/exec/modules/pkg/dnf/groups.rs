//! Groups of packages, which dnf alone has: `pkg.group_list` and its kin.

use super::{dnf, options, tool};
use crate::pkg::manager::{How, Manager};
use crate::pkg::rpm;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How much a group wants its packages.
const KINDS: [&str; 4] = ["mandatory", "optional", "default", "conditional"];

record! {
    /// Lists the groups of packages: those that are installed, those that could be, and environments.
    ///
    ///   salt '*' pkg.group_list
    pub struct GroupList {}
}

impl Run for GroupList {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "group_list", &[Manager::Dnf])?;
        let mut lists: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut languages = Map::new();
        if tool(ctx) == "dnf5" {
            for line in dnf(ctx, ["group", "list", "--hidden"]).query(ctx)?.stdout.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let list = match words.as_slice() {
                    [_, _, .., last] if last.eq_ignore_ascii_case("yes") => "installed",
                    [_, _, .., last] if last.eq_ignore_ascii_case("no") => "available",
                    _ => continue,
                };
                lists.entry(list).or_default().push(words[0].to_owned());
            }
        } else {
            let mut list = None;
            for line in dnf(ctx, ["grouplist", "hidden"]).query(ctx)?.stdout.lines() {
                match (line.to_lowercase().as_str(), list) {
                    ("done", _) => break,
                    ("installed groups:", _) => list = Some("installed"),
                    ("available groups:", _) => list = Some("available"),
                    ("installed environment groups:", _) => list = Some("installed environments"),
                    ("available environment groups:", _) => list = Some("available environments"),
                    ("available language groups:", _) => list = Some("available languages"),
                    (_, Some("available languages")) => languages.extend(language(line.trim())),
                    (_, Some(list)) => lists.entry(list).or_default().push(line.trim().to_owned()),
                    (_, None) => {}
                }
            }
        }
        let names = ["installed", "available", "installed environments", "available environments"];
        let mut shown: Map =
            names.into_iter().map(|name| (name, Value::list(lists.remove(name).unwrap_or_default()))).collect();
        shown.insert("available languages", languages);
        Ok(shown.into())
    }
}

/// `Catalan Support [ca]`
fn language(line: &str) -> Map {
    let parts = line.strip_suffix(']').and_then(|rest| rest.split_once(" ["));
    let shown = parts.map(|(name, code)| (line, Map::from_iter([("name", name), ("language", code)])));
    shown.into_iter().collect()
}

/// A group of packages, or an environment of groups.
#[derive(Clone, Debug, Default, PartialEq)]
struct Group {
    kind: Option<&'static str>,
    name: Option<String>,
    id: Option<String>,
    description: String,
    members: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Group {
    /// What `dnf groupinfo` says.
    fn parse(text: &str) -> Group {
        let mut group = Group::default();
        let mut list: Option<&'static str> = None;
        for line in text.lines() {
            if let Some((key, value)) = line.split_once(':').filter(|(_, value)| !value.contains(':')) {
                group.note(&key.trim().to_lowercase(), value.trim());
            }
            // Members are marked by signs: whether they are installed, or would be.
            let bare = line.trim().trim_start_matches(|c: char| c.is_ascii_punctuation()).trim();
            let lower = bare.to_lowercase();
            let head = KINDS.into_iter().find_map(|kind| {
                let rest = lower.strip_prefix(kind)?;
                let rest = rest.strip_prefix(" groups").or_else(|| rest.strip_prefix(" packages"))?;
                rest.trim_start().starts_with(':').then_some(kind)
            });
            let member = match head {
                // dnf5 has the first member on the line of the head.
                Some(kind) => {
                    list = Some(kind);
                    bare.split_once(':').map_or("", |(_, rest)| rest.trim())
                }
                None => bare.strip_prefix(':').map_or(bare, str::trim),
            };
            if let Some(kind) = list.filter(|_| !member.is_empty()) {
                group.members.entry(kind).or_default().insert(member.to_owned());
            }
        }
        group
    }

    fn note(&mut self, key: &str, value: &str) {
        let text = || Some(value.to_owned());
        match key {
            "environment group" => (self.kind, self.name) = (Some("environment group"), text()),
            "group" | "name" => (self.kind, self.name) = (Some("package group"), text()),
            "environment-id" | "group-id" | "id" => self.id = text(),
            "description" => self.description = value.to_owned(),
            _ => {}
        }
    }

    fn of(&self, kind: &str) -> Vec<String> {
        self.members.get(kind).into_iter().flatten().cloned().collect()
    }

    fn shown(&self) -> Map {
        let mut shown: Map = KINDS.into_iter().map(|kind| (kind, Value::list(self.of(kind)))).collect();
        shown.extend(Map::from_iter([
            ("type", Value::from(self.kind)),
            ("group", self.name.clone().into()),
            ("id", self.id.clone().into()),
            ("description", self.description.as_str().into()),
        ]));
        shown
    }
}

/// What is known of a group; `done`: the groups of an environment that are taken in already, nothing: they are only named.
fn group(ctx: &Ctx, name: &str, done: Option<&mut Vec<String>>, more: &Map) -> Result<Group, Fault> {
    if !super::super::is_name(name) {
        return Err(Fault::invocation(format!("'{name}' is not the name of a group")));
    }
    let how = How { fromrepo: more.str_at("fromrepo").map(str::to_owned), more: more.clone(), ..How::default() };
    let program = dnf(ctx, ["--quiet"]).args(options(&how));
    let program = match tool(ctx) {
        "dnf5" => program.args(["group", "info", name]),
        _ => program.args(["groupinfo", name]),
    };
    let mut group = Group::parse(&program.query(ctx)?.stdout);
    if group.name.is_none() && group.id.is_none() {
        return Err(Fault::execution(format!("Group '{name}' not found")));
    }
    let Some(done) = done.filter(|_| group.kind == Some("environment group")) else { return Ok(group) };
    let groups: Vec<String> = std::mem::take(&mut group.members).into_values().flatten().collect();
    for member in groups {
        if done.contains(&member) {
            continue;
        }
        done.push(member.clone());
        // With the sign it is a group, where an environment has the same name.
        let marked = self::group(ctx, &format!("@{member}"), Some(done), &Map::new());
        let inner = marked.or_else(|_| self::group(ctx, &member, Some(done), &Map::new()))?;
        for (kind, members) in inner.members {
            group.members.entry(kind).or_default().extend(members);
        }
    }
    Ok(group)
}

record! {
    /// Shows what belongs to a group of packages, or to an environment of groups.
    ///
    ///   salt '*' pkg.group_info 'Perl Support'
    ///   salt '*' pkg.group_info 'Minimal Install' expand=True
    pub struct GroupInfo {
        /// The group: name or id.
        name: String,
        /// Show the packages of an environment's groups in place of the groups.
        expand: bool = false,
        /// Groups of an environment that are left out of that.
        ignore_groups: Value = (),
        /// `fromrepo`, `enablerepo`, `disablerepo`.
        kwargs: Keywords,
    }
}

impl Run for GroupInfo {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "group_info", &[Manager::Dnf])?;
        let mut done = super::split(Some(&self.ignore_groups));
        Ok(group(ctx, &self.name, self.expand.then_some(&mut done), &self.kwargs.0)?.shown().into())
    }
}

record! {
    /// Shows which packages of a group are installed and which are not.
    ///
    ///   salt '*' pkg.group_diff 'Perl Support'
    pub struct GroupDiff {
        /// The group: name or id.
        name: String,
        /// `fromrepo`, `enablerepo`, `disablerepo`.
        kwargs: Keywords,
    }
}

impl Run for GroupDiff {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "group_diff", &[Manager::Dnf])?;
        let installed = rpm::installed(ctx, None)?;
        let group = group(ctx, &self.name, Some(&mut Vec::new()), &self.kwargs.0)?;
        let shown = KINDS.into_iter().map(|kind| {
            let (has, lacks): (Vec<String>, Vec<String>) =
                group.of(kind).into_iter().partition(|member| installed.0.contains_key(member));
            (kind, Map::from_iter([("installed", Value::list(has)), ("not installed", Value::list(lacks))]))
        });
        Ok(shown.collect::<Map>().into())
    }
}

record! {
    /// Installs the packages of groups: mandatory and default ones. Returns what has changed.
    ///
    ///   salt '*' pkg.group_install 'Group 1'
    ///   salt '*' pkg.group_install 'Group 1,Group 2' skip='pkg1,pkg2' include='pkg3'
    ///   salt '*' pkg.groupinstall 'Group 1'
    pub struct GroupInstall {
        /// The groups: a list, or text with commas.
        name: Value,
        /// Default packages that are left out: a list, or text with commas.
        skip: Value = (),
        /// Other packages that are installed too: a list, or text with commas.
        include: Value = (),
        /// What `pkg.install` takes.
        kwargs: Keywords,
    }
}

impl Run for GroupInstall {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "group_install", &[Manager::Dnf])?;
        let list = |value: &Value, what: &str| match value {
            Value::Null | Value::Str(_) | Value::List(_) => {
                Ok(super::split(Some(value).filter(|value| value.truthy())))
            }
            _ => Err(Fault::invocation(format!("'{what}' must be a list"))),
        };
        let groups = list(&self.name, "groups")?;
        if groups.is_empty() {
            return Err(Fault::invocation("no groups specified"));
        }
        let (skip, include) = (list(&self.skip, "skip")?, list(&self.include, "include")?);
        let mut wanted = BTreeSet::new();
        for name in groups {
            let group = group(ctx, &name, None, &Map::new())?;
            wanted.extend(group.of("mandatory"));
            wanted.extend(group.of("default").into_iter().filter(|member| !skip.contains(member)));
        }
        wanted.extend(include);
        let installed = rpm::installed(ctx, None)?;
        wanted.retain(|name| !installed.0.contains_key(name));
        if wanted.is_empty() {
            return Ok(Map::new().into());
        }
        let arguments = Arguments::keywords(self.kwargs.0).with("pkgs", Value::list(wanted));
        Ok(ctx.run("pkg.install", arguments)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generations_of_dnf_tell_of_a_group() {
        let old = "Group: Greeting Tools\n Description: What greets.\n Mandatory Packages:\n   hello\n   =hi\n \
                   Default Packages:\n   +extra\n Optional Packages:\n   dep\n";
        let group = Group::parse(old);
        assert_eq!(group.kind, Some("package group"));
        assert_eq!(group.description, "What greets.");
        assert_eq!(
            (group.of("mandatory"), group.of("default")),
            (vec!["hello".to_owned(), "hi".to_owned()], vec!["extra".to_owned()])
        );
        let new = "Id                   : tools\nName                 : Greeting Tools\nDescription          : What \
                   greets.\nMandatory packages   : hello\n                     : hi\nOptional packages    : dep\n";
        let group = Group::parse(new);
        assert_eq!((group.id.as_deref(), group.name.as_deref()), (Some("tools"), Some("Greeting Tools")));
        assert_eq!(group.of("mandatory"), ["hello", "hi"]);
        assert_eq!(group.of("optional"), ["dep"]);
    }
}
