//! What zypper knows of packages, patches, patterns and products.

use super::call::Zypper;
use crate::pkg::{check_names, rpm};
use halite_core::accounts::below;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// What is known of packages that can be had, by name: what `zypper info` says, with keys in small letters.
pub fn info(ctx: &Ctx, names: &[String], root: Option<&str>) -> Result<Map, Fault> {
    check_names(names)?;
    let mut shown = Map::new();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    for names in sorted.chunks(200) {
        let words = ["info", "-t", "package"].map(str::to_owned).into_iter();
        let told = Zypper::at(root).look(ctx, words.chain(names.iter().map(|name| (*name).clone())).collect())?;
        for package in told.split("Information for package") {
            // Lines of the description that have a colon are settings to Salt too.
            let settings = package.lines().filter(|line| !line.starts_with("-----"));
            let settings = settings.filter_map(|line| line.split_once(':'));
            let mut known: Map = settings
                .map(|(key, value)| (key.trim().to_lowercase(), value.trim()))
                .filter(|(_, value)| !value.is_empty())
                .collect();
            if let Some(installed) = known.str_at("installed").map(|text| text.to_lowercase().starts_with("yes")) {
                known.insert("installed", installed);
            }
            if let Some(name) = known.remove("name") {
                shown.insert(name, known);
            }
        }
    }
    Ok(shown)
}

/// Finds packages; `options`: `match` (`exact`, `words`, `substrings`), and what zypper looks into.
pub fn search(ctx: &Ctx, criteria: &str, options: &Map, root: Option<&str>) -> Result<Map, Fault> {
    const OPTIONS: [(&str, &str); 12] = [
        ("provides", "--provides"),
        ("recommends", "--recommends"),
        ("requires", "--requires"),
        ("suggests", "--suggests"),
        ("conflicts", "--conflicts"),
        ("obsoletes", "--obsoletes"),
        ("file_list", "--file-list"),
        ("search_descriptions", "--search-descriptions"),
        ("case_sensitive", "--case-sensitive"),
        ("installed_only", "--installed-only"),
        ("not_installed_only", "-u"),
        ("details", "--details"),
    ];
    if criteria.starts_with('-') {
        return Err(Fault::invocation(format!("'{criteria}' is not what packages can be found by")));
    }
    let mut words = vec!["search"];
    match options.str_at("match") {
        Some("exact") => words.push("--match-exact"),
        Some("words") => words.push("--match-words"),
        Some("substrings") => words.push("--match-substrings"),
        _ => {}
    }
    words.extend(OPTIONS.iter().filter(|(key, _)| options.contains(key)).map(|(_, option)| *option));
    words.push(criteria);
    let words = words.into_iter().map(str::to_owned).collect();
    let found = Zypper::at(root).forgiving(true).look_xml(ctx, words)?.all("solvable");
    if found.is_empty() {
        return Err(Fault::execution(format!("No packages found matching '{criteria}'")));
    }
    Ok(found.into_iter().map(|package| (package.at("name").cloned().unwrap_or_default(), package)).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patches {
    All,
    Installed,
}

/// Patches by name: whether they are installed, and what they are.
pub fn patches(ctx: &Ctx, which: Patches, root: Option<&str>) -> Result<Map, Fault> {
    let mut patches = solvables(ctx, "patch", root)?;
    patches.retain(|_, patch| which == Patches::All || patch.at("installed") == Some(&Value::Bool(true)));
    Ok(patches)
}

/// Patterns by name: whether they are installed, and what they are.
pub fn patterns(ctx: &Ctx, root: Option<&str>) -> Result<Map, Fault> {
    solvables(ctx, "pattern", root)
}

/// Those that are installed, with those that zypper does not show.
pub fn installed_patterns(ctx: &Ctx, root: Option<&str>) -> Result<Map, Fault> {
    let mut patterns = patterns(ctx, root)?;
    patterns.retain(|_, pattern| pattern.at("installed") == Some(&Value::Bool(true)));
    let told = rpm::rpm(root).args(["-q", "--provides", "--whatprovides", "pattern()"]).query(ctx)?;
    for name in told.stdout.lines().filter_map(|line| line.strip_prefix("pattern() = ")).map(str::trim) {
        if !name.starts_with('.') {
            let hidden = [("installed", Value::from(true)), ("summary", "Non-visible pattern".into())];
            patterns.entry_or(name, || Map::from_iter(hidden).into());
        }
    }
    Ok(patterns)
}

fn solvables(ctx: &Ctx, kind: &str, root: Option<&str>) -> Result<Map, Fault> {
    // 104: there is none.
    let zypper = Zypper::at(root).forgiving(true);
    let found = zypper.look_xml(ctx, ["se", "-t", kind].map(str::to_owned).to_vec())?.all("solvable");
    let entry = |found: Map| {
        let text = |key: &str| found.str_at(key).unwrap_or_default().to_owned();
        let entry = [("installed", Value::from(text("status") == "installed")), ("summary", text("summary").into())];
        (text("name"), Map::from_iter(entry))
    };
    Ok(found.into_iter().map(entry).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    All,
    Installed,
}

pub fn products(ctx: &Ctx, which: Products, root: Option<&str>) -> Result<Vec<Map>, Fault> {
    let words: &[&str] = match which {
        Products::All => &["products"],
        Products::Installed => &["--disable-repositories", "products", "-i"],
    };
    let told = Zypper::at(root).look_xml(ctx, words.iter().map(|word| (*word).to_owned()).collect())?;
    let shown = told.products().into_iter().map(|product| {
        let mut shown = Map::new();
        for (key, value) in product.attributes.iter() {
            match (key.as_str().unwrap_or_default(), value.as_str().unwrap_or_default()) {
                (key @ ("isbase" | "installed"), value) => drop(shown.insert(key, ["true", "1"].contains(&value))),
                (_, "") => {}
                (key, value) => drop(shown.insert(key, value)),
            }
        }
        if let Some((text, time)) = product.end {
            shown.insert("eol", text);
            shown.insert("eol_t", time.unwrap_or(0));
        }
        let lines: Vec<&str> = product.description.split('\n').map(str::trim).collect();
        shown.insert("description", lines.join(" "));
        // Who sells a machine with the product says here what it is.
        if let Some(line) = shown.str_at("productline").filter(|line| !line.contains('/')) {
            let file = below(root, &format!("var/lib/suseRegister/OEM/{line}"));
            let text = String::from_utf8_lossy(&ctx.host.read(&file).unwrap_or_default()).into_owned();
            if let Some(release) = text.lines().next().map(str::trim).filter(|release| !release.is_empty()) {
                shown.insert("release", release);
            }
        }
        shown
    });
    Ok(shown.collect())
}
