//! The environment that a user has after a login.

use halite_core::host::{Command, Host, User};
use std::collections::BTreeMap;
use std::time::Duration;

/// Stands before and behind the variables, since a profile may print something.
const MARK: &str = "\0halite-environment\0";

/// The variables that a login shell of the user sets. Where there is no `su`, or where it refuses, the few that the
/// account itself tells.
pub fn environment(host: &dyn Host, user: &User) -> BTreeMap<String, String> {
    let mut variables = asked(host, user).unwrap_or_default();
    variables.insert("HOME".to_owned(), user.home.to_string_lossy().into_owned());
    variables.insert("USER".to_owned(), user.name.clone());
    variables.entry("LOGNAME".to_owned()).or_insert_with(|| user.name.clone());
    variables.entry("SHELL".to_owned()).or_insert_with(|| user.shell.to_string_lossy().into_owned());
    variables
}

fn asked(host: &dyn Host, user: &User) -> Option<BTreeMap<String, String>> {
    if user.name.is_empty() || user.name.starts_with('-') {
        return None;
    }
    let su = host.which("su")?;
    let script = "printf '\\0halite-environment\\0'; env -0; printf '\\0halite-environment\\0'";
    let argv = [&su.to_string_lossy(), "-s", "/bin/sh", "-", &user.name, "-c", script].map(str::to_owned).to_vec();
    let command = Command { argv, timeout: Some(Duration::from_secs(10)), ..Command::default() };
    let finished = host.query(&command).ok().filter(|finished| finished.code == 0 && finished.stdout_cut == 0)?;
    let output = String::from_utf8_lossy(&finished.stdout);
    Some(parse(output.split(MARK).nth(1)?))
}

fn parse(text: &str) -> BTreeMap<String, String> {
    let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
    // What belongs to the shell that was asked, not to the user.
    let variables = variables.filter(|(name, _)| !matches!(*name, "_" | "PWD" | "OLDPWD" | "SHLVL" | ""));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;

    fn bob() -> User {
        User { name: "bob".to_owned(), home: "/home/bob".into(), shell: "/bin/sh".into(), ..User::default() }
    }

    #[test]
    fn a_login_gives_its_variables_whatever_the_profile_prints() {
        let script = "printf '\\0halite-environment\\0'; env -0; printf '\\0halite-environment\\0'";
        let stdout = format!("hello\n{MARK}A=1\0PATH=/x\0PWD=/\0B=two\nlines\0{MARK}");
        let host =
            Fake::new().program("/bin/su").answers(["/bin/su", "-s", "/bin/sh", "-", "bob", "-c", script], &stdout);
        let variables = environment(&host, &bob());
        assert_eq!(variables["B"], "two\nlines");
        assert_eq!((variables["PATH"].as_str(), variables["HOME"].as_str()), ("/x", "/home/bob"));
        assert!(!variables.contains_key("PWD"));
    }

    #[test]
    fn without_a_login_the_account_tells_what_it_can() {
        let script = "printf '\\0halite-environment\\0'; env -0; printf '\\0halite-environment\\0'";
        let refused = Finished { code: 1, ..Finished::default() };
        let host =
            Fake::new().program("/bin/su").command(["/bin/su", "-s", "/bin/sh", "-", "bob", "-c", script], refused);
        for host in [host, Fake::new()] {
            let variables = environment(&host, &bob());
            assert_eq!(variables.keys().collect::<Vec<_>>(), ["HOME", "LOGNAME", "SHELL", "USER"]);
        }
    }
}
