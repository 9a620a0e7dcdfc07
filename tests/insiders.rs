//! Whoever has been accepted, and means no good: other minions notice nothing.

use crate::fleet::{Directory, free_port};
use halite_keys::Identity;
use halite_roles::client::Client;
use halite_roles::master::Master;
use halite_roles::master::acl::Acl;
use halite_roles::master::origins::{LINE, REMEMBERED};
use halite_roles::master::settings::{Events, Settings};
use halite_roles::master::trust::{Automatic, Rules};
use halite_roles::minion::Minion;
use halite_roles::minion::channel::Channel;
use halite_roles::minion::settings;
use halite_roles::minion::settings::{Keeper, Place};
use halite_value::Map;
use halite_wire::cbor::Bytes;
use halite_wire::deadline::within;
use halite_wire::handshake::Purpose;
use halite_wire::message::{Answer, Ask, LocalAnswer, LocalAsk, LongPoll, Publish, Return, Step};
use halite_wire::nng::{Family, Keepalive, Tcp};
use halite_wire::seal;
use smol::LocalExecutor;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How long anything may take before a test gives up.
const LIMIT: Duration = Duration::from_secs(60);

/// A master that accepts every key.
fn master(directory: &Path, ret_port: u16) -> Settings {
    for name in ["pki", "cache", "run"] {
        fs::create_dir_all(directory.join(name)).unwrap();
    }
    Settings {
        id: "master".to_owned(),
        interface: IpAddr::V4(Ipv4Addr::LOCALHOST),
        publish_port: free_port(),
        ret_port,
        keepalive: Keepalive::Off,
        sock_dir: directory.join("run"),
        cachedir: directory.join("cache"),
        pki_dir: directory.join("pki"),
        rules: Rules { auto_accept: Automatic::Yes, ..Rules::default() },
        acl: Acl::new(rustix::process::geteuid().as_raw(), &Map::new(), Arc::new(|_| None)),
        presence_events: Events::Off,
        keep_events: Events::Off,
        keep_jobs: None,
        loop_interval: Duration::from_secs(1),
        lost_after: Duration::from_secs(60),
        max_minions: 0,
        pending_max: 10,
        max_event_size: 1 << 20,
        opts: Map::new(),
    }
}

fn minion(directory: &Path, id: &str, port: u16) -> settings::Settings {
    let cachedir = directory.join(id);
    fs::create_dir_all(cachedir.join("pki")).unwrap();
    settings::Settings {
        keeper: Keeper::Nobody,
        purpose: Purpose::Jobs,
        pki_dir: cachedir.join("pki"),
        cachedir,
        id: id.to_owned(),
        masters: vec![Place { host: "127.0.0.1".to_owned(), port }],
        jobs_at_once: None,
        sock_dir: None,
        finger: None,
        acceptance_wait: Duration::from_secs(1),
        acceptance_wait_max: Duration::from_secs(1),
        reconnect: Duration::from_millis(100),
        reconnect_max: Duration::from_secs(1),
        auth_timeout: LIMIT,
        reauth_delay: None,
        file_timeout: LIMIT,
        startup_delay: Duration::ZERO,
        ping_interval: Duration::ZERO,
        max_event_size: 1 << 20,
        opts: Arc::new(Map::from_iter([("id", id)])),
        grains: Arc::new(Map::from_iter([("id", id)])),
    }
}

fn transport() -> Rc<Tcp> {
    Rc::new(Tcp { timeout: LIMIT, family: Family::Any, keepalive: Keepalive::Off })
}

/// A return for a job that nobody has ever heard of.
fn garbage(number: usize) -> Return {
    Return { jid: format!("20200101{number:012}"), fun: "test.ping".into(), ..Return::default() }
}

/// Has a minion do something and waits until it has said what came of it.
async fn ping(client: &Client, id: &str) {
    let publish =
        Publish { fun: "test.ping".into(), tgt: id.into(), tgt_type: "glob".to_owned(), ..Publish::default() };
    let (jid, mut steps) = match client.ask(&LocalAsk::Publish(Box::new(publish))).await.unwrap() {
        LocalAnswer::Published { jid, steps, absent, .. } if absent.is_empty() => (jid, *steps),
        other => panic!("{other:?}"),
    };
    let has_ended = |step: &Step| matches!(step, Step::Ended(outcome) if outcome.ret.is_some());
    while !steps.steps.iter().any(has_ended) {
        match client.ask(&LocalAsk::Wait { jid: jid.clone(), seen: 0 }).await.unwrap() {
            LocalAnswer::Steps(more) => steps = *more,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn each_return_with_a_garbage_jid_had_the_deciding_thread_query_the_database() {
    seal::start().unwrap();
    let directory = Directory::fresh();
    let port = free_port();
    let executor = Rc::new(LocalExecutor::new());
    let attack = async {
        let running = Master::start(&executor, master(&directory.0, port)).unwrap();
        let honest = Minion::start(&executor, minion(&directory.0, "honest", port), transport()).unwrap();
        let settings = minion(&directory.0, "greedy", port);
        let channel = Channel::new(settings, Identity::generate(), transport(), Bytes([7; 16]));
        executor.spawn(channel.clone().keep()).detach();
        channel.ready().await;
        honest.minion.connected().await;
        let client = Client::connect(&directory.0.join("run")).await.unwrap();

        // The same few again and again: each is asked for once.
        let distinct = REMEMBERED / 4;
        let one_by_one = |first: usize| {
            let channel = channel.clone();
            executor.spawn(async move {
                for number in 0..10 * distinct {
                    let ask = Ask::Return(Box::new(garbage((first + number) % distinct)));
                    assert_eq!(channel.ask_until_answered(&ask).await, Ok(Answer::Done));
                }
            })
        };
        let flood: Vec<_> = (0..8).map(|at| one_by_one(at * distinct / 8)).collect();
        for _ in 0..20 {
            ping(&client, "honest").await;
        }
        for one in flood {
            one.await;
        }
        assert_eq!(running.master.questions(), distinct as u64);

        // A new one in each return of a long poll: so many wait in a line, and the others are not asked for.
        let returns = (distinct..distinct + 20 * LINE).map(garbage).collect();
        let stand = Ask::LongPoll(LongPoll { returns, ..LongPoll::default() });
        let standing = executor.spawn({
            let channel = channel.clone();
            async move { channel.ask_unbounded(&stand).await }
        });
        let asked = |master: &Master| master.questions() - distinct as u64;
        while asked(&running.master) == 0 {
            ping(&client, "honest").await;
        }
        for _ in 0..20 {
            ping(&client, "honest").await;
        }
        // Each return that is saved for it stands in the line before this one.
        let last = Ask::Return(Box::new(garbage(distinct + 20 * LINE)));
        assert_eq!(channel.ask_until_answered(&last).await, Ok(Answer::Done));
        assert_eq!(asked(&running.master), LINE as u64 + 1);
        drop(standing);
    };
    let ended = smol::block_on(executor.run(within(2 * LIMIT, attack)));
    assert!(ended.is_some(), "the master is busy with garbage");
}
