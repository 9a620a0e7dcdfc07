//! Several sources, of which the first that is there counts.

use halite_core::{Ctx, Fault, paths};
use halite_node::fileserver::address;
use halite_node::fileserver::address::split_saltenv;
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_value::Value;

/// The first of several sources that there is, with its hash; one that is no list is taken as it stands.
pub fn first_of(ctx: &Ctx, source: Value, source_hash: Value, saltenv: &str) -> Result<(Value, Value), Fault> {
    let Value::List(sources) = &source else { return Ok((source, source_hash)) };
    for item in sources {
        let (source, hash) = match item {
            Value::Map(map) => match map.first() {
                Some((source, hash)) if map.len() == 1 => {
                    (source.to_text(), if hash.truthy() { hash } else { &source_hash })
                }
                _ => continue,
            },
            other => (other.to_text(), &source_hash),
        };
        if is_there(ctx, &source, saltenv)? {
            return Ok((source.into(), hash.clone()));
        }
    }
    Err(Fault::execution("none of the specified sources were found"))
}

fn is_there(ctx: &Ctx, source: &str, environment: &str) -> Result<bool, Fault> {
    let client = FileClient::new(ctx);
    Ok(match address::scheme(source).as_str() {
        "salt" => {
            let (address, own) = split_saltenv(source);
            let wanted = Wanted::default();
            client.cache_file(&address, own.as_deref().unwrap_or(environment), &wanted)?.is_some()
        }
        "http" | "https" => client.cache_file(source, environment, &Wanted::default()).is_ok_and(|path| path.is_some()),
        "file" => paths::exists(ctx.host, source.trim_start_matches("file://")),
        _ => source.starts_with('/') && paths::exists(ctx.host, source),
    })
}
