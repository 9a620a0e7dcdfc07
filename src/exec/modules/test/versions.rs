//! Functions that show versions: the program's and the system's.

use halite_core::module::Run;
use halite_core::{Ctx, Reply, SALT_VERSION, VERSION};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows the version of this program.
    ///
    ///   salt '*' test.version
    pub struct Version {}
}

impl Run for Version {
    fn run(self, _: &Ctx) -> Reply {
        Ok(VERSION.into())
    }
}

record! {
    /// Shows the versions of the program and of the system, as data.
    ///
    ///   salt '*' test.versions_information
    pub struct VersionsInformation {}
}

impl Run for VersionsInformation {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(sections(ctx).into())
    }
}

record! {
    /// Shows the versions of the program and of the system, as text.
    ///
    ///   salt '*' test.versions_report
    ///   salt '*' test.versions
    pub struct VersionsReport {}
}

impl Run for VersionsReport {
    fn run(self, ctx: &Ctx) -> Reply {
        let sections = sections(ctx);
        let names = sections.values().filter_map(Value::as_map).flat_map(Map::keys);
        let width = names.map(|name| name.to_text().len()).max().unwrap_or(0) + 4;
        let mut lines = Vec::new();
        for (title, entries) in sections.iter() {
            if !lines.is_empty() {
                lines.push(" ".to_owned());
            }
            lines.push(format!("{title}:"));
            for (name, version) in entries.as_map().into_iter().flat_map(Map::iter) {
                let name = name.to_text();
                lines.push(format!("{name:>width$}: {version}"));
            }
        }
        Ok(lines.join("\n").into())
    }
}

fn sections(ctx: &Ctx) -> Map {
    let grain = |name: &str| ctx.grains.at(name).map(Value::to_text).unwrap_or_default();
    let release = format!("{} {} {}", grain("os").to_lowercase(), grain("osrelease"), grain("oscodename"));
    let own = Map::from_iter([
        ("Halite", VERSION.to_owned()),
        ("Follows Salt", format!("{}.{}", SALT_VERSION[0], SALT_VERSION[1])),
    ]);
    let system = Map::from_iter([
        ("dist", release.trim().to_owned()),
        ("machine", grain("cpuarch")),
        ("release", grain("kernelrelease")),
        ("system", grain("kernel")),
        (
            "version",
            format!("{} {} {}", grain("osfullname"), grain("osrelease"), grain("oscodename")).trim().to_owned(),
        ),
    ]);
    Map::from_iter([("Salt Version", own), ("System Versions", system)])
}
