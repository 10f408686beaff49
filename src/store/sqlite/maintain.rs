//! Copies of a registry, and proof that one is whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{read, schema};
use crate::registry::{Document, Error, Hash, Revision};
use crate::store::fault;

/// Faults that are told.
const MAX_FAULTS: usize = 20;
/// Rows looked at between two questions to the file.
const PAGE: usize = 1000;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// Identity of the registry's history.
    pub identity: String,
    /// The last revision.
    pub revision: Revision,
    /// Tools that are there.
    pub tools: usize,
    /// Namespaces that are described.
    pub namespaces: usize,
    /// What is wrong; empty for a registry that is whole. At most 20.
    pub faults: Vec<String>,
}

/// Writes a copy of the registry at `path` to the file `to`, which must not be there yet, as it is
/// at one moment; the registry may be served and changed meanwhile. The copy is checked.
///
/// # Errors
/// [`Error`] where the registry cannot be read, the copy cannot be written, or is not whole.
pub fn backup(path: &Path, to: &Path) -> Result<Findings, Error> {
    if to.exists() {
        return Err(taken(to));
    }
    let connection = schema::open_reader(path)?;
    // It writes another file than the one that is only to be read.
    connection
        .pragma_update(None, "query_only", false)
        .map_err(fault::of(path))?;
    let target = to.display().to_string();
    connection
        .execute("VACUUM INTO ?1", [&target])
        .map_err(fault::of(to))?;
    flush(to)?;
    whole(to)
}

/// Makes the registry `to` from a backup, under a new identity. With `force`, a registry that is
/// there is replaced; otherwise that is refused.
///
/// The old registry stays until the new one is whole and on disk. No server may have it open.
///
/// # Errors
/// [`Error`] where the backup is not whole or the registry cannot be written.
pub fn restore(backup: &Path, to: &Path, force: bool) -> Result<Findings, Error> {
    if to.exists() && !force {
        return Err(taken(to));
    }
    whole(backup)?;
    let io = |error: std::io::Error| failed(to, &error);
    let beside = with_suffix(to, ".restoring");
    let _ = fs::remove_file(&beside);
    fs::copy(backup, &beside).map_err(io)?;
    let renewed = Connection::open(&beside).and_then(|connection| {
        connection.pragma_update(None, "journal_mode", "DELETE")?;
        schema::new_identity(&connection)
    });
    renewed.map_err(fault::of(&beside))?;
    flush(&beside)?;
    // The log of the old file is no log of the new one.
    for suffix in ["-wal", "-shm"] {
        match fs::remove_file(with_suffix(to, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    fs::rename(&beside, to).map_err(io)?;
    if let Some(folder) = to.parent().filter(|_| cfg!(unix)) {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(io)?;
    }
    whole(to)
}

/// Checks everything that can be checked: the file itself, every document against its hash, and
/// what is in force against the log.
///
/// # Errors
/// [`Error`] where the file cannot be read at all; what is wrong with its content is in
/// [`Findings::faults`].
pub fn verify(path: &Path) -> Result<Findings, Error> {
    let connection = schema::open_reader(path)?;
    check(&connection).map_err(fault::of(path))
}

fn whole(path: &Path) -> Result<Findings, Error> {
    let findings = verify(path)?;
    match findings.faults.first() {
        None => Ok(findings),
        Some(fault) => Err(Error::Damaged {
            place: path.display().to_string(),
            reason: fault.clone(),
        }),
    }
}

fn check(connection: &Connection) -> rusqlite::Result<Findings> {
    let mut findings = Findings {
        identity: schema::identity(connection)?,
        revision: read::head(connection)?,
        tools: count(
            connection,
            "SELECT count(*) FROM state WHERE live AND kind = 0",
        )?,
        namespaces: count(
            connection,
            "SELECT count(*) FROM state WHERE live AND kind = 1",
        )?,
        faults: Vec::new(),
    };
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MAX_FAULTS})"))?;
    for line in statement.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            findings.faults.push(line);
        }
    }
    let changes = count(connection, "SELECT count(*) FROM change")?;
    if changes as u64 != findings.revision.0 {
        let text = format!(
            "the log has {changes} changes and ends at revision {}",
            findings.revision
        );
        findings.faults.push(text);
    }
    // For each id the last change of the log is in force, and it is live if it put something.
    let stray = "SELECT count(*) FROM
         (SELECT kind, key, tenant, max(revision) AS last, hash IS NOT NULL AS live
          FROM change GROUP BY kind, key, tenant) c
         FULL JOIN state s USING (kind, key, tenant)
         WHERE c.last IS NOT s.revision OR c.live IS NOT s.live";
    let stray = count(connection, stray)?;
    if stray > 0 {
        let text = format!("{stray} tools are not what the log says");
        findings.faults.push(text);
    }
    check_documents(connection, &mut findings)?;
    findings.faults.truncate(MAX_FAULTS);
    Ok(findings)
}

fn check_documents(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    let mut after = Revision(0);
    loop {
        let entries = read::entries(connection, after, PAGE)?;
        let Some(last) = entries.last() else {
            return Ok(());
        };
        after = last.revision;
        for entry in entries {
            let Some((hash, json)) = &entry.put else {
                continue;
            };
            let fault = if Hash::of(json.as_str()) != *hash {
                "its document is not what its hash says".to_owned()
            } else {
                match Document::read(entry.id.kind, json.as_str()) {
                    Ok(document) if document.id == entry.id => continue,
                    Ok(_) => "its document is another's".to_owned(),
                    Err(rejected) => format!("its document cannot be read: {rejected}"),
                }
            };
            if findings.faults.len() < MAX_FAULTS {
                let text = format!("revision {} ('{}'): {fault}", entry.revision, entry.id.key);
                findings.faults.push(text);
            }
        }
    }
}

fn count(connection: &Connection, query: &str) -> rusqlite::Result<usize> {
    let count: i64 = connection.query_row(query, [], |row| row.get(0))?;
    Ok(count as usize)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn flush(path: &Path) -> Result<(), Error> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| failed(path, &error))
}

fn taken(path: &Path) -> Error {
    Error::Failed {
        place: path.display().to_string(),
        reason: "there is a file already: choose another name, or replace it by --force".to_owned(),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    let place = path.display().to_string();
    match error.kind() {
        std::io::ErrorKind::StorageFull => Error::Full { place },
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            Error::ReadOnly {
                place,
                reason: error.to_string(),
            }
        }
        _ => Error::Failed {
            place,
            reason: error.to_string(),
        },
    }
}
