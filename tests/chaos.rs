//! Something is killed or cut at a moment of a job's way, and every promise is checked against what the clients were
//! told, what the database holds and what the jobs themselves wrote to a file.
//!
//! A seed is a scenario: what is struck, and when. Five run in the suite; `HALITE_CHAOS_SEEDS=300` runs that many,
//! `HALITE_CHAOS_FIRST=17` begins with that one.

use crate::boot::Boot;
use crate::firewall::Firewall;
use crate::fleet::{Fleet, free_port, wait_for};
use crate::proxy::Proxy;
use halite_roles::client::Client;
use halite_roles::client::gather::{FIRST_MS, Gather, Gathered};
use halite_roles::master::database::Archive;
use halite_value::Value;
use halite_wire::message::{EndState, LocalAnswer, LocalAsk, Outcome, Publish};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const IDS: [&str; 2] = ["m1", "m2"];
/// The one that is struck.
const VICTIM: &str = "m1";
/// Every target has its end after this long: a job that was not taken is lost after 120 s.
const BOUND: Duration = Duration::from_secs(140);
/// A minion behind a silent connection is shown as away within 5 s when a job waits for it; the rest is for a busy
/// machine.
const SILENCE: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, Debug)]
enum Blow {
    Master,
    Minion,
    /// The connection is closed.
    Cut,
    Worker,
    /// The whole host of the minion: what was not synced is gone, and it boots anew.
    Host,
    /// The connection stays open and carries nothing.
    Silence,
    Client,
}

const BLOWS: [Blow; 7] = [Blow::Master, Blow::Minion, Blow::Cut, Blow::Worker, Blow::Host, Blow::Silence, Blow::Client];

#[test]
fn seeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (number("HALITE_CHAOS_FIRST").unwrap_or(0), number("HALITE_CHAOS_SEEDS").unwrap_or(5));
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..count.min(3) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let result = catch_unwind(AssertUnwindSafe(|| scenario(seed)));
                    let result = result.unwrap_or_else(|panic| Err(text_of(&*panic)));
                    match &result {
                        Ok(line) => println!("seed {seed}: {line}"),
                        Err(why) => println!("seed {seed}: {:?}: FAILED: {why}", BLOWS[(seed % 7) as usize]),
                    }
                    if result.is_err() {
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "these seeds failed: {failed:?}");
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic").to_owned()
}

/// One seed: what was done, or which promise was broken.
fn scenario(seed: u64) -> Result<String, String> {
    let begin = Instant::now();
    let blow = BLOWS[(seed % 7) as usize];
    // Evenly spread over the way, whatever number of seeds is run.
    let fraction = ((seed / 7) as f64 * 0.618_034 + (seed % 7) as f64 * 0.37 + 0.05).fract();
    let mut field = Field::start();
    let calm = Instant::now();
    field.client("*", Work::Write).join().unwrap().check_complete(IDS.len())?;
    let way = calm.elapsed();

    let mut clients = vec![
        field.client("*", Work::Write),
        field.client("*", Work::Ping),
        field.client(VICTIM, Work::Write),
        field.client("m2", Work::Write),
    ];
    let mut salt = field.salt();
    thread::sleep(way.mul_f64(fraction));
    field.strike(blow, &mut salt, &mut clients)?;
    clients.push(field.client("*", Work::Ping));
    clients.extend(field.wait_calm()?);

    let deadline = Instant::now() + BOUND;
    while let Err(why) = field.all_ended() {
        if Instant::now() > deadline {
            return Err(format!("no end in time: {why}"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    let mut told: Vec<Told> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    told.push(field.told_by_salt(salt));
    field.spools_are_empty()?;
    field.check_acknowledged()?;
    field.check_lines()?;
    field.check_boot()?;
    for told in &told {
        field.check_told(told)?;
    }
    Ok(format!(
        "{blow:?} at {:.0} % of {} ms: {} jobs, {} returns, ok in {:.1} s",
        fraction * 100.0,
        way.as_millis(),
        field.archive().jobs().unwrap().len(),
        field.returns().len(),
        begin.elapsed().as_secs_f64()
    ))
}

/// What a job does.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// Appends its token and the minion's id to the common file.
    Write,
    Ping,
}

/// A master, and two minions behind proxies.
struct Field {
    /// Where a network of its own is to be had: else the proxies keep silent.
    firewall: Option<Firewall>,
    fleet: Fleet,
    proxies: Vec<Proxy>,
    next: AtomicU64,
    /// The boot in which the victim's host has crashed.
    crashed: Option<String>,
}

impl Field {
    fn start() -> Field {
        let firewall = Firewall::enter();
        let mut fleet = Fleet::prepare(&IDS, "auto_accept: True\n", "");
        let mut proxies = Vec::new();
        for id in IDS {
            let proxy = Proxy::start(free_port(), fleet.ret_port);
            fleet.configure_minion(id, proxy.port, "");
            fleet.set_variable(id, "CHAOS_ID", id);
            proxies.push(proxy);
        }
        fleet.start_master();
        IDS.iter().for_each(|id| fleet.start_minion(id));
        fleet.wait_connected(&IDS);
        Field { firewall, fleet, proxies, next: AtomicU64::new(0), crashed: None }
    }

    fn file(&self) -> PathBuf {
        self.fleet.path("ran")
    }

    fn command(&self) -> (String, String) {
        let token = format!("token{}", self.next.fetch_add(1, Ordering::Relaxed));
        let command = format!("echo {token} $CHAOS_ID | tee -a {}; sleep 0.2", self.file().display());
        (token, command)
    }

    /// A client that starts a job and waits for it, on a thread.
    fn client(&self, target: &str, work: Work) -> JoinHandle<Told> {
        let (fun, arg) = match work {
            Work::Write => ("cmd.run", vec![Value::from(self.command().1)]),
            Work::Ping => ("test.ping", Vec::new()),
        };
        let publish = Publish {
            fun: fun.into(),
            arg,
            tgt: target.into(),
            tgt_type: "glob".to_owned(),
            wait_ms: FIRST_MS,
            ..Publish::default()
        };
        let directory = self.fleet.path("run");
        thread::spawn(move || smol::block_on(run_client(&directory, publish)))
    }

    /// The same as a program.
    fn salt(&self) -> (String, Option<Child>) {
        let (token, command) = self.command();
        let mut salt = self.fleet.command("salt");
        salt.args(["*", "cmd.run", &command, "--out=txt"]).stdout(Stdio::piped()).stderr(Stdio::null());
        (token, Some(salt.spawn().unwrap()))
    }

    fn strike(
        &mut self,
        blow: Blow,
        salt: &mut (String, Option<Child>),
        clients: &mut Vec<JoinHandle<Told>>,
    ) -> Result<(), String> {
        match blow {
            Blow::Master => {
                self.fleet.kill("master");
                self.check_acknowledged()?;
                self.fleet.start_master();
            }
            Blow::Minion => {
                self.fleet.kill(VICTIM);
                self.fleet.start_minion(VICTIM);
            }
            Blow::Cut => self.proxies[0].cut(),
            Blow::Worker => {
                if let Some(worker) = self.fleet.workers(VICTIM).first() {
                    crate::fleet::signal(*worker, rustix::process::Signal::KILL);
                }
            }
            Blow::Host => {
                let Some(boot) = Boot::another(&self.fleet.path(VICTIM)) else {
                    return Ok(());
                };
                self.crashed = self.boot();
                self.fleet.kill(VICTIM);
                self.fleet.end_workers_of(VICTIM);
                for directory in ["proc", "spool"] {
                    let _ = fs::remove_dir_all(self.fleet.path(VICTIM).join("cache").join(directory));
                }
                self.fleet.set_boot(VICTIM, boot);
                self.fleet.start_minion(VICTIM);
            }
            Blow::Silence => {
                match &self.firewall {
                    Some(firewall) => firewall.block(self.proxies[0].port),
                    None => self.proxies[0].fall_silent(),
                }
                let start = Instant::now();
                clients.push(self.client(VICTIM, Work::Write));
                self.fleet.wait_gone(VICTIM);
                let noticed = start.elapsed();
                match &self.firewall {
                    Some(firewall) => firewall.heal(),
                    None => self.proxies[0].heal(),
                }
                if noticed > SILENCE {
                    return Err(format!("a silent minion was shown as away after {noticed:?} only"));
                }
            }
            Blow::Client => {
                if let Some(mut child) = salt.1.take() {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
        }
        Ok(())
    }

    /// Starts jobs until one returns from everybody: that a connection is gone may be known a moment after it is.
    fn wait_calm(&self) -> Result<Vec<JoinHandle<Told>>, String> {
        let (mut clients, deadline) = (Vec::new(), Instant::now() + Duration::from_secs(20));
        loop {
            self.fleet.wait_connected(&IDS);
            let told = self.client("*", Work::Write).join().unwrap();
            let complete = told.check_complete(IDS.len());
            clients.push(thread::spawn(move || told));
            match complete {
                Ok(()) => return Ok(clients),
                Err(why) if Instant::now() > deadline => return Err(why),
                Err(_) => {}
            }
        }
    }

    fn archive(&self) -> Archive {
        self.fleet.archive()
    }

    /// The boot that the master was told of last by the victim.
    fn boot(&self) -> Option<String> {
        let minions = self.archive().minions().unwrap();
        minions.into_iter().find(|(id, ..)| id == VICTIM).and_then(|(_, boot, _)| boot)
    }

    /// After a crash of its host the minion has told the master of another boot.
    fn check_boot(&self) -> Result<(), String> {
        match &self.crashed {
            Some(crashed) if self.boot().as_ref() == Some(crashed) => {
                Err(format!("{VICTIM} is still in boot {crashed}"))
            }
            _ => Ok(()),
        }
    }

    /// What is in the database: by jid and id the value that was returned.
    fn returns(&self) -> BTreeMap<(String, String), Value> {
        let archive = self.archive();
        let mut found = BTreeMap::new();
        for job in archive.jobs().unwrap() {
            for (id, full) in archive.returns(&job.jid).unwrap() {
                found.insert((job.jid.clone(), id), full.at("return").cloned().unwrap_or_default());
            }
        }
        found
    }

    /// Every target of every job has a return or a state.
    fn all_ended(&self) -> Result<(), String> {
        let (archive, returns) = (self.archive(), self.returns());
        for job in archive.jobs().unwrap() {
            let ends = archive.ends(&job.jid).unwrap();
            for id in job.load.at("Minions").and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text) {
                let ended = ends.iter().any(|(other, _)| *other == id);
                if !ended && !returns.contains_key(&(job.jid.clone(), id.clone())) {
                    let states = self.fleet.ask(&LocalAsk::States { jid: job.jid.clone() });
                    return Err(format!("{} for {id}: {states:?}", job.jid));
                }
            }
        }
        Ok(())
    }

    fn spools_are_empty(&self) -> Result<(), String> {
        for id in IDS {
            let spool = self.fleet.path(id).join("cache/spool");
            wait_for(&format!("the spool of {id} to be empty"), || names(&spool).is_empty().then_some(()));
        }
        Ok(())
    }

    /// A result that its minion does not keep any more was acknowledged: then it is in the database.
    fn check_acknowledged(&self) -> Result<(), String> {
        let mut acknowledged = Vec::new();
        for id in IDS {
            let cache = self.fleet.path(id).join("cache");
            for jid in names(&cache.join("proc")) {
                let finished = fs::metadata(cache.join("proc").join(&jid)).is_ok_and(|data| data.len() == 0);
                if finished && !cache.join("spool").join(&jid).exists() {
                    acknowledged.push((jid, id.to_owned()));
                }
            }
        }
        let returns = self.returns();
        match acknowledged.iter().find(|key| !returns.contains_key(key)) {
            Some((jid, id)) => Err(format!("{id} was told that its return for {jid} is kept, and it is not")),
            None => Ok(()),
        }
    }

    /// Nothing ran twice, and what returned its line wrote it.
    fn check_lines(&self) -> Result<(), String> {
        let text = fs::read_to_string(self.file()).unwrap();
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            if !seen.insert(line) {
                return Err(format!("'{line}' ran twice"));
            }
        }
        let returned: Vec<String> = self.returns().values().map(Value::to_text).collect();
        match returned.iter().find(|text| text.starts_with("token") && !seen.contains(text.as_str())) {
            Some(line) => Err(format!("'{line}' was returned and did not run")),
            None => Ok(()),
        }
    }

    /// What a client was told is what the database says.
    fn check_told(&self, told: &Told) -> Result<(), String> {
        let Some(jid) = &told.jid else {
            return Ok(());
        };
        let archive = self.archive();
        if archive.job(jid).unwrap().is_none() {
            return Err(format!("a client was told of job {jid}, and it is not kept"));
        }
        let (returns, ends) = (self.returns(), archive.ends(jid).unwrap());
        for outcome in &told.outcomes {
            let kept = returns.get(&(jid.clone(), outcome.id.clone()));
            let end = ends.iter().find(|(id, _)| *id == outcome.id).map(|(_, state)| state.as_str());
            let agrees = match outcome.state {
                EndState::Returned | EndState::Killed => kept == outcome.ret.as_ref().map(|ret| &ret.value),
                EndState::Absent => kept.is_none() && end == Some("absent"),
                EndState::Lost => kept.is_some() || end == Some("lost"),
                EndState::Cancelled => kept.is_none() && end == Some("cancelled"),
            };
            if !agrees {
                return Err(format!("a client was told {outcome:?} of job {jid}; kept are {kept:?} and {end:?}"));
            }
        }
        Ok(())
    }

    /// What the program `salt` has shown.
    fn told_by_salt(&self, (token, child): (String, Option<Child>)) -> Told {
        let mut told = Told::default();
        let Some(child) = child else {
            return told;
        };
        let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let jobs = self.archive().jobs().unwrap();
        let mentions = |load: &Value| load.to_json().contains(&format!("echo {token} "));
        told.jid = jobs.into_iter().find(|job| mentions(&Value::Map(job.load.clone()))).map(|job| job.jid);
        for (id, value) in out.lines().filter_map(|line| line.split_once(": ")) {
            if value.starts_with("token") {
                let ret = halite_wire::message::Return { value: value.into(), ..Default::default() };
                told.outcomes.push(Outcome { id: id.to_owned(), state: EndState::Returned, ret: Some(ret) });
            }
        }
        told
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// What a client was told of its job.
#[derive(Debug, Default)]
struct Told {
    jid: Option<String>,
    outcomes: Vec<Outcome>,
    error: Option<String>,
}

impl Told {
    fn check_complete(&self, targets: usize) -> Result<(), String> {
        let good = |outcome: &&Outcome| outcome.ret.as_ref().is_some_and(|ret| ret.success);
        match self.outcomes.iter().filter(good).count() == targets {
            true => Ok(()),
            false => Err(format!("in calm, a job did not return from everybody: {self:?}")),
        }
    }
}

async fn run_client(directory: &Path, publish: Publish) -> Told {
    let mut told = Told::default();
    let told_so = async {
        let client = Client::connect(directory).await.map_err(|error| error.to_string())?;
        let answer = client.ask(&LocalAsk::Publish(Box::new(publish))).await.map_err(|error| error.to_string())?;
        let LocalAnswer::Published { jid, minions, absent, steps } = answer else {
            return Err(format!("{answer:?}"));
        };
        told.jid = Some(jid.clone());
        let mut gather = Gather::new(&client, &jid, &minions, &absent, *steps, Duration::from_secs(5));
        loop {
            match gather.next().await.map_err(|error| error.to_string())? {
                Gathered::Outcome(outcome) => told.outcomes.push(*outcome),
                Gathered::Started(_) | Gathered::Silent(_) => {}
                Gathered::All => return Ok(()),
            }
        }
    };
    let result: Result<(), String> = told_so.await;
    told.error = result.err();
    told
}
