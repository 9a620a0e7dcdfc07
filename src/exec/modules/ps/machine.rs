//! Processors, memory, disks and networks of the machine.

use halite_core::host::FileKind;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_value::record;
use halite_value::{Map, Value};
use procfs_core::{CpuTime, DiskStat, ExplicitSystemInfo, FromBufRead, FromBufReadSI, KernelStats, VmStat};
use std::path::Path;
use std::time::Duration;

const TICKS: f64 = 100.0;
/// What the counts of disks are in, whatever sectors a disk has.
const SECTOR: u64 = 512;
const TIMES: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

fn proc(ctx: &Ctx, file: &str) -> String {
    text_file::read(ctx.host, &format!("/proc/{file}")).unwrap_or_default()
}

/// What /proc/stat says; nothing where it is not as it is known.
fn kernel(ctx: &Ctx) -> Option<KernelStats> {
    let info = ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second: TICKS as u64,
        page_size: ctx.host.page_size(),
        is_little_endian: cfg!(target_endian = "little"),
    };
    KernelStats::from_buf_read(proc(ctx, "stat").as_bytes(), &info).ok()
}

/// When the machine was started, in seconds since 1970.
pub(super) fn boot(ctx: &Ctx) -> i64 {
    kernel(ctx).and_then(|kernel| i64::try_from(kernel.btime).ok()).unwrap_or(0)
}

record! {
    /// Shows when the machine was started.
    ///
    ///   salt '*' ps.boot_time
    ///   salt '*' ps.boot_time '%Y-%m-%d'
    pub struct BootTime {
        /// Its form, as strftime(3) has it; seconds since 1970 if not given.
        time_format: Option<String> = (),
    }
}

impl Run for BootTime {
    fn run(self, ctx: &Ctx) -> Reply {
        let seconds = boot(ctx);
        let Some(format) = self.time_format.filter(|format| !format.is_empty()) else { return Ok(seconds.into()) };
        let time = jiff::Timestamp::from_second(seconds).map_err(|error| Fault::Internal(error.to_string()))?;
        let time = jiff::tz::TimeZone::system().to_datetime(time);
        let shown = jiff::fmt::strtime::format(&format, time);
        shown.map(Into::into).map_err(|error| Fault::invocation(format!("Invalid format string: {error}")))
    }
}

/// The times of all processors together, then of each: as many of [`TIMES`] as the kernel has.
fn times(ctx: &Ctx) -> Vec<Vec<f64>> {
    let Some(kernel) = kernel(ctx) else { return Vec::new() };
    let ticks = |cpu: &CpuTime| {
        let always = [cpu.user, cpu.nice, cpu.system, cpu.idle].map(Some);
        let newer = [cpu.iowait, cpu.irq, cpu.softirq, cpu.steal, cpu.guest, cpu.guest_nice];
        always.into_iter().chain(newer).map_while(|ticks| ticks).map(|ticks| ticks as f64).collect()
    };
    std::iter::once(&kernel.total).chain(&kernel.cpu_time).map(ticks).collect()
}

record! {
    /// Shows how long the processors have done what, in seconds.
    ///
    ///   salt '*' ps.cpu_times
    pub struct CpuTimes {
        /// For each processor.
        per_cpu: bool = false,
    }
}

impl Run for CpuTimes {
    fn run(self, ctx: &Ctx) -> Reply {
        let shown =
            |times: Vec<f64>| -> Map { TIMES.into_iter().zip(times.into_iter().map(|time| time / TICKS)).collect() };
        let mut all = times(ctx).into_iter().map(shown);
        let whole = all.next().unwrap_or_default();
        Ok(if self.per_cpu { Value::list(all) } else { whole.into() }.into())
    }
}

record! {
    /// Shows how busy the processors are, in percent.
    ///
    ///   salt '*' ps.cpu_percent
    pub struct CpuPercent {
        /// For how many seconds they are watched.
        interval: f64 = 0.1,
        /// For each processor.
        per_cpu: bool = false,
    }
}

impl Run for CpuPercent {
    fn run(self, ctx: &Ctx) -> Reply {
        let before = times(ctx);
        let time =
            Duration::try_from_secs_f64(self.interval).map_err(|_| Fault::invocation("there is no such interval"))?;
        ctx.host.sleep(time);
        let percent = |(old, new): (&Vec<f64>, Vec<f64>)| {
            // Guests are part of user's time already.
            let spent: Vec<f64> = old.iter().zip(new).take(8).map(|(old, new)| (new - old).max(0.0)).collect();
            let all: f64 = spent.iter().sum();
            let idle: f64 = spent.iter().skip(3).take(2).sum();
            if all > 0.0 { ((all - idle) / all * 1000.0).round() / 10.0 } else { 0.0 }
        };
        let mut all = before.iter().zip(times(ctx)).map(percent);
        let whole = all.next().unwrap_or(0.0);
        Ok(if self.per_cpu { Value::list(all) } else { whole.into() }.into())
    }
}

record! {
    /// Shows how many processors there are.
    ///
    ///   salt '*' ps.num_cpus
    pub struct NumCpus {}
}

impl Run for NumCpus {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(times(ctx).len().saturating_sub(1).into())
    }
}

/// A line of meminfo, in bytes.
fn of_memory(text: &str, name: &str) -> i64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<i64>().ok()).unwrap_or(0) * 1024
}

/// All and available memory, in bytes.
pub(super) fn memory(ctx: &Ctx) -> (i64, i64) {
    let text = proc(ctx, "meminfo");
    (of_memory(&text, "MemTotal"), of_memory(&text, "MemAvailable"))
}

fn percent(part: i64, whole: i64) -> f64 {
    if whole > 0 { (part as f64 / whole as f64 * 1000.0).round() / 10.0 } else { 0.0 }
}

record! {
    /// Shows how the memory is used, in bytes.
    ///
    ///   salt '*' ps.virtual_memory
    pub struct VirtualMemory {}
}

impl Run for VirtualMemory {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = proc(ctx, "meminfo");
        let of = |name: &str| of_memory(&text, name);
        let (total, available, free, buffers) = (of("MemTotal"), of("MemAvailable"), of("MemFree"), of("Buffers"));
        let cached = of("Cached") + of("SReclaimable");
        let used = total - free - cached - buffers;
        let used = if used < 0 { total - free } else { used };
        Ok(Map::from_iter([
            ("total", Value::from(total)),
            ("available", available.into()),
            ("percent", percent(total - available, total).into()),
            ("used", used.into()),
            ("free", free.into()),
            ("active", of("Active").into()),
            ("inactive", of("Inactive").into()),
            ("buffers", buffers.into()),
            ("cached", cached.into()),
            ("shared", of("Shmem").into()),
            ("slab", of("Slab").into()),
        ])
        .into())
    }
}

record! {
    /// Shows how the swap is used, in bytes.
    ///
    ///   salt '*' ps.swap_memory
    pub struct SwapMemory {}
}

impl Run for SwapMemory {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = proc(ctx, "meminfo");
        let (total, free) = (of_memory(&text, "SwapTotal"), of_memory(&text, "SwapFree"));
        let moved = VmStat::from_buf_read(proc(ctx, "vmstat").as_bytes()).map(|moved| moved.0).unwrap_or_default();
        let page = i64::try_from(ctx.host.page_size()).unwrap_or(0);
        let pages = |name: &str| moved.get(name).copied().unwrap_or(0).saturating_mul(page);
        Ok(Map::from_iter([
            ("total", Value::from(total)),
            ("used", (total - free).into()),
            ("free", free.into()),
            ("percent", percent(total - free, total).into()),
            ("sin", pages("pswpin").into()),
            ("sout", pages("pswpout").into()),
        ])
        .into())
    }
}

record! {
    /// Shows how many bytes of memory the machine has.
    ///
    ///   salt '*' ps.total_physical_memory
    pub struct TotalPhysicalMemory {}
}

impl Run for TotalPhysicalMemory {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(memory(ctx).0.into())
    }
}

/// What is mounted; without `all` what is on a disk.
fn partitions(ctx: &Ctx, all: bool) -> Vec<Map> {
    let kinds = proc(ctx, "filesystems");
    let on_disk: Vec<&str> = kinds
        .lines()
        .map(str::trim)
        .filter_map(|line| match line.strip_prefix("nodev") {
            Some(kind) => (kind.trim() == "zfs").then_some("zfs"),
            None => Some(line),
        })
        .collect();
    let mut found = Vec::new();
    for line in proc(ctx, "self/mounts").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [device, place, kind, opts, ..] = words.as_slice() else { continue };
        if all || (*device != "none" && on_disk.contains(kind)) {
            found.push(Map::from_iter([("device", *device), ("mountpoint", place), ("fstype", kind), ("opts", opts)]));
        }
    }
    found
}

record! {
    /// Lists what is mounted from disks, or all that is mounted.
    ///
    ///   salt '*' ps.disk_partitions
    pub struct DiskPartitions {
        /// All.
        all: bool = false,
    }
}

impl Run for DiskPartitions {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(partitions(ctx, self.all)).into())
    }
}

fn usage(ctx: &Ctx, path: &str) -> Result<Map, Fault> {
    let told = ctx.host.file_system(Path::new(path)).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
    let bytes = |blocks: u64| i64::try_from(blocks.saturating_mul(told.fragment_size.max(1))).unwrap_or(i64::MAX);
    let (total, free, available) = (bytes(told.blocks), bytes(told.blocks_free), bytes(told.blocks_available));
    let used = total - free;
    // What root alone may use counts as neither used nor free.
    let share = percent(used, used + available);
    Ok(Map::from_iter([
        ("total", Value::from(total)),
        ("used", used.into()),
        ("free", available.into()),
        ("percent", share.into()),
    ]))
}

record! {
    /// Shows how full the file system is that a path is on, in bytes.
    ///
    ///   salt '*' ps.disk_usage /home
    pub struct DiskUsage {
        /// The path.
        path: String,
    }
}

impl Run for DiskUsage {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(usage(ctx, &self.path)?.into())
    }
}

record! {
    /// Lists what is mounted, with how full it is.
    ///
    ///   salt '*' ps.disk_partition_usage
    pub struct DiskPartitionUsage {
        /// All, not only what is on disks.
        all: bool = false,
    }
}

impl Run for DiskPartitionUsage {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut found = partitions(ctx, self.all);
        for partition in &mut found {
            let place = partition.str_at("mountpoint").unwrap_or_default().to_owned();
            partition.extend(usage(ctx, &place)?);
        }
        Ok(Value::list(found).into())
    }
}

record! {
    /// Shows what has come and gone on the network interfaces, or on one.
    ///
    ///   salt '*' ps.network_io_counters
    ///   salt '*' ps.network_io_counters interface=eth0
    pub struct NetworkIoCounters {
        /// The interface.
        interface: Option<String> = (),
    }
}

impl Run for NetworkIoCounters {
    fn run(self, ctx: &Ctx) -> Reply {
        const FIELDS: [(&str, usize); 8] = [
            ("bytes_sent", 8),
            ("bytes_recv", 0),
            ("packets_sent", 9),
            ("packets_recv", 1),
            ("errin", 2),
            ("errout", 10),
            ("dropin", 3),
            ("dropout", 11),
        ];
        let wanted = self.interface.filter(|name| !name.is_empty());
        let mut sums = [0_i64; 16];
        let mut found = false;
        for (name, counts) in proc(ctx, "net/dev").lines().filter_map(|line| line.split_once(':')) {
            if wanted.as_deref().is_none_or(|wanted| wanted == name.trim()) {
                found = true;
                let counts = counts.split_whitespace().filter_map(|word| word.parse::<i64>().ok());
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        match found {
            true => Ok(FIELDS.into_iter().map(|(key, at)| (key, sums[at])).collect::<Map>().into()),
            false => Ok(false.into()),
        }
    }
}

record! {
    /// Shows what has been read and written on the disks, or on one.
    ///
    ///   salt '*' ps.disk_io_counters
    ///   salt '*' ps.disk_io_counters device=sda1
    pub struct DiskIoCounters {
        /// The device.
        device: Option<String> = (),
    }
}

impl Run for DiskIoCounters {
    fn run(self, ctx: &Ctx) -> Reply {
        type Field = fn(&DiskStat) -> u64;
        const FIELDS: [(&str, Field); 9] = [
            ("read_count", |disk| disk.reads),
            ("write_count", |disk| disk.writes),
            ("read_bytes", |disk| disk.sectors_read.saturating_mul(SECTOR)),
            ("write_bytes", |disk| disk.sectors_written.saturating_mul(SECTOR)),
            ("read_time", |disk| disk.time_reading),
            ("write_time", |disk| disk.time_writing),
            ("read_merged_count", |disk| disk.merged),
            ("write_merged_count", |disk| disk.writes_merged),
            ("busy_time", |disk| disk.time_in_progress),
        ];
        let wanted = self.device.filter(|name| !name.is_empty());
        let disks: Vec<DiskStat> =
            proc(ctx, "diskstats").lines().filter_map(|line| DiskStat::from_line(line).ok()).collect();
        let is_meant = |disk: &&DiskStat| match &wanted {
            Some(wanted) => *wanted == disk.name,
            // Partitions are part of their disks: /sys/block has the disks alone.
            None => {
                let block = Path::new("/sys/block").join(&disk.name);
                ctx.host.stat(&block).is_ok_and(|stat| stat.kind != FileKind::File)
            }
        };
        let meant: Vec<&DiskStat> = disks.iter().filter(is_meant).collect();
        if meant.is_empty() {
            return Ok(false.into());
        }
        let sum = |field: Field| {
            let sum = meant.iter().map(|disk| field(disk)).fold(0, u64::saturating_add);
            i64::try_from(sum).unwrap_or(i64::MAX)
        };
        Ok(FIELDS.into_iter().map(|(key, field)| (key, sum(field))).collect::<Map>().into())
    }
}

record! {
    /// Lists who is logged in.
    ///
    ///   salt '*' ps.get_users
    pub struct GetUsers {}
}

impl Run for GetUsers {
    fn run(self, ctx: &Ctx) -> Reply {
        // user  pts/0  2024-01-31 10:00 (host)
        let told = Program::new(["who"]).query(ctx)?;
        let line = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, terminal, date, time, rest @ ..] = words.as_slice() else { return None };
            let started = jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M", format!("{date} {time}")).ok();
            let started = started
                .and_then(|moment| jiff::tz::TimeZone::system().to_ambiguous_timestamp(moment).compatible().ok());
            Some(Map::from_iter([
                ("name", Value::from(*name)),
                ("terminal", (*terminal).into()),
                ("host", rest.first().map(|host| host.trim_matches(['(', ')'])).unwrap_or_default().into()),
                ("started", started.map(|moment| moment.as_second() as f64).into()),
            ]))
        };
        Ok(Value::list(told.stdout.lines().filter_map(line)).into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    /// As two kernels print it: one that knows no guests yet.
    const STAT: &str = "cpu  300 10 200 1000 50 1 2 0 0 0\ncpu0 100 10 100 500 25 1 1 0 0 0\ncpu1 200 0 100 500 25 0 1 0 0 0\n\
                        intr 5 1 2\nctxt 7\nbtime 1700000000\nprocesses 9\nprocs_running 1\nprocs_blocked 0\n\
                        softirq 3 1\n";
    const OLD: &str = "cpu  300 10 200 1000\nctxt 7\nbtime 1700000000\nprocesses 9\n";
    const DISKS: &str =
        "   8       0 sda 10 1 100 5 20 2 200 6 0 7 8 0 0 0 0\n   8       1 sda1 9 1 90 5 19 2 190 6 0 7 8\n";

    #[test]
    fn counts_of_processors_and_disks_have_their_names() {
        let run = |stat: &str, fun: &str, arguments| {
            let host = Fake::new().file("/proc/stat", stat).file("/proc/diskstats", DISKS).directory("/sys/block/sda");
            call(&World::on(host).ctx(&NoMaster), fun, arguments).map(|told| told.value.to_json()).unwrap()
        };
        let none = Arguments::default;
        assert_eq!(run(STAT, "ps.boot_time", none()), "1700000000");
        assert_eq!(run("", "ps.boot_time", none()), "0");
        assert_eq!(run(STAT, "ps.num_cpus", none()), "2");
        assert_eq!(
            run(STAT, "ps.cpu_times", none()),
            r#"{"user": 3.0, "nice": 0.1, "system": 2.0, "idle": 10.0, "iowait": 0.5, "irq": 0.01, "softirq": 0.02, "steal": 0.0, "guest": 0.0, "guest_nice": 0.0}"#
        );
        assert_eq!(run(OLD, "ps.cpu_times", none()), r#"{"user": 3.0, "nice": 0.1, "system": 2.0, "idle": 10.0}"#);
        assert_eq!(
            run(STAT, "ps.disk_io_counters", none()),
            r#"{"read_count": 10, "write_count": 20, "read_bytes": 51200, "write_bytes": 102400, "read_time": 5, "write_time": 6, "read_merged_count": 1, "write_merged_count": 2, "busy_time": 7}"#
        );
        assert!(run(STAT, "ps.disk_io_counters", Arguments::positional(["sda1"])).starts_with(r#"{"read_count": 9,"#));
        assert_eq!(run(STAT, "ps.disk_io_counters", Arguments::positional(["sdx"])), "false");
    }
}
