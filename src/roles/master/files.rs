//! Files for minions: the file server behind the dispatcher.
//!
//! What reads, hashes, writes and seals runs on the blocking pool, a bounded number at once, so that the main thread does
//! nothing for a file but pass its bytes on. Nothing is remembered of a transfer: each part is asked for with the version
//! of its file, so a minion goes on after a cut, or with another master, where it was.

use super::Master;
use super::settings::Settings;
use async_io::Timer;
use halite_core::files::{Entries, FileHash, Listing};
use halite_node::fileserver::received::Received;
use halite_node::fileserver::{Chunk, FileServer, Freshness, Version};
use halite_value::Value;
use halite_wire::cbor;
use halite_wire::cbor::{ByteString, Bytes};
use halite_wire::deadline::within;
use halite_wire::link::LinkError;
use halite_wire::message::{Answer, FileAnswer, FileAsk};
use halite_wire::session::{Replying, SessionId};
use smol::lock::Semaphore;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest part of a file in one message.
pub const PART: usize = 256 * 1024;
/// Parts that are read at once.
const READS: usize = 16;
/// Files that are hashed and directories that are listed at once, and how many of them for one minion.
const LOOKS: usize = 4;
const LOOKS_OF_ONE: usize = 2;
/// A hash that takes longer is asked for again.
const HASH_TIME: Duration = Duration::from_secs(20);
/// Names in one answer.
const NAME_BYTES: usize = 400_000;

/// What answers for files, and how much of it at once.
pub(super) struct FileDesk {
    desk: Arc<Desk>,
    reads: Semaphore,
    looks: Semaphore,
    /// How often the files are looked at for changes that make an event; nothing: never.
    watch: Option<Duration>,
}

struct Desk {
    server: FileServer,
    cachedir: PathBuf,
    /// The longest file that a minion may send, in bytes; nothing: none at all (`file_recv`).
    receives: Option<u64>,
    /// How much is looked at for each minion now, also if it was told to ask again later.
    looking: Mutex<HashMap<String, usize>>,
}

/// For whom something is done: a minion whose key is accepted for as long as `valid` says.
struct Asker {
    id: String,
    valid: Arc<AtomicBool>,
}

impl FileDesk {
    pub fn open(settings: &Settings) -> Result<FileDesk, String> {
        let opts = &settings.opts;
        let on = |name: &str| opts.at(name).is_some_and(Value::truthy);
        let most = opts.at("file_recv_max_size").and_then(Value::as_int).unwrap_or(100).max(0) as u64;
        let interval = opts.at("roots_update_interval").and_then(Value::as_float).unwrap_or(60.0).clamp(1.0, 1e6);
        let server = FileServer::new(opts, Freshness::Kept).map_err(|fault| fault.to_string())?;
        let backends = halite_node::fileserver::backends(opts);
        let missing: Vec<&str> = backends.iter().map(String::as_str).filter(|name| !is_backend(name)).collect();
        for backend in &missing {
            log::warn!("fileserver_backend: this version has no '{backend}', it gives no files");
        }
        let is_checked = opts.at("fileserver_verify_config").is_none_or(Value::truthy);
        if is_checked && !missing.is_empty() && missing.len() == backends.len() {
            return Err(format!(
                "fileserver_backend: none of {} is in this version, so there would be no files \
                 (fileserver_verify_config: False starts without any)",
                missing.join(", ")
            ));
        }
        Ok(FileDesk {
            desk: Arc::new(Desk {
                server,
                cachedir: settings.cachedir.clone(),
                receives: on("file_recv").then(|| most.saturating_mul(1024 * 1024)),
                looking: Mutex::default(),
            }),
            reads: Semaphore::new(READS),
            looks: Semaphore::new(LOOKS),
            watch: on("fileserver_events").then(|| Duration::from_secs_f64(interval)),
        })
    }
}

fn is_backend(name: &str) -> bool {
    matches!(name, "roots" | "file_roots")
}

impl Master {
    /// Answers about files, with the sealed reply. Nothing: the session has ended meanwhile.
    pub(super) async fn serve_file(self: Rc<Self>, sid: SessionId, number: u64, ask: FileAsk) -> Option<Vec<u8>> {
        let (asker, replying) = {
            let sessions = self.sessions.borrow();
            let minion_session = sessions.at(sid)?;
            let asker = Asker { id: minion_session.id.to_string(), valid: minion_session.valid.clone() };
            (asker, minion_session.session.replying(number))
        };
        let (gate, timeout) = match ask {
            FileAsk::Hash { .. } => (&self.files.looks, Some(HASH_TIME)),
            FileAsk::List { .. } | FileAsk::PutWhole { .. } => (&self.files.looks, None),
            _ => (&self.files.reads, None),
        };
        let permit = gate.acquire().await;
        let desk = self.files.desk.clone();
        let later = self.sessions.borrow().at(sid)?.session.replying(number);
        let answered = smol::unblock(move || sealed(&replying, desk.answer(&asker, ask)));
        let frame = match timeout {
            None => answered.await,
            Some(timeout) => match within(timeout, answered).await {
                Some(frame) => frame,
                None => sealed(&later, FileAnswer::Later),
            },
        };
        drop(permit);
        self.sessions.borrow().at(sid)?;
        frame.ok()
    }

    /// Tells the bus when files have changed, where that is asked for (`fileserver_events`).
    pub(super) async fn watch_files(self: Rc<Self>) {
        let Some(interval) = self.files.watch else {
            return;
        };
        loop {
            let desk = self.files.desk.clone();
            match smol::unblock(move || desk.server.update(&desk.cachedir)).await {
                Ok(changes) if !changes.is_empty() => {
                    self.fire("salt/fileserver/roots/update", changes.shown());
                }
                Ok(_) => {}
                Err(error) => log::warn!("the files cannot be looked at for changes: {error}"),
            }
            Timer::after(interval).await;
        }
    }
}

/// An answer that does not fit says so: without one its minion would ask the same for ever.
fn sealed(replying: &Replying, answer: FileAnswer) -> Result<Vec<u8>, LinkError> {
    let length = match &answer {
        FileAnswer::Bytes(bytes) => bytes.0.len() + 64,
        _ => 256,
    };
    let sealed = replying.seal_written(length, |frame| cbor::encode_into(&Answer::File(answer), frame));
    sealed.or_else(|error| {
        log::error!("an answer about files is not sent: {error}");
        let refused = Answer::File(FileAnswer::Refused(error.to_string()));
        replying.seal_written(256, |frame| cbor::encode_into(&refused, frame))
    })
}

impl Desk {
    /// Does what is asked; may block.
    fn answer(&self, asker: &Asker, ask: FileAsk) -> FileAnswer {
        let is_long = matches!(ask, FileAsk::Hash { .. } | FileAsk::List { .. } | FileAsk::PutWhole { .. });
        let look = is_long.then(|| Look::begin(&self.looking, &asker.id));
        if let Some(None) = look {
            return FileAnswer::Later;
        }
        match ask {
            FileAsk::Environments => FileAnswer::Environments(self.server.environments()),
            FileAsk::List { listing, saltenv, prefix, after } => {
                match Listing::ALL.into_iter().find(|kind| kind.name() == listing) {
                    Some(kind) => page(self.server.list(kind, &saltenv, &prefix), after.as_deref()),
                    None => FileAnswer::Refused("there is no such list".to_owned()),
                }
            }
            FileAsk::Find { path, saltenv } => told(&path, self.find(&path, &saltenv)),
            FileAsk::Hash { path, saltenv } => told(&path, self.hash(&path, &saltenv)),
            FileAsk::Read { path, saltenv, version, offset, length } => {
                let length = (length as usize).min(PART);
                let read = self.server.read(&path, &saltenv, Version::from_bytes(version.0), offset, length);
                told(
                    &path,
                    read.map(|chunk| match chunk {
                        Chunk::Bytes(bytes) => FileAnswer::Bytes(ByteString(bytes)),
                        Chunk::Changed => FileAnswer::Changed,
                        Chunk::Gone => FileAnswer::Missing,
                    }),
                )
            }
            FileAsk::Put { digest, offset, bytes } => {
                self.receive(asker, |received| received.part(&hex(digest), offset, &bytes.0))
            }
            FileAsk::PutWhole { digest, size, names } => {
                let answer = self.receive(asker, |received| received.whole(&hex(digest), size, &names));
                if answer == FileAnswer::Done {
                    log::info!("'{}' has sent the file {}", asker.id, names.join("/").escape_debug());
                }
                answer
            }
        }
    }

    fn find(&self, path: &str, saltenv: &str) -> io::Result<FileAnswer> {
        let Some(opened) = self.server.open(path, saltenv)? else {
            return Ok(FileAnswer::Missing);
        };
        let (version, kind) = (Bytes(opened.version().to_bytes()), self.server.hash_type().name().to_owned());
        Ok(FileAnswer::Found { version, kind, stat: opened.stat() })
    }

    fn hash(&self, path: &str, saltenv: &str) -> io::Result<FileAnswer> {
        let Some(opened) = self.server.open(path, saltenv)? else {
            return Ok(FileAnswer::Missing);
        };
        let Some(FileHash { kind, digest }) = self.server.hash(&opened)? else {
            return Ok(FileAnswer::Later);
        };
        let version = Bytes(opened.version().to_bytes());
        Ok(FileAnswer::Hash { kind: kind.name().to_owned(), digest, version })
    }

    fn receive(&self, asker: &Asker, take: impl FnOnce(Received) -> Result<(), String>) -> FileAnswer {
        let Some(most) = self.receives else {
            return FileAnswer::Refused("this master takes no files: file_recv is off".to_owned());
        };
        if !asker.valid.load(Ordering::Acquire) {
            return FileAnswer::Refused("the key is not accepted any more".to_owned());
        }
        match take(Received::new(&self.cachedir, &asker.id, most)) {
            Ok(()) => FileAnswer::Done,
            Err(why) => FileAnswer::Refused(why),
        }
    }
}

/// A file that is hashed or directories that are listed for a minion; over when it is dropped.
struct Look<'a> {
    all: &'a Mutex<HashMap<String, usize>>,
    id: &'a str,
}

impl<'a> Look<'a> {
    /// Nothing when there is too much under way for this minion.
    fn begin(all: &'a Mutex<HashMap<String, usize>>, id: &'a str) -> Option<Look<'a>> {
        let mut counts = all.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(id.to_owned()).or_default();
        if *count >= LOOKS_OF_ONE {
            return None;
        }
        *count += 1;
        Some(Look { all, id })
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        let mut counts = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(self.id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(self.id);
            }
        }
    }
}

/// The answer; a file that cannot be read is the master's trouble, and its log says which.
fn told(path: &str, answer: io::Result<FileAnswer>) -> FileAnswer {
    answer.unwrap_or_else(|error| {
        log::error!("a minion asks for {}, which cannot be read: {error}", path.escape_debug());
        FileAnswer::Refused(format!("the master cannot read it: {}", error.kind()))
    })
}

/// As many entries as fit in an answer, from behind the name that was the last one before.
fn page(entries: Entries, after: Option<&str>) -> FileAnswer {
    let mut bytes = 0;
    let behind = entries.into_iter().skip_while(|(name, _)| after.is_some_and(|after| name.as_str() <= after));
    let mut rest = behind.peekable();
    let mut entries = Vec::new();
    while bytes < NAME_BYTES
        && let Some((name, target)) = rest.next()
    {
        bytes += name.len() + target.as_ref().map_or(0, String::len) + 16;
        entries.push((name, target));
    }
    FileAnswer::Names { entries, more: rest.peek().is_some() }
}

fn hex(digest: Bytes<32>) -> String {
    digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_minion_does_not_take_all_looks() {
        let all = Mutex::default();
        let looks: Vec<_> = (0..LOOKS_OF_ONE).map(|_| Look::begin(&all, "web1")).collect();
        assert!(looks.iter().all(Option::is_some));
        assert!(Look::begin(&all, "web1").is_none() && Look::begin(&all, "web2").is_some());
        drop(looks);
        assert!(Look::begin(&all, "web1").is_some());
        assert!(all.lock().unwrap().is_empty());
    }

    #[test]
    fn a_long_list_comes_in_pages() {
        let entries: Entries = (0..20_000).map(|at| (format!("directory/file-{at:06}"), None)).collect();
        let (mut got, mut after, mut pages) = (Vec::new(), None, 0);
        loop {
            let FileAnswer::Names { entries, more } = page(entries.clone(), after.as_deref()) else {
                panic!("no names");
            };
            assert!(cbor::size(&entries) < 700_000);
            after = entries.last().map(|(name, _)| name.clone());
            got.extend(entries);
            pages += 1;
            if !more {
                break;
            }
        }
        assert_eq!(got, entries);
        assert!(pages > 1);
    }
}
