//! Grains in a file (`grains_cache`): a program that starts takes them from there for a while and looks at nothing.

use super::{collect, is_on};
use halite_core::host::{Attributes, Host};
use halite_lang::serializers::msgpack;
use halite_value::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name that Salt gives to the file.
const NAME: &str = "grains.cache.p";

/// How long kept grains are good where nobody says.
const GOOD_FOR: f64 = 300.0;

/// The grains that are kept, while they are good; else those of now, which are kept.
pub fn known(host: &dyn Host, opts: &Map) -> Map {
    kept(host, opts).unwrap_or_else(|| renew(host, opts))
}

/// The grains of now, which are kept where that is wanted.
pub fn renew(host: &dyn Host, opts: &Map) -> Map {
    let grains = collect(host, opts);
    keep(host, opts, &grains);
    grains
}

/// Has whoever asks next look at the machine.
pub fn forget(host: &dyn Host, opts: &Map) {
    let Some(path) = file(opts) else { return };
    match host.remove(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            log::error!("{}: {error}: grains that are kept stay so until they are too old", path.display());
        }
        _ => {}
    }
}

/// Writes grains down for whoever asks next.
pub fn keep(host: &dyn Host, opts: &Map, grains: &Map) {
    let Some(path) = file(opts).filter(|_| !is_on(opts, "skip_grains")) else { return };
    // What they tell of the machine is for its administrator.
    let attributes = Attributes { mode: Some(0o600), ..Attributes::default() };
    let written = msgpack::write(&grains.clone().into())
        .and_then(|bytes| host.write(&path, &bytes, attributes).map_err(|error| error.to_string()));
    if let Err(error) = written {
        log::error!("the grains cannot be kept in {}: {error}", path.display());
    }
}

fn kept(host: &dyn Host, opts: &Map) -> Option<Map> {
    let path = file(opts)?;
    let age = host.now().duration_since(host.stat(&path).ok()?.modified).unwrap_or_default();
    let good_for = opts.at("grains_cache_expiration").and_then(Value::as_float).unwrap_or(GOOD_FOR);
    if age > Duration::try_from_secs_f64(good_for).unwrap_or_default() {
        return None;
    }
    match msgpack::read(&host.read(&path).ok()?) {
        // A minion that has got another name is not what these tell of.
        Ok(Value::Map(grains)) if grains.str_at("id") != opts.str_at("id") => None,
        Ok(Value::Map(grains)) => Some(grains),
        _ => {
            log::warn!("{}: the grains in it cannot be read: they are found out anew", path.display());
            None
        }
    }
}

/// Where grains are kept; nothing where they are not.
fn file(opts: &Map) -> Option<PathBuf> {
    let directory = opts.str_at("cachedir").filter(|_| is_on(opts, "grains_cache"))?;
    Some(Path::new(directory).join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Fake;
    use halite_core::host::{HostFiles, Processes};
    use halite_lang::yaml;

    const FILE: &str = "/var/cache/salt/minion/grains.cache.p";

    fn opts(more: &str) -> Map {
        yaml::load(&format!("{{id: web1, cachedir: /var/cache/salt/minion, {more}}}"))
            .unwrap()
            .as_map()
            .unwrap()
            .clone()
    }

    fn host() -> Fake {
        Fake::new().directory("/var/cache/salt/minion").file("/proc/sys/kernel/hostname", "before\n")
    }

    fn rename(host: &Fake) {
        host.write(Path::new("/proc/sys/kernel/hostname"), b"after\n", Attributes::default()).unwrap();
    }

    #[test]
    fn kept_grains_are_used_until_they_are_too_old_or_forgotten() {
        let (host, opts) = (host(), opts("grains_cache: True, grains_cache_expiration: 60"));
        let name = || known(&host, &opts).str_at("nodename").map(str::to_owned);
        assert_eq!(name().as_deref(), Some("before"));
        rename(&host);
        // Files of the fake host are as old as its clock.
        let age = host.now().duration_since(host.stat(Path::new(FILE)).unwrap().modified).unwrap().as_secs();
        let kept_for = |seconds: u64| Map::from_iter([("grains_cache_expiration", Value::from(age + seconds))]);
        let with = |more: Map| {
            let mut all = opts.clone();
            all.extend(more);
            known(&host, &all).str_at("nodename").map(str::to_owned)
        };
        let young = with(kept_for(60));
        assert_eq!(young.as_deref(), Some("before"), "it looks at the machine although it has kept the grains");
        assert_eq!(name().as_deref(), Some("after"));
        let renamed = with(Map::from_iter([("id", "web2")]));
        assert_eq!(renamed.as_deref(), Some("after"), "kept grains are another minion's");
        forget(&host, &opts);
        assert!(host.text(FILE).is_none());
    }

    #[test]
    fn grains_are_kept_only_where_that_is_wanted() {
        let host = host();
        known(&host, &opts("grains_cache: False"));
        assert!(host.text(FILE).is_none());
    }

    #[test]
    fn a_broken_file_of_kept_grains_is_written_anew() {
        let host = host().file(FILE, "{x");
        assert_eq!(known(&host, &opts("grains_cache: True")).str_at("nodename"), Some("before"));
        let bytes = host.read(Path::new(FILE)).unwrap();
        assert!(msgpack::read(&bytes).unwrap().at("nodename").is_some());
        assert_eq!(host.stat(Path::new(FILE)).unwrap().mode & 0o777, 0o600);
    }
}
