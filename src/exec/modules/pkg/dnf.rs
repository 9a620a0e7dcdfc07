//! dnf, yum and rpm.

use super::manager::{Done, How};
use super::{Packages, Targets, check_names};
use crate::exec::program::{Answer, Program};
use crate::exec::{Ctx, Fault, Reply};
use crate::wire::value::{Map, Value};
use std::cmp::Ordering;
use std::path::Path;

/// The tool that the host has: dnf, else yum.
fn dnf(ctx: &Ctx) -> &'static str {
    if ctx.host.which("dnf").is_some() { "dnf" } else { "yum" }
}

/// Options that say where packages come from and go to.
fn options(how: &How) -> Vec<String> {
    let mut options = Vec::new();
    if let Some(repo) = &how.fromrepo {
        options.extend(["--disablerepo=*".to_owned(), format!("--enablerepo={repo}")]);
    } else {
        options.extend(how.disablerepo.iter().map(|repo| format!("--disablerepo={repo}")));
        options.extend(how.enablerepo.iter().map(|repo| format!("--enablerepo={repo}")));
    }
    options.extend(how.root.iter().map(|root| format!("--installroot={root}")));
    if how.skip_verify {
        options.push("--nogpgcheck".to_owned());
    }
    options
}

fn rpm(root: Option<&str>) -> Program {
    match root {
        Some(root) => Program::new(["rpm", "--root", root]),
        None => Program::new(["rpm"]),
    }
}

pub(super) fn installed(ctx: &Ctx, root: Option<&str>) -> Result<Packages, Fault> {
    let format = "%{NAME}\t%{EPOCHNUM}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\n";
    let told = rpm(root).args(["-qa", "--queryformat", format]).query(ctx)?;
    let told = told.expect_success("rpm cannot list packages")?;
    let mut packages = Packages::default();
    for line in told.stdout.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, epoch, version, release, arch] = fields.as_slice() else { continue };
        if name.starts_with("gpg-pubkey") {
            continue;
        }
        let epoch = if ["0", "(none)", ""].contains(epoch) { String::new() } else { format!("{epoch}:") };
        packages.add(&normalized(ctx, &format!("{name}.{arch}")), &format!("{epoch}{version}-{release}"));
    }
    Ok(packages)
}

/// A name without the architecture that is the host's own.
pub(super) fn normalized(ctx: &Ctx, name: &str) -> String {
    let own = ctx.grains.str_at("osarch").unwrap_or("x86_64");
    match name.rsplit_once('.') {
        Some((short, arch)) if arch == own || arch == "noarch" || arch == "(none)" => short.to_owned(),
        _ => name.to_owned(),
    }
}

pub(super) fn refresh(ctx: &Ctx) -> Result<Map, Fault> {
    let told = Program::new([dnf(ctx), "--quiet", "--assumeyes", "makecache"]).run(ctx)?;
    told.expect_success("the lists of packages cannot be read")?;
    let shown = repos(ctx)?;
    let on = |repo: &Value| repo.at("enabled").is_none_or(|on| on.to_text() != "0");
    Ok(shown.iter().filter(|(_, repo)| on(repo)).map(|(name, _)| (name.clone(), true)).collect())
}

/// Lines of `dnf list`: name.arch, version, repository.
fn parse(ctx: &Ctx, text: &str) -> Map {
    let mut found = Map::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, version, _] = words.as_slice()
            && name.contains('.')
            && version.starts_with(|c: char| c.is_ascii_digit())
        {
            found.insert(normalized(ctx, name), version.strip_prefix("0:").unwrap_or(version));
        }
    }
    found
}

pub(super) fn candidates(ctx: &Ctx, names: &[String], how: &How) -> Result<Map, Fault> {
    check_names(names)?;
    let program = Program::new([dnf(ctx), "--quiet", "list", "available"]).args(options(how));
    Ok(parse(ctx, &program.args(names.iter().map(String::as_str)).query(ctx)?.stdout))
}

pub(super) fn upgrades(ctx: &Ctx, how: &How) -> Result<Map, Fault> {
    let told = Program::new([dnf(ctx), "--quiet", "list", "updates"]).args(options(how)).query(ctx)?;
    // It ends with 1 where there are none.
    Ok(parse(ctx, &told.stdout))
}

pub(super) fn install(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
    let before = installed(ctx, how.root.as_deref())?;
    let (mut plain, mut downgrades, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = Vec::new();
    match targets {
        Targets::Files(files) => plain.extend(files.iter().cloned()),
        Targets::Named(named) => {
            check_names(named.iter().map(|(name, _)| name))?;
            for (name, version) in named {
                let had = before.text(&normalized(ctx, name));
                names.push(normalized(ctx, name));
                let Some(version) = version.as_deref().map(|version| version.trim_start_matches('=')) else {
                    if how.reinstall && !had.is_empty() { &mut again } else { &mut plain }.push(name.clone());
                    continue;
                };
                if version.starts_with(['<', '>']) {
                    // rpm's own way to say it: one word, which dnf resolves.
                    plain.push(format!("{name} {}", spaced(version)));
                    continue;
                }
                let word = format!("{name}-{}", version.split_once(':').map_or(version, |(_, rest)| rest));
                match compare(version, &had) {
                    Ordering::Less if !had.is_empty() => downgrades.push(word),
                    Ordering::Equal if how.reinstall => again.push(word),
                    _ => plain.push(word),
                }
            }
        }
    }
    let mut errors = Vec::new();
    for (verb, words) in [("install", plain), ("downgrade", downgrades), ("reinstall", again)] {
        if words.is_empty() {
            continue;
        }
        let mut program = Program::new([dnf(ctx), "--quiet", "--assumeyes"]).args(options(how));
        if how.downloadonly {
            program = program.arg("--downloadonly");
        }
        let answer = program.arg(verb).args(words).run(ctx)?;
        if !answer.is_success() {
            errors.push(answer.complaint().to_owned());
        }
    }
    Ok(Done { changes: before.changes_to(&installed(ctx, how.root.as_deref())?), errors })
}

/// `>=1.2` with a blank behind the sign.
fn spaced(version: &str) -> String {
    let end = version.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(version.len());
    format!("{} {}", &version[..end], version[end..].trim())
}

pub(super) fn upgrade(ctx: &Ctx, how: &How) -> Result<Done, Fault> {
    let before = installed(ctx, how.root.as_deref())?;
    let mut program = Program::new([dnf(ctx), "--quiet", "--assumeyes"]).args(options(how));
    if how.downloadonly {
        program = program.arg("--downloadonly");
    }
    let answer = program.arg("upgrade").run(ctx)?;
    let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
    Ok(Done { changes: before.changes_to(&installed(ctx, how.root.as_deref())?), errors })
}

pub(super) fn remove(ctx: &Ctx, names: &[String], how: &How) -> Result<Answer, Fault> {
    let program = Program::new([dnf(ctx), "--quiet", "--assumeyes"]).args(options(how));
    program.arg("remove").args(names.iter().map(String::as_str)).run(ctx)
}

pub(super) fn owner(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let told = Program::new(["rpm", "-qf", "--queryformat", "%{name}", path]).query(ctx)?;
    Ok(if told.is_success() { told.stdout } else { String::new() })
}

pub(super) fn files(ctx: &Ctx, name: &str) -> Result<Vec<String>, Fault> {
    let told = Program::new(["rpm", "-ql", name]).query(ctx)?;
    Ok(told.stdout.lines().filter(|line| line.starts_with('/')).map(str::to_owned).collect())
}

/// `pkg.info_installed`.
pub(super) fn info(ctx: &Ctx, names: &[String]) -> Reply {
    const FIELDS: [(&str, &str); 11] = [
        ("name", "%{NAME}"),
        ("version", "%{VERSION}"),
        ("release", "%{RELEASE}"),
        ("architecture", "%{ARCH}"),
        ("license", "%{LICENSE}"),
        ("vendor", "%{VENDOR}"),
        ("packager", "%{PACKAGER}"),
        ("url", "%{URL}"),
        ("summary", "%{SUMMARY}"),
        ("size", "%{SIZE}"),
        ("description", "%{DESCRIPTION}"),
    ];
    let format: String = FIELDS.iter().map(|(_, field)| format!("{field}\u{1f}")).collect();
    let format = format!("{format}\u{1e}");
    let program = if names.is_empty() { Program::new(["rpm", "-qa"]) } else { Program::new(["rpm", "-q"]) };
    let told = program.args(["--queryformat", &format]).args(names.iter().map(String::as_str)).query(ctx)?;
    let told = told.expect_success("Error getting packages information")?;
    let mut shown = Map::new();
    for package in told.stdout.split('\u{1e}') {
        let values: Vec<&str> = package.split('\u{1f}').collect();
        let Some(name) = values.first().filter(|name| !name.is_empty()) else { continue };
        let known = FIELDS.iter().zip(&values).filter(|(_, value)| **value != "(none)");
        shown.insert(*name, known.map(|((key, _), value)| (*key, *value)).collect::<Map>());
    }
    Ok(shown.into())
}

/// The repositories of `/etc/yum.repos.d` (of zypper too), by name.
pub(super) fn repos(ctx: &Ctx) -> Result<Map, Fault> {
    let mut repos = Map::new();
    for folder in ["/etc/yum.repos.d", "/etc/zypp/repos.d"] {
        for name in ctx.host.list(Path::new(folder)).unwrap_or_default() {
            if !name.ends_with(".repo") {
                continue;
            }
            let path = Path::new(folder).join(name);
            let bytes =
                ctx.host.read(&path).map_err(|error| Fault::execution(format!("{}: {error}", path.display())))?;
            let mut current = None;
            for line in String::from_utf8_lossy(&bytes).lines().map(str::trim) {
                if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                    let file = path.to_string_lossy().into_owned();
                    repos.insert(section, Map::from_iter([("file", file)]));
                    current = Some(section.to_owned());
                } else if let (Some(section), Some((key, value))) = (&current, line.split_once('='))
                    && !line.starts_with('#')
                    && let Some(Value::Map(repo)) = repos.at_mut(section)
                {
                    repo.insert(key.trim(), value.trim());
                }
            }
        }
    }
    Ok(repos)
}

pub(super) fn held(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let told = Program::new([dnf(ctx), "--quiet", "versionlock", "list"]).query(ctx)?;
    let told = told.expect_success("pkg.hold needs the versionlock plugin of dnf or yum")?;
    // bash-0:5.1.8-6.el9.*: what stands before the version is the name.
    let name = |line: &str| line.trim().rsplitn(3, '-').nth(2).map(str::to_owned);
    Ok(told.stdout.lines().filter_map(name).collect())
}

pub(super) fn hold(ctx: &Ctx, name: &str, hold: bool) -> Result<(), Fault> {
    let verb = if hold { "add" } else { "delete" };
    let answer = Program::new([dnf(ctx), "--quiet", "versionlock", verb, name]).run(ctx)?;
    answer.expect_success(&format!("Package {name} was unable to be held or let go")).map(drop)
}

/// Compares two versions as rpm does: epoch, version, release, each in its parts of digits and of letters.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let split = |text: &str| {
        let (epoch, rest) = text.split_once(':').unwrap_or(("0", text));
        let (version, release) = rest.split_once('-').unwrap_or((rest, ""));
        (epoch.parse::<u64>().unwrap_or(0), version.to_owned(), release.to_owned())
    };
    let ((epoch_a, version_a, release_a), (epoch_b, version_b, release_b)) = (split(a), split(b));
    let by_release = || match release_a.is_empty() || release_b.is_empty() {
        true => Ordering::Equal,
        false => parts(&release_a, &release_b),
    };
    epoch_a.cmp(&epoch_b).then_with(|| parts(&version_a, &version_b)).then_with(by_release)
}

/// `~` is before everything, even the end; `^` is behind the end and before everything else.
fn parts(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let skip = |text: &'_ str| {
            text.find(|c: char| c.is_ascii_alphanumeric() || c == '~' || c == '^').unwrap_or(text.len())
        };
        (a, b) = (&a[skip(a)..], &b[skip(b)..]);
        for (sign, absent) in [('~', Ordering::Greater), ('^', Ordering::Less)] {
            match (a.strip_prefix(sign), b.strip_prefix(sign)) {
                (Some(rest_a), Some(rest_b)) => return parts(rest_a, rest_b),
                (Some(_), None) if sign == '^' && !b.is_empty() => return Ordering::Less,
                (None, Some(_)) if sign == '^' && !a.is_empty() => return Ordering::Greater,
                (Some(_), None) => return absent.reverse(),
                (None, Some(_)) => return absent,
                (None, None) => {}
            }
        }
        let (Some(first_a), Some(first_b)) = (a.chars().next(), b.chars().next()) else {
            return a.len().cmp(&b.len());
        };
        let run = |text: &str, digits: bool| {
            text.find(|c: char| if digits { !c.is_ascii_digit() } else { !c.is_ascii_alphabetic() })
                .unwrap_or(text.len())
        };
        let order = match (first_a.is_ascii_digit(), first_b.is_ascii_digit()) {
            // A number is newer than a word.
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (true, true) => {
                let (x, y) = (a[..run(a, true)].trim_start_matches('0'), b[..run(b, true)].trim_start_matches('0'));
                x.len().cmp(&y.len()).then_with(|| x.cmp(y))
            }
            (false, false) => a[..run(a, false)].cmp(&b[..run(b, false)]),
        };
        if order.is_ne() {
            return order;
        }
        (a, b) = (&a[run(a, first_a.is_ascii_digit())..], &b[run(b, first_b.is_ascii_digit())..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_rpm_does() {
        for (a, b, order) in [
            ("1.0", "1.0", 0),
            ("1.0", "2.0", -1),
            ("1.10", "1.9", 1),
            ("2.0.1a", "2.0.1", 1),
            ("5.5p1", "5.5p2", -1),
            ("1.0~rc1", "1.0", -1),
            ("1.0^git1", "1.0", 1),
            ("1.0^git1", "1.0.1", -1),
            ("1:1.0", "2.0", 1),
            ("1.0-1.el9", "1.0-2.el9", -1),
            ("1.0-1", "1.0", 0),
            ("6.0.rc1", "6.0", 1),
            ("001", "1", 0),
        ] {
            assert_eq!(compare(a, b) as i64, order, "{a} {b}");
        }
    }
}
