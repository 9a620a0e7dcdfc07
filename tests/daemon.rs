//! Master and minion as daemons: how they start, what they tell, how they end.

use crate::fleet::{Fleet, free_port, signal, wait_for};
use halite_core::testing::{Need, host_has, left_out};
use halite_roles::minion::local::{MinionAsk, MinionSocket};
use rustix::process::Signal;
use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// A daemon that `-d` has started, known by its pid file. It ends with its owner.
pub struct Background {
    pidfile: PathBuf,
    pub pid: u32,
}

impl Background {
    fn start(fleet: &Fleet, program: &str) -> Background {
        Background::of(fleet, Path::new(env!("CARGO_BIN_EXE_halite")), program)
    }

    /// From a file of its own.
    pub fn of(fleet: &Fleet, file: &Path, program: &str) -> Background {
        let pidfile = fleet.path(if program == "salt-master" { "master.pid" } else { "web1/minion.pid" });
        let output = launch_file(fleet, file, program);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Background { pid: fs::read_to_string(&pidfile).unwrap().trim().parse().unwrap(), pidfile }
    }

    /// Its only child.
    fn child(&self) -> Option<u32> {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid)).ok()?;
        children.trim().parse().ok()
    }

    /// Ends it as an admin would; how long that took.
    fn stop(&self) -> Duration {
        let start = Instant::now();
        signal(self.pid, Signal::TERM);
        wait_for("a daemon to end", || (!lives(self.pid)).then_some(()));
        start.elapsed()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(child) = self.child() {
            signal(child, Signal::KILL);
        }
        if lives(self.pid) {
            signal(self.pid, Signal::KILL);
        }
    }
}

fn launch(fleet: &Fleet, program: &str) -> Output {
    launch_file(fleet, Path::new(env!("CARGO_BIN_EXE_halite")), program)
}

fn launch_file(fleet: &Fleet, file: &Path, program: &str) -> Output {
    let conf = fleet.path(if program == "salt-master" { "conf" } else { "web1/conf" });
    let mut command = std::process::Command::new(file);
    command.arg(program).arg("-d").arg("-c").arg(conf).output().unwrap()
}

/// False also for what has ended and nobody has asked for.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

/// What the kernel says of a process, by the name of the line.
fn status(pid: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wait_for_line(path: &Path, words: &str) {
    wait_for(&format!("'{words}' in {}", path.display()), || {
        fs::read_to_string(path).is_ok_and(|text| text.contains(words)).then_some(())
    });
}

#[test]
fn a_master_in_the_background_serves_when_the_command_returns() {
    let fleet = Fleet::prepare(&[], "", "");
    let master = Background::start(&fleet, "salt-master");
    for port in [fleet.ret_port, fleet.publish_port] {
        TcpStream::connect(("127.0.0.1", port)).unwrap();
    }
    assert!(lives(master.pid));
    assert_eq!(fs::read_to_string(format!("/proc/{}/comm", master.pid)).unwrap(), "salt-master\n");
    assert_eq!(fs::read_link(format!("/proc/{}/cwd", master.pid)).unwrap(), Path::new("/"));
    let second = launch(&fleet, "salt-master");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("process {} holds", master.pid)), "{said}");
    let took = master.stop();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(!master.pidfile.exists());
}

#[test]
fn a_start_that_fails_says_so_to_whoever_waits() {
    let fleet = Fleet::prepare(&["web1"], "", "");
    let taken = TcpListener::bind(("127.0.0.1", fleet.ret_port)).unwrap();
    let output = launch(&fleet, "salt-master");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("salt-master: error: ") && said.contains(&fleet.ret_port.to_string()), "{said}");
    assert!(!fleet.path("master.pid").exists());
    drop(taken);
    // The same of a child of the supervisor, and of a configuration.
    fs::create_dir_all(fleet.path("web1/pki")).unwrap();
    fs::write(fleet.path("web1/pki/minion.pem"), "no key").unwrap();
    let output = launch(&fleet, "salt-minion");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("minion.pem"), "{said}");
    assert!(!fleet.path("web1/minion.pid").exists());
    fleet.configure_minion("web1", fleet.ret_port, "log_fmt_logfile: '%(nonsense)s'\n");
    let output = launch(&fleet, "salt-minion");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(78), "{said}");
    assert!(said.contains("log_fmt_logfile") && said.contains("line "), "{said}");
}

#[test]
fn a_minion_counts_as_started_without_a_master_and_ends_with_its_supervisor() {
    let fleet = Fleet::prepare(&["web1"], "", "");
    let minion = Background::start(&fleet, "salt-minion");
    let child = minion.child().unwrap();
    assert!(lives(child));
    signal(minion.pid, Signal::KILL);
    let start = Instant::now();
    wait_for("the child to end", || (!lives(child)).then_some(()));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    // The number that is left over blocks nobody.
    let again = Background::start(&fleet, "salt-minion");
    let took = again.stop();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(!again.pidfile.exists());
}

#[test]
fn a_supervisor_starts_its_minion_again() {
    let fleet = Fleet::prepare(&["web1"], "", "random_reauth_delay: 1\n");
    let minion = Background::start(&fleet, "salt-minion");
    let first = minion.child().unwrap();
    MinionSocket::new(&fleet.path("web1/run")).ask(&MinionAsk::Restart).unwrap();
    let second = wait_for("another child", || minion.child().filter(|child| *child != first));
    wait_for_line(&fleet.path("web1/log"), "wants to start again");
    wait_for_line(&fleet.path("web1/log"), "the minion is started again");
    signal(second, Signal::KILL);
    wait_for_line(&fleet.path("web1/log"), "was ended by signal 9; it is started again in 60 s");
    assert!(lives(minion.pid) && minion.child().is_none());
    let took = minion.stop();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_log_that_was_renamed_begins_anew() {
    let fleet = Fleet::prepare(&["web1"], "", "");
    let minion = Background::start(&fleet, "salt-minion");
    let child = minion.child().unwrap();
    let (log, old) = (fleet.path("web1/log"), fleet.path("web1/log.1"));
    fs::rename(&log, &old).unwrap();
    signal(minion.pid, Signal::HUP);
    // Both processes have it open: neither is left with the old one.
    wait_for("both to open it anew", || {
        let inode = fs::metadata(&log).ok()?.ino();
        [minion.pid, child].iter().all(|pid| holds(*pid, inode)).then_some(())
    });
    signal(child, Signal::KILL);
    wait_for_line(&log, "was ended by signal 9");
    assert!(!fs::read_to_string(&old).unwrap().contains("was ended"));
}

fn holds(pid: u32, inode: u64) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::metadata(file.path()).ok()).any(|data| data.ino() == inode)
}

#[test]
fn a_job_outlives_its_daemon_and_its_return_arrives() {
    let mut fleet = Fleet::start(&["web1"]);
    let (begun, gate) = (fleet.path("begun"), fleet.path("gate"));
    let line = format!("touch {}; until [ -e {} ]; do sleep 0.05; done; echo done", begun.display(), gate.display());
    let ran = fleet.salt(&["web1", "cmd.run", &line, "--async"]);
    let jid = ran.out.split_whitespace().last().unwrap_or_default().to_owned();
    assert_eq!(jid.len(), 20, "{}{}", ran.out, ran.err);
    wait_for("the job to begin", || begun.exists().then_some(()));
    let start = Instant::now();
    assert_eq!(fleet.stop("web1"), Some(0));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    fs::write(&gate, "").unwrap();
    fleet.start_minion("web1");
    let full = fleet.wait_return(&jid, "web1");
    assert_eq!(full.str_at("return"), Some("done"), "{full:?}");
}

#[test]
fn another_account_has_no_rights_left_of_root() {
    if !host_has(&[Need::Root]) {
        return;
    }
    let fleet = Fleet::prepare(&["web1"], "auto_accept: True\nuser: nobody\n", "user: nobody\n");
    let master = Background::start(&fleet, "salt-master");
    let minion = Background::start(&fleet, "salt-minion");
    let child = minion.child().unwrap();
    for pid in [master.pid, minion.pid, child] {
        assert_eq!(status(pid, "Uid"), "65534 65534 65534 65534");
        assert_eq!(status(pid, "Gid"), "65534 65534 65534 65534");
        assert_eq!(status(pid, "Groups"), "65534");
        assert_eq!(status(pid, "CapEff"), "0000000000000000");
        let variables = fs::read(format!("/proc/{child}/environ")).unwrap();
        assert!(variables.split(|byte| *byte == 0).any(|variable| variable == b"USER=nobody"));
    }
    for (below, mode) in [("pki/master", 0o700), ("cache", 0o750), ("web1/pki", 0o700), ("run", 0o755)] {
        let data = fs::metadata(fleet.path(below)).unwrap();
        assert_eq!((data.uid(), data.mode() & 0o777), (65_534, mode), "{below}");
    }
    fleet.wait_connected(&["web1"]);
    let ran = fleet.salt(&["web1", "cmd.run", "id -u; id -G", "--out=txt"]);
    assert!(ran.out.contains("65534"), "{}{}", ran.out, ran.err);
    // The directory of the pid file is root's: it cannot be removed any more, but holds up nobody.
    minion.stop();
    assert_eq!(fs::read_to_string(&minion.pidfile).unwrap(), "");
    assert!(Background::start(&fleet, "salt-minion").stop() < Duration::from_secs(1));
}

#[test]
fn an_account_that_does_not_exist_is_named() {
    let fleet = Fleet::prepare(&[], "user: no-such-account\n", "");
    let output = launch(&fleet, "salt-master");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(67), "{said}");
    assert!(said.contains("'no-such-account' does not exist"), "{said}");
}

#[test]
fn a_syslog_gets_the_log() {
    let syslog = UdpSocket::bind(("127.0.0.1", free_port())).unwrap();
    syslog.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let line = format!("log_file: udp://{}/LOG_DAEMON\n", syslog.local_addr().unwrap());
    let fleet = Fleet::prepare(&[], "", "");
    let conf = fleet.path("conf/master");
    let text = fs::read_to_string(&conf).unwrap();
    let own = format!("log_file: {}\n", fleet.path("log").display());
    assert!(text.contains(&own));
    fs::write(&conf, text.replace(&own, &line)).unwrap();
    let master = Background::start(&fleet, "salt-master");
    let mut bytes = [0; 8192];
    let message = wait_for("the line that says what is served", || {
        let length = syslog.recv(&mut bytes).unwrap();
        Some(String::from_utf8_lossy(&bytes[..length]).into_owned()).filter(|message| message.contains(" serves "))
    });
    // 30: facility 3, severity 6.
    assert!(message.starts_with("<30>") && message.contains(&format!("salt-master[{}]: ", master.pid)), "{message}");
    assert!(message.contains(" serves 127.0.0.1:"), "{message}");
}

#[test]
fn the_service_manager_is_told() {
    let fleet = Fleet::prepare(&["web1"], "", "");
    let path = fleet.path("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut minion = std::process::Command::new(env!("CARGO_BIN_EXE_halite"));
    minion.arg("salt-minion").arg("-c").arg(fleet.path("web1/conf")).env("NOTIFY_SOCKET", &path);
    let mut minion = minion.stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut bytes = [0; 512];
    let mut said = || {
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let ready = said();
    signal(minion.id(), Signal::TERM);
    let stopping = said();
    let code = minion.wait().unwrap().code();
    assert!(ready.starts_with("READY=1\n") && ready.contains(&format!("MAINPID={}\n", minion.id())), "{ready}");
    assert_eq!((stopping.as_str(), code), ("STOPPING=1", Some(0)));
}

#[test]
fn an_event_that_is_too_long_goes_nowhere_and_is_named() {
    let mut fleet = Fleet::prepare(&["web1", "web2"], "auto_accept: True\nmax_event_size: 1000\n", "");
    fleet.configure_minion("web2", fleet.ret_port, "max_event_size: 500\n");
    fleet.start_master();
    for id in ["web1", "web2"] {
        fleet.start_minion(id);
    }
    fleet.wait_connected(&["web1", "web2"]);
    let data = format!("{{text: {}}}", "x".repeat(2000));
    for id in ["web1", "web2"] {
        let ran = fleet.salt(&[id, "event.send", &format!("my/{id}"), &data]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    wait_for_line(&fleet.path("log"), "an event 'my/web1' of 'web1' is dropped");
    wait_for_line(&fleet.path("web2/log"), "the event 'my/web2' is not sent");
    assert!(!fs::read_to_string(fleet.path("log")).unwrap().contains("my/web2"));
}

#[test]
fn master_and_minion_speak_over_ipv6() {
    if TcpListener::bind("[::1]:0").is_err() {
        return left_out("this host has no IPv6");
    }
    let mut fleet = Fleet::prepare(&["web1"], "auto_accept: True\nipv6: True\n", "ipv6: True\n");
    for (file, from, to) in [
        ("conf/master", "interface: 127.0.0.1", "interface: '::1'"),
        ("web1/conf/minion", "master: 127.0.0.1", "master: '::1'"),
    ] {
        let text = fs::read_to_string(fleet.path(file)).unwrap();
        assert!(text.contains(from));
        fs::write(fleet.path(file), text.replace(from, to)).unwrap();
    }
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    assert_eq!(fleet.salt(&["web1", "test.ping", "--out=txt"]).out, "web1: True\n");
}

#[test]
fn what_a_job_logs_is_in_the_daemons_log() {
    let fleet = Fleet::start(&["web1"]);
    let ran = fleet.salt(&["web1", "cmd.run", "echo to the log; exit 3"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    wait_for_line(&fleet.path("web1/log"), "to the log");
    let log = fs::read_to_string(fleet.path("web1/log")).unwrap();
    let line = log.lines().find(|line| line.contains("to the log")).unwrap();
    assert!(line.contains("[salt.modules.cmd"), "{line}");
}
