//! `selinux.*`: mode, booleans, modules, file contexts and ports of SELinux.

mod fcontext;
mod mode;
mod module;
mod port;
#[cfg(test)]
mod tests;

use halite_core::Fault;
use halite_core::module::{Module, function};
use halite_lang::regex::{Found, Regex, escaped};

pub const MODULE: Module = Module {
    name: "selinux",
    doc: "Mode, booleans, modules, file contexts and ports of SELinux.",
    functions: &[
        function::<fcontext::FcontextAddPolicy>("fcontext_add_policy"),
        function::<fcontext::FcontextApplyPolicy>("fcontext_apply_policy"),
        function::<fcontext::FcontextDeletePolicy>("fcontext_delete_policy"),
        function::<fcontext::FcontextGetPolicy>("fcontext_get_policy"),
        function::<fcontext::FcontextPolicyIsApplied>("fcontext_policy_is_applied"),
        function::<fcontext::FiletypeIdToString>("filetype_id_to_string").inline(),
        function::<mode::Getconfig>("getconfig"),
        function::<mode::Getenforce>("getenforce"),
        function::<mode::Getsebool>("getsebool"),
        function::<module::Getsemod>("getsemod"),
        function::<module::InstallSemod>("install_semod"),
        function::<mode::ListSebool>("list_sebool"),
        function::<module::ListSemod>("list_semod"),
        function::<port::PortAddPolicy>("port_add_policy"),
        function::<port::PortDeletePolicy>("port_delete_policy"),
        function::<port::PortGetPolicy>("port_get_policy"),
        function::<port::PortModifyPolicy>("port_modify_policy"),
        function::<module::RemoveSemod>("remove_semod"),
        function::<mode::SelinuxFsPath>("selinux_fs_path"),
        function::<mode::Setenforce>("setenforce"),
        function::<mode::Setsebool>("setsebool"),
        function::<mode::Setsebools>("setsebools"),
        function::<module::Setsemod>("setsemod"),
    ],
};

/// The first line of a listing that a pattern matches.
fn line_that<'t>(text: &'t str, pattern: &str) -> Result<Option<(&'t str, Found<'t>)>, Fault> {
    let wrong = |error: halite_lang::regex::RegexError| Fault::invocation(error.to_string());
    let regex = Regex::new(pattern).map_err(wrong)?;
    for line in text.lines() {
        if let Some(found) = regex.search(line).map_err(wrong)? {
            return Ok(Some((line, found)));
        }
    }
    Ok(None)
}

/// A part of a pattern: this text, or anything that has the form.
fn part(given: Option<&str>, form: &str) -> String {
    given.filter(|text| !text.is_empty()).map_or_else(|| form.to_owned(), escaped)
}
