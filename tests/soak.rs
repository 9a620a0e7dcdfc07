//! Daemons that live long: no memory, no handle and no thread is lost on the way.
//!
//! In the suite for some seconds; `make soak MINUTES=n` takes longer. What is compared is the state after a first round
//! and after the last one: everything that a round needs is there after the first.

use crate::fleet::{Fleet, free_port, wait_for};
use crate::proxy::Proxy;
use std::fs;
use std::time::{Duration, Instant};

/// How long the rounds go on.
fn span() -> Duration {
    let minutes = std::env::var("HALITE_SOAK_MINUTES").ok().and_then(|minutes| minutes.parse::<u64>().ok());
    minutes.map_or(Duration::from_secs(6), |minutes| Duration::from_secs(60 * minutes))
}

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    memory_kib: u64,
    handles: usize,
    threads: usize,
}

fn held(pid: u32) -> Held {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let kib = |name: &str| -> u64 {
        let line = rollup.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    Held {
        // The kernel may make a page of 2 MiB of a stack of which a little is used, at any moment: that is its memory.
        memory_kib: kib("Private_Dirty:").saturating_sub(kib("AnonHugePages:")),
        handles: fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count(),
        threads: fs::read_dir(format!("/proc/{pid}/task")).unwrap().count(),
    }
}

/// Threads of a pool come and go, an allocator keeps a little, the database fills its cache of pages (2 MiB) and finished
/// jobs stay for some seconds: what grows with the rounds of a long run is far above this.
fn assert_flat(what: &str, first: Held, last: Held, rounds: usize) {
    println!("{what}: {first:?}, after {rounds} rounds {last:?}");
    assert!(last.handles <= first.handles + 4, "{what} keeps handles: {first:?}, after {rounds} rounds {last:?}");
    assert!(last.threads <= first.threads + 4, "{what} keeps threads: {first:?}, after {rounds} rounds {last:?}");
    assert!(
        last.memory_kib <= first.memory_kib + first.memory_kib / 5 + 4096,
        "{what} keeps memory: {first:?}, after {rounds} rounds {last:?}"
    );
}

/// A round in which nothing is done: what a daemon does by itself as time goes by is what is looked at.
fn idle(_: &mut Fleet, _: usize) {
    std::thread::sleep(Duration::from_millis(700));
}

/// Does `round` again and again, and looks at the processes after the third and after the last one.
fn soak(fleet: &mut Fleet, names: &[&str], mut round: impl FnMut(&mut Fleet, usize)) {
    let end = Instant::now() + span();
    let mut first = Vec::new();
    let mut rounds = 0;
    while Instant::now() < end || rounds < 6 {
        round(fleet, rounds);
        rounds += 1;
        if rounds == 3 {
            first = names.iter().map(|name| held(fleet.pid(name))).collect();
        }
    }
    for (name, first) in names.iter().zip(first) {
        assert_flat(name, first, held(fleet.pid(name)), rounds - 3);
    }
}

#[test]
fn jobs_and_broken_connections_leave_nothing_behind() {
    let mut fleet = Fleet::prepare(&[], "auto_accept: True\n", "");
    fleet.start_master();
    let proxy = Proxy::start(free_port(), fleet.ret_port);
    fleet.configure_minion("web1", proxy.port, "");
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    soak(&mut fleet, &["master", "web1"], |fleet, _| {
        for words in [&["web1", "test.ping"][..], &["web1", "cmd.run", "head -c 20000 /dev/zero | tr '\\0' x"]] {
            let ran = fleet.salt(&[words, &["--out=quiet"]].concat());
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        proxy.cut();
        fleet.wait_connected(&["web1"]);
        wait_for("the minion to answer again", || (fleet.salt(&["web1", "test.ping"]).code == 0).then_some(()));
    });
}

#[test]
fn a_minion_without_its_master_waits_in_flat_memory() {
    let mut fleet = Fleet::prepare(&["lonely"], "", "");
    fleet.start_minion("lonely");
    soak(&mut fleet, &["lonely"], idle);
}

#[test]
fn a_minion_whose_masters_name_does_not_resolve_waits_in_flat_memory() {
    let mut fleet = Fleet::prepare(&["lost"], "", "");
    fleet.configure_minion("lost", fleet.ret_port, "");
    let conf = fleet.path("lost/conf/minion");
    let text = fs::read_to_string(&conf).unwrap().replace("master: 127.0.0.1", "master: no-such-master.invalid");
    fs::write(&conf, text).unwrap();
    fleet.start_minion("lost");
    soak(&mut fleet, &["lost"], idle);
    let log = fs::read_to_string(fleet.path("lost/log")).unwrap_or_default();
    assert!(log.matches("does not resolve").count() <= 2, "one line a change of state:\n{log}");
}

#[test]
fn a_key_that_nobody_accepts_costs_nothing() {
    let mut fleet = Fleet::prepare(&["patient"], "", "");
    fleet.start_master();
    fleet.start_minion("patient");
    let pending = fleet.path("pki/master/minions_pre/patient");
    wait_for("the key to be pending", || pending.exists().then_some(()));
    soak(&mut fleet, &["master", "patient"], idle);
}
