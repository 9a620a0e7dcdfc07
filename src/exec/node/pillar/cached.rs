//! A copy of the pillar on the minion (`minion_pillar_cache`): files of a pillar, which `salt-call --local` with
//! `--pillar-root` takes when the master is away.

use super::ERRORS;
use halite_core::host::{Attributes, Host};
use halite_lang::yaml;
use halite_value::{Map, Value};
use std::io;
use std::path::Path;

/// Writes the files where the options want them. A pillar with faults does not replace a good one.
pub fn keep(host: &dyn Host, opts: &Map, pillar: &Map) {
    let wanted = opts.at("minion_pillar_cache").is_some_and(Value::truthy);
    let is_local = opts.str_at("file_client") == Some("local");
    let Some(cachedir) = opts.str_at("cachedir").filter(|_| wanted && !is_local) else { return };
    if pillar.contains(ERRORS) {
        return;
    }
    let directory = Path::new(cachedir).join("pillar");
    if let Err(error) = write(host, opts, &directory, pillar) {
        log::error!("the pillar cannot be kept in {}: {error}", directory.display());
    }
}

fn write(host: &dyn Host, opts: &Map, directory: &Path, pillar: &Map) -> io::Result<()> {
    let saltenv = opts.str_at("saltenv").filter(|saltenv| !saltenv.is_empty()).unwrap_or("base");
    let id = opts.str_at("id").unwrap_or_default();
    let sls = Map::from_iter([(id, Value::list(["cache"]))]);
    let top = Map::from_iter([(saltenv, sls)]);
    match host.make_directory(directory, 0o700) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // A pillar holds secrets.
    let attributes = Attributes { mode: Some(0o600), ..Attributes::default() };
    host.write(&directory.join("top.sls"), yaml::dump(&top.into()).as_bytes(), attributes)?;
    // Text of the pillar that looks like a template is none.
    let data = format!("#!yaml\n{}", yaml::dump(&pillar.clone().into()));
    host.write(&directory.join("cache.sls"), data.as_bytes(), attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::HostFiles;
    use halite_core::host::fake::Fake;

    fn opts(text: &str) -> Map {
        yaml::load(text).unwrap().as_map().unwrap().clone()
    }

    #[test]
    fn a_copy_of_the_pillar_is_for_its_owner_alone() {
        let host = Fake::new().directory("/var/cache");
        let all = opts("{cachedir: /var/cache, id: web1, minion_pillar_cache: True}");
        keep(&host, &all, &opts("{a: {b: '{{ 1 }}'}}"));
        assert_eq!(host.text("/var/cache/pillar/top.sls").unwrap(), "base:\n  web1:\n  - cache\n");
        assert_eq!(host.text("/var/cache/pillar/cache.sls").unwrap(), "#!yaml\na:\n  b: '{{ 1 }}'\n");
        let stat = host.stat(Path::new("/var/cache/pillar/cache.sls")).unwrap();
        assert_eq!(stat.mode & 0o777, 0o600);
        keep(&host, &all, &opts("{_errors: [x]}"));
        assert!(
            host.text("/var/cache/pillar/cache.sls").unwrap().contains("b:"),
            "a broken pillar replaces a good one"
        );
    }

    #[test]
    fn no_copy_is_made_unasked_or_of_what_is_local() {
        for more in ["minion_pillar_cache: False", "minion_pillar_cache: True, file_client: local"] {
            let host = Fake::new().directory("/var/cache");
            keep(&host, &opts(&format!("{{cachedir: /var/cache, id: web1, {more}}}")), &Map::new());
            assert!(host.text("/var/cache/pillar/cache.sls").is_none(), "{more}");
        }
    }
}
