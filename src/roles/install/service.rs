//! What starts the minion at boot: of what the host has, the first that fits.

use super::{Change, Trouble, put};
use crate::cli::Exit;
use crate::generate;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Who starts services on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Systemd,
    OpenRc,
    /// Scripts in `/etc/init.d`.
    InitD,
    /// Nobody: the minion is started, and starts no more after the next boot.
    Nobody,
}

const NAME: &str = "salt-minion";
const PIDFILE: &str = "/var/run/salt-minion.pid";
/// How long a minion may take to end.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sets the service up below a root, for programs in this directory.
pub fn set_up(root: &Path, directory: &Path) -> io::Result<(Service, Change)> {
    let program = directory.join(NAME).display().to_string();
    // What an administrator says of the program in such a file is left alone.
    let say = |path: &str, text: String| match root.join(path).exists() {
        true => Ok(Change::None),
        false => put(&root.join(path), &text, 0o644),
    };
    if root.join("run/systemd/system").is_dir() {
        let unit = generate::service("systemd/salt-minion.service");
        let unit = unit.replace("ExecStart=/usr/bin/salt-minion", &format!("ExecStart={program}"));
        let change = put(&root.join("etc/systemd/system/salt-minion.service"), &unit, 0o644)?;
        return Ok((Service::Systemd, change));
    }
    if root.join("sbin/openrc-run").exists() {
        say("etc/conf.d/salt-minion", format!("command={program}\n"))?;
        let change = put(&root.join("etc/init.d/salt-minion"), generate::service("openrc/salt-minion"), 0o755)?;
        return Ok((Service::OpenRc, change));
    }
    if root.join("etc/init.d").is_dir() {
        say("etc/default/salt-minion", format!("DAEMON={program}\n"))?;
        let change = put(&root.join("etc/init.d/salt-minion"), generate::service("init.d/salt-minion"), 0o755)?;
        return Ok((Service::InitD, change));
    }
    Ok((Service::Nobody, Change::None))
}

impl Service {
    /// Sees to it that the minion runs, with what was changed, and runs again after the next boot.
    pub fn start(self, directory: &Path, changed: Change) -> Result<(), Trouble> {
        let again = changed == Change::Made;
        match self {
            Service::Systemd => {
                must(&["systemctl", "daemon-reload"])?;
                must(&["systemctl", "enable", "salt-minion.service"])?;
                must(&["systemctl", if again { "restart" } else { "start" }, "salt-minion.service"])
            }
            Service::OpenRc => {
                must(&["rc-update", "add", NAME, "default"])?;
                must(&["rc-service", NAME, if again { "restart" } else { "start" }])
            }
            Service::InitD => {
                let registered = [&["update-rc.d", NAME, "defaults"][..], &["chkconfig", "--add", NAME]];
                if !registered.iter().any(|words| succeeds(words)) {
                    log_no_boot("nothing here registers scripts of /etc/init.d");
                }
                must(&["/etc/init.d/salt-minion", if again { "restart" } else { "start" }])
            }
            Service::Nobody => {
                log_no_boot("this host has no init system that is known here");
                if again {
                    stop()?;
                } else if running().is_some() {
                    return Ok(());
                }
                must(&[&directory.join(NAME).display().to_string(), "-d"])
            }
        }
    }
}

fn log_no_boot(why: &str) {
    super::say(&format!("{why}: the minion is started now, but not at the next boot\n"));
}

/// Runs a command whose failure is ours; what it writes is for the user to see.
fn must(words: &[&str]) -> Result<(), Trouble> {
    let failed = |why: String| Trouble::new(Exit::Failed, format!("{}: {why}", words.join(" ")));
    let status = Command::new(words[0]).args(&words[1..]).status().map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}

/// False also where there is no such program.
fn succeeds(words: &[&str]) -> bool {
    Command::new(words[0]).args(&words[1..]).status().is_ok_and(|status| status.success())
}

/// The minion of the pid file, if it lives. The number of another program is none: its name is looked at.
fn running() -> Option<Pid> {
    let number: i32 = std::fs::read_to_string(PIDFILE).ok()?.trim().parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{number}/comm")).ok()?;
    Pid::from_raw(number).filter(|pid| name.trim_end() == NAME && test_kill_process(*pid).is_ok())
}

fn stop() -> Result<(), Trouble> {
    let Some(pid) = running() else {
        return Ok(());
    };
    let _ = kill_process(pid, Signal::TERM);
    let end = Instant::now() + TIMEOUT;
    while running() == Some(pid) {
        if Instant::now() > end {
            return Err(Trouble::new(Exit::Failed, format!("the minion that runs, process {pid}, does not end")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;

    fn made(directories: &[&str], file: Option<&str>) -> (Directory, Service) {
        let root = Directory::new();
        for directory in directories {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        if let Some(file) = file {
            std::fs::write(root.path().join(file), "").unwrap();
        }
        let directory = Path::new("/opt/salt");
        let (service, change) = set_up(root.path(), directory).unwrap();
        assert_eq!(change == Change::None, service == Service::Nobody);
        assert_eq!(set_up(root.path(), directory).unwrap(), (service, Change::None), "it is right already");
        (root, service)
    }

    fn text(root: &Directory, path: &str) -> String {
        std::fs::read_to_string(root.path().join(path)).unwrap()
    }

    #[test]
    fn each_host_gets_the_service_that_it_knows() {
        let (root, service) = made(&["run/systemd/system", "etc/init.d"], None);
        assert_eq!(service, Service::Systemd);
        let unit = text(&root, "etc/systemd/system/salt-minion.service");
        assert!(unit.contains("\nExecStart=/opt/salt/salt-minion $MINION_ARGS\n"), "{unit}");
        let (root, service) = made(&["sbin", "etc/init.d"], Some("sbin/openrc-run"));
        assert_eq!(service, Service::OpenRc);
        assert_eq!(text(&root, "etc/conf.d/salt-minion"), "command=/opt/salt/salt-minion\n");
        assert!(text(&root, "etc/init.d/salt-minion").starts_with("#!/sbin/openrc-run"));
        let (root, service) = made(&["etc/init.d"], None);
        assert_eq!(service, Service::InitD);
        assert_eq!(text(&root, "etc/default/salt-minion"), "DAEMON=/opt/salt/salt-minion\n");
        assert!(text(&root, "etc/init.d/salt-minion").starts_with("#!/bin/sh"));
        assert_eq!(made(&["etc"], None).1, Service::Nobody);
    }
}
