//! The master's files, for a job or for `salt-call`: the daemon brings them, or a session of `salt-call` itself.

use super::super::files::FileChannel;
use super::{MinionAnswer, MinionAsk, unexpected};
use halite_core::Fault;
use halite_core::files::{Entries, FileHash, Files, Listing};
use halite_lang::digest::HashType;
use halite_wire::message::{FileAnswer, FileAsk};
use std::path::Path;
use std::rc::Rc;

/// Whoever answers questions about files.
pub trait Asked {
    /// Blocks.
    fn answer(&self, ask: &MinionAsk) -> Result<MinionAnswer, Fault>;
}

/// The master's files, through whoever answers.
pub struct MasterFiles<A>(pub A);

/// Answers a question about files.
pub async fn serve(files: &Rc<FileChannel>, ask: MinionAsk) -> MinionAnswer {
    match ask {
        MinionAsk::File(ask) => match files.ask(ask).await {
            Ok(answer) => MinionAnswer::File(answer),
            Err(why) => MinionAnswer::Refused(why),
        },
        MinionAsk::Fetch { path, saltenv, into } => match files.fetch(&path, &saltenv, &into).await {
            Ok(true) => MinionAnswer::Done,
            Ok(false) => MinionAnswer::Missing,
            Err(why) => MinionAnswer::Refused(why),
        },
        MinionAsk::Push { from, names } => match files.push(&from, &names).await {
            Ok(()) => MinionAnswer::Done,
            Err(why) => MinionAnswer::File(FileAnswer::Refused(why)),
        },
        _ => MinionAnswer::Refused("this is no question about files".to_owned()),
    }
}

impl<A: Asked> MasterFiles<A> {
    fn file(&self, ask: FileAsk) -> Result<FileAnswer, Fault> {
        match self.0.answer(&MinionAsk::File(ask))? {
            MinionAnswer::File(answer) => Ok(answer),
            other => Err(unexpected(other)),
        }
    }
}

impl<A: Asked> Files for MasterFiles<A> {
    fn environments(&self) -> Result<Vec<String>, Fault> {
        match self.file(FileAsk::Environments)? {
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
            match self.file(ask)? {
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
        match self.file(FileAsk::Find { path: path.to_owned(), saltenv: saltenv.to_owned() })? {
            FileAnswer::Found { stat, .. } => Ok(Some(stat)),
            FileAnswer::Missing => Ok(None),
            other => Err(unexpected(MinionAnswer::File(other))),
        }
    }

    fn hash(&self, path: &str, saltenv: &str) -> Result<Option<FileHash>, Fault> {
        match self.file(FileAsk::Hash { path: path.to_owned(), saltenv: saltenv.to_owned() })? {
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
        match self.0.answer(&ask)? {
            MinionAnswer::Done => Ok(true),
            MinionAnswer::Missing => Ok(false),
            other => Err(unexpected(other)),
        }
    }

    fn push(&self, from: &Path, names: &[String]) -> Result<bool, Fault> {
        match self.0.answer(&MinionAsk::Push { from: from.to_owned(), names: names.to_vec() })? {
            MinionAnswer::Done => Ok(true),
            MinionAnswer::File(FileAnswer::Refused(why)) => {
                log::error!("the master does not take {}: {why}", from.display());
                Ok(false)
            }
            other => Err(unexpected(other)),
        }
    }
}
