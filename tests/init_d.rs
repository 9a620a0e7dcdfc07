//! The init.d scripts, with the daemons that they start: every exit code, on each family of systems. The helpers of the
//! families are stand-ins, since no host has all of them; the daemon is the real one.

use crate::fleet::{free_port, signal, wait_for};
use halite_core::testing::{Need, host_has};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const FAMILIES: [&str; 4] = ["none", "debian", "redhat", "suse"];

/// A root with a script in it whose paths lead there. It goes with its owner, and so does the daemon.
struct Root {
    path: PathBuf,
    name: &'static str,
}

/// What a script ended with and wrote.
#[derive(Debug)]
struct Ended {
    code: i32,
    text: String,
}

impl Root {
    fn new(name: &'static str, family: &str) -> Root {
        let number = free_port();
        let path = std::env::temp_dir().join(format!("halite-init-{}-{number}", std::process::id()));
        let root = Root { path, name };
        for directory in ["etc/salt", "etc/default", "usr/bin", "sbin", "var/run", "var/lock/subsys", "var/log"] {
            fs::create_dir_all(root.at(directory)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_halite"), root.daemon()).unwrap();
        root.configure("");
        root.write(
            "etc/default",
            name,
            &format!("{}_ARGS='-c {}'\n", root.kind().to_uppercase(), root.text("etc/salt")),
        );
        match family {
            "debian" => root.write(
                "lib/lsb",
                "init-functions",
                "log_daemon_msg() { printf '%s: %s' \"$1\" \"$2\"; }\nlog_progress_msg() { printf ' %s' \"$1\"; }\n\
                 log_end_msg() { if [ \"$1\" = 0 ]; then echo .; else echo ' failed!'; fi; return \"$1\"; }\n",
            ),
            "redhat" => root.write(
                "etc/rc.d/init.d",
                "functions",
                "daemon() { case $1 in --pidfile=*) shift ;; *) echo 'no pid file'; return 1 ;; esac\n\
                 \"$@\" && success || { code=$?; failure; return $code; }; }\n\
                 success() { printf ' [  OK  ]'; }\nfailure() { printf ' [FAILED]'; }\n",
            ),
            "suse" => {
                root.write(
                    "etc",
                    "rc.status",
                    "rc_reset() { :; }\nrc_status() { rc=$?; if [ $rc = 0 ]; then echo ' done'; else echo ' failed'; fi; return $rc; }\n",
                );
                root.write("sbin", "startproc", "#!/bin/sh\n[ \"$1\" = -p ] || exit 1\nshift 2\nexec \"$@\"\n");
                fs::set_permissions(root.at("sbin/startproc"), fs::Permissions::from_mode(0o755)).unwrap();
            }
            _ => {}
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/services/init.d").join(name);
        let mut text = fs::read_to_string(script).unwrap();
        for directory in ["/etc/", "/var/", "/lib/lsb", "/usr/bin/salt"] {
            text = text.replace(directory, &root.text(directory.trim_start_matches('/')));
        }
        root.write("etc", "script", &text.replace("PATH=/usr", &format!("PATH={}:/usr", root.text("sbin"))));
        root
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    fn text(&self, path: &str) -> String {
        format!("{}/{path}", self.path.display())
    }

    fn write(&self, directory: &str, name: &str, text: &str) {
        fs::create_dir_all(self.at(directory)).unwrap();
        fs::write(self.at(directory).join(name), text).unwrap();
    }

    fn kind(&self) -> &'static str {
        self.name.trim_start_matches("salt-")
    }

    fn daemon(&self) -> PathBuf {
        self.at("usr/bin").join(self.name)
    }

    fn pidfile(&self) -> PathBuf {
        self.at("var/run").join(format!("{}.pid", self.name))
    }

    fn lock(&self) -> PathBuf {
        self.at("var/lock/subsys").join(self.name)
    }

    fn configure(&self, more: &str) {
        let (publish, answer) = (free_port(), free_port());
        let text = format!(
            "id: web1\nmaster: 127.0.0.1\ninterface: 127.0.0.1\nmaster_port: {answer}\nret_port: {answer}\n\
             publish_port: {publish}\nroot_dir: {}\npidfile: /var/run/{}.pid\nuser: root\n{more}",
            self.path.display(),
            self.name
        );
        self.write("etc/salt", self.kind(), &text);
    }

    fn does(&self, action: &str) -> Ended {
        self.command(action, |command| command)
    }

    fn command(&self, action: &str, with: impl FnOnce(&mut Command) -> &mut Command) -> Ended {
        let mut command = Command::new("sh");
        let output = with(command.arg(self.at("etc/script")).arg(action)).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        Ended { code: output.status.code().unwrap(), text: String::from_utf8_lossy(&text).into_owned() }
    }

    fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.pidfile()).ok()?.trim().parse().ok()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        if let Some(pid) = self.pid().filter(|pid| lives(*pid)) {
            signal(pid, Signal::KILL);
        }
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether it is one of ours: what a test wrote into a pid file may be anybody's number.
fn lives(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"salt-m"))
}

#[test]
fn a_daemon_starts_answers_and_stops_on_each_family() {
    if !host_has(&[Need::Root]) {
        return assert_eq!(Root::new("salt-minion", "none").does("start").code, 4, "only root starts daemons");
    }
    for (name, family) in FAMILIES.iter().flat_map(|family| [("salt-minion", family), ("salt-master", family)]) {
        let root = Root::new(name, family);
        let run = |action: &str, code: i32| {
            let ended = root.does(action);
            assert_eq!(ended.code, code, "{name} {family} {action}: {}", ended.text);
            ended.text
        };
        assert!(run("status", 3).contains("is not running"));
        run("reload", 7);
        run("try-restart", 0);
        assert!(root.pid().is_none(), "try-restart starts nothing");
        run("stop", 0);

        let started = run("start", 0);
        assert!(started.contains("OK") || started.contains("done"), "{started}");
        let first = root.pid().unwrap();
        assert!(root.lock().exists());
        assert!(run("status", 0).contains(&format!("(pid {first}) is running")));
        match *family {
            "debian" => assert!(run("start", 1).contains("already started, lock file found")),
            _ => assert!(run("start", 0).contains("already running")),
        }
        run("reload", 0);
        assert_eq!(root.pid(), Some(first));
        for action in ["restart", "try-restart", "force-reload"] {
            let before = root.pid();
            run(action, 0);
            assert_ne!(root.pid(), before, "{action}");
        }
        let last = root.pid().unwrap();
        run("stop", 0);
        assert!(!lives(last) && !root.pidfile().exists() && !root.lock().exists());
        run("stop", 0);
        run("status", 3);
    }
}

#[test]
fn what_a_dead_daemon_left_is_told_and_blocks_nobody() {
    if !host_has(&[Need::Root]) {
        return;
    }
    for family in FAMILIES {
        let root = Root::new("salt-minion", family);
        assert_eq!(root.does("start").code, 0);
        let pid = root.pid().unwrap();
        signal(pid, Signal::KILL);
        wait_for("the daemon to be gone", || (!lives(pid)).then_some(()));
        assert_eq!(root.does("status").code, 1, "dead, with its pid file");
        fs::remove_file(root.pidfile()).unwrap();
        assert_eq!(root.does("status").code, 2, "dead, with its lock file");
        // A number that belongs to somebody else by now.
        let other = std::process::id();
        fs::write(root.pidfile(), format!("{other}\n")).unwrap();
        assert_eq!(root.does("status").code, 1);
        assert_eq!(root.does("stop").code, 0);
        assert!(!root.pidfile().exists(), "and this process lives on");
        fs::write(root.pidfile(), format!("{other}\n")).unwrap();
        fs::write(root.lock(), "").unwrap();
        let started = root.does("start");
        assert_eq!(started.code, 0, "{family}: {}", started.text);
        assert_ne!(root.pid(), Some(other));
        assert_eq!(root.does("stop").code, 0);
    }
}

#[test]
fn what_cannot_be_is_told_by_the_exit_code() {
    let is_root = host_has(&[Need::Root]);
    for family in FAMILIES {
        let root = Root::new("salt-minion", family);
        assert_eq!(root.does("frobnicate").code, 2);
        assert_eq!(root.does("").code, 2);
        assert_eq!(root.does("probe").code, 3);
        if !is_root {
            continue;
        }
        let nobody = |action: &str| root.command(action, |command| command.uid(65_534)).code;
        fs::set_permissions(&root.path, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(["start", "stop", "reload", "try-restart"].map(nobody), [4; 4]);
        fs::write(root.pidfile(), "1\n").unwrap();
        fs::set_permissions(root.pidfile(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(nobody("status"), 4, "it cannot be told");
        fs::remove_file(root.pidfile()).unwrap();

        root.configure("log_level: [\n");
        assert_eq!(root.does("start").code, 6, "the configuration cannot be used");
        assert!(!root.lock().exists());
        root.write("etc/default", "salt-minion", "MINION_ARGS=\n");
        fs::remove_file(root.at("etc/salt/minion")).unwrap();
        assert_eq!(root.does("start").code, 6, "not configured");
        fs::remove_file(root.daemon()).unwrap();
        assert_eq!(root.does("start").code, 5, "not installed");
        assert_eq!(root.does("status").code, 3);
    }
}

#[test]
fn a_daemon_that_does_not_end_is_killed() {
    if !host_has(&[Need::Root]) {
        return;
    }
    let root = Root::new("salt-minion", "none");
    let ended = root.does("start");
    assert_eq!(ended.code, 0, "{}", ended.text);
    let pid = root.pid().unwrap();
    signal(pid, Signal::STOP);
    assert_eq!(root.command("stop", |command| command.env("STOP_SECONDS", "1")).code, 0);
    assert!(!lives(pid));
}

#[test]
fn the_scripts_differ_in_their_names_only() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/services/init.d").join(name);
        fs::read_to_string(path).unwrap()
    };
    let (minion, master) = (read("salt-minion"), read("salt-master"));
    let body =
        |text: &str| text.split_once("# From here on the scripts of all daemons are the same.").unwrap().1.to_owned();
    assert_eq!(body(&minion), body(&master));
}
