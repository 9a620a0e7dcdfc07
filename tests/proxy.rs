//! A TCP proxy whose connections can be cut or made to fall silent, as a network does it.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Forwards what comes to its port, for as long as it lives.
pub struct Proxy {
    pub port: u16,
    at: IpAddr,
    shared: Arc<Shared>,
}

struct Shared {
    to: u16,
    silent: AtomicBool,
    ended: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    /// All that went through, in either direction.
    seen: Mutex<Vec<u8>>,
    /// How much goes through before each further cut.
    cuts: Mutex<VecDeque<usize>>,
}

impl Proxy {
    /// Listens on one port of the loopback and connects to another one for each connection.
    pub fn start(port: u16, to: u16) -> Proxy {
        Proxy::start_at(Ipv4Addr::LOCALHOST.into(), port, to)
    }

    /// The same on another address of the loopback.
    pub fn start_at(at: IpAddr, port: u16, to: u16) -> Proxy {
        let listener = TcpListener::bind((at, port)).unwrap();
        let shared = Arc::new(Shared {
            to,
            silent: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            open: Mutex::default(),
            seen: Mutex::default(),
            cuts: Mutex::default(),
        });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for near in listener.incoming() {
                if serving.ended.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(near) = near {
                    serving.serve(near);
                }
            }
        });
        Proxy { port, at, shared }
    }

    /// Closes both sides of every connection. New ones are served.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// Cuts as soon as so many bytes went through, each time: whoever watches from outside may look too late.
    pub fn cut_after(&self, bytes: &[usize]) {
        self.shared.cuts.lock().unwrap().extend(bytes);
    }

    /// How many of these cuts are still to come.
    pub fn cuts_to_come(&self) -> usize {
        self.shared.cuts.lock().unwrap().len()
    }

    /// What somebody on the wire has seen so far.
    pub fn seen(&self) -> Vec<u8> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Keeps every connection open and forwards nothing, not even an end.
    pub fn fall_silent(&self) {
        self.shared.silent.store(true, Ordering::Relaxed);
    }

    /// Forwards again, beginning with what was held back.
    pub fn heal(&self) {
        self.shared.silent.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.heal();
        self.cut();
        // Wakes the listener, which then ends.
        let _ = TcpStream::connect((self.at, self.port));
    }
}

impl Shared {
    fn serve(self: &Arc<Self>, near: TcpStream) {
        let Ok(far) = TcpStream::connect(("127.0.0.1", self.to)) else {
            return;
        };
        let _ = (near.set_nodelay(true), far.set_nodelay(true));
        let (Ok(near_too), Ok(far_too)) = (near.try_clone(), far.try_clone()) else {
            return;
        };
        let mut open = self.open.lock().unwrap();
        open.extend([&near, &far].into_iter().filter_map(|stream| stream.try_clone().ok()));
        drop(open);
        for (from, to) in [(near, far), (far_too, near_too)] {
            let shared = self.clone();
            std::thread::spawn(move || shared.forward(from, to));
        }
    }

    /// Whether the next cut is due after so many bytes; each is due once.
    fn is_to_be_cut(&self, seen: usize) -> bool {
        let mut cuts = self.cuts.lock().unwrap();
        let is_due = cuts.front().is_some_and(|bytes| *bytes <= seen);
        is_due && cuts.pop_front().is_some()
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn forward(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        loop {
            let length = from.read(&mut buffer).unwrap_or(0);
            while self.silent.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(2));
            }
            let seen = {
                let mut seen = self.seen.lock().unwrap();
                seen.extend_from_slice(&buffer[..length]);
                seen.len()
            };
            if self.is_to_be_cut(seen) {
                self.cut();
            }
            if length == 0 || to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
