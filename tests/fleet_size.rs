//! Many minions at once: real ones, by `halite fleet`.

use crate::fleet::{Fleet, signal, wait_for};
use halite_roles::client::Client;
use halite_roles::master::database;
use halite_wire::message::{LocalAnswer, LocalAsk, Publish};
use rustix::process::Signal;
use smol::LocalExecutor;
use std::fs;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn master_alone() -> Fleet {
    let mut fleet = Fleet::prepare(&[], "auto_accept: True\n", "");
    fleet.start_master();
    fleet
}

fn ping() -> LocalAsk {
    LocalAsk::Publish(Box::new(Publish {
        fun: "test.ping".into(),
        tgt: "*".into(),
        tgt_type: "glob".to_owned(),
        ..Publish::default()
    }))
}

/// How many returns are in the database.
fn returns(fleet: &Fleet) -> usize {
    let path = database::path_in(&fleet.path("cache"));
    let database = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    database.query_row("SELECT count(*) FROM salt_returns", [], |row| row.get::<_, i64>(0)).unwrap() as usize
}

#[test]
fn a_burst_of_publications_loses_none() {
    let (minions, jobs) = (50, 1000);
    let mut fleet = master_alone();
    fleet.start_many(minions, &[]);
    wait_for("all to be connected", || (fleet.connected().len() == minions).then_some(()));
    let executor = Rc::new(LocalExecutor::new());
    let directory = fleet.path("run");
    // A machine that is busy with other tests may take a minion for away for a moment: it is named, and not sent the job.
    let mut sent = 0;
    smol::block_on(executor.run(async {
        let client = Rc::new(Client::connect(&directory).await.unwrap());
        let publish = async |client: Rc<Client>| match client.ask(&ping()).await.unwrap() {
            LocalAnswer::Published { minions, absent, .. } => (minions.len(), absent.len()),
            other => panic!("{other:?}"),
        };
        // As fast as one connection takes them.
        for _ in 0..jobs / 10 {
            let asked: Vec<_> = (0..10).map(|_| executor.spawn(publish(client.clone()))).collect();
            for asked in asked {
                let (to, absent) = asked.await;
                assert_eq!(to + absent, minions);
                sent += to;
            }
        }
    }));
    assert!(sent > minions * jobs / 2, "only {sent} were sent");
    let mut last = (0, Instant::now());
    while last.0 < sent {
        let now = returns(&fleet);
        if now > last.0 {
            last = (now, Instant::now());
        }
        assert!(last.1.elapsed() < Duration::from_secs(20), "{} of {sent} returns have come", last.0);
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn two_hundred_come_and_go_and_come_back() {
    let mut fleet = master_alone();
    let processes = fleet.start_many(200, &[]);
    assert_eq!((processes.len(), fleet.connected().len()), (4, 200));
    for pid in &processes {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        let sockets =
            files.filter(|file| fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:")));
        let links = |file: &fs::DirEntry| fs::read_link(file.path()).unwrap_or_default();
        let sockets = sockets.count();
        let rest = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        let rest: Vec<_> =
            rest.map(|file| links(&file)).filter(|to| !to.to_string_lossy().starts_with("socket:")).collect();
        // Two connections for each of 50; the rest is what every process has.
        assert!(sockets <= 100 + 2 && rest.len() <= 16, "{sockets} sockets and {rest:?}");
    }
    signal(processes[0], Signal::KILL);
    let start = Instant::now();
    wait_for("the killed ones to be gone", || (fleet.connected().len() == 150).then_some(()));
    println!("50 killed minions are gone after {:?}", start.elapsed());
    fleet.kill("master");
    let start = Instant::now();
    fleet.start_master();
    wait_for("the others to be back", || (fleet.connected().len() == 150).then_some(()));
    println!("150 minions are back {:?} after the master's restart", start.elapsed());
    // The others count as on their way for a while: they are waited for, not longer than is asked for.
    let ran = fleet.salt(&["*", "test.ping", "--out=txt", "-t", "5"]);
    let count = |what: &str| ran.out.lines().filter(|line| line.contains(what)).count();
    assert_eq!((count(": True"), count("Minion did not return.")), (150, 50), "{}{}", ran.out, ran.err);
}
