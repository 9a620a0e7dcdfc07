//! `status.*`: how the host is doing, as /proc shows it.

use halite_core::host::Protocol;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_lang::target::fnmatch::fnmatch;
use halite_lang::words;
use halite_value::record;
use halite_value::record::{Arguments, Rest};
use halite_value::{Map, Value};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

pub const MODULE: Module = Module {
    name: "status",
    doc: "How the host is doing.",
    functions: &[
        function::<AllStatus>("all_status"),
        function::<Cpuinfo>("cpuinfo"),
        function::<Cpustats>("cpustats"),
        function::<Custom>("custom"),
        function::<Diskstats>("diskstats"),
        function::<Diskusage>("diskusage"),
        function::<Loadavg>("loadavg"),
        function::<Master>("master"),
        function::<Meminfo>("meminfo"),
        function::<Netdev>("netdev"),
        function::<Netstats>("netstats"),
        function::<Nproc>("nproc"),
        function::<Pid>("pid"),
        function::<PingMaster>("ping_master"),
        function::<Procs>("procs"),
        function::<ProxyReconnect>("proxy_reconnect"),
        function::<Time>("time"),
        function::<Uptime>("uptime"),
        function::<Version>("version"),
        function::<Vmstats>("vmstats"),
        function::<W>("w"),
    ],
};

/// A number where a text is one.
fn number(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) if text.chars().all(|c| c.is_ascii_digit()) => whole.into(),
        (_, Ok(number)) => number.into(),
        _ => text.into(),
    }
}

fn proc(ctx: &Ctx, file: &str) -> Result<String, Fault> {
    text_file::read(ctx.host, &format!("/proc/{file}"))
}

record! {
    /// Tells whether the connection of a proxy minion was looked after: False, for there is no proxy minion in this version.
    ///
    ///   salt '*' status.proxy_reconnect rest_sample
    pub struct ProxyReconnect {
        /// The kind of the proxy.
        proxy_name: String,
        /// Taken, not used.
        opts: Value = (),
    }
}

impl Run for ProxyReconnect {
    fn run(self, _: &Ctx) -> Reply {
        Ok(false.into())
    }
}

record! {
    /// Shows how busy the host is and was.
    ///
    ///   salt '*' status.loadavg
    pub struct Loadavg {}
}

impl Run for Loadavg {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = proc(ctx, "loadavg")?;
        let numbers = text.split_whitespace().map(|word| word.parse::<f64>().unwrap_or(0.0));
        Ok(["1-min", "5-min", "15-min"].into_iter().zip(numbers).collect::<Map>().into())
    }
}

record! {
    /// Shows what the processors have done.
    ///
    ///   salt '*' status.cpustats
    pub struct Cpustats {}
}

impl Run for Cpustats {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for line in proc(ctx, "stat")?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, rest @ ..] = words.as_slice() else { continue };
            let at = |at: usize| rest.get(at).map_or(Value::Null, |word| number(word));
            let several = |key: &str| {
                let others = Value::list(rest.iter().skip(1).map(|word| number(word)));
                Value::from(Map::from_iter([("total", at(0)), (key, others)]))
            };
            let value = match *name {
                "cpu" => {
                    let keys = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
                    let mut shown: Map = keys.iter().enumerate().map(|(index, key)| (*key, at(index))).collect();
                    shown.sort_keys();
                    shown.into()
                }
                "intr" => several("irqs"),
                "softirq" => several("softirqs"),
                _ => at(0),
            };
            shown.insert(*name, value);
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows how the memory is used.
    ///
    ///   salt '*' status.meminfo
    pub struct Meminfo {}
}

impl Run for Meminfo {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for line in proc(ctx, "meminfo")?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, value, rest @ ..] = words.as_slice() else { continue };
            let mut entry = Map::from_iter([("value", *value)]);
            if let Some(unit) = rest.first() {
                entry.insert("unit", *unit);
            }
            shown.insert(name.replace(':', ""), entry);
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows what the last processor is.
    ///
    ///   salt '*' status.cpuinfo
    pub struct Cpuinfo {}
}

impl Run for Cpuinfo {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for (name, value) in proc(ctx, "cpuinfo")?.lines().filter_map(|line| line.split_once(':')) {
            let value = value.split(':').next().unwrap_or_default().trim();
            match name.trim() {
                "flags" => shown.insert("flags", Value::list(value.split_whitespace())),
                name => shown.insert(name, value),
            };
        }
        Ok(shown.into())
    }
}

const DISK: [&str; 14] = [
    "major",
    "minor",
    "device",
    "reads_issued",
    "reads_merged",
    "sectors_read",
    "ms_spent_reading",
    "writes_completed",
    "writes_merged",
    "sectors_written",
    "ms_spent_writing",
    "io_in_progress",
    "ms_spent_in_io",
    "weighted_ms_spent_in_io",
];

record! {
    /// Shows what the disks have done.
    ///
    ///   salt '*' status.diskstats
    pub struct Diskstats {}
}

impl Run for Diskstats {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for line in proc(ctx, "diskstats")?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(device) = words.get(2) {
                let entry: Map = DISK.iter().zip(&words).map(|(key, word)| (*key, number(word))).collect();
                shown.insert(*device, entry);
            }
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows how full file systems are, in bytes.
    ///
    ///   salt '*' status.diskusage
    ///   salt '*' status.diskusage / 'ext?'
    pub struct Diskusage {
        /// Places, or patterns for kinds of file systems; all without any.
        args: Rest,
    }
}

impl Run for Diskusage {
    fn run(self, ctx: &Ctx) -> Reply {
        let words: Vec<String> = self.args.0.iter().map(Value::to_text).collect();
        let (places, mut kinds): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.starts_with('/'));
        if self.args.0.is_empty() {
            kinds.push("*".to_owned());
        }
        let mut places: BTreeSet<String> = places.into_iter().collect();
        for line in proc(ctx, "mounts")?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [_, place, kind, ..] = words.as_slice()
                && kinds.iter().any(|pattern| fnmatch(kind, pattern))
            {
                places.insert(place.to_string());
            }
        }
        let mut shown = Map::new();
        for place in places.into_iter().filter(|place| paths::exists(ctx.host, place)) {
            let (available, total) = match ctx.host.file_system(Path::new(&place)) {
                Ok(told) => ((told.blocks_available * told.block_size).into(), (told.blocks * told.block_size).into()),
                Err(_) => (Value::Null, Value::Null),
            };
            shown.insert(place, Map::from_iter([("available", available), ("total", total)]));
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows what the virtual memory has done.
    ///
    ///   salt '*' status.vmstats
    pub struct Vmstats {}
}

impl Run for Vmstats {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = proc(ctx, "vmstat")?;
        Ok(text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, value)| (name, number(value.trim())))
            .collect::<Map>()
            .into())
    }
}

record! {
    /// Shows how many processors there are for this minion.
    ///
    ///   salt '*' status.nproc
    pub struct Nproc {}
}

impl Run for Nproc {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(number(Program::new(["nproc"]).query(ctx)?.stdout.trim()).into())
    }
}

record! {
    /// Shows what the network has done, by protocol.
    ///
    ///   salt '*' status.netstats
    pub struct Netstats {}
}

impl Run for Netstats {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = proc(ctx, "net/netstat")?;
        let mut shown = Map::new();
        let mut heads: Vec<&str> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.first() {
                Some(first) if heads.first() == Some(first) => {
                    let row = heads.iter().zip(&words).skip(1).map(|(head, word)| (*head, number(word)));
                    shown.insert(first.replace(':', ""), row.collect::<Map>());
                }
                Some(_) => heads = words,
                None => {}
            }
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows what the network interfaces have done.
    ///
    ///   salt '*' status.netdev
    pub struct Netdev {}
}

impl Run for Netdev {
    fn run(self, ctx: &Ctx) -> Reply {
        const KEYS: [&str; 16] = [
            "rx_bytes",
            "rx_packets",
            "rx_errs",
            "rx_drop",
            "rx_fifo",
            "rx_frame",
            "rx_compressed",
            "rx_multicast",
            "tx_bytes",
            "tx_packets",
            "tx_errs",
            "tx_drop",
            "tx_fifo",
            "tx_colls",
            "tx_carrier",
            "tx_compressed",
        ];
        let mut shown = Map::new();
        for (name, counts) in proc(ctx, "net/dev")?.lines().filter_map(|line| line.split_once(':')) {
            let name = name.trim();
            let mut entry = Map::from_iter([("iface", name)]);
            entry.extend(KEYS.iter().zip(counts.split_whitespace()).map(|(key, word)| (*key, number(word))).collect());
            shown.insert(name, entry);
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows who is logged in.
    ///
    ///   salt '*' status.w
    pub struct W {}
}

impl Run for W {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = Program::new(["w", "-fh"]).query(ctx)?;
        let line = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [user, tty, login, idle, jcpu, pcpu, what @ ..] = words.as_slice() else { return None };
            Some(Map::from_iter([
                ("idle", idle.to_string()),
                ("jcpu", jcpu.to_string()),
                ("login", login.to_string()),
                ("pcpu", pcpu.to_string()),
                ("tty", tty.to_string()),
                ("user", user.to_string()),
                ("what", what.join(" ")),
            ]))
        };
        Ok(Value::list(told.stdout.lines().filter_map(line)).into())
    }
}

record! {
    /// Shows for how long the host runs, and since when.
    ///
    ///   salt '*' status.uptime
    pub struct Uptime {}
}

impl Run for Uptime {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = proc(ctx, "uptime")?;
        let seconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        let seconds = seconds.ok_or_else(|| Fault::execution("File /proc/uptime was not found."))?.trunc() as i64;
        let now = ctx.host.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let since = now - seconds as f64;
        let start = jiff::Timestamp::from_microsecond((since * 1e6) as i64);
        let start = start.map_err(|error| Fault::Internal(error.to_string()))?;
        let rest = seconds % 86_400;
        let mut shown = Map::from_iter([
            ("seconds", Value::from(seconds)),
            ("since_iso", start.strftime("%Y-%m-%dT%H:%M:%S.%6f").to_string().into()),
            ("since_t", (since as i64).into()),
            ("days", (seconds / 86_400).into()),
            ("time", format!("{}:{}", rest / 3600, rest % 3600 / 60).into()),
        ]);
        if ctx.host.which("who").is_some() {
            let who = Program::new(["who", "-s"]).query(ctx)?.stdout;
            shown.insert("users", who.split('\n').count());
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows the version of the kernel.
    ///
    ///   salt '*' status.version
    pub struct Version {}
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(proc(ctx, "version")?.trim().into())
    }
}

record! {
    /// Shows the time.
    ///
    ///   salt '*' status.time
    ///   salt '*' status.time '%s'
    pub struct Time {
        /// Its form, as strftime(3) has it.
        format: String = "%A, %d. %B %Y %I:%M%p",
    }
}

impl Run for Time {
    fn run(self, ctx: &Ctx) -> Reply {
        let now = jiff::Timestamp::try_from(ctx.host.now()).map_err(|error| Fault::Internal(error.to_string()))?;
        let seconds = now.as_second().to_string();
        let now = jiff::tz::TimeZone::system().to_datetime(now);
        let format = self.format.replace("%s", &seconds);
        let shown = jiff::fmt::strtime::format(&format, now);
        shown.map(Into::into).map_err(|error| Fault::invocation(format!("Invalid format string: {error}")))
    }
}

/// The program and arguments that list processes.
fn ps(ctx: &Ctx) -> Result<String, Fault> {
    let line = ctx.grains.str_at("ps").filter(|line| !line.is_empty()).unwrap_or("ps -efHww");
    let argv = words::split(line).map_err(Fault::execution)?;
    Ok(Program::new(argv).query(ctx)?.stdout)
}

record! {
    /// Lists the processes, by number.
    ///
    ///   salt '*' status.procs
    pub struct Procs {}
}

impl Run for Procs {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = ps(ctx)?;
        let mut lines = told.lines();
        let heads: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
        let at = |names: &[&str]| names.iter().find_map(|name| heads.iter().position(|head| head == name)).unwrap_or(0);
        let (user, pid, command) = (at(&["USER", "UID"]), at(&["PID"]), at(&["COMMAND", "CMD"]));
        let mut shown = Map::new();
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let (Some(pid), Some(user), Some(command)) = (words.get(pid), words.get(user), words.get(command..)) {
                shown.insert(*pid, Map::from_iter([("user", user.to_string()), ("cmd", command.join(" "))]));
            }
        }
        Ok(shown.into())
    }
}

record! {
    /// Lists the numbers of the processes in whose line a text stands, one a line.
    ///
    ///   salt '*' status.pid sshd
    pub struct Pid {
        /// The text.
        sig: String,
    }
}

impl Run for Pid {
    fn run(self, ctx: &Ctx) -> Reply {
        let own = ctx.host.pid().to_string();
        let told = ps(ctx)?;
        let fits = |line: &&str| line.contains(&self.sig) && !line.contains("status.pid");
        let pids = told.lines().filter(fits).filter_map(|line| line.split_whitespace().nth(1));
        let pids: Vec<&str> = pids.filter(|pid| *pid != own).collect();
        Ok(pids.join("\n").into())
    }
}

record! {
    /// Shows what all other functions of this module show.
    ///
    ///   salt '*' status.all_status
    pub struct AllStatus {}
}

impl Run for AllStatus {
    fn run(self, ctx: &Ctx) -> Reply {
        let functions = [
            "cpuinfo",
            "cpustats",
            "diskstats",
            "diskusage",
            "loadavg",
            "meminfo",
            "netdev",
            "netstats",
            "uptime",
            "vmstats",
            "w",
        ];
        let mut shown = Map::new();
        for function in functions {
            shown.insert(function, ctx.run(&format!("status.{function}"), Arguments::default())?);
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows the values that the configuration names: `status.FUNCTION.custom: [KEYS]`.
    ///
    ///   salt '*' status.custom
    pub struct Custom {}
}

impl Run for Custom {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        let names = ctx.opts.iter().filter_map(|(key, keys)| Some((key.as_str()?, keys.as_list()?)));
        for (key, keys) in names {
            let Some(function) = key.strip_suffix(".custom").filter(|function| function.starts_with("status.")) else {
                continue;
            };
            let values = ctx.run(function, Arguments::default()).unwrap_or_default();
            for wanted in keys.iter().map(Value::to_text) {
                let value = values.at(&wanted).cloned().unwrap_or_else(|| "UNKNOWN".into());
                shown.insert(wanted, value);
            }
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows whether this host has a connection to its master.
    ///
    ///   salt '*' status.master
    pub struct Master {
        /// The master; without it the one of the configuration.
        master: Option<String> = (),
        /// Whether there should be one: if it is so, nothing is done.
        connected: bool = true,
    }
}

impl Run for Master {
    fn run(self, ctx: &Ctx) -> Reply {
        let name = self.master.filter(|master| !master.is_empty());
        let Some(name) = name.or_else(|| ctx.opts.str_at("master").map(str::to_owned)) else {
            return Ok(Value::Null.into());
        };
        let port = ctx.opt("master_port").and_then(Value::as_int).unwrap_or(4506);
        let masters: Vec<String> =
            ctx.host.resolve(&name).unwrap_or_default().iter().map(ToString::to_string).collect();
        if masters.is_empty() {
            return Ok(Value::Null.into());
        }
        let connections = ctx.run("network.active_tcp", Arguments::default())?;
        let is_one = |connection: &Value| {
            connection.at("remote_port").and_then(Value::as_int) == Some(port)
                && connection.at("remote_addr").is_some_and(|own| masters.contains(&own.to_text()))
        };
        Ok(connections.as_map().is_some_and(|all| all.values().any(is_one)).into())
    }
}

record! {
    /// Shows whether a master can be reached.
    ///
    ///   salt '*' status.ping_master localhost
    pub struct PingMaster {
        /// The master.
        master: String,
    }
}

impl Run for PingMaster {
    fn run(self, ctx: &Ctx) -> Reply {
        let port = ctx.opt("master_port").and_then(Value::as_int).and_then(|port| u16::try_from(port).ok());
        let time = Duration::from_secs(5);
        let reached = ctx
            .host
            .resolve(&self.master)
            .unwrap_or_default()
            .into_iter()
            .any(|ip| ctx.host.reach(SocketAddr::new(ip, port.unwrap_or(4506)), Protocol::Tcp, time).is_ok());
        Ok(reached.into())
    }
}
