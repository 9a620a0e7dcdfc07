//! `saltutil.*`: the minion itself: its jobs, and what it should read again.

mod beside;
mod cache;
mod synced;
mod update;

use halite_core::jobs::{Jobs, Running};
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::fnmatch::fnmatch;
use halite_node::grains;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

pub const MODULE: Module = Module {
    name: "saltutil",
    doc: "Look after the minion: see and end its jobs, have it read things again.",
    functions: &[
        function::<cache::ClearCache>("clear_cache"),
        function::<cache::ClearJobCache>("clear_job_cache"),
        function::<beside::Cmd>("cmd"),
        function::<beside::Cmd>("cmd_iter"),
        function::<cache::FindCachedJob>("find_cached_job"),
        function::<FindJob>("find_job"),
        function::<IsRunning>("is_running"),
        function::<KillAllJobs>("kill_all_jobs"),
        function::<KillJob>("kill_job"),
        function::<cache::ListExtmods>("list_extmods"),
        function::<beside::Mmodule>("mmodule"),
        function::<RefreshPillar>("pillar_refresh"),
        function::<RefreshBeacons>("refresh_beacons"),
        function::<RefreshGrains>("refresh_grains"),
        function::<RefreshMatchers>("refresh_matchers"),
        function::<RefreshModules>("refresh_modules"),
        function::<RefreshPillar>("refresh_pillar"),
        function::<RefreshResources>("refresh_resources"),
        function::<cache::RegenKeys>("regen_keys"),
        function::<RevokeAuth>("revoke_auth"),
        function::<beside::Runner>("runner"),
        function::<RunningJobs>("running"),
        function::<SignalAllJobs>("signal_all_jobs"),
        function::<SignalJob>("signal_job"),
        function::<synced::SyncAll>("sync_all"),
        function::<synced::Sync>("sync_beacons"),
        function::<synced::Sync>("sync_clouds"),
        function::<synced::Sync>("sync_engines"),
        function::<synced::Sync>("sync_executors"),
        function::<synced::Sync>("sync_grains"),
        function::<synced::Sync>("sync_log_handlers"),
        function::<synced::Sync>("sync_matchers"),
        function::<synced::Sync>("sync_modules"),
        function::<synced::Sync>("sync_output"),
        function::<synced::Sync>("sync_outputters"),
        function::<synced::Sync>("sync_pillar"),
        function::<synced::Sync>("sync_proxymodules"),
        function::<synced::Sync>("sync_renderers"),
        function::<synced::Sync>("sync_resources"),
        function::<synced::Sync>("sync_returners"),
        function::<synced::Sync>("sync_sdb"),
        function::<synced::Sync>("sync_serializers"),
        function::<synced::Sync>("sync_states"),
        function::<synced::Sync>("sync_thorium"),
        function::<synced::Sync>("sync_tops"),
        function::<synced::Sync>("sync_utils"),
        function::<synced::Sync>("sync_wrapper"),
        function::<TermAllJobs>("term_all_jobs"),
        function::<TermJob>("term_job"),
        function::<update::Update>("update"),
    ],
};

const SIGKILL: i64 = 9;
const SIGTERM: i64 = 15;

record! {
    /// Lists the jobs that this minion works on, but for the one that asks.
    ///
    ///   salt '*' saltutil.running
    pub struct RunningJobs {}
}

impl Run for RunningJobs {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(running(ctx)?.iter().map(shown)).into())
    }
}

record! {
    /// Lists the jobs that run a function.
    ///
    ///   salt '*' saltutil.is_running state.apply
    pub struct IsRunning {
        /// The function, or a pattern.
        fun: String,
    }
}

impl Run for IsRunning {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(running(ctx)?.iter().filter(|job| fnmatch(&job.fun, &self.fun)).map(shown)).into())
    }
}

record! {
    /// Shows a job if this minion works on it.
    ///
    ///   salt '*' saltutil.find_job 20261129205033700833
    pub struct FindJob {
        /// The job.
        jid: String,
    }
}

impl Run for FindJob {
    fn run(self, ctx: &Ctx) -> Reply {
        let jobs = running(ctx)?;
        Ok(jobs.iter().find(|job| job.jid.as_str() == self.jid).map_or_else(Map::new, shown).into())
    }
}

record! {
    /// Sends a signal to the processes of a job.
    ///
    ///   salt '*' saltutil.signal_job 20261129205033700833 15
    pub struct SignalJob {
        /// The job.
        jid: String,
        /// The signal's number.
        sig: i64,
    }
}

impl Run for SignalJob {
    fn run(self, ctx: &Ctx) -> Reply {
        signal_job(ctx, &self.jid, self.sig)
    }
}

record! {
    /// Asks a job to end (SIGTERM).
    ///
    ///   salt '*' saltutil.term_job 20261129205033700833
    pub struct TermJob {
        /// The job.
        jid: String,
    }
}

impl Run for TermJob {
    fn run(self, ctx: &Ctx) -> Reply {
        signal_job(ctx, &self.jid, SIGTERM)
    }
}

record! {
    /// Ends a job at once (SIGKILL).
    ///
    ///   salt '*' saltutil.kill_job 20261129205033700833
    pub struct KillJob {
        /// The job.
        jid: String,
    }
}

impl Run for KillJob {
    fn run(self, ctx: &Ctx) -> Reply {
        signal_job(ctx, &self.jid, SIGKILL)
    }
}

record! {
    /// Sends a signal to all jobs but the one that asks.
    ///
    ///   salt '*' saltutil.signal_all_jobs 15
    pub struct SignalAllJobs {
        /// The signal's number.
        sig: i64,
    }
}

impl Run for SignalAllJobs {
    fn run(self, ctx: &Ctx) -> Reply {
        signal_all(ctx, self.sig)
    }
}

record! {
    /// Asks all jobs but the one that asks to end (SIGTERM).
    ///
    ///   salt '*' saltutil.term_all_jobs
    pub struct TermAllJobs {}
}

impl Run for TermAllJobs {
    fn run(self, ctx: &Ctx) -> Reply {
        signal_all(ctx, SIGTERM)
    }
}

record! {
    /// Ends all jobs but the one that asks at once (SIGKILL).
    ///
    ///   salt '*' saltutil.kill_all_jobs
    pub struct KillAllJobs {}
}

impl Run for KillAllJobs {
    fn run(self, ctx: &Ctx) -> Reply {
        signal_all(ctx, SIGKILL)
    }
}

record! {
    /// Has the minion read its grains again, and its pillar, which may hang on them.
    ///
    ///   salt '*' saltutil.refresh_grains
    pub struct RefreshGrains {
        /// Whether the pillar is read again too.
        refresh_pillar: bool = true,
        /// Whether a cached pillar is thrown away.
        clean_pillar_cache: bool = false,
    }
}

impl Run for RefreshGrains {
    fn run(self, ctx: &Ctx) -> Reply {
        // Whoever asks is told True even where nobody heard, as Salt has it.
        grains::forget(ctx.host, ctx.opts);
        told(ctx, "grains_refresh", Map::new());
        if self.refresh_pillar {
            told(ctx, "pillar_refresh", Map::from_iter([("clean_cache", self.clean_pillar_cache)]));
        }
        Ok(true.into())
    }
}

record! {
    /// Has the minion fetch its pillar again.
    ///
    ///   salt '*' saltutil.refresh_pillar
    ///   salt '*' saltutil.pillar_refresh
    pub struct RefreshPillar {
        /// Whether to wait until it is there.
        wait: bool = false,
        /// How many seconds to wait.
        timeout: i64 = 30,
        /// Whether a cached pillar is thrown away.
        clean_cache: bool = true,
    }
}

impl Run for RefreshPillar {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut data = Map::from_iter([("clean_cache", self.clean_cache)]);
        if self.wait {
            data.insert("wait", self.timeout);
        }
        Ok(told(ctx, "pillar_refresh", data).into())
    }
}

record! {
    /// Has the minion load its modules again.
    ///
    ///   salt '*' saltutil.refresh_modules
    pub struct RefreshModules {
        /// `async`: taken, not used.
        kwargs: Keywords,
    }
}

impl Run for RefreshModules {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(told(ctx, "module_refresh", Map::new()).into())
    }
}

record! {
    /// Has the minion read its beacons again.
    ///
    ///   salt '*' saltutil.refresh_beacons
    pub struct RefreshBeacons {}
}

impl Run for RefreshBeacons {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(told(ctx, "beacons_refresh", Map::new()).into())
    }
}

record! {
    /// Has the minion load its matchers again.
    ///
    ///   salt '*' saltutil.refresh_matchers
    pub struct RefreshMatchers {}
}

impl Run for RefreshMatchers {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(told(ctx, "matchers_refresh", Map::new()).into())
    }
}

record! {
    /// Has the minion ask for its resources again, of which this version has none.
    ///
    ///   salt '*' saltutil.refresh_resources
    pub struct RefreshResources {}
}

impl Run for RefreshResources {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(told(ctx, "resource_refresh", Map::new()).into())
    }
}

record! {
    /// Has the minion ask the master to forget its key.
    ///
    ///   salt '*' saltutil.revoke_auth
    pub struct RevokeAuth {
        /// Whether the master keeps what it has cached of the minion.
        preserve_minion_cache: bool = false,
    }
}

impl Run for RevokeAuth {
    fn run(self, ctx: &Ctx) -> Reply {
        let data = Map::from_iter([("preserve_minion_cache", self.preserve_minion_cache)]);
        Ok(told(ctx, "revoke_auth", data).into())
    }
}

/// Tells the daemon of this minion; false where none runs.
fn told(ctx: &Ctx, tag: &str, data: Map) -> bool {
    match ctx.master.tell_minion(tag, data) {
        Ok(()) => true,
        Err(fault) => {
            log::error!("{tag}: {fault}");
            false
        }
    }
}

fn running(ctx: &Ctx) -> Result<Vec<Running>, Fault> {
    let cachedir = ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion");
    let jobs = Jobs::new(Path::new(cachedir)).running();
    let mut jobs = jobs.map_err(|error| Fault::execution(format!("the jobs in {cachedir} cannot be read: {error}")))?;
    jobs.retain(|job| job.jid.as_str() != ctx.call.jid);
    Ok(jobs)
}

fn shown(job: &Running) -> Map {
    let mut map = job.shown();
    // The job is for the minion itself, not for a resource behind it, of which Halite has none.
    map.insert("minion_is_target", true);
    map.insert("pure_resource_target", false);
    map.insert("resource_targets", Value::List(Vec::new()));
    map
}

const STOP: i32 = 19;
const CONTINUE: i32 = 18;

fn signal_all(ctx: &Ctx, signal: i64) -> Reply {
    let told =
        running(ctx)?.iter().map(|job| signal_processes(ctx, job, signal)).collect::<Result<Vec<String>, Fault>>()?;
    Ok(Value::list(told).into())
}

fn signal_job(ctx: &Ctx, jid: &str, signal: i64) -> Reply {
    match running(ctx)?.iter().find(|job| job.jid.as_str() == jid) {
        Some(job) => Ok(signal_processes(ctx, job, signal)?.into()),
        None => Ok("".into()),
    }
}

/// Signals what the job has started first, so that nothing of it is adopted and lives on. The job's own process is
/// stopped meanwhile: it must not make a result of how its commands end.
fn signal_processes(ctx: &Ctx, job: &Running, signal: i64) -> Result<String, Fault> {
    let number = i32::try_from(signal).ok().filter(|number| (0..=64).contains(number));
    let number = number.ok_or_else(|| Fault::invocation(format!("{signal} is not a signal")))?;
    let (jid, pid) = (&job.jid, job.pid);
    if parent_of(ctx, ctx.host.pid()) == Some(pid) {
        return Ok(format!("Job {jid} runs inside the minion, which is not signalled; such jobs end by themselves"));
    }
    let Some(own) = i32::try_from(pid).ok().filter(|pid| *pid > 1) else {
        return Ok(format!("Job {jid} has no process of its own yet; it was not signalled"));
    };
    let _ = ctx.host.kill(own, STOP);
    let parents: Vec<(u32, u32)> = processes(ctx).filter_map(|pid| Some((pid, parent_of(ctx, pid)?))).collect();
    for target in descendants(pid, &parents).into_iter().filter_map(|process| i32::try_from(process).ok()) {
        let _ = ctx.host.kill(target, number);
    }
    let signalled = ctx.host.kill(own, number);
    let _ = ctx.host.kill(own, CONTINUE);
    if let Err(error) = signalled {
        return Ok(format!("Job {jid} was not signalled at pid {pid}: {error}"));
    }
    Ok(format!("Signal {signal} sent to job {jid} at pid {pid}"))
}

fn processes(ctx: &Ctx) -> impl Iterator<Item = u32> {
    ctx.host.list(Path::new("/proc")).unwrap_or_default().into_iter().filter_map(|name| name.parse().ok())
}

/// The fourth field of `/proc/PID/stat`; the second is a name in parentheses, which may hold anything.
fn parent_of(ctx: &Ctx, pid: u32) -> Option<u32> {
    let stat = ctx.host.read(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// All processes below one, the lowest first.
fn descendants(top: u32, parents: &[(u32, u32)]) -> Vec<u32> {
    let mut found = vec![top];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = parents.iter().filter(|(pid, of)| *of == parent && !found.contains(pid)).map(|(pid, _)| *pid);
        let children: Vec<u32> = children.collect();
        found.extend(children);
        at += 1;
    }
    found.remove(0);
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::Jid;
    use halite_core::context::{Call, NoMaster};
    use halite_core::host::fake::{Directory, Fake};
    use halite_core::module::call;
    use halite_value::record::Arguments;

    const JID: &str = "20261129205033700833";
    const OWN: &str = "20261129205033700834";

    fn job(jid: &str, pid: u32) -> Running {
        Running {
            jid: Jid::parse(jid).unwrap(),
            fun: "test.sleep".to_owned(),
            fun_args: vec![Value::from(30)],
            tgt: Value::from("*"),
            tgt_type: "glob".to_owned(),
            ret: String::new(),
            user: "root".to_owned(),
            pid,
            boot: String::new(),
        }
    }

    fn world(directory: &Directory, host: Fake) -> World {
        World {
            opts: Map::from_iter([("cachedir", directory.path().to_str().unwrap())]),
            call: Call { jid: OWN.to_owned(), ..Call::default() },
            ..World::on(host)
        }
    }

    #[test]
    fn a_minion_shows_the_jobs_it_works_on_but_not_the_one_that_asks() {
        let directory = Directory::new();
        let world = world(&directory, Fake::new());
        let value = |fun: &str, arguments: Arguments| call(&world.ctx(&NoMaster), fun, arguments).unwrap().value;
        assert_eq!(value("saltutil.running", Arguments::default()), Value::List(Vec::new()));
        let jobs = Jobs::new(directory.path());
        let _locks = [jobs.take(&job(JID, 70)).unwrap(), jobs.take(&job(OWN, 71)).unwrap()];
        let running = value("saltutil.running", Arguments::default());
        assert_eq!(running.as_list().unwrap().len(), 1);
        let found = value("saltutil.find_job", Arguments::positional([JID]));
        assert_eq!((found.at("fun"), found.at("pid")), (Some(&"test.sleep".into()), Some(&70.into())));
        assert_eq!(value("saltutil.find_job", Arguments::positional(["2020"])), Map::new().into());
        assert_eq!(value("saltutil.is_running", Arguments::positional(["test.*"])), running);
        assert_eq!(value("saltutil.is_running", Arguments::positional(["cmd.*"])), Value::List(Vec::new()));
    }

    #[test]
    fn a_signal_reaches_what_the_job_has_started_before_the_job() {
        let directory = Directory::new();
        let host = Fake::new()
            .file("/proc/70/stat", "70 (halite) S 1 70 70 0")
            .file("/proc/71/stat", "71 (sh (odd) x) S 70 71")
            .file("/proc/72/stat", "72 (sleep) S 71 71")
            .file("/proc/80/stat", "80 (other) S 1 80");
        let world = world(&directory, host);
        let _lock = Jobs::new(directory.path()).take(&job(JID, 70)).unwrap();
        let ctx = world.ctx(&NoMaster);
        let told = call(&ctx, "saltutil.kill_job", Arguments::positional([JID])).unwrap().value;
        assert_eq!(told, format!("Signal 9 sent to job {JID} at pid 70").into());
        assert_eq!(world.host.killed(), [(70, STOP), (72, 9), (71, 9), (70, 9), (70, CONTINUE)]);
        let told = call(&ctx, "saltutil.term_all_jobs", Arguments::default()).unwrap().value;
        assert_eq!(told, Value::list([format!("Signal 15 sent to job {JID} at pid 70")]));
        assert_eq!(call(&ctx, "saltutil.kill_job", Arguments::positional(["2020"])).unwrap().value, "".into());
        assert!(call(&ctx, "saltutil.signal_job", Arguments::positional([JID, "99"])).is_err());
    }

    #[test]
    fn the_minion_itself_is_never_signalled() {
        let directory = Directory::new();
        let host = Fake::new().file(&format!("/proc/{}/stat", std::process::id()), "1 (worker) S 4711 1");
        let world = world(&directory, host);
        let _lock = Jobs::new(directory.path()).take(&job(JID, 4711)).unwrap();
        let told = call(&world.ctx(&NoMaster), "saltutil.kill_job", Arguments::positional([JID])).unwrap().value;
        assert!(told.to_text().contains("inside the minion"));
        assert_eq!(world.host.killed(), []);
    }
}
