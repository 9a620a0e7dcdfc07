//! `check_cmd`: a command that says whether a content is right, before it is put in place.

use super::target::Target;
use halite_core::host::Attributes;
use halite_core::state::Outcome;
use halite_core::{Ctx, Fault};
use halite_lang::random;
use halite_value::Value;
use halite_value::record::Arguments;
use std::path::{Path, PathBuf};

/// A command, and the file that it sees.
pub struct Check {
    pub command: String,
    pub folder: Option<String>,
    /// The end of the file's name: some programs look at it.
    pub ending: String,
}

/// Has a command look at the content. What comes back is what it has against it.
pub fn checked(ctx: &Ctx, target: &Target, check: Option<Check>) -> Result<Option<Outcome>, Fault> {
    let Some(check) = check else { return Ok(None) };
    let folder = check.folder.filter(|folder| !folder.is_empty());
    let folder = folder.map_or_else(std::env::temp_dir, PathBuf::from);
    let file = folder.join(format!("halite-{:016x}{}", random::bits(), check.ending));
    // Without a new content it is the one that is there.
    let bytes = match &target.content {
        Some(content) => content.bytes.clone(),
        None => ctx.host.read(Path::new(&target.name)).unwrap_or_default(),
    };
    let attributes = Attributes { mode: Some(target.owner.mode.unwrap_or(0o600)), ..target.owner.attributes() };
    if let Err(error) = ctx.host.write(&file, &bytes, attributes) {
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
