//! `pkg.install` with dnf.

use super::{dnf, locks, offers, options, patches, tool, versions_of};
use crate::pkg::manager::{Done, How};
use crate::pkg::rpm;
use crate::pkg::rpm::{compare, installed};
use crate::pkg::{Packages, Targets, change, check_names, fetched};
use halite_core::{Ctx, Fault};
use halite_lang::target::fnmatch::fnmatch;
use halite_value::Map;
use std::cmp::Ordering;

/// A package and the word that the tool is given for it.
type Word = (String, String);

#[derive(Default)]
struct Plan {
    installs: Vec<Word>,
    downgrades: Vec<Word>,
    reinstalls: Vec<Word>,
    errors: Vec<String>,
}

pub fn install(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
    let root = how.root.as_deref();
    let before = installed(ctx, root)?;
    let kept = if how.downloadonly { fetched::downloaded(ctx, None)? } else { Map::new() };
    let plan = plan(ctx, targets, how, &before)?;
    let mut errors = plan.errors;
    let mut held = Vec::new();
    let holds = locks::held_names(ctx).unwrap_or_default();
    let is_advisory = matches!(targets, Targets::Advisories(_));
    let install = if is_advisory { "update" } else { "install" };
    for (verb, words) in
        [(install, plan.installs), ("downgrade", plan.downgrades), ("reinstall", plan.reinstalls.clone())]
    {
        let (stopped, free): (Vec<Word>, Vec<Word>) = words.into_iter().partition(|(name, _)| holds.contains(name));
        let names: Vec<String> = stopped.iter().map(|(name, _)| name.clone()).collect();
        let mut words: Vec<String> = free.into_iter().map(|(_, word)| word).collect();
        if how.update_holds {
            for (name, word) in &stopped {
                match locks::change(ctx, name, locks::Verb::Delete)? {
                    true => words.push(word.clone()),
                    false => errors.push(name.clone()),
                }
            }
        } else {
            held.extend(names.iter().cloned());
        }
        if !words.is_empty() {
            errors.extend(call(ctx, verb, &words, how, is_advisory)?);
        }
        if how.update_holds {
            for name in &names {
                locks::change(ctx, name, locks::Verb::Add)?;
            }
        }
    }
    if !held.is_empty() {
        errors.push(format!(
            "The following package(s) could not be updated because they are being held: {}. Set 'update_holds' to True \
             to temporarily unhold these packages so that they can be updated.",
            held.join(", ")
        ));
    }
    let after = installed(ctx, root)?;
    let mut changes = match how.downloadonly {
        true => fetched::changes(&kept, &fetched::downloaded(ctx, None)?),
        false => before.changes_to(&after),
    };
    for (name, _) in plan.reinstalls {
        changes.insert(name.as_str(), change(&before.text(&name), &after.text(&name)));
    }
    Ok(Done { changes, errors })
}

/// Has the tool do one thing; what it complains about.
fn call(ctx: &Ctx, verb: &str, words: &[String], how: &How, is_advisory: bool) -> Result<Option<String>, Fault> {
    let boldly = ["--best", "--allowerasing"];
    let is_first = ["install", "update"].contains(&verb);
    let mut program = dnf(ctx, ["-y"]);
    if is_first && tool(ctx) == "dnf" {
        program = program.args(boldly);
    }
    program = program.args(options(how));
    if how.skip_verify {
        program = program.arg("--nogpgcheck");
    }
    if how.downloadonly && tool(ctx) != "dnf5" {
        program = program.arg("--downloadonly");
    }
    program = program.arg(verb);
    if is_first && tool(ctx) == "dnf5" {
        program = program.args(boldly);
    }
    let word = |word: &String| if is_advisory { format!("--advisory={word}") } else { word.clone() };
    let answer = program.args(words.iter().map(word)).mixed().run(ctx)?;
    Ok((!answer.is_success()).then_some(answer.stdout))
}

fn plan(ctx: &Ctx, targets: &Targets, how: &How, before: &Packages) -> Result<Plan, Fault> {
    let mut plan = Plan::default();
    match targets {
        Targets::Advisories(ids) => {
            let known = patches(ctx)?;
            if let Some(id) = ids.iter().find(|id| !known.contains(id)) {
                return Err(Fault::execution(format!("Advisory id \"{id}\" not found")));
            }
            plan.installs.extend(ids.iter().map(|id| (id.clone(), id.clone())));
        }
        Targets::Files(files) => {
            for file in files {
                match rpm::package_of(ctx, file)? {
                    Some(package) => plan.add(&package.name, &package.full_version(), file.clone(), how, before),
                    None => plan.installs.push((file.clone(), file.clone())),
                }
            }
        }
        Targets::Named(named) => {
            check_names(named.iter().map(|(name, _)| name))?;
            let is_open = |version: &str| version.starts_with(['<', '>']) || version.contains('*');
            let open = named.iter().filter(|(_, version)| version.as_deref().is_some_and(is_open));
            let open: Vec<String> = open.map(|(name, _)| name.clone()).collect();
            let offers = if open.is_empty() { Map::new() } else { offers(ctx, &open, how)? };
            for (name, version) in named {
                let Some(version) = version.as_deref() else {
                    let name = rpm::normalized(ctx, name);
                    let again = how.reinstall && before.0.contains_key(&name);
                    let list = if again { &mut plan.reinstalls } else { &mut plan.installs };
                    list.push((name.clone(), name));
                    continue;
                };
                let version = version.trim_start_matches('=').trim();
                match chosen(name, version, &versions_of(&offers, name)) {
                    Err(problem) => plan.errors.push(problem),
                    Ok(version) => {
                        let (short, arch) = rpm::split_arch(name);
                        let arch = arch.map(|arch| format!(".{arch}")).unwrap_or_default();
                        let bare = version.split_once(':').map_or(version.as_str(), |(_, rest)| rest);
                        let word = format!("{short}-{bare}{arch}");
                        plan.add(&rpm::normalized(ctx, name), &version, word, how, before);
                    }
                }
            }
        }
    }
    Ok(plan)
}

/// The version that is meant: the newest that is like a pattern or fits a comparison.
fn chosen(name: &str, version: &str, offers: &[String]) -> Result<String, String> {
    let known = |none: &str| if offers.is_empty() { none.to_owned() } else { offers.join(", ") };
    if version.contains('*') {
        let found = offers.iter().find(|offer| fnmatch(offer, version));
        return found.cloned().ok_or_else(|| {
            format!("No version matching '{version}' found for package '{name}' (available: {})", known("none"))
        });
    }
    let at = version.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(version.len());
    let (operator, wanted) = (&version[..at], version[at..].trim());
    let fits = |offer: &&String| match (operator, compare(offer, wanted)) {
        ("<", order) => order == Ordering::Less,
        ("<=", order) => order != Ordering::Greater,
        (">", order) => order == Ordering::Greater,
        (">=", order) => order != Ordering::Less,
        _ => false,
    };
    if operator.is_empty() {
        return Ok(version.to_owned());
    }
    let found = offers.iter().find(fits);
    found
        .cloned()
        .ok_or_else(|| format!("No version matching '{name}{version}' could be found (available: {})", known("None")))
}

impl Plan {
    /// A package in a certain version.
    fn add(&mut self, name: &str, version: &str, word: String, how: &How, before: &Packages) {
        let without = |text: &str| text.split_once(':').map_or(text, |(_, rest)| rest).to_owned();
        let order = |had: &String| match how.ignore_epoch {
            true => compare(&without(version), &without(had)),
            false => compare(version, had),
        };
        let had = before.0.get(name).map(Vec::as_slice).unwrap_or_default();
        // Kernels stand beside each other.
        let stands_beside = had.is_empty() || ["kernel", "kernel-devel"].contains(&name);
        let list = if how.reinstall && had.iter().any(|had| order(had).is_eq()) {
            &mut self.reinstalls
        } else if stands_beside || had.iter().any(|had| order(had).is_ge()) {
            &mut self.installs
        } else {
            &mut self.downgrades
        };
        list.push((name.to_owned(), word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_fits_is_chosen() {
        let offers: Vec<String> = ["2.0-1", "1.5-1", "1.0-1"].map(str::to_owned).to_vec();
        assert_eq!(chosen("a", "1.*", &offers), Ok("1.5-1".to_owned()));
        assert_eq!(chosen("a", "<2", &offers), Ok("1.5-1".to_owned()));
        assert_eq!(chosen("a", ">= 1.5", &offers), Ok("2.0-1".to_owned()));
        assert_eq!(chosen("a", "3", &offers), Ok("3".to_owned()));
        assert!(chosen("a", ">3", &offers).unwrap_err().contains("available: 2.0-1, 1.5-1, 1.0-1"));
        assert!(chosen("a", "9*", &[]).unwrap_err().ends_with("(available: none)"));
    }
}
