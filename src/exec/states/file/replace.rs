//! `file.replace`.

use super::edit::Edit;
use super::{existing, own_name};
use halite_core::Fault;
use halite_core::state::given;
use halite_core::state::{Plan, PlanContext, State, already, failed};
use halite_value::Value;
use halite_value::record;

record! {
    /// Replaces each place in a file that a pattern matches.
    ///
    ///   /etc/grub.conf:
    ///     file.replace:
    ///       - pattern: '^(GRUB_CMDLINE_LINUX=)(.*)$'
    ///       - repl: '\1"quiet"'
    ///       - append_if_not_found: True
    pub struct Replace {
        /// The path.
        name: String,
        /// A regular expression of Python.
        pattern: String,
        /// What takes the place; `\1` and its like are groups of the pattern.
        repl: Value,
        /// How many places at most; 0: all.
        count: i64 = 0,
        /// Flags of Python's `re`: their number, a name, or a list of names.
        flags: Value = 8,
        /// Taken, not used: the file is read whole.
        bufsize: Value = 1,
        /// Put the text at the end where the pattern is not found.
        append_if_not_found: bool = false,
        /// Put it at the beginning.
        prepend_if_not_found: bool = false,
        /// Another text for that than `repl`.
        not_found_content: Value = (),
        /// The ending of the backup's name; False: none is made.
        backup: Value = ".bak",
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// A file that is not there is no failure.
        ignore_if_missing: bool = false,
        /// Take backslashes in `repl` as they are.
        backslash_literal: bool = false,
        /// The encoding of the file.
        encoding: Option<String> = (),
    }
}

impl State for Replace {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        if let Err(wrong) = existing(context.ctx, &name, "replace") {
            return Ok(match self.ignore_if_missing && wrong.ends_with(": file not found") {
                true => already("No changes needed to be made"),
                false => failed(wrong),
            });
        }
        let arguments = given([
            ("path", name.into()),
            ("pattern", self.pattern.into()),
            ("repl", self.repl),
            ("count", self.count.into()),
            ("flags", self.flags),
            ("append_if_not_found", self.append_if_not_found.into()),
            ("prepend_if_not_found", self.prepend_if_not_found.into()),
            ("not_found_content", self.not_found_content),
            ("backup", self.backup),
            ("show_changes", self.show_changes.into()),
            ("backslash_literal", self.backslash_literal.into()),
            ("encoding", self.encoding.into()),
        ]);
        Edit { function: "file.replace", arguments, would: "Changes would have been made" }.plan(context.ctx)
    }
}
