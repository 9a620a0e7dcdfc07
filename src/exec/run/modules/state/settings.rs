//! What the functions of `state` have in common: keywords that change environment, pillar and mode of one run.

use super::code;
use halite_core::pillar_request::Asked;
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_node::pillar::{ERRORS, decrypted, gather};
use halite_value::{Map, Value};

/// The options and the pillar of one run.
pub struct Settings {
    pub opts: Map,
    pub pillar: Map,
    /// By what the pillar is compiled, for states that have it compiled anew.
    pub asked: Asked,
}

/// Whether a function is of certain SLS, which are in `base` where no environment is named, or of the top file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Sls,
    Top,
}

impl Settings {
    /// Reads the keywords `saltenv`, `pillarenv`, `pillar`, `state_events`.
    pub fn new(ctx: &Ctx, of: Of, test: Option<bool>, keywords: &Map) -> Result<Settings, Fault> {
        let mut opts = ctx.opts.clone();
        let text = |name: &str| keywords.at(name).filter(|value| !value.is_null()).map(Value::to_text);
        let locked = opts.at("lock_saltenv").is_some_and(Value::truthy);
        if let Some(saltenv) = text("saltenv") {
            if locked && opts.str_at("saltenv") != Some(&saltenv) {
                return Err(Fault::execution("lock_saltenv is enabled, saltenv cannot be changed"));
            }
            opts.insert("saltenv", saltenv);
        }
        if let Some(pillarenv) = text("pillarenv") {
            opts.insert("pillarenv", pillarenv);
        } else if opts.at("pillarenv_from_saltenv").is_some_and(Value::truthy) && keywords.contains("saltenv") {
            opts.insert("pillarenv", opts.at("saltenv").cloned());
        }
        if of == Of::Sls && opts.str_at("saltenv").is_none_or(str::is_empty) {
            opts.insert("saltenv", "base");
        }
        let in_test = test.or_else(|| opts.at("test").and_then(Value::as_bool)).unwrap_or(false);
        opts.insert("test", in_test);
        if let Some(events) = keywords.at("state_events").filter(|events| !events.is_null()) {
            opts.insert("state_events", events.clone());
        }
        let asked = Asked { over: over(ctx, keywords)?, ..Asked::of(&opts) };
        let pillar = pillar(ctx, &opts, &asked)?;
        Ok(Settings { opts, pillar, asked })
    }

    /// The world of the run.
    pub fn world<'w>(&'w self, ctx: &'w Ctx<'w>) -> Ctx<'w> {
        ctx.with(&self.pillar, &self.opts)
    }

    /// What is wrong with the pillar, unless that does not matter (`force`).
    fn errors(&self, keywords: &Map) -> Vec<Value> {
        if keywords.at("force").is_some_and(Value::truthy) {
            return Vec::new();
        }
        self.pillar.at(ERRORS).and_then(Value::as_list).unwrap_or_default().to_vec()
    }

    /// Nothing is shown with a broken pillar.
    pub fn refuse(&self, keywords: &Map) -> Result<(), Fault> {
        let errors = self.errors(keywords);
        if errors.is_empty() {
            return Ok(());
        }
        let all: Vec<String> = errors.iter().map(|error| format!("- {}", error.to_text())).collect();
        Err(Fault::execution(format!("Pillar failed to render. Additional info follows:\n\n{}", all.join("\n"))))
    }

    /// Nothing is run with a broken pillar: the answer then.
    pub fn broken_pillar(&self, keywords: &Map) -> Option<Returned> {
        let errors = self.errors(keywords);
        if errors.is_empty() {
            return None;
        }
        let mut all = vec![Value::from("Pillar failed to render with the following messages:")];
        all.extend(errors);
        Some(Returned::from(Value::List(all)).with_retcode(code::PILLAR).with_out("highstate"))
    }
}

/// The pillar of the minion, anew: a run of states must not begin with what the master has changed since. `salt-call` has
/// just asked for it.
fn pillar(ctx: &Ctx, opts: &Map, asked: &Asked) -> Result<Map, Fault> {
    let same = opts.at("pillarenv") == ctx.opts.at("pillarenv");
    let is_fresh = ctx.opts.str_at("__cli") == Some("salt-call");
    if asked.over.is_empty() && same && is_fresh {
        return Ok(ctx.pillar.clone());
    }
    gather(&ctx.with(ctx.pillar, opts), asked)
}

/// The data of the command line that is put on top of the pillar.
fn over(ctx: &Ctx, keywords: &Map) -> Result<Map, Fault> {
    let renderer = keywords.at("pillar_enc").filter(|renderer| renderer.truthy());
    match (keywords.at("pillar"), renderer) {
        (None | Some(Value::Null), _) => Ok(Map::new()),
        (Some(data), Some(renderer)) => decrypted(ctx, data.clone(), renderer),
        (Some(Value::Map(over)), None) => Ok(over.clone()),
        (Some(_), None) => {
            Err(Fault::invocation("Pillar data must be formatted as a dictionary, unless pillar_enc is specified."))
        }
    }
}

/// SLS as the command line gives them: a list, or text with commas.
pub fn split(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        Value::Null => Vec::new(),
        other => {
            other.to_text().split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        }
    }
}

/// The answer of what does not compile.
pub fn errors(errors: Vec<String>) -> Reply {
    Ok(Returned::from(Value::list(errors)).with_retcode(code::COMPILER))
}
