//! `halite fleet`: many minions on one host, to try a master with.
//!
//! Each is the code of `salt-minion` from the handshake to the spool, with its own key, id (`fleet-7`) and directory, but
//! without a process and a local socket of its own: an idle one has two connections open, and nothing else. They are
//! spread over several processes, which end with the one that started them.

use super::cli::{Exit, exit, versions};
use super::config::{Config, Role, Surroundings};
use super::daemon::limits::allow_open_files;
use super::minion::Minion;
use super::minion::settings::{Keeper, Place, Settings};
use argh::FromArgs;
use halite_core::host::Machine;
use halite_keys::Identity;
use halite_node::grains;
use halite_value::Map;
use halite_wire::handshake::Purpose;
use halite_wire::nng::{Family, Keepalive, Tcp};
use halite_wire::seal;
use smol::LocalExecutor;
use std::fs::DirBuilder;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Run many minions on this host, to try a master with: their ids are fleet-1, fleet-2 and so on.
#[derive(FromArgs)]
struct FleetLine {
    /// how many minions
    #[argh(positional)]
    count: usize,
    /// where the master is (default: 127.0.0.1)
    #[argh(option, default = "String::from(\"127.0.0.1\")")]
    master: String,
    /// the master's ret_port (default: 4506)
    #[argh(option, default = "4506")]
    port: u16,
    /// the number of the first minion (default: 1)
    #[argh(option, default = "1")]
    first: usize,
    /// where each minion has its directory, with its key; used again by the next fleet
    #[argh(option)]
    directory: PathBuf,
    /// in how many processes (default: 4)
    #[argh(option, default = "4")]
    processes: usize,
    /// all in this process; how the fleet starts its own processes
    #[argh(switch)]
    here: bool,
}

/// What a process of the fleet says when all its minions have keys, and when all are connected.
const READY: &str = "ready";
const CONNECTED: &str = "connected";

pub fn run(args: &[String]) -> u8 {
    if args == ["--version"] {
        print!("{}", versions::line("halite fleet"));
        return Exit::Ok.code();
    }
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let line = match FleetLine::from_args(&["halite fleet"], &words) {
        Ok(line) => line,
        Err(early) if early.status.is_ok() => {
            print!("{}", early.output);
            return Exit::Ok.code();
        }
        Err(early) => {
            let words: Vec<&str> = early.output.split_whitespace().collect();
            exit::complain(&format!("halite fleet: error: {}", words.join(" ")));
            return Exit::Usage.code();
        }
    };
    let done = if line.here { serve(&line) } else { lead(&line) };
    match done {
        Ok(()) => Exit::Ok.code(),
        Err(message) => {
            exit::complain(&format!("halite fleet: error: {message}"));
            Exit::Failed.code()
        }
    }
}

/// A process of the fleet, as the one that started it sees it.
struct Part {
    child: Child,
    /// Its end is the end of the process.
    stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Part {
    fn start(line: &FleetLine, first: usize, count: usize) -> Result<Part, String> {
        let mut command = Command::new("/proc/self/exe");
        command.args(["fleet", "--here", "--master", &line.master]);
        command.args(["--port", &line.port.to_string(), "--first", &first.to_string(), "--directory"]);
        command.arg(&line.directory).arg(count.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(text)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Part { child, stdin, lines: BufReader::new(stdout) }),
            _ => Err("a process of the fleet has no pipes".to_owned()),
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        let mut line = String::new();
        self.lines.read_line(&mut line).map_err(text)?;
        match line.trim_end() == word {
            true => Ok(()),
            false => Err(format!("process {} of the fleet has ended", self.child.id())),
        }
    }
}

/// Starts the processes of the fleet, says when all are connected, and stays until they end.
fn lead(line: &FleetLine) -> Result<(), String> {
    let processes = line.processes.clamp(1, line.count.max(1));
    let (mut parts, mut first) = (Vec::new(), line.first);
    for left in (1..=processes).rev() {
        let count = (line.first + line.count - first) / left;
        let part = Part::start(line, first, count)?;
        say(&format!("process {}: fleet-{first} to fleet-{}", part.child.id(), first + count - 1))?;
        parts.push(part);
        first += count;
    }
    parts.iter_mut().try_for_each(|part| part.expect(READY))?;
    let start = Instant::now();
    parts.iter_mut().try_for_each(|part| part.stdin.write_all(b"go\n").map_err(text))?;
    parts.iter_mut().try_for_each(|part| part.expect(CONNECTED))?;
    say(&format!("connected {} in {:.2} s", line.count, start.elapsed().as_secs_f64()))?;
    for mut part in parts {
        part.child.wait().map_err(text)?;
    }
    Ok(())
}

/// Runs minions until standard input ends.
fn serve(line: &FleetLine) -> Result<(), String> {
    seal::start()?;
    allow_open_files(2 * line.count as u64 + 256);
    let config = Config::load(Role::Minion, &Surroundings::of_process(Some(line.directory.clone()))).map_err(text)?;
    let (opts, grains) = (Arc::new(config.opts.clone()), grains::collect(&Machine, &config.opts));
    let minions: Vec<Settings> =
        (line.first..line.first + line.count).map(|number| settings(line, number, &opts, &grains)).collect();
    for minion in &minions {
        DirBuilder::new().recursive(true).mode(0o700).create(&minion.pki_dir).map_err(text)?;
        Identity::load_or_make(&minion.pki_dir, "minion").map_err(text)?;
    }
    say(READY)?;
    let mut go = String::new();
    std::io::stdin().read_line(&mut go).map_err(text)?;
    let executor = Rc::new(LocalExecutor::new());
    smol::block_on(executor.run(async {
        let mut running = Vec::with_capacity(minions.len());
        for minion in minions {
            let transport =
                Rc::new(Tcp { timeout: minion.auth_timeout, family: Family::Any, keepalive: Keepalive::Off });
            running.push(Minion::start(&executor, minion, transport)?);
            // Those that have started are to get on while the others start.
            smol::future::yield_now().await;
        }
        for one in &running {
            one.minion.connected().await;
        }
        say(CONNECTED)?;
        smol::unblock(|| std::io::stdin().read_line(&mut String::new())).await.map_err(text)?;
        Ok(())
    }))
}

fn settings(line: &FleetLine, number: usize, opts: &Arc<Map>, grains: &Map) -> Settings {
    let id = format!("fleet-{number}");
    let directory = line.directory.join(&id);
    let mut grains = grains.clone();
    grains.insert("id", id.as_str());
    Settings {
        keeper: Keeper::Nobody,
        purpose: Purpose::Jobs,
        pki_dir: directory.join("pki"),
        cachedir: directory,
        id,
        masters: vec![Place { host: line.master.clone(), port: line.port }],
        jobs_at_once: None,
        sock_dir: None,
        finger: None,
        acceptance_wait: Duration::from_secs(1),
        acceptance_wait_max: Duration::from_secs(10),
        reconnect: Duration::from_millis(100),
        reconnect_max: Duration::from_secs(1),
        auth_timeout: Duration::from_secs(60),
        reauth_delay: None,
        file_timeout: Duration::from_secs(60),
        startup_delay: Duration::ZERO,
        ping_interval: Duration::ZERO,
        max_event_size: 1 << 20,
        opts: opts.clone(),
        grains: Arc::new(grains),
    }
}

fn say(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(text)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_told() {
        let args = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(run(&args(&["many", "--directory", "/tmp"])), Exit::Usage.code());
        assert_eq!(run(&args(&["7"])), Exit::Usage.code());
        assert_eq!(run(&args(&["--help"])), Exit::Ok.code());
    }
}
