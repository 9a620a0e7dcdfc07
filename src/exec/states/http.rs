//! `http.*`: pages that must answer in some way.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, failed, state};
use halite_core::{Ctx, Fault};
use halite_lang::regex::Regex;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::time::Duration;

pub const MODULE: Module = Module { name: "http", doc: "Pages that must answer in some way.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Query>("query"), state::<WaitForSuccessfulQuery>("wait_for_successful_query")];

record! {
    /// Asks for a page and looks at its text, its status or both.
    ///
    ///   https://example.org/:
    ///     http.query:
    ///       - status: 200
    ///       - match: 'Welcome'
    pub struct Query {
        /// The address.
        name: String,
        /// What its text must have.
        r#match: Value = (),
        /// How that is compared: string or pcre.
        match_type: String = "string",
        /// The status that it must have.
        status: Value = (),
        /// How that is compared: string, list or pcre.
        status_type: String = "string",
        /// For so many seconds it is asked again until it answers.
        wait_for: Value = (),
        /// Whatever else http.query takes.
        kwargs: Keywords,
    }
}

record! {
    /// Asks for a page again and again, until it answers as it should.
    ///
    ///   https://example.org/:
    ///     http.wait_for_successful_query:
    ///       - wait_for: 60
    ///       - request_interval: 5
    ///       - status: 200
    pub struct WaitForSuccessfulQuery {
        /// The address.
        name: String,
        /// For so many seconds.
        wait_for: f64 = 300.0,
        /// What http.query takes, and `request_interval`: the seconds between two questions.
        kwargs: Keywords,
    }
}

impl State for Query {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        if self.r#match.is_null() && self.status.is_null() {
            return Ok(failed(" Either match text (match) or a status code (status) is required."));
        }
        let would = self.would()?;
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.ask(ctx)) })
    }
}

impl Query {
    /// A page is not asked for only to say what it would say: nothing of what is wanted was found.
    fn would(&self) -> Result<Outcome, Fault> {
        let url = self.kwargs.0.at("test_url").map(|url| format!(", TEST URL WAS: {}", url.to_text()));
        let outcome = self.judged(Value::Map(Map::new()))?;
        let comment = format!("{} (TEST MODE{})", outcome.comment, url.unwrap_or_default());
        Ok(Outcome { result: None, comment, ..outcome })
    }

    fn ask(&self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let mut words = self.kwargs.0.clone();
        if words.at("decode").is_none() {
            words.insert("decode", false);
        }
        words.insert("url", self.name.as_str());
        words.insert("text", true);
        words.insert("status", true);
        let fun = match self.wait_for.truthy() {
            true => {
                words.insert("wait_for", self.wait_for.clone());
                "http.wait_for_successful_query"
            }
            false => "http.query",
        };
        self.judged(ctx.run(fun, Arguments::keywords(words))?)
    }

    /// What the answer to the question is worth.
    fn judged(&self, data: Value) -> Result<Outcome, Fault> {
        let text = |key: &str| data.at(key).map(Value::to_text).unwrap_or_default();
        let mut findings = Vec::new();
        if !self.r#match.is_null() {
            let wanted = self.r#match.to_text();
            let (kind, found) = match self.match_type.as_str() {
                "string" => ("text", text("text").contains(&wanted)),
                "pcre" => ("pattern", finds(&wanted, &text("text"))?),
                other => return Ok(failed_kind("match_type", other, "string or pcre")),
            };
            findings.push((found, format!("Match {kind} \"{wanted}\"")));
        }
        if !self.status.is_null() {
            let (status, wanted) = (text("status"), self.status.to_text());
            match self.status_type.as_str() {
                "string" => findings.push((status == wanted, format!("Status {wanted}"))),
                "pcre" => findings.push((finds(&wanted, &status)?, format!("Status pattern \"{wanted}\""))),
                "list" => {
                    let all = self.status.as_list().unwrap_or_default();
                    match all.iter().find(|one| one.to_text() == status) {
                        Some(one) => findings.push((true, format!("Status {}", one.to_text()))),
                        None => findings.push((false, format!("Statuses {wanted}"))),
                    }
                }
                other => return Ok(failed_kind("status_type", other, "string, list or pcre")),
            }
        }
        let line = |(found, what): &(bool, String)| match (found, what.starts_with("Statuses")) {
            (true, _) => format!("{what} was found."),
            (false, true) => format!("{what} were not found."),
            (false, false) => format!("{what} was not found."),
        };
        let comment = findings.iter().map(line).collect::<Vec<_>>().join(" ");
        let all = findings.iter().all(|(found, _)| *found);
        Ok(Outcome::new(Some(all), comment).with("data", data))
    }
}

fn finds(pattern: &str, text: &str) -> Result<bool, Fault> {
    let regex = Regex::new(pattern).map_err(|error| Fault::invocation(format!("'{pattern}': {error}")))?;
    let wrong = |error| Fault::invocation(format!("'{pattern}': {error}"));
    Ok(regex.search(text).map_err(wrong)?.is_some())
}

fn failed_kind(argument: &str, given: &str, known: &str) -> Outcome {
    Outcome::failed(format!("{argument} wants {known}, not '{given}'"))
}

impl State for WaitForSuccessfulQuery {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let mut words = self.kwargs.0;
        let pause = words.remove("request_interval").and_then(|pause| pause.as_float()).unwrap_or(1.0);
        words.insert("name", self.name.as_str());
        let query = || Query::bind_to(words.clone());
        let first = query()?.planned(context)?;
        let Plan::Changes { would, .. } = first else {
            return Ok(first);
        };
        let timeout = Duration::from_secs_f64(self.wait_for.clamp(0.0, 1e6));
        let query = query()?;
        let apply = move |ctx: &Ctx| {
            let end = ctx.host.now() + timeout;
            loop {
                let outcome = query.ask(ctx);
                let is_good = outcome.as_ref().is_ok_and(|outcome| outcome.result == Some(true));
                if is_good || ctx.host.now() >= end || ctx.is_cancelled() {
                    return outcome;
                }
                ctx.host.sleep(Duration::from_secs_f64(pause.clamp(0.1, 3600.0)));
            }
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl Query {
    fn bind_to(words: Map) -> Result<Query, Fault> {
        use halite_value::record::Record;
        Query::bind(Arguments::keywords(words)).map_err(|error| Fault::arguments::<Query>("http.query", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;

    #[test]
    fn text_and_status_are_compared() {
        for (arguments, result, comment) in [
            ("{match: Hello}", Some(true), "Match text \"Hello\" was found."),
            ("{match: Bye}", Some(false), "Match text \"Bye\" was not found."),
            (
                "{match: 'H.*o', match_type: pcre, status: 200}",
                Some(true),
                "Match pattern \"H.*o\" was found. Status 200 was found.",
            ),
            ("{status: [201, 404], status_type: list}", Some(false), "Statuses [201, 404] were not found."),
            ("{status: '2..', status_type: pcre}", Some(true), "Status pattern \"2..\" was found."),
            ("{}", Some(false), " Either match text (match) or a status code (status) is required."),
        ] {
            let world = World::on(Fake::new().page("http://example.org/", "Hello"));
            let given = yaml::load(arguments).unwrap().as_map().unwrap().clone();
            let words = Arguments::keywords(given).with("name", "http://example.org/");
            let (_, done) = both(&world, planned(&world, "http.query", words));
            assert_eq!((done.result, done.comment.as_str()), (result, comment), "{arguments}");
        }
    }
}
