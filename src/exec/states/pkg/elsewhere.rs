//! `pkg.group_installed`, `pkg.patch_installed`, `pkg.patch_downloaded`: what tools can that this version does not ask.

use super::super::{Look, Plan, State, failed};
use crate::exec::Fault;
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::Value;

record! {
    /// Makes sure that a group of packages is installed: refused, this version knows no groups.
    ///
    ///   Development Tools:
    ///     pkg.group_installed: []
    pub struct GroupInstalled {
        /// The group.
        name: String,
        /// Packages that are left out.
        skip: Value = (),
        /// Packages that are optional and wanted.
        include: Value = (),
        kwargs: Keywords,
    }
}

impl State for GroupInstalled {
    fn plan(self, _: &Look) -> Result<Plan, Fault> {
        Ok(failed("pkg.group_install not available for this platform"))
    }
}

record! {
    /// Makes sure that the patch of an advisory is installed: refused, this version knows no advisories.
    ///
    ///   issue-foo-fixed:
    ///     pkg.patch_installed:
    ///       - advisory_ids:
    ///         - SUSE-SLE-SERVER-12-SP2-2017-185
    pub struct PatchInstalled {
        /// The advisory.
        name: String,
        /// Several.
        advisory_ids: Value = (),
        /// Only fetch it.
        downloadonly: Value = (),
        kwargs: Keywords,
    }
}

impl State for PatchInstalled {
    fn plan(self, _: &Look) -> Result<Plan, Fault> {
        Ok(failed("The pkg.patch_installed state is not available on this platform"))
    }
}

record! {
    /// Makes sure that the patch of an advisory is fetched: refused, this version knows no advisories.
    ///
    ///   preparing-to-fix-issues:
    ///     pkg.patch_downloaded:
    ///       - advisory_ids:
    ///         - SUSE-SLE-SERVER-12-SP2-2017-185
    pub struct PatchDownloaded {
        /// The advisory.
        name: String,
        /// Several.
        advisory_ids: Value = (),
        kwargs: Keywords,
    }
}

impl State for PatchDownloaded {
    fn plan(self, _: &Look) -> Result<Plan, Fault> {
        Ok(failed("The pkg.patch_downloaded state is not available on this platform"))
    }
}
