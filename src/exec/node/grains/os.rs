//! The operating system: from `/etc/os-release`, with the names that Salt's users know.

use super::Look;
use halite_value::{Map, Value};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

pub(super) fn grains(look: &Look) -> Map {
    let release = look.text("/etc/os-release").or_else(|| look.text("/usr/lib/os-release")).unwrap_or_default();
    let release = Release::parse(&release);
    let id = release.value("ID").unwrap_or("linux");
    let name = release.value("NAME").unwrap_or("Linux").trim();
    let is_suse = matches!(release.vendor(), "suse" | "opensuse");
    let os = if is_suse { "SUSE".to_owned() } else { os_name(id, name) };
    let family = family(&os, id, release.value("ID_LIKE").unwrap_or_default());
    let full = match release.value("VERSION") {
        _ if is_suse && name == "openSUSE Leap" => "Leap",
        Some("Tumbleweed") if is_suse => "Tumbleweed",
        _ => name,
    };
    let lsb = look.text("/etc/lsb-release").unwrap_or_default();
    let lsb = Release::parse(&lsb);
    let supported = release.value("SUSE_SUPPORT_PRODUCT").zip(release.value("SUSE_SUPPORT_PRODUCT_VERSION"));
    let version = match supported {
        Some((_, version)) => version.to_owned(),
        None => version(look, &release, &os),
    };
    let lsb_codename = match lsb.value("DISTRIB_CODENAME") {
        Some(name) => name.to_owned(),
        None => codename(&release, &os),
    };
    let codename = match supported {
        Some((product, version)) => format!("{product} {version}"),
        None if lsb_codename.contains("Red Hat") => in_parentheses(release.value("VERSION").unwrap_or_default()),
        None => lsb_codename.clone(),
    };

    let mut grains = Map::new();
    grains.insert("init", init(look));
    grains.insert("lsb_distrib_id", lsb.value("DISTRIB_ID").unwrap_or(name));
    let number = lsb.value("DISTRIB_RELEASE").or_else(|| release.value("VERSION_ID"));
    grains.insert("lsb_distrib_release", number.unwrap_or(&version));
    grains.insert("lsb_distrib_codename", lsb_codename);
    if let Some(description) = lsb.value("DISTRIB_DESCRIPTION") {
        grains.insert("lsb_distrib_description", description);
    }
    grains.insert("osfullname", full);
    grains.insert("osrelease", version.as_str());
    grains.insert("oscodename", codename.as_str());
    grains.insert("os", os.as_str());
    grains.insert("os_family", family);
    grains.insert("osarch", arch(family_of(&grains), look.found("cpuarch")));
    let info: Vec<Value> = version.split('.').filter(|part| !part.is_empty()).map(number_or_text).collect();
    if let Some(major) = info.first() {
        let named = ["Debian", "Raspbian", "AlmaLinux"].contains(&os.as_str());
        // Ubuntu's releases are years and months: one without the month would be none.
        let finger = if os == "Ubuntu" || os == "Pop" { version.clone() } else { major.to_text() };
        grains.insert("osfinger", format!("{}-{finger}", if named { &os } else { full }));
        if major.as_int().is_some() {
            grains.insert("osmajorrelease", major.clone());
        }
    }
    grains.insert("osrelease_info", info);
    if let Some(systemd) = systemd(look) {
        grains.insert("systemd", systemd);
    }
    grains.insert("transactional", look.exists("/usr/sbin/transactional-update"));
    grains
}

fn family_of(grains: &Map) -> &str {
    grains.str_at("os_family").unwrap_or_default()
}

/// The lines of an os-release file.
struct Release<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Release<'a> {
    fn parse(text: &'a str) -> Release<'a> {
        let lines = text.lines().filter_map(|line| line.trim().split_once('='));
        Release(lines.map(|(name, value)| (name, value.trim().trim_matches(['"', '\'']))).collect())
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        self.even_empty(name).filter(|value| !value.is_empty())
    }

    fn even_empty(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Who makes it, by its CPE: `cpe:/o:opensuse:leap:15.6`, `cpe:2.3:o:amazon:amazon_linux:2023`.
    fn vendor(&self) -> &'a str {
        let cpe = self.value("CPE_NAME").unwrap_or_default();
        let rest = cpe.strip_prefix("cpe:/").or_else(|| cpe.strip_prefix("cpe:2.3:")).unwrap_or_default();
        rest.split(':').nth(1).unwrap_or_default()
    }
}

/// The short name that Salt has always used for a distribution.
fn os_name(id: &str, full: &str) -> String {
    if (id, full) == ("centos", "CentOS Stream") {
        return full.to_owned();
    }
    let known = OS_OF_ID.iter().find(|(known, _)| *known == id).map(|(_, os)| *os);
    let fallback = || full.trim_end_matches("GNU/Linux").trim_end_matches("Linux").trim().to_owned();
    known.map_or_else(fallback, str::to_owned)
}

/// `ID` of os-release and the grain `os`.
const OS_OF_ID: &[(&str, &str)] = &[
    ("almalinux", "AlmaLinux"),
    ("alpine", "Alpine"),
    ("amzn", "Amazon"),
    ("arch", "Arch"),
    ("archarm", "Arch ARM"),
    ("astra", "AstraLinuxCE"),
    ("centos", "CentOS"),
    ("cloudlinux", "CloudLinux"),
    ("debian", "Debian"),
    ("devuan", "Devuan"),
    ("endeavouros", "EndeavourOS"),
    ("fedora", "Fedora"),
    ("gentoo", "Gentoo"),
    ("kali", "Kali"),
    ("linuxmint", "Mint"),
    ("manjaro", "Manjaro"),
    ("neon", "KDE neon"),
    ("ol", "OEL"),
    ("openEuler", "openEuler"),
    ("photon", "VMware Photon OS"),
    ("pop", "Pop"),
    ("raspbian", "Raspbian"),
    ("rhel", "RedHat"),
    ("rocky", "Rocky"),
    ("sles", "SUSE"),
    ("sles_sap", "SUSE"),
    ("sled", "SUSE"),
    ("ubuntu", "Ubuntu"),
    ("virtuozzo", "Virtuozzo"),
    ("void", "Void"),
];

/// The grain `os_family`: by the distribution, else by what it says that it is like.
fn family(os: &str, id: &str, like: &str) -> String {
    let of_id = |id: &str| match id {
        "debian" | "ubuntu" | "raspbian" | "linuxmint" | "devuan" | "kali" | "pop" | "neon" | "astra" => Some("Debian"),
        "rhel" | "fedora" | "centos" | "rocky" | "almalinux" | "ol" | "amzn" | "cloudlinux" | "virtuozzo"
        | "photon" | "openEuler" => Some("RedHat"),
        "suse" | "opensuse" | "opensuse-leap" | "opensuse-tumbleweed" | "sles" | "sles_sap" | "sled" => Some("Suse"),
        "arch" | "archarm" | "manjaro" | "endeavouros" => Some("Arch"),
        "gentoo" => Some("Gentoo"),
        _ => None,
    };
    let known = of_id(id).or_else(|| like.split_whitespace().find_map(of_id));
    known.map_or_else(|| os.to_owned(), str::to_owned)
}

fn version(look: &Look, release: &Release, os: &str) -> String {
    match release.value("VERSION_ID") {
        Some(version) => version.to_owned(),
        // testing and unstable have no number, but the file has a name: trixie/sid
        None if os == "Debian" => look.line("/etc/debian_version").unwrap_or_default(),
        None => release.value("BUILD_ID").unwrap_or_default().to_owned(),
    }
}

/// `VERSION_CODENAME` where there is one, an empty one too; else the whole name, from which two distributions take the word
/// in parentheses.
fn codename(release: &Release, os: &str) -> String {
    let pretty = || release.value("PRETTY_NAME").unwrap_or_default();
    match release.even_empty("VERSION_CODENAME") {
        Some(name) => name.to_owned(),
        None if matches!(os, "Rocky" | "AlmaLinux") => in_parentheses(pretty()),
        None => pretty().to_owned(),
    }
}

/// The word in parentheses, else what stands behind a comma.
fn in_parentheses(text: &str) -> String {
    match text.split_once('(') {
        Some((_, rest)) => rest.split(')').next().unwrap_or(rest).to_owned(),
        None => text.split_once(", ").map_or_else(String::new, |(_, name)| name.to_owned()),
    }
}

fn number_or_text(part: &str) -> Value {
    part.parse::<i64>().map_or_else(|_| part.into(), Value::Int)
}

/// What the packages of this system call the architecture.
fn arch(family: &str, machine: &str) -> String {
    let debian = match machine {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "i386" | "i486" | "i586" | "i686" => "i386",
        "armv6l" | "armv7l" => "armhf",
        "ppc64le" => "ppc64el",
        other => other,
    };
    if family == "Debian" { debian.to_owned() } else { machine.to_owned() }
}

fn init(look: &Look) -> String {
    if look.exists("/run/systemd/system") {
        return "systemd".to_owned();
    }
    let cmdline = look.text("/proc/1/cmdline").unwrap_or_default();
    let program = cmdline.split('\0').next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let known = match name {
        "supervisord" | "dumb-init" | "tini" | "runit" | "my_init" | "openrc-init" => name,
        "init" if look.exists("/sbin/openrc") || look.exists("/usr/sbin/openrc") => "openrc",
        "init" if look.exists("/etc/inittab") => "sysvinit",
        _ => "unknown",
    };
    known.to_owned()
}

/// Its version stands in the name of its library and its features stand in it, which is faster to read than to ask the
/// program.
fn systemd(look: &Look) -> Option<Map> {
    let multiarch = format!("/usr/lib/{}-linux-gnu/systemd", look.found("cpuarch"));
    let directories = [multiarch.as_str(), "/usr/lib/systemd", "/lib/systemd", "/usr/lib64/systemd"];
    let (version, library) = directories.iter().find_map(|directory| {
        look.names(directory).into_iter().find_map(|name| {
            let rest = name.strip_prefix("libsystemd-shared-")?.strip_suffix(".so")?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            (!digits.is_empty()).then(|| (digits, format!("{directory}/{name}")))
        })
    })?;
    let features = look.host.open(Path::new(&library)).ok().and_then(features).unwrap_or_default();
    Some(Map::from_iter([("version", version), ("features", features)]))
}

/// The text in systemd's library that `systemctl --version` prints: words that begin with a sign. The library is megabytes,
/// and this happens at the start of each program: so it is looked for part by part, the last one first, since constants
/// stand behind the code.
fn features(mut library: impl Read + Seek) -> Option<String> {
    const START: &[u8] = b"+PAM ";
    const PART: u64 = 64 * 1024;
    /// Longer than the text is.
    const OVERLAP: u64 = 2048;
    let mut part = Vec::new();
    let mut end = library.seek(SeekFrom::End(0)).ok()?;
    while end > 0 {
        let start = end.saturating_sub(PART);
        part.clear();
        library.seek(SeekFrom::Start(start)).ok()?;
        library.by_ref().take(end - start + OVERLAP).read_to_end(&mut part).ok()?;
        if let Some(at) = memchr::memmem::find(&part, START) {
            let length = part[at..].iter().position(|byte| *byte == 0)?;
            return String::from_utf8(part[at..at + length].trim_ascii().to_vec()).ok();
        }
        end = start;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::grains::collect;
    use halite_core::host::fake::Fake;
    use halite_value::{Map, Value, parse_json};
    use std::io::Cursor;

    #[test]
    fn the_features_are_found_wherever_parts_of_the_library_end() {
        let text = "+PAM -AUDIT default-hierarchy=unified";
        for behind in (65_480..65_560).chain([0, 1, 131_070]) {
            let library = [b"+code", text.as_bytes(), &vec![0; behind + 1]].concat();
            assert_eq!(super::features(Cursor::new(library)).as_deref(), Some(text), "{behind}");
        }
        assert_eq!(super::features(Cursor::new(b"+PAM that never ends")), None);
        assert_eq!(super::features(Cursor::new(b"")), None);
    }

    #[test]
    fn systemd_is_known_by_its_library() {
        let library = "/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-252.so";
        let text = "\0code\0+PAM +AUDIT -GNUTLS default-hierarchy=unified\0more";
        let host = Fake::new().file("/proc/sys/kernel/arch", "x86_64\n").file(library, text);
        let grains = collect(&host, &Map::new());
        assert_eq!(
            grains.at("systemd").unwrap().to_json(),
            r#"{"version": "252", "features": "+PAM +AUDIT -GNUTLS default-hierarchy=unified"}"#
        );
        assert_eq!(collect(&Fake::new(), &Map::new()).at("systemd"), None);
    }

    #[test]
    fn distributions_have_the_names_that_salt_gives_them() {
        let table = parse_json(include_str!("../../../../tests/data/os-release.json")).unwrap();
        assert!(table.as_list().unwrap().len() > 40);
        for case in table.as_list().unwrap() {
            let text = case.at("os-release").and_then(Value::as_str).unwrap();
            let host = Fake::new().file("/etc/os-release", text).file("/proc/sys/kernel/arch", "x86_64\n");
            let grains = collect(&host, &Map::new());
            for (grain, expected) in case.at("grains").and_then(Value::as_map).unwrap().iter() {
                assert_eq!(grains.at_value(grain), Some(expected), "{grain} of {}", case.at("source").unwrap());
            }
        }
    }
}
