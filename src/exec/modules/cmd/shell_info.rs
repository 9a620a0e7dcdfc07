//! `cmd.shell_info`: whether a shell is there, and its version.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::regex::{Flags, Regex};
use halite_value::record;
use halite_value::{Map, Value};
use std::time::Duration;

record! {
    /// Shows whether a shell or an interpreter is there, where, and its version.
    ///
    ///   salt '*' cmd.shell_info bash
    pub struct ShellInfo {
        /// bash, zsh, tcsh, perl, python, ruby or php.
        shell: String,
        /// Taken, not used: for PowerShell.
        list_modules: bool = false,
    }
}

/// How the version stands in what they print, and how they are made to print it.
const SHELLS: [(&str, &str, &[&str]); 7] = [
    ("bash", r"version (\d\S*)", &["bash", "--version"]),
    ("zsh", r"^zsh (\d\S*)", &["zsh", "--version"]),
    ("tcsh", r"^tcsh (\d\S*)", &["tcsh", "--version"]),
    ("perl", r"^(\d\S*)", &["perl", "-e", "printf \"%vd\\n\", $^V;"]),
    ("python", r"^Python (\d\S*)", &["python", "-V"]),
    ("ruby", r"^ruby (\d\S*)", &["ruby", "-v"]),
    ("php", r"^PHP (\d\S*)", &["php", "-v"]),
];

impl Run for ShellInfo {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = |error: String, installed: Value| {
            Ok(Map::from_iter([("error", Value::from(error)), ("installed", installed)]).into())
        };
        let Some((_, pattern, argv)) = SHELLS.iter().find(|(name, ..)| *name == self.shell) else {
            let error = format!("Salt does not know how to get the version number for {}", self.shell);
            return told(error, Value::Null);
        };
        let program = Program::new(argv.iter().copied()).mixed().timeout(Duration::from_secs(10));
        let Some(path) = ctx.host.which(argv[0]) else {
            let error = format!(
                "Unable to run command '{}' Reason: [Errno 2] No such file or directory: '{}'",
                argv.join(" "),
                argv[0]
            );
            return told(error, false.into());
        };
        let stdout = program.query(ctx)?.stdout;
        let wrong = |error: halite_lang::regex::RegexError| Fault::Internal(error.to_string());
        let flags = Flags::default().with("IGNORECASE").unwrap_or_default();
        let found = Regex::with_flags(pattern, flags).map_err(wrong)?;
        let found = found.search(&stdout).map_err(wrong)?.and_then(|found| found.group(1).map(str::to_owned));
        let mut shown =
            Map::from_iter([("installed", Value::Null), ("path", path.to_string_lossy().into_owned().into())]);
        let Some(raw) = found else {
            shown.insert(
                "error",
                format!("The version regex pattern for shell {}, could not find the version string", self.shell),
            );
            shown.insert("stdout", stdout);
            return Ok(shown.into());
        };
        let digits: String = raw.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let mut parts: Vec<&str> = digits.split('.').take(3).collect();
        if parts.len() == 1 {
            parts.push("0");
        }
        shown.insert("version", parts.join("."));
        shown.insert("version_raw", raw);
        shown.insert("installed", true);
        Ok(shown.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    #[test]
    fn versions_are_found_in_what_shells_print() {
        let printed = "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n";
        let host = Fake::new().program("/usr/bin/bash").answers(["bash", "--version"], printed);
        let world = World::on(host.program("/usr/bin/ruby").answers(["ruby", "-v"], "nothing"));
        let info = |shell: &str| {
            call(&world.ctx(&NoMaster), "cmd.shell_info", Arguments::positional([shell])).unwrap().value.to_json()
        };
        assert_eq!(
            info("bash"),
            r#"{"installed": true, "path": "/usr/bin/bash", "version": "5.2.15", "version_raw": "5.2.15(1)-release"}"#
        );
        assert!(info("ruby").contains("could not find the version string"));
        assert!(info("zsh").contains("No such file or directory"));
        assert!(info("klingon").contains("does not know how"));
    }
}
