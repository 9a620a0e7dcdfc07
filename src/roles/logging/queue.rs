//! Lines on their way to a sink: handed over without waiting, written by a thread.

use super::sink::Sink;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Lines that may wait. A sink that is slower loses lines, and says how many.
const WAITING: usize = 2048;
/// How long the end of a program waits for its last lines.
const FLUSH_TIME: Duration = Duration::from_millis(300);

enum Item {
    Line(Vec<u8>),
    Reopen,
    Flush(SyncSender<()>),
}

/// A handle on the lines; all handles of one sink share its order.
#[derive(Clone)]
pub struct Queue {
    items: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

impl Queue {
    pub fn start(sink: Box<dyn Sink>) -> io::Result<Queue> {
        let (items, waiting) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        std::thread::Builder::new()
            .name("log".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || write_all(sink, &waiting, &counted))?;
        Ok(Queue { items, lost })
    }

    pub fn reopen(&self) {
        let _ = self.items.try_send(Item::Reopen);
    }

    /// Waits until what was handed over is written, but not for long.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.items.try_send(Item::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH_TIME);
        }
    }
}

/// One call is one line, as `env_logger` writes it. Never an error: a log that fails must not fail anything else.
impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.items.try_send(Item::Line(line.to_vec())) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(mut sink: Box<dyn Sink>, waiting: &Receiver<Item>, lost: &AtomicU64) {
    let mut why = "the log could not keep up".to_owned();
    while let Ok(item) = waiting.recv() {
        match item {
            Item::Reopen => sink.reopen(),
            Item::Flush(done) => {
                let _ = done.try_send(());
            }
            Item::Line(line) => {
                let missing = lost.swap(0, Ordering::Relaxed);
                if missing > 0
                    && sink.write(format!("[WARNING ] {missing} lines were lost here: {why}\n").as_bytes()).is_err()
                {
                    lost.fetch_add(missing, Ordering::Relaxed);
                }
                if let Err(error) = sink.write(&line) {
                    why = error.to_string();
                    lost.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Fails until it is opened again.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<(bool, Vec<u8>)>>);

    impl Sink for Disk {
        fn write(&mut self, line: &[u8]) -> io::Result<()> {
            let mut disk = self.0.lock().unwrap();
            if !disk.0 {
                return Err(io::Error::other("the disk is full"));
            }
            disk.1.extend_from_slice(line);
            Ok(())
        }

        fn reopen(&mut self) {
            self.0.lock().unwrap().0 = true;
        }
    }

    #[test]
    fn what_is_lost_is_counted_and_said() {
        let disk = Disk::default();
        let mut queue = Queue::start(Box::new(disk.clone())).unwrap();
        for line in ["one\n", "two\n"] {
            queue.write_all(line.as_bytes()).unwrap();
        }
        Queue::flush(&queue);
        queue.reopen();
        queue.write_all(b"three\n").unwrap();
        Queue::flush(&queue);
        let written = String::from_utf8(disk.0.lock().unwrap().1.clone()).unwrap();
        assert_eq!(written, "[WARNING ] 2 lines were lost here: the disk is full\nthree\n");
    }

    /// Says that it has got a line, and blocks until the test lets it go.
    struct Stuck(SyncSender<()>, Receiver<()>);

    impl Sink for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<()> {
            let _ = self.0.try_send(());
            let _ = self.1.recv();
            Ok(())
        }

        fn reopen(&mut self) {}
    }

    #[test]
    fn a_sink_that_hangs_holds_nobody_up() {
        let (let_go, stuck) = sync_channel(0);
        let (begun, begins) = sync_channel(1);
        let mut queue = Queue::start(Box::new(Stuck(begun, stuck))).unwrap();
        queue.write_all(b"line\n").unwrap();
        // From here on nobody takes lines, and nobody takes back what is counted.
        begins.recv().unwrap();
        for _ in 0..3 * WAITING {
            queue.write_all(b"line\n").unwrap();
        }
        assert!(queue.lost.load(Ordering::Relaxed) >= WAITING as u64);
        Queue::flush(&queue);
        drop(let_go);
    }
}
