//! `check_cmd`: a command that says whether a content is right, before it is put in place.

use halite_core::host::{Attributes, own};
use halite_core::state::Outcome;
use halite_core::{Ctx, Fault, paths};
use halite_file::content::{Part, put};
use halite_file::desired::Desired;
use halite_lang::random;
use halite_value::Value;
use halite_value::record::Arguments;
use std::path::{Path, PathBuf};

/// A command, and the file that it sees.
pub struct Check {
    pub command: String,
    pub directory: Option<String>,
    /// The end of the file's name: some programs look at it.
    pub ending: String,
}

/// Has a command look at the content. What comes back is what it has against it.
pub fn checked(ctx: &Ctx, desired: &Desired, check: Option<Check>) -> Result<Option<Outcome>, Fault> {
    let Some(check) = check else { return Ok(None) };
    let directory = check.directory.filter(|directory| !directory.is_empty());
    let directory = directory.map_or_else(own::temporary_directory, PathBuf::from);
    let file = directory.join(format!("halite-{:016x}{}", random::bits(), check.ending));
    // Without a new content it is the one that is there.
    let part = match &desired.body {
        Some(body) => body.part().unwrap_or(Part::EMPTY),
        None if paths::is_file(ctx.host, &desired.name) => Part::At(&desired.name),
        None => Part::EMPTY,
    };
    let attributes = Attributes { mode: Some(desired.owner.mode.unwrap_or(0o600)), ..desired.owner.attributes() };
    if let Err(error) = put(ctx.host, part, desired.verified.as_ref(), &file, attributes) {
        return Ok(Some(Outcome::failed(format!("Unable to check_cmd file: {}: {error}", file.display()))));
    }
    let complaint = run(ctx, &check.command, &file);
    // A leftover is only untidy; what the command said matters.
    let _ = ctx.host.remove(&file);
    complaint
}

/// Runs a command with a file's name behind it.
pub fn run(ctx: &Ctx, command: &str, file: &Path) -> Result<Option<Outcome>, Fault> {
    let arguments = Arguments::positional([format!("{command} {}", file.display())]);
    let arguments = match ctx.grains.at("shell") {
        Some(shell) => arguments.with("shell", shell.clone()),
        None => arguments,
    };
    let answer = ctx.run("cmd.run_all", arguments)?;
    if answer.at("retcode") == Some(&Value::Int(0)) {
        return Ok(None);
    }
    let mut comment = "check_cmd execution failed".to_owned();
    for stream in ["stdout", "stderr"] {
        if let Some(text) = answer.at(stream).and_then(Value::as_str).filter(|text| !text.is_empty()) {
            comment.push('\n');
            comment.push_str(text);
        }
    }
    Ok(Some(Outcome::failed(comment).with("skip_watch", true)))
}
