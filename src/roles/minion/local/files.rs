//! The master's files, for a job or for `salt-call`: the daemon brings them.

use super::{MinionAnswer, MinionAsk, MinionSocket, unexpected};
use crate::exec::Fault;
use crate::exec::digest::HashType;
use crate::exec::fileserver::{Entries, FileHash, Files, Listing};
use crate::wire::message::{FileAnswer, FileAsk};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a daemon that does not answer is waited for: it is started anew, and then goes on with a file.
const RESTART: Duration = Duration::from_secs(30);

impl MinionSocket {
    fn file(&self, ask: FileAsk) -> Result<FileAnswer, Fault> {
        match self.answer_or_later(&MinionAsk::File(ask))? {
            MinionAnswer::File(answer) => Ok(answer),
            other => Err(unexpected(other)),
        }
    }

    /// Asks again while the daemon is away: to ask for a file twice does no harm.
    fn answer_or_later(&self, ask: &MinionAsk) -> Result<MinionAnswer, Fault> {
        let mut away: Option<Instant> = None;
        loop {
            let begun = Instant::now();
            match self.try_answer(ask) {
                Ok(answer) => return answer,
                Err(fault) => {
                    // A daemon that has worked on it for a while was there until now.
                    let since = *away.get_or_insert(begun);
                    if begun.elapsed() > RESTART {
                        away = None;
                    } else if since.elapsed() > RESTART {
                        return Err(fault);
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

/// The files of the master behind a daemon.
pub(super) struct OfMaster<'a>(pub &'a MinionSocket);

impl Files for OfMaster<'_> {
    fn environments(&self) -> Result<Vec<String>, Fault> {
        match self.0.file(FileAsk::Environments)? {
            FileAnswer::Environments(names) => Ok(names),
            other => Err(unexpected(MinionAnswer::File(other))),
        }
    }

    fn list(&self, listing: Listing, saltenv: &str, prefix: &str) -> Result<Entries, Fault> {
        let mut all: Entries = Vec::new();
        loop {
            let ask = FileAsk::List {
                listing: listing.name().to_owned(),
                saltenv: saltenv.to_owned(),
                prefix: prefix.to_owned(),
                after: all.last().map(|(name, _)| name.clone()),
            };
            match self.0.file(ask)? {
                FileAnswer::Names { entries, more } => {
                    let is_last = !more || entries.is_empty();
                    all.extend(entries);
                    if is_last {
                        return Ok(all);
                    }
                }
                other => return Err(unexpected(MinionAnswer::File(other))),
            }
        }
    }

    fn find(&self, path: &str, saltenv: &str) -> Result<Option<Vec<i64>>, Fault> {
        match self.0.file(FileAsk::Find { path: path.to_owned(), saltenv: saltenv.to_owned() })? {
            FileAnswer::Found { stat, .. } => Ok(Some(stat)),
            FileAnswer::Missing => Ok(None),
            other => Err(unexpected(MinionAnswer::File(other))),
        }
    }

    fn hash(&self, path: &str, saltenv: &str) -> Result<Option<FileHash>, Fault> {
        match self.0.file(FileAsk::Hash { path: path.to_owned(), saltenv: saltenv.to_owned() })? {
            FileAnswer::Hash { kind, digest, .. } => {
                let known = HashType::named(&kind);
                let kind =
                    known.ok_or_else(|| Fault::execution(format!("the master's hash_type {kind} is unknown here")))?;
                Ok(Some(FileHash { kind, digest }))
            }
            FileAnswer::Missing => Ok(None),
            other => Err(unexpected(MinionAnswer::File(other))),
        }
    }

    fn fetch(&self, path: &str, saltenv: &str, into: &Path) -> Result<bool, Fault> {
        let ask = MinionAsk::Fetch { path: path.to_owned(), saltenv: saltenv.to_owned(), into: into.to_owned() };
        match self.0.answer_or_later(&ask)? {
            MinionAnswer::Done => Ok(true),
            MinionAnswer::Missing => Ok(false),
            other => Err(unexpected(other)),
        }
    }

    fn push(&self, from: &Path, names: &[String]) -> Result<bool, Fault> {
        match self.0.answer_or_later(&MinionAsk::Push { from: from.to_owned(), names: names.to_vec() })? {
            MinionAnswer::Done => Ok(true),
            MinionAnswer::File(FileAnswer::Refused(why)) => {
                log::error!("the master does not take {}: {why}", from.display());
                Ok(false)
            }
            other => Err(unexpected(other)),
        }
    }
}
