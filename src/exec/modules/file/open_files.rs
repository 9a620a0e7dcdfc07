//! `file.open_files`.

use halite_core::module::Run;
use halite_core::{Ctx, Reply, paths};
use halite_value::record;
use halite_value::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

record! {
    /// Lists the files that processes have open, with the pids.
    ///
    ///   salt '*' file.open_files
    ///   salt '*' file.open_files by_pid=True
    pub struct OpenFiles {
        /// List the pids, with their files.
        by_pid: bool = false,
    }
}

impl Run for OpenFiles {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut by_pid: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        let mut by_file: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        let pids = ctx.host.list(Path::new("/proc")).unwrap_or_default();
        for pid in pids.iter().filter_map(|name| name.parse::<i64>().ok()) {
            let files = by_pid.entry(pid).or_default();
            for file in open(ctx, &format!("/proc/{pid}")) {
                by_file.entry(file.clone()).or_default().insert(pid);
                files.insert(file);
            }
        }
        let list = |items: BTreeSet<String>| Value::list(items);
        Ok(match self.by_pid {
            true => by_pid.into_iter().map(|(pid, files)| (pid, list(files))).collect::<Map>().into(),
            false => by_file.into_iter().map(|(file, pids)| (file, Value::list(pids))).collect::<Map>().into(),
        })
    }
}

/// The paths of what a process has open and of its program, those that are there.
fn open(ctx: &Ctx, process: &str) -> BTreeSet<String> {
    let mut links = vec![format!("{process}/exe")];
    for name in ctx.host.list(Path::new(&format!("{process}/fd"))).unwrap_or_default() {
        links.push(format!("{process}/fd/{name}"));
    }
    let real = links.iter().map(|link| paths::real(ctx.host, link));
    real.filter(|path| ctx.host.stat(Path::new(path)).is_ok()).collect()
}
