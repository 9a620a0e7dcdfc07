//! `--version` and `--versions-report`.

use super::VERSION;
use std::fs;

/// `salt 0.1.0-halite`.
pub fn line(program: &str) -> String {
    format!("{program} {VERSION}\n")
}

/// What an admin adds to a report of a problem, in the form of Salt's report.
pub fn report() -> String {
    let system = rustix::system::uname();
    let dist = distribution(&fs::read_to_string("/etc/os-release").unwrap_or_default());
    let sections: [(&str, &[(&str, &str)]); 2] = [
        ("Salt Version", &[("Salt", VERSION)]),
        (
            "System Versions",
            &[
                ("dist", &dist),
                ("machine", &system.machine().to_string_lossy()),
                ("release", &system.release().to_string_lossy()),
                ("system", &system.sysname().to_string_lossy()),
            ],
        ),
    ];
    let mut out = String::new();
    for (title, rows) in sections {
        out.push_str(&format!("{title}:\n"));
        for (name, version) in rows {
            out.push_str(&format!("{name:>14}: {version}\n"));
        }
        out.push_str(" \n");
    }
    out
}

/// Name, version and code name of a distribution, from its os-release file.
fn distribution(os_release: &str) -> String {
    let field = |name: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches(['"', '\'']).to_owned())
    };
    let parts: Vec<String> = ["ID", "VERSION_ID", "VERSION_CODENAME"].into_iter().filter_map(field).collect();
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_this_version_and_this_system() {
        assert!(report().starts_with(&format!("Salt Version:\n          Salt: {VERSION}\n \nSystem Versions:\n")));
        let text = "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        assert_eq!(distribution(text), "debian 12 bookworm");
        assert_eq!(distribution(""), "unknown");
    }
}
