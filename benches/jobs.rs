//! What one job costs, against a raw NNG round trip: `cargo bench --bench jobs -- SOCK_DIR MINION`.
//!
//! A client that stays connected runs test.ping on one minion, one after another and 32 at a time, against a master
//! that runs already. The raw round trip is a request of 64 bytes and its echo over loopback TCP, by the same code that
//! master and minion use.

use halite_roles::client::Client;
use halite_roles::client::gather::{FIRST_MS, Gather, Gathered};
use halite_wire::link::{Link, Local, Peer, PipeId, Service};
use halite_wire::message::{LocalAnswer, LocalAsk, Publish};
use halite_wire::nng::{Connection, Keepalive, Server};
use smol::LocalExecutor;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

const SEQUENTIAL: usize = 1000;
const IN_FLIGHT: usize = 32;
const PARALLEL: usize = 4000;

struct Echo;

impl Service for Echo {
    fn request(self: Rc<Self>, _: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        Box::pin(async move { Some(frame) })
    }

    fn closed(&self, _: PipeId) {}
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [sock_dir, minion] = words.as_slice() else {
        println!("usage: cargo bench --bench jobs -- SOCK_DIR MINION");
        return;
    };
    let echo = std::thread::spawn(serve_echo);
    let address = echo.join().expect("an echo server");
    smol::block_on(async {
        let raw = round_trips(address).await;
        let client = Rc::new(Client::connect(Path::new(sock_dir)).await.expect("a running master"));
        let one = jobs_one_by_one(&client, minion).await;
        let rate = jobs_in_flight(&client, minion).await;
        println!("raw_round_trip_us {:.1}", raw.as_secs_f64() * 1e6);
        println!("job_us {:.1}", one.as_secs_f64() * 1e6);
        println!("job_in_round_trips {:.2}", one.as_secs_f64() / raw.as_secs_f64());
        println!("jobs_per_second {:.1}", 1.0 / one.as_secs_f64());
        println!("jobs_per_second_{IN_FLIGHT} {rate:.1}");
    });
}

/// An echo on a thread of its own, as a master is a process of its own.
fn serve_echo() -> SocketAddr {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let executor = Rc::new(LocalExecutor::new());
        smol::block_on(executor.run(async {
            let _server = Server::tcp(&executor, address, Keepalive::Off, Rc::new(Echo)).expect("an echo server");
            let _ = ready.send(());
            std::future::pending::<()>().await;
        }));
    });
    let _ = is_ready.recv();
    address
}

async fn round_trips(address: SocketAddr) -> Duration {
    let connection = Connection::tcp(address, Duration::from_secs(5), Keepalive::Off).await.expect("the echo");
    let mut times = Vec::new();
    for _ in 0..SEQUENTIAL {
        let start = Instant::now();
        connection.request(vec![0; 64]).await.expect("an answer");
        times.push(start.elapsed());
    }
    median(times)
}

async fn jobs_one_by_one(client: &Client, minion: &str) -> Duration {
    let mut times = Vec::new();
    for _ in 0..SEQUENTIAL {
        let start = Instant::now();
        job(client, minion).await;
        times.push(start.elapsed());
    }
    median(times)
}

async fn jobs_in_flight(client: &Rc<Client>, minion: &str) -> f64 {
    let executor = Rc::new(LocalExecutor::new());
    let start = Instant::now();
    executor
        .run(async {
            let tasks: Vec<_> = (0..IN_FLIGHT)
                .map(|_| {
                    let (client, minion) = (client.clone(), minion.to_owned());
                    executor.spawn(async move {
                        for _ in 0..PARALLEL / IN_FLIGHT {
                            job(&client, &minion).await;
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await;
            }
        })
        .await;
    PARALLEL as f64 / start.elapsed().as_secs_f64()
}

async fn job(client: &Client, minion: &str) {
    let publish = Publish {
        fun: "test.ping".into(),
        tgt: minion.into(),
        tgt_type: "glob".to_owned(),
        wait_ms: FIRST_MS,
        ..Publish::default()
    };
    let answer = client.ask(&LocalAsk::Publish(Box::new(publish))).await.expect("a job");
    let LocalAnswer::Published { jid, minions, absent, steps } = answer else {
        panic!("{answer:?}");
    };
    let mut gather = Gather::new(client, &jid, &minions, &absent, *steps, Duration::from_secs(10));
    let mut returned = 0;
    while let Gathered::Outcome(outcome) = gather.next().await.expect("its outcome") {
        returned += usize::from(outcome.ret.is_some());
    }
    assert_eq!(returned, 1);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
