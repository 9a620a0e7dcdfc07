//! rpm: the database of what is installed, whatever tool has installed it, and packages that are files.

mod files;
mod info;
mod version;

pub use files::{difference, modified, verify};
pub use info::{Which, info};
pub use version::compare;

use super::Packages;
use halite_core::program::Program;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

const X86_64: [&str; 2] = ["x86_64", "x86_64_v2"];
const X86_32: [&str; 4] = ["i386", "i486", "i586", "i686"];
const ARM_32: [&str; 7] = ["armv5tel", "armv5tejl", "armv6l", "armv6hl", "armv7l", "armv7hl", "armv7hnl"];
/// What else names of packages may end with.
const OTHERS: [&str; 27] = [
    "athlon",
    "amd64",
    "ia32e",
    "ia64",
    "geode",
    "ppc",
    "ppc64",
    "ppc64le",
    "ppc64iseries",
    "ppc64pseries",
    "s390",
    "s390x",
    "alpha",
    "alphaev4",
    "alphaev45",
    "alphaev5",
    "alphaev56",
    "alphapca56",
    "alphaev6",
    "alphaev67",
    "alphaev68",
    "alphaev7",
    "aarch64",
    "sh3",
    "sh4",
    "sh4a",
    "noarch",
];

/// Name and architecture of `zsh.x86_64`.
pub fn split_arch(name: &str) -> (&str, Option<&str>) {
    let is_arch = |arch: &str| [&X86_64[..], &X86_32, &ARM_32, &OTHERS].iter().any(|known| known.contains(&arch));
    match name.rsplit_once('.') {
        Some((short, arch)) if is_arch(arch) => (short, Some(arch)),
        _ => (name, None),
    }
}

/// Whether packages of this architecture are named without it.
fn is_own(ctx: &Ctx, arch: &str) -> bool {
    let own = ctx.grains.str_at("osarch").unwrap_or("x86_64");
    let both = |family: &[&str]| family.contains(&own) && family.contains(&arch);
    arch == own || arch == "noarch" || both(&X86_64) || both(&X86_32) || both(&ARM_32)
}

/// A name without the architecture that is the host's own.
pub fn normalized(ctx: &Ctx, name: &str) -> String {
    match split_arch(name) {
        (short, Some(arch)) if is_own(ctx, arch) => short.to_owned(),
        _ => name.to_owned(),
    }
}

/// A package that is installed, or a file that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// With the architecture behind it where that is not the host's.
    pub name: String,
    epoch: Option<String>,
    version: String,
    release: String,
    arch: String,
    /// When it was installed, in seconds since 1970.
    installed: Option<i64>,
}

const FORMAT: &str = "%{NAME}\t%{EPOCH}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\t%{INSTALLTIME}\n";

impl Package {
    fn parse(ctx: &Ctx, line: &str) -> Option<Package> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, epoch, version, release, arch, time] = fields.as_slice() else { return None };
        Some(Package {
            name: if is_own(ctx, arch) { (*name).to_owned() } else { format!("{name}.{arch}") },
            epoch: Some(*epoch).filter(|epoch| !["(none)", "0"].contains(epoch)).map(str::to_owned),
            version: (*version).to_owned(),
            release: (*release).to_owned(),
            arch: (*arch).to_owned(),
            installed: time.parse().ok().filter(|time| *time != 0),
        })
    }

    /// `EPOCH:VERSION-RELEASE`.
    pub fn full_version(&self) -> String {
        let epoch = self.epoch.as_ref().map(|epoch| format!("{epoch}:")).unwrap_or_default();
        let release = if self.release.is_empty() { String::new() } else { format!("-{}", self.release) };
        format!("{epoch}{}{release}", self.version)
    }

    /// What `attr` of `pkg.list_pkgs` asks for; version and architecture always.
    fn attributes(&self, asked: &[String]) -> Map {
        let date = self.installed.and_then(|time| jiff::Timestamp::from_second(time).ok());
        let all = [
            ("epoch", Value::from(self.epoch.clone())),
            ("version", self.version.as_str().into()),
            ("release", Some(self.release.clone()).filter(|release| !release.is_empty()).into()),
            ("arch", self.arch.as_str().into()),
            // With both signs for universal time, as Salt has it.
            ("install_date", date.map(|date| date.strftime("%Y-%m-%dT%H:%M:%S+00:00Z").to_string()).into()),
            ("install_date_time_t", self.installed.into()),
        ];
        let is_asked =
            |key: &str| ["version", "arch"].contains(&key) || asked.iter().any(|asked| asked == key || asked == "all");
        all.into_iter().filter(|(key, _)| is_asked(key)).collect()
    }
}

pub fn rpm(root: Option<&str>) -> Program {
    match root {
        Some(root) => Program::new(["rpm", "--root", root]),
        None => Program::new(["rpm"]),
    }
}

fn all(ctx: &Ctx, root: Option<&str>) -> Result<Vec<Package>, Fault> {
    let told = rpm(root).args(["-qa", "--nodigest", "--nosignature", "--queryformat", FORMAT]).query(ctx)?;
    let told = told.expect_success("rpm cannot list packages")?;
    Ok(told.stdout.lines().filter_map(|line| Package::parse(ctx, line)).collect())
}

pub fn installed(ctx: &Ctx, root: Option<&str>) -> Result<Packages, Fault> {
    let mut packages = Packages::default();
    for package in all(ctx, root)? {
        packages.add(&package.name, &package.full_version());
    }
    Ok(packages)
}

/// What `pkg.list_pkgs` shows with `attr`.
pub fn attributes(ctx: &Ctx, root: Option<&str>, asked: &[String]) -> Result<Map, Fault> {
    let mut packages = all(ctx, root)?;
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    let mut shown = Map::new();
    for package in packages {
        let name = match split_arch(&package.name) {
            (short, Some(arch)) if arch == package.arch => short,
            _ => package.name.as_str(),
        };
        if let Value::List(several) = shown.entry_or(name, || Value::List(Vec::new())) {
            several.push(package.attributes(asked).into());
        }
    }
    Ok(shown)
}

/// The package that a file is; nothing where it is none.
pub fn package_of(ctx: &Ctx, path: &str) -> Result<Option<Package>, Fault> {
    let told = Program::new(["rpm", "-qp", "--nodigest", "--nosignature", "--queryformat", FORMAT, path]).query(ctx)?;
    Ok(told.stdout.lines().find_map(|line| Package::parse(ctx, line)))
}

/// The package that a file belongs to; empty: none.
pub fn owner(ctx: &Ctx, path: &str, root: Option<&str>) -> Result<String, Fault> {
    let told = rpm(root).args(["-qf", "--queryformat", "%{name}", path]).query(ctx)?;
    Ok(if told.stdout.to_lowercase().contains("not owned") { String::new() } else { told.stdout })
}

/// The files of packages, or of all; and what rpm complains about.
pub fn file_list(ctx: &Ctx, names: &[String], root: Option<&str>) -> Result<Map, Fault> {
    let program = rpm(root).arg(if names.is_empty() { "-qla" } else { "-ql" });
    let told = program.args(names.iter().map(String::as_str)).query(ctx)?;
    let is_file = |line: &&str| line.starts_with('/');
    let (files, errors): (Vec<&str>, Vec<&str>) = told.stdout.lines().partition(is_file);
    let errors = errors.into_iter().filter(|line| *line != "(contains no files)");
    Ok(Map::from_iter([("errors", Value::list(errors)), ("files", Value::list(files))]))
}

/// The files of packages, or of all, by package; and what rpm complains about.
pub fn file_dict(ctx: &Ctx, names: &[String], root: Option<&str>) -> Result<Map, Fault> {
    let program = rpm(root).args([if names.is_empty() { "-qa" } else { "-q" }, "--queryformat", "%{NAME}\n"]);
    let told = program.args(names.iter().map(String::as_str)).query(ctx)?;
    let (mut errors, mut packages) = (Vec::new(), Map::new());
    for line in told.stdout.lines() {
        if line.contains("is not installed") {
            errors.push(line);
            continue;
        }
        let files = rpm(root).args(["-ql", line]).query(ctx)?;
        packages.insert(line, Value::list(files.stdout.lines()));
    }
    Ok(Map::from_iter([("errors", Value::list(errors)), ("packages", packages.into())]))
}

/// What packages provide, with those that do; not what is a package's own name.
pub fn provides(ctx: &Ctx, root: Option<&str>) -> Result<Map, Fault> {
    let told = rpm(root).args(["-qa", "--queryformat", "%{PROVIDES}\t%{NAME}\n"]).query(ctx)?;
    let mut shown = Map::new();
    for (provided, name) in told.stdout.lines().filter_map(|line| line.split_once('\t')) {
        if provided != name
            && let Value::List(names) = shown.entry_or(provided, || Value::List(Vec::new()))
        {
            names.push(name.into());
        }
    }
    Ok(shown)
}
