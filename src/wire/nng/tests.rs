//! The promises of `wire/link.rs`, kept over local sockets.

use super::super::frame::FRAME_LIMIT;
use super::super::link::{Connections, Link, LinkError, Local, Peer, PipeId, Service};
use super::server::PER_LOCAL_PIPE;
use super::*;
use async_io::Timer;
use smol::LocalExecutor;
use std::cell::Cell;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

struct Echo;

impl Service for Echo {
    fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        Box::pin(async move {
            match frame.as_slice() {
                b"uid" => Some(format!("{:?}", from.uid).into_bytes()),
                b"silence" => std::future::pending().await,
                _ => Some(frame),
            }
        })
    }

    fn closed(&self, _: PipeId) {}
}

fn with_executor<T>(run: impl AsyncFnOnce(&Rc<LocalExecutor<'static>>) -> T) -> T {
    let executor = Rc::new(LocalExecutor::new());
    smol::block_on(executor.run(run(&executor)))
}

fn socket_path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("halite-nng-{name}-{}", std::process::id()))
}

#[test]
fn strangers_that_come_and_go_do_not_stop_a_listener() {
    let path = socket_path("unauthenticated");
    with_executor(async |executor| {
        let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        for turn in 0..40 {
            let mut stranger = UnixStream::connect(&path).unwrap();
            if turn % 2 == 0 {
                let _ = stranger.write_all(b"GET / HTTP/1.0\r\n\r\n");
            }
        }
        let start = std::time::Instant::now();
        let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
        assert_eq!(connection.request(b"hello".to_vec()).await, Ok(b"hello".to_vec()));
        assert!(start.elapsed() < Duration::from_secs(2), "each of them made the listener pause");
        drop(server);
    });
    let _ = std::fs::remove_file(&path);
}

#[test]
fn who_is_too_many_is_turned_away_and_whoever_is_in_stays() {
    let path = socket_path("too-many");
    with_executor(async |executor| {
        let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        server.admit(1);
        let timeout = Duration::from_secs(5);
        let first = Connection::local(&path, timeout).await.unwrap();
        if let Ok(second) = Connection::local(&path, timeout).await {
            assert_eq!(second.request(b"hello".to_vec()).await, Err(LinkError::Broken));
        }
        assert_eq!(first.request(b"hello".to_vec()).await, Ok(b"hello".to_vec()));
        server.admit(1);
        let third = Connection::local(&path, timeout).await.unwrap();
        assert_eq!(third.request(b"hello".to_vec()).await, Ok(b"hello".to_vec()));
    });
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_request_that_comes_with_its_connection_is_answered() {
    let path = socket_path("first");
    with_executor(async |executor| {
        let _server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        for _ in 0..50 {
            let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            let own = format!("Some({})", rustix::process::getuid().as_raw());
            assert_eq!(connection.request(b"uid".to_vec()).await, Ok(own.into_bytes()));
        }
    });
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_broken_connection_fails_what_is_under_way() {
    let path = socket_path("broken");
    with_executor(async |executor| {
        let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
        let waiting = executor.spawn(connection.request(b"silence".to_vec()));
        assert_eq!(connection.request(b"x".to_vec()).await, Ok(b"x".to_vec()));
        drop(server);
        assert_eq!(waiting.await, Err(LinkError::Broken));
        connection.closed().await;
        assert_eq!(connection.request(b"x".to_vec()).await, Err(LinkError::Broken));
    });
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_connection_that_broke_is_not_made_again() {
    let path = socket_path("again");
    with_executor(async |executor| {
        let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
        drop(server);
        connection.closed().await;
        let seen = Rc::new(Echoes::default());
        let _server = Server::local(executor, &path, 0o600, seen.clone()).unwrap();
        // As a request does that comes just before the break is known.
        let late = executor.spawn({
            let inner = connection.inner.clone();
            async move { inner.request(b"late".to_vec()).await }
        });
        // That nothing comes takes time to be seen: several times as long as NNG waits before it connects again.
        Timer::after(Duration::from_millis(600)).await;
        assert_eq!(seen.0.get(), 0, "it came over a connection that nobody has asked for");
        drop(late);
    });
    let _ = std::fs::remove_file(&path);
}

/// Counts its requests.
#[derive(Default)]
struct Echoes(Cell<usize>);

impl Service for Echoes {
    fn request(self: Rc<Self>, _: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        self.0.set(self.0.get() + 1);
        Box::pin(async move { Some(frame) })
    }

    fn closed(&self, _: PipeId) {}
}

#[test]
fn who_asks_and_never_reads_loses_its_connection_alone() {
    let path = socket_path("greedy");
    with_executor(async |executor| {
        let _server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        let greedy = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
        let asked: Vec<_> =
            (0..PER_LOCAL_PIPE + 1).map(|_| executor.spawn(greedy.request(b"silence".to_vec()))).collect();
        greedy.closed().await;
        let honest = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
        assert_eq!(honest.request(b"x".to_vec()).await, Ok(b"x".to_vec()));
        drop(asked);
    });
    let _ = std::fs::remove_file(&path);
}

#[test]
fn what_is_too_long_is_refused_before_it_is_sent() {
    let path = socket_path("long");
    with_executor(async |executor| {
        let _server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
        let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
        let long = vec![0; FRAME_LIMIT + 1];
        assert!(matches!(connection.request(long).await, Err(LinkError::TooLong { .. })));
        let most = vec![7; FRAME_LIMIT];
        assert_eq!(connection.request(most.clone()).await, Ok(most));
    });
    let _ = std::fs::remove_file(&path);
}
