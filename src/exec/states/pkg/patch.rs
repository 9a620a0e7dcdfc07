//! `pkg.patch_installed` and `pkg.patch_downloaded`, with dnf and zypper.

use super::troubled;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, given};
use halite_core::{Ctx, Fault};
use halite_node::package_tool::package_tool;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that the patches of advisories are installed.
    ///
    ///   issue-foo-fixed:
    ///     pkg.patch_installed:
    ///       - advisory_ids:
    ///         - SUSE-SLE-SERVER-12-SP2-2017-185
    pub struct PatchInstalled {
        /// The advisory, where `advisory_ids` names none.
        name: String,
        /// Several.
        advisory_ids: Value = (),
        /// Only fetch them.
        downloadonly: Value = (),
        /// What `pkg.install` takes.
        kwargs: Keywords,
    }
}

impl State for PatchInstalled {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        plan(context, "patch_installed", self)
    }
}

record! {
    /// Makes sure that the patches of advisories are fetched, but not installed.
    ///
    ///   preparing-to-fix-issues:
    ///     pkg.patch_downloaded:
    ///       - advisory_ids:
    ///         - SUSE-SLE-SERVER-12-SP2-2017-185
    pub struct PatchDownloaded {
        /// The advisory, where `advisory_ids` names none.
        name: String,
        /// Several.
        advisory_ids: Value = (),
        /// What `pkg.install` takes.
        kwargs: Keywords,
    }
}

impl State for PatchDownloaded {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let PatchDownloaded { name, advisory_ids, kwargs } = self;
        plan(context, "patch_downloaded", PatchInstalled { name, advisory_ids, downloadonly: true.into(), kwargs })
    }
}

fn plan(context: &PlanContext, state: &str, wanted: PatchInstalled) -> Result<Plan, Fault> {
    let ctx = context.ctx;
    if !matches!(package_tool(ctx).ok(), Some("dnf" | "zypper")) {
        return Ok(failed(format!("The pkg.{state} state is not available on this platform")));
    }
    let ids: Vec<String> = match &wanted.advisory_ids {
        Value::List(ids) if ids.is_empty() => return Ok(already("No advisory ids provided")),
        Value::List(ids) => ids.iter().map(Value::to_text).collect(),
        other if other.truthy() => vec![other.to_text()],
        _ => vec![wanted.name.clone()],
    };
    let installed = ctx.run("pkg.list_installed_patches", Arguments::default())?;
    let missing: Vec<&str> = ids.iter().map(String::as_str).filter(|id| installed.at(id).is_none()).collect();
    if missing.is_empty() {
        return Ok(already(match wanted.advisory_ids.truthy() {
            true => "All specified advisory patches are already installed".to_owned(),
            false => format!("Advisory patch {} is already installed", wanted.name),
        }));
    }
    let comment = format!("The following advisory patches would be downloaded: {}", missing.join(", "));
    let apply = move |ctx: &Ctx| wanted.install(ctx, ids);
    Ok(Plan::Changes { would: Outcome::new(None, comment), apply: Box::new(apply) })
}

impl PatchInstalled {
    fn install(self, ctx: &Ctx, ids: Vec<String>) -> Result<Outcome, Fault> {
        let is_download = self.downloadonly.truthy();
        let mut arguments = self.kwargs.0;
        arguments.extend(given([
            ("name", self.name.into()),
            ("advisory_ids", Value::list(ids)),
            ("downloadonly", self.downloadonly),
        ]));
        let changes: Map = match ctx.run("pkg.install", Arguments::keywords(arguments)) {
            Ok(changes) => changes.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Ok(troubled("downloading package(s)", &fault)),
        };
        let state = if is_download { "downloaded" } else { "installed" };
        Ok(match changes.is_empty() {
            true => Outcome::done(format!("Advisory patch is not needed or related packages are already {state}")),
            false => Outcome::done(""),
        }
        .with_changes(changes))
    }
}
