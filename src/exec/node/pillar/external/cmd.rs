//! `cmd_yaml` and `cmd_json`: what a command of the master's prints. `%s` in it is the minion's id.
//!
//! The output is never shown: it may hold secrets.

use super::{Source, Wanted, minion_id, no_directories};
use halite_core::{Ctx, Fault};
use halite_lang::yaml;
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};

pub const JSON: Source = Source { name: "cmd_json", run: json, directories: no_directories };
pub const YAML: Source = Source { name: "cmd_yaml", run: yaml, directories: no_directories };

fn json(ctx: &Ctx, wanted: &Wanted) -> Result<Map, Fault> {
    let printed = printed(ctx, wanted)?;
    let data = parse_json(&printed).map_err(|_| Fault::execution("its command prints no JSON"))?;
    as_map(data, "JSON")
}

fn yaml(ctx: &Ctx, wanted: &Wanted) -> Result<Map, Fault> {
    let printed = printed(ctx, wanted)?;
    let data = yaml::load(&printed)
        .map_err(|error| Fault::execution(format!("its command prints no YAML: line {}", error.line)))?;
    as_map(data, "YAML")
}

fn as_map(data: Value, kind: &str) -> Result<Map, Fault> {
    match data {
        Value::Map(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(Fault::execution(format!("its command prints {kind} that is a {} and no map", other.type_name()))),
    }
}

/// What the command prints; an id has no character that a shell would read.
fn printed(ctx: &Ctx, wanted: &Wanted) -> Result<String, Fault> {
    halite_lang::outside::looked();
    let Value::Str(command) = wanted.settings else {
        return Err(Fault::invocation("it wants a command"));
    };
    let command = command.replace("%s", minion_id(ctx));
    let arguments = Arguments::positional([command]).with("python_shell", true).with("output_loglevel", "quiet");
    let done = ctx.run("cmd.run_all", arguments.with("ignore_retcode", true))?;
    match done.at("retcode").and_then(Value::as_int) {
        Some(0) => Ok(done.at("stdout").map(Value::to_text).unwrap_or_default()),
        code => Err(Fault::execution(format!("its command ends with {}", code.unwrap_or(-1)))),
    }
}
