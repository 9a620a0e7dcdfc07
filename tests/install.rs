//! A bare host joins a master: a root with nothing in it but a shell, and what the script adds over ssh.

use crate::fleet::{Fleet, Ran, signal, wait_for};
use halite_core::testing::{Need, host_has};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of a host, inside of the fleet's directory. The minion in it ends with its owner.
struct Host {
    root: PathBuf,
}

impl Host {
    /// With these programs of our own host, their libraries, and no other file.
    fn with(fleet: &Fleet, programs: &[&str]) -> Host {
        let root = fleet.path("host");
        for directory in ["bin", "etc", "proc", "dev", "tmp", "root"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let found = programs.iter().map(|name| program(name));
        let files: BTreeSet<PathBuf> = found.clone().flat_map(|path| libraries(&path)).collect();
        for file in files {
            let place = root.join(file.strip_prefix("/").unwrap());
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(file, place).unwrap();
        }
        for (name, path) in programs.iter().zip(found) {
            fs::copy(path, root.join("bin").join(name)).unwrap();
        }
        Host { root }
    }

    /// What enters it: the rest of the words is the command. /proc and /dev are the kernel's, as on any host.
    fn entry(&self) -> String {
        let root = self.root.display();
        format!(
            "unshare --mount sh -c 'mount --make-rprivate / && mount -t proc proc {root}/proc && \
             mount --bind /dev {root}/dev && exec chroot {root} /bin/sh -c \"cd /root && $0\"'"
        )
    }

    fn run(&self, line: &str) -> Ran {
        let entered = format!("{} \"$0\"", self.entry());
        Ran::from(Command::new("sh").args(["-c", &entered, line]).output().unwrap())
    }

    fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.root.join("var/run/salt-minion.pid")).ok()?.trim().parse().ok()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            signal(pid, Signal::TERM);
            wait_for("the minion to end", || self.pid().is_none().then_some(()));
        }
    }
}

fn program(name: &str) -> PathBuf {
    let found = ["/usr/bin", "/bin"].map(|directory| Path::new(directory).join(name));
    found.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("{name} is not here"))
}

/// The libraries of a program, and what loads them.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

/// A master, and whether this test may make hosts for it.
#[track_caller]
fn fleet() -> Option<Fleet> {
    if !host_has(&[Need::Root, Need::Program("unshare"), Need::Program("ldd")]) {
        return None;
    }
    let mut fleet = Fleet::prepare(&[], "", "");
    fleet.start_master();
    Some(fleet)
}

#[test]
fn a_host_with_only_a_shell_answers_after_three_commands() {
    let Some(fleet) = fleet() else { return };
    let host = Host::with(&fleet, &["sh"]);
    fs::copy(env!("CARGO_BIN_EXE_halite"), host.root.join("root/halite")).unwrap();
    let install = format!("./halite install /usr/local/bin --master 127.0.0.1:{} --id web1", fleet.ret_port);
    let ran = host.run(&install);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("salt-key -a web1"), "{}", ran.out);
    wait_for("the key", || fleet.run("salt-key", &["-l", "un"]).out.contains("web1").then_some(()));
    let ran = fleet.run("salt-key", &["-a", "web1", "-y"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    fleet.wait_connected(&["web1"]);
    assert_eq!(fleet.salt(&["web1", "test.ping"]).out, "web1:\n    True\n");
    // Again: nothing is to be done. With another id: the minion is started again.
    let pid = host.pid();
    let ran = host.run(&install);
    assert_eq!((ran.code, host.pid()), (0, pid), "{}{}", ran.out, ran.err);
    let ran = host.run(&install.replace("web1", "web2"));
    assert!(ran.code == 0 && host.pid() != pid, "{}{}", ran.out, ran.err);
    wait_for("the other key", || fleet.run("salt-key", &["-l", "all"]).out.contains("web2").then_some(()));
    let ran = host.run("./halite install /usr/local/bin --id web3");
    assert!(ran.code == 64 && ran.err.contains("--master is missing"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_host_is_joined_over_ssh_and_twice_without_harm() {
    let Some(fleet) = fleet() else { return };
    let host = Host::with(&fleet, &["sh", "cat", "chmod", "mktemp", "rm"]);
    fs::create_dir_all(host.root.join("etc/init.d")).unwrap();
    let stand_in = fleet.path("tools/ssh");
    fs::create_dir_all(stand_in.parent().unwrap()).unwrap();
    fs::write(&stand_in, format!("#!/bin/sh\n[ \"$1\" = root@web1 ] || exit 255\nexec {} \"$2\"\n", host.entry()))
        .unwrap();
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    let script = |words: &[&str]| {
        let path = format!("{}:{}", stand_in.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/install.sh")).env("PATH", path);
        Ran::from(command.args(["--file", env!("CARGO_BIN_EXE_halite")]).args(words).output().unwrap())
    };
    let master = format!("127.0.0.1:{}", fleet.ret_port);
    let words = ["--to", "root@web1", "--master", &master, "--id", "web1", "--no-start"];
    for _ in 0..2 {
        let ran = script(&words);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    let told = fs::read_to_string(host.root.join("etc/salt/minion.d/00-install.conf")).unwrap();
    assert!(told.contains(&format!("master: '{master}'\nid: 'web1'\n")), "{told}");
    assert!(fs::read_to_string(host.root.join("etc/init.d/salt-minion")).unwrap().starts_with("#!/bin/sh"));
    assert_eq!(
        fs::read_to_string(host.root.join("etc/default/salt-minion")).unwrap(),
        "DAEMON=/usr/local/bin/salt-minion\n"
    );
    assert!(host.root.join("usr/local/bin/salt-minion").is_symlink());
    assert_eq!(fs::read_dir(host.root.join("tmp")).unwrap().count(), 0, "nothing is left of the copy");
    assert_eq!(host.run("/usr/local/bin/salt-minion --version").code, 0);
    for (wrong, why) in [
        (vec!["--to", "root@web2", "--master", "m"], "cannot be copied to root@web2"),
        (vec!["--to", "root@web1", "--master", "m;reboot"], "--master takes letters"),
        (vec!["--to", "-oProxyCommand=x"], "--to takes letters"),
    ] {
        let ran = script(&wrong);
        assert!(ran.code != 0 && ran.err.contains(why), "{}{}", ran.out, ran.err);
    }
}
