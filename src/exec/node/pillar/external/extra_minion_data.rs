//! `extra_minion_data_in_pillar`: what the minion's configuration tells (`pass_to_ext_pillars`), as pillar.

use super::{Source, Wanted, no_directories};
use halite_core::pillar_request::branch;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

pub const SOURCE: Source = Source { name: "extra_minion_data_in_pillar", run, directories: no_directories };

fn run(_: &Ctx, wanted: &Wanted) -> Result<Map, Fault> {
    let told = &wanted.asked.told;
    let include = match wanted.settings {
        Value::Map(settings) => settings.at("include").cloned().unwrap_or_default(),
        settings => settings.clone(),
    };
    match include {
        Value::Str(all) if matches!(all.as_str(), "*" | "<all>") => Ok(told.clone()),
        // A list of arguments of which the first is all.
        Value::List(all) if matches!(all.first().and_then(Value::as_str), Some("*" | "<all>")) => Ok(told.clone()),
        Value::List(paths) => {
            let mut data = Map::new();
            paths.iter().filter_map(|path| branch(told, &path.to_text())).for_each(|part| data.extend(part));
            Ok(data)
        }
        _ => Err(Fault::invocation("include: a list of paths of options is wanted, or '*'")),
    }
}
