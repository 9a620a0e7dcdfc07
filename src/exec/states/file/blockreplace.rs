//! `file.blockreplace`.

use super::accumulated;
use super::edit::Edit;
use super::source::{Texts, texts};
use super::{Outcome, existing, own_name, single};
use halite_core::Fault;
use halite_core::state::given;
use halite_core::state::{Plan, PlanContext, State, already, change, failed};
use halite_file::template::Template;
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Keeps what stands between two markers of a file.
    ///
    ///   /etc/hosts:
    ///     file.blockreplace:
    ///       - marker_start: "# START managed zone"
    ///       - marker_end: "# END managed zone"
    ///       - content: 'one line'
    ///       - append_if_not_found: True
    pub struct Blockreplace {
        /// The path.
        name: String,
        /// What begins the block: a part of a line.
        marker_start: String = "#-- start managed zone --",
        /// What ends it.
        marker_end: String = "#-- end managed zone --",
        /// The address of the content.
        source: Value = (),
        /// Its hash, where it comes from elsewhere.
        source_hash: Value = (),
        /// The template engine for it.
        template: Option<String> = "jinja",
        /// Several addresses, one behind the other.
        sources: Value = (),
        /// Their hashes.
        source_hashes: Value = (),
        /// Variables of the template that are not in `context`.
        defaults: Map = Value::Map(Map::new()),
        /// Variables of the template.
        context: Map = Value::Map(Map::new()),
        /// The content itself.
        content: Value = "",
        /// Put the block at the end where the markers are not found.
        append_if_not_found: bool = false,
        /// Put it at the beginning.
        prepend_if_not_found: bool = false,
        /// The ending of the backup's name; False: none is made.
        backup: Value = ".bak",
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// Whether a line end stands behind the content; nothing: where it has none.
        append_newline: Option<bool> = (),
        /// Put the block before the first line that a pattern matches, where the markers are not found.
        insert_before_match: Option<String> = (),
        /// Put it behind that line.
        insert_after_match: Option<String> = (),
    }
}

impl State for Blockreplace {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        let given_texts = Texts {
            source: self.source,
            source_hash: self.source_hash,
            sources: self.sources,
            source_hashes: self.source_hashes,
            template: Template::new(&self.template, &self.defaults, &self.context),
        };
        let found = match name.is_empty() {
            true => Err("Must provide name to file.blockreplace".to_owned()),
            false => existing(ctx, &name, "blockreplace"),
        };
        if let Err(wrong) = found {
            return Ok(failed(wrong));
        }
        let mut content = if self.content.is_null() { String::new() } else { self.content.to_text() };
        let id = context.low.at("__id__").map(Value::to_text).unwrap_or_default();
        for line in accumulated::of_block(ctx, &name, &id) {
            if !content.is_empty() {
                content.push('\n');
            }
            content.push_str(&line);
        }
        content.extend(texts(context, &given_texts)?.into_iter().flatten());
        // Nothing is another wish here than False.
        let mut arguments = given([
            ("path", name.into()),
            ("marker_start", self.marker_start.into()),
            ("marker_end", self.marker_end.into()),
            ("content", content.into()),
            ("append_if_not_found", self.append_if_not_found.into()),
            ("prepend_if_not_found", self.prepend_if_not_found.into()),
            ("insert_before_match", self.insert_before_match.into()),
            ("insert_after_match", self.insert_after_match.into()),
            ("backup", self.backup),
            ("show_changes", self.show_changes.into()),
        ]);
        arguments.insert("append_newline", self.append_newline);
        let edit = Edit { function: "file.blockreplace", arguments, would: "Changes would be made" };
        let troubled = |fault: Fault| {
            Outcome::failed(format!("Encountered error managing block: {fault}. See the log for details."))
        };
        Ok(match edit.ask_in_test(ctx) {
            Err(fault) => Plan::Stands(troubled(fault)),
            Ok(difference) if !difference.truthy() => already("No changes needed to be made"),
            Ok(difference) => {
                change(single("diff", difference), edit.would, move |ctx| Ok(edit.apply(ctx).unwrap_or_else(troubled)))
            }
        })
    }
}
