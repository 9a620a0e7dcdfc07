//! `cron.file`: a whole table of cron.

use super::super::file::source::Source;
use halite_core::host::{Attributes, own};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, single, stands};
use halite_core::{Ctx, Fault};
use halite_file::difference::{Shown, between_bytes};
use halite_file::source::{Mismatch, Verify};
use halite_file::template::Template;
use halite_lang::random;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Makes sure that the table of cron of an account is a file.
    ///
    ///   foo_crontab:
    ///     cron.file:
    ///       - name: salt://crontabs/foo
    ///       - user: foo
    pub struct File {
        /// The address of the file.
        name: String,
        /// Its hash, where it comes from elsewhere.
        source_hash: Value = "",
        /// The name that it has in a list of digests.
        source_hash_name: Option<String> = (),
        /// Whose table it is.
        user: String = "root",
        /// A template engine for it.
        template: Option<String> = (),
        /// Variables of the template.
        context: Map = Value::Map(Map::new()),
        /// Whether a table that is there is replaced.
        replace: bool = true,
        /// Variables of the template that are not in `context`.
        defaults: Map = Value::Map(Map::new()),
        /// Taken, not used: a table is no file of the state's.
        backup: Value = "",
        /// `skip_verify`, as for `file.managed`.
        kwargs: Keywords,
    }
}

impl State for File {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let user = self.user;
        let Some(account) = ctx.host.user(&user).ok().flatten() else {
            return Ok(failed(format!("Could not identify group for user {user}")));
        };
        let mut old = ask(ctx, "cron.raw_cron", [("user", user.as_str().into())])?.to_text();
        if !old.ends_with('\n') {
            old.push('\n');
        }
        if !self.replace {
            return Ok(already(format!("User {user} already has a crontab. No changes made")));
        }
        let skips = self.kwargs.0.at("skip_verify").is_some_and(Value::truthy);
        let source = Source {
            address: self.name.as_str().into(),
            hash: self.source_hash,
            hash_name: self.source_hash_name,
            verify: if skips { Verify::Skip } else { Verify::Hash },
            ..Source::default()
        };
        let found = match source.load(context, "") {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(failed("cron.file: the name is the address of a file")),
            Err(Fault::Comment(complaint)) => return Ok(failed(complaint)),
            Err(fault) => return Ok(failed(format!("Unable to manage file: {fault}"))),
        };
        if let Some(Mismatch { kind, wanted, own }) = found.mismatch {
            return Ok(failed(format!(
                "Specified {kind} checksum for {} ({wanted}) does not match actual checksum ({own})",
                found.address
            )));
        }
        let template = Template::new(&self.template, &self.defaults, &self.context);
        let new = template.text(ctx, &found.address, context.saltenv, found.body)?;
        let difference = between_bytes(ctx, old.as_bytes(), &new, Shown { of_template: true, ..Shown::ALL }, None).text;
        if difference.is_empty() {
            let would = format!("The crontab of user {user} is in the correct state");
            let done = format!("Crontab for user {user} is in the correct state");
            return Ok(stands(Outcome::done(would), Outcome::done(done)));
        }
        let mut changes = single("diff", difference.as_str());
        // The file that is handed to cron is the account's, which counts as a change where that is not root.
        if account.uid != 0 {
            changes.insert("user", user.as_str());
            changes.insert("group", ctx.host.group_by_gid(account.gid).ok().flatten().unwrap_or_default());
        }
        let would = Outcome::new(None, format!("The following values are set to be changed:\ndiff: {difference}\n"));
        let apply = move |ctx: &Ctx| {
            let file = own::temporary_directory().join(format!("halite-{:016x}", random::bits()));
            let private = Attributes { mode: Some(0o600), ..Attributes::default() };
            let refused = |error: std::io::Error| Fault::execution(format!("{}: {error}", file.display()));
            ctx.host.write(&file, &new, private).map_err(refused)?;
            let path = file.to_string_lossy().into_owned();
            let answer =
                ask(ctx, "cron.write_cron_file_verbose", [("user", user.as_str().into()), ("path", path.into())]);
            // A leftover is only untidy; what cron said matters.
            let _ = ctx.host.remove(&file);
            let answer = answer?;
            if answer.at("retcode") == Some(&Value::Int(0)) {
                return Ok(Outcome::done(format!("Crontab for user {user} was updated")).with_changes(changes));
            }
            let error = answer.at("stderr").map(Value::to_text).unwrap_or_default();
            let file = file.display();
            Ok(Outcome::failed(format!("Unable to update user {user} crontab {file}. Error: {error}")))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
