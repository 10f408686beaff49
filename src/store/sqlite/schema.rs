//! The tables, and opening a file that has them.
//!
//! `change` is the log and holds every document; `state` says which row of it is in force for each
//! id. Revisions are the row numbers of the log: contiguous from 1, since an aborted transaction
//! leaves no gap.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::registry::Error;
use crate::store::fault;

/// Marks a file of SQLite as ours: the bytes "tsct".
const APPLICATION: i64 = 0x7473_6374;
/// Of the tables below.
pub(super) const SCHEMA: i64 = 1;
/// How long to wait for another process that writes: a server that is just ending.
const PATIENCE: Duration = Duration::from_secs(3);

const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE change (
    revision INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    author TEXT NOT NULL,
    reason TEXT,
    kind INTEGER NOT NULL,
    key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    hash BLOB,
    document TEXT,
    replacement TEXT
);
CREATE INDEX change_of ON change (kind, key, tenant, revision);
CREATE TABLE state (
    kind INTEGER NOT NULL,
    key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    tenants TEXT NOT NULL,
    revision INTEGER NOT NULL REFERENCES change,
    live INTEGER NOT NULL,
    PRIMARY KEY (kind, key, tenant)
) WITHOUT ROWID;
CREATE INDEX state_of_namespace ON state (tenant, namespace) WHERE live AND kind = 0;
";

/// Opens a file for writing, making it if need be.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let fault = fault::of(path);
    let mut connection = Connection::open(path).map_err(&fault)?;
    prepare(&mut connection).map_err(&fault)?;
    let version = version(&connection).map_err(&fault)?;
    check(path, version)?;
    if version.is_empty {
        make(&mut connection).map_err(&fault)?;
    }
    claim(&connection).map_err(&fault)?;
    Ok(connection)
}

/// Opens a file that is there, for reading.
pub(super) fn open_reader(path: &Path) -> Result<Connection, Error> {
    let fault = fault::of(path);
    if !path.is_file() {
        return Err(Error::Unreachable {
            place: path.display().to_string(),
            reason: "there is no such file".to_owned(),
        });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&fault)?;
    connection.busy_timeout(PATIENCE).map_err(&fault)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(&fault)?;
    let version = version(&connection).map_err(&fault)?;
    check(path, version)?;
    if version.is_empty {
        return Err(Error::Foreign {
            place: path.display().to_string(),
        });
    }
    Ok(connection)
}

fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // An acknowledged change survives the loss of power, not just of the process.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// Finds out whether the file can be written, before somebody relies on it.
fn claim(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT;")
}

#[derive(Clone, Copy)]
struct Version {
    application: i64,
    schema: i64,
    is_empty: bool,
}

fn version(connection: &Connection) -> rusqlite::Result<Version> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0));
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(Version {
        application: number("application_id")?,
        schema: number("user_version")?,
        is_empty: tables == 0,
    })
}

fn check(path: &Path, version: Version) -> Result<(), Error> {
    let place = path.display().to_string();
    if version.is_empty {
        return Ok(());
    }
    if version.application != APPLICATION {
        return Err(Error::Foreign { place });
    }
    if version.schema != SCHEMA {
        return Err(Error::Version {
            place,
            found: version.schema,
            supported: SCHEMA,
        });
    }
    Ok(())
}

fn make(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made them meanwhile.
    if version(&transaction)?.is_empty {
        transaction.execute_batch(TABLES)?;
        new_identity(&transaction)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
    }
    transaction.commit()
}

/// Gives the history a new identity: what was remembered of the old one is not to be believed.
pub(super) fn new_identity(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16))))
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [],
    )?;
    Ok(())
}

pub(super) fn identity(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row(
        "SELECT value FROM meta WHERE name = 'identity'",
        [],
        |row| row.get(0),
    )
}
