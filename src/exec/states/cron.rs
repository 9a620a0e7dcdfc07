//! `cron.*`: jobs of cron.

mod file;

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, given, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "cron", doc: "Jobs of cron.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<Absent>("absent"),
    state::<EnvAbsent>("env_absent"),
    state::<EnvPresent>("env_present"),
    state::<file::File>("file"),
    state::<Present>("present"),
];

record! {
    /// Makes sure that cron runs a command at certain times.
    ///
    ///   date > /tmp/crontest:
    ///     cron.present:
    ///       - user: root
    ///       - minute: 7
    ///       - hour: 2
    pub struct Present {
        /// The command.
        name: String,
        /// Whose table it stands in.
        user: String = "root",
        /// The minute; `random` for one that is found once.
        minute: Value = "*",
        /// The hour.
        hour: Value = "*",
        /// The day of the month.
        daymonth: Value = "*",
        /// The month.
        month: Value = "*",
        /// The day of the week.
        dayweek: Value = "*",
        /// A comment above it.
        comment: Value = (),
        /// It is there and does not run.
        commented: bool = false,
        /// By what it is known, so that its command may change; the command itself, if not given.
        identifier: Value = false,
        /// `@hourly` and the like, in place of times.
        special: Option<String> = (),
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.trim().to_owned();
        let identifier = identifier(&self.identifier, &name);
        let found = self.found(context.ctx, &name, &identifier)?;
        let would = match found {
            Found::Same => return Ok(already(format!("Cron {name} already present"))),
            Found::None => format!("Cron {name} is set to be added"),
            Found::Other => format!("Cron {name} is set to be updated"),
        };
        let apply = move |ctx: &Ctx| {
            let times = [
                ("minute", self.minute),
                ("hour", self.hour),
                ("daymonth", self.daymonth),
                ("month", self.month),
                ("dayweek", self.dayweek),
            ];
            let mut arguments = given([
                ("user", self.user.as_str().into()),
                ("cmd", name.as_str().into()),
                ("comment", self.comment),
                ("commented", self.commented.into()),
                ("identifier", identifier),
                ("special", self.special.clone().into()),
            ]);
            let function = match self.special {
                Some(_) => "cron.set_special",
                None => {
                    arguments.extend(given(times));
                    "cron.set_job"
                }
            };
            let answer = ctx.run(function, Arguments::keywords(arguments))?.to_text();
            Ok(told(&answer, "Cron", &name, &self.user))
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

/// By what a job is known; nothing: by its command alone.
fn identifier(given: &Value, name: &str) -> Value {
    if *given == Value::Bool(false) { name.into() } else { given.clone() }
}

/// What a table has of a job or a variable.
enum Found {
    None,
    Same,
    Other,
}

impl Present {
    fn found(&self, ctx: &Ctx, name: &str, identifier: &Value) -> Result<Found, Fault> {
        let table = ask(ctx, "cron.list_tab", [("user", self.user.as_str().into())])?;
        let kind = if self.special.is_some() { "special" } else { "crons" };
        let jobs = table.at(kind).and_then(Value::as_list).unwrap_or_default();
        let Some(job) = jobs.iter().find(|job| is_meant(job, name, identifier)) else { return Ok(Found::None) };
        let text = |value: &Value| (!value.is_null()).then(|| value.to_text());
        let lower = |value: &Value| text(value).map(|text| text.to_lowercase());
        let mut wanted = vec![
            ("identifier", text(identifier)),
            ("cmd", Some(name.to_owned())),
            ("comment", text(&self.comment)),
            ("commented", Some(Value::from(self.commented).to_text())),
        ];
        match &self.special {
            Some(special) => wanted.push(("spec", Some(special.clone()))),
            None => wanted.extend([
                ("minute", lower(&self.minute)),
                ("hour", lower(&self.hour)),
                ("daymonth", lower(&self.daymonth)),
                ("month", lower(&self.month)),
                ("dayweek", lower(&self.dayweek)),
            ]),
        }
        let differs = |(key, wanted): &(&str, Option<String>)| {
            let own = job.at(key).cloned().unwrap_or_default();
            match wanted.as_deref() {
                // A random time that was found stays.
                Some("random") => own.as_str() == Some("*"),
                Some(wanted) => own.is_null() || own.to_text() != wanted,
                // A comment that is not named is taken away.
                None => *key == "comment" && !own.is_null(),
            }
        };
        Ok(if wanted.iter().any(differs) { Found::Other } else { Found::Same })
    }
}

/// Whether a job is the one with this identifier, or with this command where neither has one.
fn is_meant(job: &Value, name: &str, identifier: &Value) -> bool {
    let own = job.at("identifier").filter(|own| own.truthy()).map(Value::to_text);
    let is_cmd = job.at("cmd").map(Value::to_text).as_deref() == Some(name);
    match (own, identifier.truthy()) {
        (Some(own), true) => own == identifier.to_text() || (own == "NO ID SET" && is_cmd),
        (Some(own), false) => is_cmd && (own == "NO ID SET" || own == name),
        (None, _) => is_cmd,
    }
}

/// What is told of what a function of cron answers.
fn told(answer: &str, what: &str, name: &str, user: &str) -> Outcome {
    let changes = single(user, name);
    match answer {
        "present" => Outcome::done(format!("{what} {name} already present")),
        "absent" => Outcome::done(format!("{what} {name} already absent")),
        "new" => Outcome::done(format!("{what} {name} added to {user}'s crontab")).with_changes(changes),
        "updated" => Outcome::done(format!("{what} {name} updated")).with_changes(changes),
        "removed" => Outcome::done(format!("{what} {name} removed from {user}'s crontab")).with_changes(changes),
        error => Outcome::failed(format!("{what} {name} for user {user} failed to commit with error \n{error}")),
    }
}

record! {
    /// Makes sure that cron does not run a command.
    ///
    ///   date > /tmp/crontest:
    ///     cron.absent: []
    pub struct Absent {
        /// The command.
        name: String,
        /// Whose table it stands in.
        user: String = "root",
        /// By what it is known; the command itself, if not given.
        identifier: Value = false,
        /// `@hourly` and the like, if it has that in place of times.
        special: Option<String> = (),
        kwargs: Keywords,
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.trim().to_owned();
        let identifier = identifier(&self.identifier, &name);
        let table = ask(context.ctx, "cron.list_tab", [("user", self.user.as_str().into())])?;
        let is_there = |kind: &str| {
            let jobs = table.at(kind).and_then(Value::as_list).unwrap_or_default();
            jobs.iter().any(|job| is_meant(job, &name, &identifier))
        };
        let kind = if self.special.is_some() { "special" } else { "crons" };
        if !is_there(kind) {
            let would = Outcome::done(format!("Cron {name} is absent"));
            return Ok(halite_core::state::stands(would, Outcome::done(format!("Cron {name} already absent"))));
        }
        let would = Outcome::new(None, format!("Cron {name} is set to be removed"));
        let apply = move |ctx: &Ctx| {
            let function = if self.special.is_some() { "cron.rm_special" } else { "cron.rm_job" };
            let arguments = given([
                ("user", self.user.as_str().into()),
                ("cmd", name.as_str().into()),
                ("special", self.special.clone().into()),
                ("identifier", identifier),
            ]);
            let answer = ctx.run(function, Arguments::keywords(arguments))?.to_text();
            Ok(told(&answer, "Cron", &name, &self.user))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that a table of cron sets a variable.
    ///
    ///   MAILTO:
    ///     cron.env_present:
    ///       - value: root@example.com
    pub struct EnvPresent {
        /// The variable.
        name: String,
        /// Its value.
        value: Value = (),
        /// Whose table it is.
        user: String = "root",
    }
}

impl State for EnvPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let (name, value) = (self.name, self.value);
        let wanted = if value.is_null() { String::new() } else { value.to_text() };
        let would = match variable(context.ctx, &self.user, &name)? {
            Some(own) if own == wanted => return Ok(already(format!("Cron env {name} already present"))),
            Some(_) => format!("Cron env {name} is set to be updated"),
            None => format!("Cron env {name} is set to be added"),
        };
        let apply = move |ctx: &Ctx| {
            let arguments =
                [("user", self.user.as_str().into()), ("name", name.as_str().into()), ("value", value.clone())];
            let answer = ask(ctx, "cron.set_env", arguments)?.to_text();
            Ok(told(&answer, "Cron env", &name, &self.user))
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that a table of cron does not set a variable.
    ///
    ///   MAILTO:
    ///     cron.env_absent: []
    pub struct EnvAbsent {
        /// The variable.
        name: String,
        /// Whose table it is.
        user: String = "root",
    }
}

impl State for EnvAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.trim().to_owned();
        if variable(context.ctx, &self.user, &name)?.is_none() {
            let would = Outcome::done(format!("Cron env {name} is absent"));
            return Ok(halite_core::state::stands(would, Outcome::done(format!("Cron env {name} already absent"))));
        }
        let would = Outcome::new(None, format!("Cron env {name} is set to be removed"));
        let apply = move |ctx: &Ctx| {
            let arguments = [("user", self.user.as_str().into()), ("name", name.as_str().into())];
            let answer = ask(ctx, "cron.rm_env", arguments)?.to_text();
            Ok(told(&answer, "Cron env", &name, &self.user))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// The value of a variable in a table.
fn variable(ctx: &Ctx, user: &str, name: &str) -> Result<Option<String>, Fault> {
    let table = ask(ctx, "cron.list_tab", [("user", user.into())])?;
    let all = table.at("env").and_then(Value::as_list).unwrap_or_default();
    let own = all.iter().filter_map(Value::as_map).find(|own: &&Map| own.str_at("name") == Some(name));
    Ok(own.map(|own| own.at("value").map(Value::to_text).unwrap_or_default()))
}
