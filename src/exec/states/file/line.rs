//! `file.line`.

use super::edit::Edit;
use super::managed::Managed;
use super::{existing, own_name, single};
use halite_core::state::given;
use halite_core::state::{Outcome, Plan, PlanContext, State, failed};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Record};
use halite_value::{Map, Value};

record! {
    /// Edits one line of a file: puts it in, replaces or deletes it.
    ///
    ///   /etc/myconfig.conf:
    ///     file.line:
    ///       - content: host = localhost
    ///       - match: host = 123.121.12.1
    ///       - mode: replace
    pub struct Line {
        /// The path.
        name: String,
        /// The line.
        content: Option<String> = (),
        /// A part of the line that is replaced or deleted.
        r#match: Option<String> = (),
        /// What is done: ensure, replace, delete or insert.
        mode: Option<String> = (),
        /// Where a line is put in: start or end.
        location: Option<String> = (),
        /// The line is put before the one that this pattern matches.
        before: Option<String> = (),
        /// The line is put behind the one that this pattern matches.
        after: Option<String> = (),
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// Whether a copy of the file is kept.
        backup: bool = false,
        /// A match that is not there is no failure.
        quiet: bool = false,
        /// Keep the indentation of what is replaced.
        indent: bool = true,
        /// Make the file where it is missing.
        create: bool = false,
        /// The owner of the file.
        user: Value = (),
        /// Its group.
        group: Value = (),
        /// Its mode.
        file_mode: Value = (),
    }
}

impl State for Line {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        if name.is_empty() {
            return Ok(failed("Must provide name to file.line"));
        }
        let attributes = given([
            ("name", name.as_str().into()),
            ("create", self.create.into()),
            ("user", self.user),
            ("group", self.group),
            ("mode", self.file_mode),
            ("replace", false.into()),
        ]);
        let bound = Managed::bind(Arguments::keywords(attributes));
        let managed = bound.map_err(|error| Fault::arguments::<Managed>("file.managed", error))?.planned(context)?;
        let mode = self.mode.map(|mode| mode.to_lowercase());
        let wrong = match mode.as_deref() {
            None => Some("Mode was not defined. How to process the file?"),
            Some("delete") => None,
            Some(_) if self.content.is_none() => Some("Content can only be empty if mode is ['delete']"),
            Some(_) => None,
        };
        let arguments = given([
            ("path", name.as_str().into()),
            ("content", self.content.into()),
            ("match", self.r#match.into()),
            ("mode", mode.into()),
            ("location", self.location.into()),
            ("before", self.before.into()),
            ("after", self.after.into()),
            ("show_changes", self.show_changes.into()),
            ("backup", self.backup.into()),
            ("quiet", self.quiet.into()),
            ("indent", self.indent.into()),
        ]);
        let edit = Edit { function: "file.line", arguments, would: "Changes would be made" };
        let would = match (existing(ctx, &name, "line"), wrong) {
            (Err(missing), _) => Ok(Outcome::failed(missing)),
            (_, Some(wrong)) => Ok(Outcome::failed(wrong)),
            _ => in_test(ctx, |ctx| edit.ask(ctx)).map(|difference| match difference.truthy() {
                true => Outcome::new(None, edit.would).with_changes(single("diff", difference)),
                false => Outcome::done("No changes needed to be made"),
            }),
        };
        if let (Err(fault), Plan::Stands(_)) = (&would, &managed) {
            return Err(fault.clone());
        }
        let apply = move |ctx: &Ctx| {
            if let Plan::Changes { apply, .. } = managed {
                apply(ctx)?;
            }
            match (existing(ctx, &name, "line"), wrong) {
                (Err(missing), _) => Ok(Outcome::failed(missing)),
                (_, Some(wrong)) => Ok(Outcome::failed(wrong)),
                _ => edit.apply(ctx),
            }
        };
        Ok(Plan::Changes { would: would?, apply: Box::new(apply) })
    }
}

/// Calls something with `test` set, which the function looks at.
fn in_test<T>(ctx: &Ctx, call: impl FnOnce(&Ctx) -> T) -> T {
    let mut opts: Map = ctx.opts.clone();
    opts.insert("test", true);
    call(&ctx.with(ctx.pillar, &opts))
}
