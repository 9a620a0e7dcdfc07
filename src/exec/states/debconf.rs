//! `debconf.*`: answers to what Debian's packages ask at their installation.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, change, failed, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "debconf",
    doc: "Answers to what Debian's packages ask at their installation.",
    functions: FUNCTIONS,
};

const FUNCTIONS: &[Function] = &[state::<Set>("set"), state::<SetFile>("set_file")];

record! {
    /// Sets answers for a package.
    ///
    ///   postfix:
    ///     debconf.set:
    ///       - data: {postfix/main_mailer_type: {type: select, value: Satellite system}}
    pub struct Set {
        /// The package.
        name: String,
        /// Questions; for each a map of `type` (string, boolean, select, password, ...) and `value`.
        data: Map,
        kwargs: Keywords,
    }
}

record! {
    /// Sets answers from a file, as debconf-set-selections reads it.
    ///
    ///   postfix-answers:
    ///     debconf.set_file:
    ///       - source: salt://postfix/debconf
    pub struct SetFile {
        /// An ID.
        name: String,
        /// The address of the file.
        source: String,
        /// The template engine, if it is a template.
        template: Option<String> = (),
        /// Variables of the template.
        context: Value = (),
        /// Variables that are not in `context`.
        defaults: Value = (),
        kwargs: Keywords,
    }
}

/// An answer that is to be given.
struct Answer {
    question: Value,
    kind: String,
    value: Value,
}

impl State for Set {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let current = ask(context.ctx, "debconf.show", [("name", self.name.as_str().into())])?;
        let (mut missing, mut unchanged) = (Vec::new(), String::new());
        for (question, given) in self.data.iter() {
            let (Some(kind), Some(value)) = (given.at("type"), given.at("value")) else {
                return Ok(failed(format!("{}: wants a map of type and value", question.to_text())));
            };
            let kind = kind.to_text();
            let value = match kind.as_str() {
                "boolean" => Value::from(if value.truthy() { "true" } else { "false" }),
                _ => value.clone(),
            };
            let as_shown = Value::list([question.to_text(), kind.clone(), value.to_text()]);
            if current.as_list().is_some_and(|answers| answers.contains(&as_shown)) {
                let front = if unchanged.is_empty() { "Unchanged answers: " } else { "" };
                unchanged.push_str(&format!("{front}{} ", question.to_text()));
            } else {
                missing.push(Answer { question: question.clone(), kind, value });
            }
        }
        if missing.is_empty() {
            return Ok(already("All specified answers are already set"));
        }
        let shown = |answer: &Answer| match answer.kind.as_str() {
            "password" => "(password hidden)".to_owned(),
            _ => answer.value.to_text(),
        };
        let would: Map = missing
            .iter()
            .map(|answer| (answer.question.clone(), Value::from(format!("New value: {}", shown(answer)))))
            .collect();
        let package = self.name;
        Ok(change(would, unchanged.clone(), move |ctx| {
            let mut outcome = Outcome::done(unchanged);
            for answer in missing {
                let words = [
                    package.as_str().into(),
                    answer.question.clone(),
                    answer.kind.as_str().into(),
                    answer.value.clone(),
                ];
                let set =
                    ctx.run("debconf.set", Arguments { positional: words.to_vec(), keywords: Map::new() })?.truthy();
                if !set {
                    outcome.result = Some(false);
                    outcome.comment = "Some settings failed to be applied.".to_owned();
                }
                let fate = if set { shown(&answer) } else { "Failed to set!".to_owned() };
                outcome.changes.insert(answer.question, fate);
            }
            Ok(outcome)
        }))
    }
}

impl State for SetFile {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let given = |value: Value, what: &str| match value {
            Value::Null => Ok(Map::new()),
            Value::Map(map) => Ok(map),
            _ => Err(failed(format!("{what} must be formed as a dict"))),
        };
        let (variables, defaults) = match (given(self.context, "Context"), given(self.defaults, "Defaults")) {
            (Err(wrong), _) | (_, Err(wrong)) => return Ok(wrong),
            (Ok(variables), Ok(defaults)) => (variables, defaults),
        };
        let (source, template, saltenv) = (self.source, self.template, context.saltenv.to_owned());
        let would = Outcome::new(None, "Debconf selections would have been set.");
        let apply = move |ctx: &Ctx| {
            let mut words = Map::from_iter([("path", Value::from(source)), ("saltenv", saltenv.into())]);
            let fun = match template {
                Some(template) => {
                    words.insert("template", template);
                    words.insert("context", variables);
                    words.insert("defaults", defaults);
                    "debconf.set_template"
                }
                None => "debconf.set_file",
            };
            Ok(match ctx.run(fun, Arguments::keywords(words))?.truthy() {
                true => Outcome::done("Debconf selections were set."),
                false => Outcome::failed("Unable to set debconf selections from file."),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
