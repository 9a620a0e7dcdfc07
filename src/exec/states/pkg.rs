//! `pkg.*`: packages.

mod aggregate;
mod downloaded;
mod group;
mod held;
mod installed;
mod latest;
mod patch;
mod removed;
mod uptodate;
mod verify;
mod version;
mod wanted;
mod watch;

use halite_core::state::{Function, Hooks, Module, Outcome, ask, state};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "pkg", doc: "Packages of the host's distribution.", functions: FUNCTIONS };

pub const HOOKS: Hooks = Hooks { module: "pkg", aggregate: Some(aggregate::aggregate), init: None };

const FUNCTIONS: &[Function] = &[
    state::<downloaded::Downloaded>("downloaded"),
    state::<group::GroupInstalled>("group_installed"),
    state::<held::Held>("held"),
    state::<installed::Installed>("installed"),
    state::<latest::Latest>("latest"),
    state::<watch::Watched>("mod_watch"),
    state::<patch::PatchDownloaded>("patch_downloaded"),
    state::<patch::PatchInstalled>("patch_installed"),
    state::<removed::Purged>("purged"),
    state::<removed::Removed>("removed"),
    state::<held::Unheld>("unheld"),
    state::<uptodate::Uptodate>("uptodate"),
];

/// Where a run of states notes that the lists of packages were read anew: once is enough.
const REFRESHED: &str = "pkg lists refreshed";

/// Whether lists of packages are to be read anew: as the SLS says, else once a run.
fn refreshes(ctx: &Ctx, given: &Value) -> bool {
    match given {
        Value::Null => !ctx.scratch.borrow().contains(REFRESHED),
        Value::Str(text) => matches!(text.to_lowercase().as_str(), "true" | "yes" | "1"),
        other => other.truthy(),
    }
}

fn note_refreshed(ctx: &Ctx) {
    ctx.scratch.borrow_mut().insert(REFRESHED, true);
}

/// The versions of packages that are installed, by name.
fn installed_versions(ctx: &Ctx) -> Result<Map, Fault> {
    let answer = ask(ctx, "pkg.list_pkgs", [("versions_as_list", true.into())])?;
    Ok(answer.as_map().cloned().unwrap_or_default())
}

/// The versions of one package; none where it is not installed.
fn versions_of(packages: &Map, name: &str) -> Vec<String> {
    let listed = packages.at(name).and_then(Value::as_list).unwrap_or_default();
    listed.iter().map(Value::to_text).collect()
}

/// A name as the host lists it.
fn normal(ctx: &Ctx, name: &str) -> Result<String, Fault> {
    Ok(ask(ctx, "pkg.normalize_name", [("name", name.into())])?.to_text())
}

/// What is told of a function that failed: its own words, else those of the state.
fn troubled(what: &str, fault: &Fault) -> Outcome {
    let text = fault.to_string();
    match text.starts_with("Problem encountered") {
        true => Outcome::failed(text),
        false => Outcome::failed(format!("An error was encountered while {what}: {text}")),
    }
}
