//! What a test needs of the host that it runs on. Cargo's harness knows no test that was left out while it ran: one that
//! ends early has passed for it. So that nobody takes that for a test, each one says so here.

use std::fmt;
use std::io::Write;
use std::panic::Location;
use std::path::Path;

/// Something that a host may not have.
#[derive(Clone, Copy, Debug)]
pub enum Need<'a> {
    /// To be root.
    Root,
    /// A program, where programs of users or of administrators are.
    Program(&'a str),
}

impl Need<'_> {
    fn is_met(self) -> bool {
        match self {
            Need::Root => rustix::process::geteuid().is_root(),
            Need::Program(name) => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let admin = ["/usr/sbin", "/sbin"].map(|directory| Path::new(directory).join(name));
                std::env::split_paths(&path)
                    .map(|directory| directory.join(name))
                    .chain(admin)
                    .any(|file| file.is_file())
            }
        }
    }
}

impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Need::Root => f.write_str("not root"),
            Need::Program(name) => write!(f, "{name} is not installed"),
        }
    }
}

/// Whether this host has all that a test, or a part of one, needs. If not, it is said that this is left out. Where `CI` is
/// true that is a failure: what runs there is root and has all programs, or else nobody would ever run the test.
#[track_caller]
pub fn host_has(needs: &[Need]) -> bool {
    let Some(missing) = needs.iter().find(|need| !need.is_met()) else { return true };
    assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to run this: {missing}");
    left_out(&missing.to_string());
    false
}

/// Says that the calling test, or a part of it, is left out, past the harness, which keeps to itself what tests that pass
/// print with macros. `packaging/test.sh` counts these lines.
#[track_caller]
pub fn left_out(reason: &str) {
    let place = Location::caller();
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // In one piece: tests run side by side.
    let line = format!("left out: {test} ({}:{}): {reason}\n", place.file(), place.line());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set where this test is run by itself, to look at what it says.
    const CHILD: &str = "HALITE_TEST_NEEDS";

    #[test]
    fn a_test_that_was_left_out_passed_and_said_nothing() {
        if std::env::var_os(CHILD).is_some() {
            assert!(host_has(&[Need::Program("sh")]));
            assert!(!host_has(&[Need::Program("sh"), Need::Program("no-such-program")]));
            return;
        }
        let name = "testing::needs::tests::a_test_that_was_left_out_passed_and_said_nothing";
        let run = |ci: &str| {
            let mut command = Command::new("/proc/self/exe");
            command.args(["--exact", name]).env(CHILD, "1").env("CI", ci).output().unwrap()
        };
        let told = run("");
        let err = String::from_utf8(told.stderr).unwrap();
        assert!(told.status.success());
        let is_line = err.starts_with("left out: ") && err.ends_with(": no-such-program is not installed\n");
        assert!(is_line && err.contains("needs.rs:") && err.lines().count() == 1, "{err}");
        assert!(!run("true").status.success());
    }
}
