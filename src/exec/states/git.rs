//! `git.*`: checkouts of repositories.

mod cloned;
mod config;
mod detached;
mod latest;
mod present;
mod remote;
mod update;

use halite_core::state::{Function, Module, Outcome, state};
use halite_core::{Ctx, Fault};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "git", doc: "Checkouts of repositories.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<cloned::Cloned>("cloned"),
    state::<config::ConfigSet>("config_set"),
    state::<config::ConfigUnset>("config_unset"),
    state::<detached::Detached>("detached"),
    state::<latest::Latest>("latest"),
    state::<present::Present>("present"),
];

/// Who asks git, and how.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub user: Value,
    pub password: Value,
    pub output_encoding: Value,
    /// For what speaks to the other side.
    pub identity: Value,
    pub https_user: Value,
    pub https_pass: Value,
}

impl Account {
    /// Asks a function of a checkout; `words` are its further arguments by name.
    pub fn ask(&self, ctx: &Ctx, function: &str, words: &[(&str, Value)]) -> Result<Value, Fault> {
        let own = [("user", &self.user), ("password", &self.password), ("output_encoding", &self.output_encoding)];
        self.call(ctx, function, own.as_slice(), words)
    }

    /// The same for what speaks to the other side.
    pub fn ask_remote(&self, ctx: &Ctx, function: &str, words: &[(&str, Value)]) -> Result<Value, Fault> {
        let own = [
            ("user", &self.user),
            ("password", &self.password),
            ("output_encoding", &self.output_encoding),
            ("identity", &self.identity),
            ("https_user", &self.https_user),
            ("https_pass", &self.https_pass),
        ];
        self.call(ctx, function, own.as_slice(), words)
    }

    fn call(&self, ctx: &Ctx, function: &str, own: &[(&str, &Value)], words: &[(&str, Value)]) -> Result<Value, Fault> {
        let own = own.iter().map(|(name, value)| (*name, (*value).clone()));
        let all = own.chain(words.iter().map(|(name, value)| (*name, value.clone())));
        let given = all.filter(|(_, value)| !value.is_null());
        ctx.run(function, Arguments::keywords(Map::from_iter(given)))
    }
}

/// What git complained about, without the command.
fn complaint(fault: &Fault) -> String {
    let text = fault.to_string();
    let behind = text.strip_prefix("Command ").and_then(|text| text.split_once(" failed: ")).map(|(_, behind)| behind);
    behind.unwrap_or(&text).to_owned()
}

/// Comments as one text.
fn joined(comments: &[String]) -> String {
    let text = comments.join(". ");
    if comments.len() > 1 { text + "." } else { text }
}

/// A failure, with what was done before it.
fn fail(comment: impl Into<String>, comments: &[String], changes: Map) -> Outcome {
    let mut comment = comment.into();
    if !comments.is_empty() {
        comment.push_str(&format!("\n\nChanges already made: {}", joined(comments)));
    }
    Outcome::failed(comment).with_changes(changes)
}
