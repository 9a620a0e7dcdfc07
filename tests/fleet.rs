//! A real master and real minions as processes, in a temporary directory, on free loopback ports.
//!
//! Everything that is started ends with the [`Fleet`], whatever the test does.

use crate::boot::Boot;
use halite_roles::client::Client;
use halite_roles::master::database;
use halite_roles::master::database::Archive;
use halite_value::Map;
use halite_wire::message::{LocalAnswer, LocalAsk};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
pub const LIMIT: Duration = Duration::from_secs(30);

/// A directory that is gone with its owner.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn fresh() -> Directory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Short: a local socket has 107 bytes for its name.
        let directory = std::env::temp_dir().join(format!("hf{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        Directory(directory)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A master with its minions.
pub struct Fleet {
    directory: Directory,
    pub publish_port: u16,
    pub ret_port: u16,
    running: HashMap<String, Child>,
    minions: Vec<String>,
    /// Environment variables of programs, by name of the program.
    variables: HashMap<String, Vec<(String, String)>>,
    /// Boots that programs are in, where that is not the one of this host.
    boots: HashMap<String, Boot>,
}

impl Fleet {
    /// A master that accepts every key, with these minions connected to it.
    pub fn start(minions: &[&str]) -> Fleet {
        let mut fleet = Fleet::prepare(minions, "auto_accept: True\n", "");
        fleet.start_master();
        for id in minions {
            fleet.start_minion(id);
        }
        fleet.wait_connected(minions);
        fleet
    }

    /// The configuration of a fleet, nothing started. `master` and `minion` are lines for their files.
    pub fn prepare(minions: &[&str], master: &str, minion: &str) -> Fleet {
        let directory = Directory::fresh();
        let (publish_port, ret_port) = (free_port(), free_port());
        let root = directory.0.display().to_string();
        let fleet = Fleet {
            directory,
            publish_port,
            ret_port,
            running: HashMap::new(),
            minions: minions.iter().map(|id| id.to_string()).collect(),
            variables: HashMap::new(),
            boots: HashMap::new(),
        };
        let text = format!(
            "interface: 127.0.0.1\npublish_port: {publish_port}\nret_port: {ret_port}\nroot_dir: {root}\n\
             pki_dir: {root}/pki/master\ncachedir: {root}/cache\nsock_dir: {root}/run\npidfile: {root}/master.pid\n\
             log_file: {root}/log\nlog_level: info\n{master}"
        );
        fs::create_dir_all(fleet.path("conf")).unwrap();
        fs::write(fleet.path("conf/master"), text).unwrap();
        for id in minions {
            fleet.configure_minion(id, ret_port, minion);
        }
        fleet
    }

    /// Writes the configuration of a minion that reaches its master on this port.
    pub fn configure_minion(&self, id: &str, port: u16, lines: &str) {
        let root = self.path(id).display().to_string();
        let text = format!(
            "id: {id}\nmaster: 127.0.0.1\nmaster_port: {port}\nroot_dir: {root}\npki_dir: {root}/pki\n\
             cachedir: {root}/cache\nsock_dir: {root}/run\npidfile: {root}/minion.pid\nlog_file: {root}/log\n\
             log_level: info\nacceptance_wait_time: 1\nrecon_default: 100\nrecon_max: 500\n{lines}"
        );
        fs::create_dir_all(self.path(id).join("conf")).unwrap();
        fs::write(self.path(id).join("conf/minion"), text).unwrap();
    }

    /// Starts `halite fleet` against this master and waits until it is connected; its processes.
    pub fn start_many(&mut self, count: usize, args: &[&str]) -> Vec<u32> {
        let port = self.ret_port.to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
        command.args(["fleet", &count.to_string(), "--port", &port, "--directory"]).arg(self.path("crowd")).args(args);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        self.running.insert("crowd".to_owned(), child);
        let mut processes = Vec::new();
        for line in out.lines() {
            let line = line.unwrap();
            match line.strip_prefix("process ").and_then(|rest| rest.split(':').next()) {
                Some(pid) => processes.push(pid.parse().unwrap()),
                None if line.starts_with("connected ") => return processes,
                None => panic!("{line}"),
            }
        }
        panic!("the fleet has ended");
    }

    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.directory.0.join(below)
    }

    pub fn start_master(&mut self) {
        let conf = self.path("conf");
        self.start_program("master", "salt-master", &conf, &[]);
        // A local socket is there a moment before somebody answers on it.
        wait_for("the master to answer", || self.ask(&LocalAsk::Presence));
    }

    /// Without the supervisor: what is killed stays dead until the test starts it again.
    pub fn start_minion(&mut self, id: &str) {
        let conf = self.path(id).join("conf");
        self.start_program(id, "salt-minion", &conf, &["--disable-keepalive"]);
    }

    /// Sets an environment variable of a program, from its next start on.
    pub fn set_variable(&mut self, name: &str, variable: &str, value: &str) {
        self.variables.entry(name.to_owned()).or_default().push((variable.to_owned(), value.to_owned()));
    }

    /// Gives a program another boot of its host, from its next start on.
    pub fn set_boot(&mut self, name: &str, boot: Boot) {
        self.boots.insert(name.to_owned(), boot);
    }

    /// A command that waits until the gate is opened and then goes on with another one.
    pub fn behind_gate(&self, command: &str) -> String {
        format!("until [ -e {} ]; do sleep 0.2; done; {command}", self.path("gate").display())
    }

    pub fn open_gate(&self) {
        fs::write(self.path("gate"), "").unwrap();
    }

    /// The processes that work on jobs of a minion.
    pub fn workers(&self, id: &str) -> Vec<u32> {
        workers_below(&self.path(id))
    }

    /// Kills the workers of a minion with all that they have started.
    pub fn end_workers_of(&self, id: &str) {
        end_workers(&self.path(id));
    }

    fn start_program(&mut self, name: &str, program: &str, conf: &Path, args: &[&str]) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.path(format!("{name}.console"))).unwrap();
        let halite = env!("CARGO_BIN_EXE_halite");
        let mut command = match self.boots.get(name) {
            Some(boot) => boot.command(&[halite, program]),
            None => Command::new(halite),
        };
        if !self.boots.contains_key(name) {
            command.arg0(program);
        }
        let child = command
            .arg("-c")
            .arg(conf)
            .args(args)
            .envs(self.variables.get(name).into_iter().flatten().cloned())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.running.insert(name.to_owned(), child);
    }

    pub fn pid(&self, name: &str) -> u32 {
        self.running[name].id()
    }

    /// Kills a process as a crash would, and waits for its end.
    pub fn kill(&mut self, name: &str) {
        let mut child = self.running.remove(name).expect("it runs");
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Ends a process as an admin would; the exit code.
    pub fn stop(&mut self, name: &str) -> Option<i32> {
        let mut child = self.running.remove(name).expect("it runs");
        signal(child.id(), rustix::process::Signal::TERM);
        let code = wait_for(&format!("{name} to stop"), || child.try_wait().unwrap());
        code.code()
    }

    /// A program of the fleet, ready to be started: it finds the master's configuration.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
        command.arg0(program).arg("-c").arg(self.path("conf")).stdin(Stdio::null());
        command
    }

    pub fn run(&self, program: &str, args: &[&str]) -> Ran {
        Ran::from(self.command(program).args(args).output().unwrap())
    }

    pub fn salt(&self, args: &[&str]) -> Ran {
        self.run("salt", args)
    }

    /// Asks the master as a local program does; nothing when it does not answer.
    pub fn ask(&self, ask: &LocalAsk) -> Option<LocalAnswer> {
        smol::block_on(async { Client::connect(&self.path("run")).await.ok()?.ask(ask).await.ok() })
    }

    pub fn connected(&self) -> Vec<String> {
        match self.ask(&LocalAsk::Presence) {
            Some(LocalAnswer::Presence { connected, .. }) => connected,
            _ => Vec::new(),
        }
    }

    pub fn wait_connected(&self, ids: &[&str]) {
        let wanted: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
        let what = format!("{ids:?} to be connected, console: {}", self.consoles());
        wait_for(&what, || wanted.iter().all(|id| self.connected().contains(id)).then_some(()));
    }

    pub fn wait_gone(&self, id: &str) {
        wait_for(&format!("{id} to be away"), || (!self.connected().iter().any(|other| other == id)).then_some(()));
    }

    /// The job database, as anybody may read it.
    pub fn archive(&self) -> Archive {
        let path = database::path_in(&self.path("cache"));
        wait_for("the job database", || Archive::open(&path).unwrap())
    }

    /// The full return of a job by a minion, as soon as it is in the database.
    pub fn wait_return(&self, jid: &str, id: &str) -> Map {
        let archive = self.archive();
        wait_for(&format!("the return of {id} for {jid}"), || {
            archive.returns(jid).unwrap().into_iter().find(|(other, _)| other == id).map(|(_, full)| full)
        })
    }

    fn consoles(&self) -> String {
        let names = self.minions.iter().map(String::as_str).chain(["master"]);
        names.map(|name| fs::read_to_string(self.path(format!("{name}.console"))).unwrap_or_default()).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in self.running.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
        end_workers(&self.directory.0);
    }
}

/// Workers are in sessions of their own and outlive their daemon: each goes with its session.
fn end_workers(directory: &Path) {
    for worker in workers_below(directory) {
        for pid in processes().filter(|pid| session_of(*pid) == Some(worker)) {
            signal(pid, rustix::process::Signal::KILL);
        }
    }
}

/// The workers that have files below a directory open.
fn workers_below(directory: &Path) -> Vec<u32> {
    let is_ours = |pid: &u32| {
        let process = Path::new("/proc").join(pid.to_string());
        let name = fs::read(process.join("cmdline")).unwrap_or_default();
        let mut files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        name.starts_with(b"halite-worker")
            && files.any(|file| fs::read_link(file.path()).is_ok_and(|target| target.starts_with(directory)))
    };
    processes().filter(is_ours).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

/// The session that a process is in, named by the process that leads it.
fn session_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name in parentheses: state, parent, group, session.
    stat.rsplit(')').next()?.split_whitespace().nth(3)?.parse().ok()
}

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Looks again and again until there is something, with a limit.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn signal(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// A port that nobody listens on, below those that the kernel gives to connections: a fleet's own connections would
/// take it from a master that starts again.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 10_000 + (std::process::id() % 20) as u16 * 1000;
    loop {
        let port = base + NEXT.fetch_add(1, Ordering::Relaxed) % 1000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
