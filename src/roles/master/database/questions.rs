//! Questions that a running master has about what it has written, answered on a thread of their own.

use super::{Archive, DatabaseError, Sent};
use smol::channel::{Receiver, Sender};
use std::path::Path;

/// Asks to whom a job was sent, for a minion.
pub(super) struct Question {
    pub jid: String,
    pub id: String,
    pub answer: Sender<Result<Sent, String>>,
}

/// Answers questions with a connection of its own, so that they do not stand before the writes.
pub(super) fn answer_questions(path: &Path, asked: Receiver<Question>) {
    let mut archive = None;
    while let Ok(Question { jid, id, answer }) = asked.recv_blocking() {
        let sent = answer_question(&mut archive, path, &jid, &id).map_err(|error| error.to_string());
        if sent.is_err() {
            // The next one tries it with a fresh connection.
            archive = None;
        }
        let _ = answer.try_send(sent);
    }
}

fn answer_question(archive: &mut Option<Archive>, path: &Path, jid: &str, id: &str) -> Result<Sent, DatabaseError> {
    if archive.is_none() {
        *archive = Archive::open(path)?;
    }
    let Some(job) = archive.as_ref().map(|archive| archive.job(jid)).transpose()?.flatten() else {
        return Ok(Sent::Never);
    };
    Ok(if job.minions().iter().any(|minion| minion == id) { Sent::ToIt } else { Sent::ToOthers })
}
