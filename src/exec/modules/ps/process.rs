//! Processes.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_lang::regex::Regex;
use halite_value::record;
use halite_value::{Map, Value};
use procfs_core::FromRead;
use procfs_core::process::{Stat, StatM};
use std::path::Path;
use std::time::Duration;

/// Ticks of the clock in a second, by which processes are measured on all Linux systems.
const TICKS: f64 = 100.0;

/// A process as /proc shows it.
struct Process {
    stat: Stat,
}

impl Process {
    fn read(ctx: &Ctx, pid: i64) -> Option<Process> {
        let bytes = ctx.host.read(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
        Stat::from_read(bytes.as_slice()).ok().map(|stat| Process { stat })
    }

    fn pid(&self) -> i64 {
        self.stat.pid.into()
    }

    fn name(&self) -> &str {
        &self.stat.comm
    }

    fn file(&self, ctx: &Ctx, name: &str) -> String {
        text_file::read(ctx.host, &format!("/proc/{}/{name}", self.stat.pid)).unwrap_or_default()
    }

    fn cmdline(&self, ctx: &Ctx) -> Vec<String> {
        let text = self.file(ctx, "cmdline");
        text.trim_end_matches('\0').split('\0').filter(|_| !text.is_empty()).map(str::to_owned).collect()
    }

    fn uids(&self, ctx: &Ctx, key: &str) -> Vec<i64> {
        let status = self.file(ctx, "status");
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    }

    fn user(&self, ctx: &Ctx) -> Value {
        let uid = self.uids(ctx, "Uid:").first().and_then(|uid| u32::try_from(*uid).ok());
        let user = uid.and_then(|uid| ctx.host.user_by_uid(uid).ok().flatten());
        user.map_or_else(|| uid.map_or(Value::Null, |uid| uid.to_string().into()), |user| user.name.into())
    }

    fn status(&self) -> &'static str {
        match self.stat.state {
            'R' => "running",
            'S' => "sleeping",
            'D' => "disk-sleep",
            'T' => "stopped",
            't' => "tracing-stop",
            'Z' => "zombie",
            'I' => "idle",
            'P' => "parked",
            _ => "dead",
        }
    }

    fn cpu(&self) -> f64 {
        (self.stat.utime + self.stat.stime) as f64 / TICKS
    }

    fn cpu_times(&self) -> Map {
        Map::from_iter([
            ("user", self.stat.utime as f64 / TICKS),
            ("system", self.stat.stime as f64 / TICKS),
            ("children_user", self.stat.cutime as f64 / TICKS),
            ("children_system", self.stat.cstime as f64 / TICKS),
            ("iowait", self.stat.delayacct_blkio_ticks.unwrap_or(0) as f64 / TICKS),
        ])
    }

    fn memory(&self, ctx: &Ctx) -> Map {
        let pages = StatM::from_read(self.file(ctx, "statm").as_bytes()).ok();
        let bytes = |field: fn(&StatM) -> u64| {
            let bytes = pages.as_ref().map_or(0, field).saturating_mul(ctx.host.page_size());
            i64::try_from(bytes).unwrap_or(i64::MAX)
        };
        Map::from_iter([
            ("rss", bytes(|pages| pages.resident)),
            ("vms", bytes(|pages| pages.size)),
            ("shared", bytes(|pages| pages.shared)),
            ("text", bytes(|pages| pages.text)),
            ("lib", bytes(|pages| pages.lib)),
            ("data", bytes(|pages| pages.data)),
            ("dirty", bytes(|pages| pages.dt)),
        ])
    }

    fn started(&self, ctx: &Ctx) -> f64 {
        super::machine::boot(ctx) as f64 + self.stat.starttime as f64 / TICKS
    }
}

fn pids(ctx: &Ctx) -> Vec<i64> {
    let mut pids: Vec<i64> =
        ctx.host.list(Path::new("/proc")).unwrap_or_default().iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

fn all(ctx: &Ctx) -> Vec<Process> {
    pids(ctx).into_iter().filter_map(|pid| Process::read(ctx, pid)).collect()
}

record! {
    /// Lists the numbers of all processes.
    ///
    ///   salt '*' ps.get_pid_list
    pub struct GetPidList {}
}

impl Run for GetPidList {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(pids(ctx)).into())
    }
}

/// What can be asked of a process.
const ATTRIBUTES: [&str; 20] = [
    "cmdline",
    "cpu_num",
    "cpu_times",
    "create_time",
    "cwd",
    "environ",
    "exe",
    "gids",
    "memory_info",
    "memory_percent",
    "name",
    "nice",
    "num_fds",
    "num_threads",
    "pid",
    "ppid",
    "status",
    "terminal",
    "uids",
    "username",
];

record! {
    /// Shows a process.
    ///
    ///   salt '*' ps.proc_info 2322
    ///   salt '*' ps.proc_info 2322 attrs='["pid", "name"]'
    pub struct ProcInfo {
        /// Its number.
        pid: i64,
        /// What of it; all without any.
        attrs: Option<Vec<String>> = (),
    }
}

impl Run for ProcInfo {
    fn run(self, ctx: &Ctx) -> Reply {
        let missing = || Fault::execution(format!("process PID not found (pid={})", self.pid));
        let process = Process::read(ctx, self.pid).ok_or_else(missing)?;
        let wanted = self.attrs.unwrap_or_else(|| ATTRIBUTES.map(str::to_owned).to_vec());
        let link = |name: &str| {
            let path = format!("/proc/{}/{name}", process.stat.pid);
            let target = ctx.host.stat(Path::new(&path)).ok().and_then(|stat| stat.target);
            Value::from(target.map(|target| target.to_string_lossy().into_owned()))
        };
        let mut shown = Map::new();
        for name in wanted {
            let value: Value = match name.as_str() {
                "pid" => process.pid().into(),
                "name" => process.name().into(),
                "ppid" => i64::from(process.stat.ppid).into(),
                "status" => process.status().into(),
                "cmdline" => Value::list(process.cmdline(ctx)),
                "username" => process.user(ctx),
                "create_time" => process.started(ctx).into(),
                "cpu_times" => process.cpu_times().into(),
                "cpu_num" => i64::from(process.stat.processor.unwrap_or(0)).into(),
                "memory_info" => process.memory(ctx).into(),
                "memory_percent" => {
                    let total = super::machine::memory(ctx).0.max(1);
                    let rss = process.memory(ctx).at("rss").and_then(Value::as_int).unwrap_or(0);
                    (rss as f64 * 100.0 / total as f64).into()
                }
                "nice" => process.stat.nice.into(),
                "num_threads" => process.stat.num_threads.into(),
                "num_fds" => ctx
                    .host
                    .list(Path::new(&format!("/proc/{}/fd", process.stat.pid)))
                    .map_or(Value::Null, |fds| fds.len().into()),
                "exe" => link("exe"),
                "cwd" => link("cwd"),
                "terminal" => link("fd/0")
                    .as_str()
                    .filter(|path| path.starts_with("/dev/pts") || path.starts_with("/dev/tty"))
                    .map_or(Value::Null, Value::from),
                "uids" | "gids" => {
                    let key = if name == "uids" { "Uid:" } else { "Gid:" };
                    let ids = process.uids(ctx, key);
                    Value::list(ids.into_iter().take(3))
                }
                "environ" => {
                    let text = process.file(ctx, "environ");
                    text.split('\0').filter_map(|entry| entry.split_once('=')).collect::<Map>().into()
                }
                _ => {
                    return Err(Fault::invocation(format!(
                        "invalid attr name '{name}': known are {}",
                        ATTRIBUTES.join(", ")
                    )));
                }
            };
            shown.insert(name, value);
        }
        Ok(shown.into())
    }
}

record! {
    /// Sends a signal to a process. Returns whether there is such a process.
    ///
    ///   salt '*' ps.kill_pid 2000 signal=9
    pub struct KillPid {
        /// Its number.
        pid: i64,
        /// The number of the signal.
        signal: i64 = 15,
    }
}

impl Run for KillPid {
    fn run(self, ctx: &Ctx) -> Reply {
        let pid = i32::try_from(self.pid).map_err(|_| Fault::invocation("there is no such process"))?;
        Ok(kill(ctx, pid, self.signal)?.into())
    }
}

/// Whether the process was there.
fn kill(ctx: &Ctx, pid: i32, signal: i64) -> Result<bool, Fault> {
    let wrong = || Fault::invocation(format!("{signal} is not the number of a signal"));
    let signal = i32::try_from(signal).map_err(|_| wrong())?;
    match ctx.host.kill(pid, signal) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(3) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Err(wrong()),
        Err(error) => Err(Fault::execution(format!("process {pid}: {error}"))),
    }
}

/// The processes that a pattern means.
fn matching(ctx: &Ctx, pattern: &str, user: Option<&str>, full: bool, is_regex: bool) -> Result<Vec<Process>, Fault> {
    let regex = Regex::new(pattern).ok().filter(|_| is_regex);
    if is_regex && regex.is_none() {
        return Err(Fault::invocation(format!("'{pattern}' is not a pattern")));
    }
    let mut found = Vec::new();
    for process in all(ctx) {
        let line = if full { process.cmdline(ctx).join(" ") } else { process.name().to_owned() };
        let fits = match &regex {
            Some(regex) => regex.search(&line).map_err(|error| Fault::invocation(error.to_string()))?.is_some(),
            None => line.contains(pattern),
        };
        if fits && user.is_none_or(|user| process.user(ctx).as_str() == Some(user)) {
            found.push(process);
        }
    }
    Ok(found)
}

record! {
    /// Lists the numbers of processes by name. None: there are none.
    ///
    ///   salt '*' ps.pgrep httpd
    ///   salt '*' ps.pgrep bash user=tom
    pub struct Pgrep {
        /// A part of the name.
        pattern: String,
        /// The user who runs it.
        user: Option<String> = (),
        /// Look at the whole command line.
        full: bool = false,
        /// Take the pattern for a regular expression.
        pattern_is_regex: bool = false,
    }
}

impl Run for Pgrep {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = matching(ctx, &self.pattern, self.user.as_deref(), self.full, self.pattern_is_regex)?;
        match found.is_empty() {
            true => Ok(Value::Null.into()),
            false => Ok(Value::list(found.iter().map(Process::pid)).into()),
        }
    }
}

record! {
    /// Sends a signal to processes by name. Returns which; None: there are none.
    ///
    ///   salt '*' ps.pkill httpd signal=9
    pub struct Pkill {
        /// A part of the name.
        pattern: String,
        /// The user who runs it.
        user: Option<String> = (),
        /// The number of the signal.
        signal: i64 = 15,
        /// Look at the whole command line.
        full: bool = false,
    }
}

impl Run for Pkill {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.pattern.is_empty() {
            return Err(Fault::invocation("an empty pattern means all processes: refused"));
        }
        let mut killed = Vec::new();
        for process in matching(ctx, &self.pattern, self.user.as_deref(), self.full, false)? {
            // Whoever asks is none of those who are meant.
            if process.pid() == i64::from(ctx.host.pid()) {
                continue;
            }
            if kill(ctx, process.stat.pid, self.signal)? {
                killed.push(process.pid());
            }
        }
        match killed.is_empty() {
            true => Ok(Value::Null.into()),
            false => Ok(Map::from_iter([("killed", Value::list(killed))]).into()),
        }
    }
}

record! {
    /// Lists the processes in a state, such as `zombie`.
    ///
    ///   salt '*' ps.status zombie
    pub struct Status {
        /// The state: running, sleeping, disk-sleep, stopped, zombie, idle.
        status: String,
    }
}

impl Run for Status {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.status.is_empty() {
            return Err(Fault::invocation("Filter is required for ps.status"));
        }
        let found = all(ctx).into_iter().filter(|process| process.status() == self.status);
        let shown =
            found.map(|process| Map::from_iter([("pid", Value::from(process.pid())), ("name", process.name().into())]));
        Ok(Value::list(shown).into())
    }
}

record! {
    /// Lists the processes that are busiest.
    ///
    ///   salt '*' ps.top
    ///   salt '*' ps.top 5 10
    pub struct Top {
        /// How many.
        num_processes: i64 = 5,
        /// For how many seconds they are watched.
        interval: f64 = 3,
    }
}

impl Run for Top {
    fn run(self, ctx: &Ctx) -> Reply {
        let before = all(ctx);
        let time =
            Duration::try_from_secs_f64(self.interval).map_err(|_| Fault::invocation("there is no such interval"))?;
        ctx.host.sleep(time);
        let mut found: Vec<(f64, Process)> = before
            .iter()
            .filter_map(|old| Process::read(ctx, old.pid()).map(|now| (now.cpu() - old.cpu(), now)))
            .collect();
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let shown = found.into_iter().take(usize::try_from(self.num_processes).unwrap_or(0)).map(|(_, process)| {
            let cmd = Some(process.cmdline(ctx)).filter(|cmd| !cmd.is_empty());
            Map::from_iter([
                ("cmd", cmd.map_or_else(|| process.name().into(), Value::list)),
                ("user", process.user(ctx)),
                ("status", process.status().into()),
                ("pid", process.pid().into()),
                ("create_time", process.started(ctx).into()),
                ("cpu", process.cpu_times().into()),
                ("mem", process.memory(ctx).into()),
            ])
        });
        Ok(Value::list(shown).into())
    }
}

record! {
    /// Lists the files that processes have open whose names begin so, with lsof(8).
    ///
    ///   salt '*' ps.lsof apache2
    pub struct Lsof {
        /// The beginning of a name.
        name: String,
    }
}

impl Run for Lsof {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = Program::new(["lsof", "-c", &self.name]).mixed().query(ctx)?.stdout;
        Ok(Value::list([self.name, told]).into())
    }
}

/// The lines of a program in which a text stands.
fn lines(ctx: &Ctx, argv: &[&str], name: &str) -> Reply {
    let told = Program::new(argv.iter().copied()).mixed().query(ctx)?.stdout;
    let found: Vec<&str> = told.lines().filter(|line| line.contains(name)).collect();
    Ok(Value::List(vec![name.into(), found.into()]).into())
}

record! {
    /// Lists the sockets in whose line a text stands, with netstat(8).
    ///
    ///   salt '*' ps.netstat apache2
    pub struct Netstat {
        /// The text.
        name: String,
    }
}

impl Run for Netstat {
    fn run(self, ctx: &Ctx) -> Reply {
        lines(ctx, &["netstat", "-nap"], &self.name)
    }
}

record! {
    /// Lists the sockets in whose line a text stands, with ss(8).
    ///
    ///   salt '*' ps.ss apache2
    pub struct Ss {
        /// The text.
        name: String,
    }
}

impl Run for Ss {
    fn run(self, ctx: &Ctx) -> Reply {
        lines(ctx, &["ss", "-neap"], &self.name)
    }
}

record! {
    /// Lists the processes in whose line a pattern is found, as `ps aux` shows them.
    ///
    ///   salt '*' ps.psaux www-data.+apache2
    pub struct Psaux {
        /// The pattern.
        name: String,
    }
}

impl Run for Psaux {
    fn run(self, ctx: &Ctx) -> Reply {
        let wrong = |error: halite_lang::regex::RegexError| Fault::invocation(error.to_string());
        let regex = Regex::new(&self.name).map_err(wrong)?;
        let told = Program::new(["ps", "aux"]).query(ctx)?.stdout;
        let mut found = Vec::new();
        for line in told.lines() {
            let is_caller = line.find("salt").is_some_and(|at| line[at..].contains("ps.psaux"));
            if !is_caller && regex.search(line).map_err(wrong)?.is_some() {
                found.push(line);
            }
        }
        let count = format!("{} occurrence(s).", found.len());
        Ok(Value::List(vec![self.name.into(), found.into(), count.into()]).into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::Value;
    use halite_value::record::Arguments;

    fn stat(pid: u32, name: &str, state: char) -> String {
        format!("{pid} ({name}) {state} 1 2 3 0 -1 4 5 6 7 8 150 50 0 0 20 0 1 0 700 4096 1{}", " 0".repeat(28))
    }

    #[test]
    fn processes_are_found_by_name_and_killed() {
        let host = Fake::new()
            .file("/proc/7/stat", &stat(7, "a b) c", 'S'))
            .file("/proc/7/cmdline", "a\0--b\0")
            .file("/proc/7/status", "Uid:\t0\t0\t0\t0\n")
            .file("/proc/9/stat", &stat(9, "zed", 'Z'));
        let world = World::on(host);
        let run = |fun: &str, words: &[&str]| {
            call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().copied())).map(|told| told.value)
        };
        assert_eq!(run("ps.pgrep", &["b) c"]).unwrap(), Value::list([7]));
        assert_eq!(run("ps.pgrep", &["nosuch"]).unwrap(), Value::Null);
        assert_eq!(run("ps.status", &["zombie"]).unwrap().to_json(), r#"[{"pid": 9, "name": "zed"}]"#);
        assert_eq!(run("ps.pkill", &["zed"]).unwrap().to_json(), r#"{"killed": [9]}"#);
        assert_eq!(run("ps.kill_pid", &["7", "9"]).unwrap(), true.into());
        assert_eq!(world.host.killed(), [(9, 15), (7, 9)]);
        assert!(run("ps.pkill", &[""]).is_err());
        let info = run("ps.proc_info", &["7"]).unwrap();
        assert_eq!(
            (info.at("cmdline"), info.at("status")),
            (Some(&Value::list(["a", "--b"])), Some(&"sleeping".into()))
        );
        assert!(run("ps.proc_info", &["8"]).is_err());
    }

    #[test]
    fn memory_was_counted_in_pages_of_4096_bytes_where_they_have_65536() {
        let host = Fake::new()
            .memory_page(65536)
            .file("/proc/7/stat", &stat(7, "a", 'S'))
            .file("/proc/7/statm", "3 2 1 0 0 0 0\n")
            .file("/proc/vmstat", "pgpgin 1\npswpin 5\npswpout 7\n");
        let world = World::on(host);
        let run = |fun: &str, arguments| call(&world.ctx(&NoMaster), fun, arguments).map(|told| told.value).unwrap();
        let info = run("ps.proc_info", Arguments::positional([7]));
        let memory = info.at("memory_info").unwrap();
        assert_eq!((memory.at("vms"), memory.at("rss")), (Some(&(3 * 65536).into()), Some(&(2 * 65536).into())));
        let swap = run("ps.swap_memory", Arguments::default());
        assert_eq!((swap.at("sin"), swap.at("sout")), (Some(&(5 * 65536).into()), Some(&(7 * 65536).into())));
    }
}
