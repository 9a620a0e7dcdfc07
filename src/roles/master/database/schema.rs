//! The tables of the job database, and how it is opened by the one who writes.

use rusqlite::Connection;
use std::path::Path;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS salt_returns (fun TEXT NOT NULL, jid TEXT NOT NULL, \"return\" TEXT NOT NULL, id TEXT NOT NULL,
  success TEXT NOT NULL, full_ret TEXT NOT NULL, alter_time TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (jid, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS salt_returns_id ON salt_returns (id);
CREATE INDEX IF NOT EXISTS salt_returns_fun ON salt_returns (fun);
CREATE TABLE IF NOT EXISTS salt_events (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, data TEXT NOT NULL,
  alter_time TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, master_id TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS salt_events_tag ON salt_events (tag);
CREATE TABLE IF NOT EXISTS halite_ends (jid TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
  PRIMARY KEY (jid, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_open (jid TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_started (jid TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (jid, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_kept (bank TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (bank, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_minions (id TEXT PRIMARY KEY, boot TEXT, grains TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_environments (id TEXT PRIMARY KEY, saltenv TEXT, pillarenv TEXT) WITHOUT ROWID;
";

/// Opens the database to write it; makes what is missing. Its log stays the same file for as long as this connection is
/// open.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.execute_batch(SCHEMA)?;
    connection.set_prepared_statement_cache_capacity(32);
    // The first write makes the log.
    connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 1; COMMIT")?;
    Ok(connection)
}

/// What the system does not let happen, as an error of the database.
pub(super) fn io(error: std::io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
