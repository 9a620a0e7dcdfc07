//! What is written into the job database, and how each of it is.

use super::load::{load_of, own_load};
use super::{Closes, Environments, Over};
use halite_value::{Map, Value};
use halite_wire::message::{EndState, Job, Return};
use rusqlite::{Connection, params};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One thing to be written.
pub(super) enum Write {
    Job { job: Box<Job>, minions: Vec<String>, absent: Vec<String> },
    Return { id: String, ret: Box<Return>, full: Map, over: Over, closes: Closes, valid: Arc<AtomicBool> },
    End { jid: String, id: String, state: EndState },
    Started { jid: String, ids: Vec<String>, at: f64 },
    Close { jid: String },
    Boot { id: String, boot: String },
    Grains { id: String, grains: Map },
    Environments { id: String, environments: Environments },
    Event { tag: String, data: Map, master: String },
    Prune { before: String },
    ForgetMinion { id: String },
    Keep { bank: String, key: String, data: Value },
    Flush { bank: String, key: Option<String> },
}

impl std::fmt::Display for Write {
    /// Names what is written, for the log: whose it is, nothing of its content.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Write::Job { job, .. } => write!(f, "job {}", job.jid),
            Write::Return { id, ret, .. } => write!(f, "the return of '{id}' for job {}", ret.jid),
            Write::End { jid, id, .. } => write!(f, "the end of job {jid} for '{id}'"),
            Write::Started { jid, .. } => write!(f, "a turn of batch {jid}"),
            Write::Close { jid } => write!(f, "that job {jid} is closed"),
            Write::Boot { id, .. } => write!(f, "the boot id of '{id}'"),
            Write::Grains { id, .. } => write!(f, "what grains '{id}' has"),
            Write::Environments { id, .. } => write!(f, "what environments '{id}' has"),
            Write::Event { tag, .. } => write!(f, "the event '{}'", tag.escape_debug()),
            Write::Prune { before } => write!(f, "that jobs before {before} are gone"),
            Write::ForgetMinion { id } => write!(f, "that '{id}' is forgotten"),
            Write::Keep { bank, key, .. } => write!(f, "key {key:?} of bank {bank:?}"),
            Write::Flush { bank, .. } => write!(f, "that bank {bank:?} is flushed"),
        }
    }
}

/// Writes one thing, in whatever transaction there is.
pub(super) fn write(connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Job { job, minions, absent } => {
            let load = load_of(job, minions).to_json();
            connection.prepare_cached("INSERT OR REPLACE INTO jids VALUES (?, ?)")?.execute(params![job.jid, load])?;
            for id in absent {
                save_end(connection, &job.jid, id, EndState::Absent)?;
            }
            if !minions.is_empty() {
                connection.prepare_cached("INSERT OR IGNORE INTO halite_open VALUES (?)")?.execute([&job.jid])?;
            }
            Ok(())
        }
        Write::Return { valid, .. } if !valid.load(Ordering::Acquire) => Ok(()),
        Write::Return { id, ret, full, over, closes, .. } => {
            if *closes == Closes::Yes {
                close_job(connection, &ret.jid)?;
            }
            let verb = match over {
                Over::Replaces => "INSERT OR REPLACE",
                Over::GivesWay => "INSERT OR IGNORE",
            };
            let sql = format!(
                "{verb} INTO salt_returns (fun, jid, \"return\", id, success, full_ret) VALUES (?, ?, ?, ?, ?, ?)"
            );
            let success = if ret.success { "1" } else { "0" };
            let row = params![
                ret.fun.to_text(),
                ret.jid,
                ret.value.to_json(),
                id,
                success,
                Value::Map(full.clone()).to_json()
            ];
            let written = connection.prepare_cached(&sql)?.execute(row)?;
            if written == 0 {
                return Ok(());
            }
            // A return of a job that nobody published here: a minion started it by itself (salt-call).
            let load = own_load(id, ret).to_json();
            connection.prepare_cached("INSERT OR IGNORE INTO jids VALUES (?, ?)")?.execute(params![ret.jid, load])?;
            if ret.killed {
                return save_end(connection, &ret.jid, id, EndState::Killed);
            }
            let sql = "DELETE FROM halite_ends WHERE jid = ? AND id = ?";
            connection.prepare_cached(sql)?.execute(params![ret.jid, id]).map(drop)
        }
        Write::Close { jid } => close_job(connection, jid),
        Write::End { jid, id, state } => save_end(connection, jid, id, *state),
        Write::Started { jid, ids, at } => {
            let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO halite_started VALUES (?, ?, ?)")?;
            ids.iter().try_for_each(|id| statement.execute(params![jid, id, at]).map(drop))
        }
        Write::Boot { id, boot } => {
            let sql = "INSERT INTO halite_minions (id, boot) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET boot = ?2";
            connection.prepare_cached(sql)?.execute(params![id, boot]).map(drop)
        }
        Write::Grains { id, grains } => {
            let sql =
                "INSERT INTO halite_minions (id, grains) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET grains = ?2";
            connection.prepare_cached(sql)?.execute(params![id, Value::Map(grains.clone()).to_json()]).map(drop)
        }
        Write::Environments { id, environments: Environments { saltenv, pillarenv } } => {
            let sql = "INSERT OR REPLACE INTO halite_environments VALUES (?, ?, ?)";
            connection.prepare_cached(sql)?.execute(params![id, saltenv, pillarenv]).map(drop)
        }
        Write::Event { tag, data, master } => {
            let sql = "INSERT INTO salt_events (tag, data, master_id) VALUES (?, ?, ?)";
            connection.prepare_cached(sql)?.execute(params![tag, Value::Map(data.clone()).to_json(), master]).map(drop)
        }
        Write::Prune { before } => {
            connection.execute("DELETE FROM jids WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM salt_returns WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM halite_open WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM halite_started WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM halite_ends WHERE jid < ?", [before]).map(drop)
        }
        Write::ForgetMinion { id } => {
            connection.execute("DELETE FROM halite_environments WHERE id = ?", [id])?;
            connection.execute("DELETE FROM halite_minions WHERE id = ?", [id]).map(drop)
        }
        Write::Keep { bank, key, data } => {
            let sql = "INSERT OR REPLACE INTO halite_kept VALUES (?, ?, ?)";
            connection.execute(sql, params![bank, key, data.to_json()]).map(drop)
        }
        Write::Flush { bank, key: None } => {
            connection.execute("DELETE FROM halite_kept WHERE bank = ?", [bank]).map(drop)
        }
        Write::Flush { bank, key: Some(key) } => {
            connection.execute("DELETE FROM halite_kept WHERE bank = ? AND key = ?", [bank, key]).map(drop)
        }
    }
}

fn close_job(connection: &Connection, jid: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM halite_open WHERE jid = ?")?.execute([jid]).map(drop)
}

fn save_end(connection: &Connection, jid: &str, id: &str, state: EndState) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO halite_ends VALUES (?, ?, ?)";
    connection.prepare_cached(sql)?.execute(params![jid, id, state.name()]).map(drop)
}
