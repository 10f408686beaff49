//! Vectors of texts, kept beside a registry in a file of their own: a cache that may be deleted at
//! any time, so it is written without waiting for the disk and is no part of a backup.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytemuck::cast_slice;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault;
use crate::registry::{Error, VectorKey, VectorStore};

/// Of the table below; another one is thrown away.
const SCHEMA: i64 = 1;
/// Share of the bound that is freed when it is reached.
const FREED: f64 = 0.1;

/// A file of vectors.
pub struct Vectors {
    connection: Mutex<Connection>,
    place: String,
    /// Bytes of vectors that are kept.
    bound: u64,
}

impl Vectors {
    /// Opens the file at `path` for at most `bound` bytes of vectors. A file that is not one, or is
    /// damaged, is begun anew.
    ///
    /// # Errors
    /// [`Error`] where it can be neither opened nor made.
    pub fn open(path: &Path, bound: u64) -> Result<Self, Error> {
        let connection = prepare(path).or_else(|_| {
            for suffix in ["", "-wal", "-shm"] {
                let mut name = path.as_os_str().to_owned();
                name.push(suffix);
                // What is not there need not go; what cannot go fails below.
                let _ = std::fs::remove_file(name);
            }
            prepare(path)
        });
        Ok(Self {
            connection: Mutex::new(connection.map_err(fault::of(path))?),
            place: path.display().to_string(),
            bound,
        })
    }

    fn with<T>(
        &self,
        job: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        job(&mut connection).map_err(fault::of(Path::new(&self.place)))
    }
}

fn prepare(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(1))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != SCHEMA {
        connection.execute_batch(
            "DROP TABLE IF EXISTS vector;
             CREATE TABLE vector (key BLOB PRIMARY KEY, row BLOB NOT NULL);",
        )?;
        connection.pragma_update(None, "user_version", SCHEMA)?;
    }
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound != "ok" {
        return Err(rusqlite::Error::InvalidQuery);
    }
    Ok(connection)
}

impl VectorStore for Vectors {
    fn find(&self, keys: &[VectorKey], dim: usize) -> Result<Vec<Option<Vec<f32>>>, Error> {
        self.with(|connection| {
            let transaction = connection.transaction()?;
            let mut statement =
                transaction.prepare_cached("SELECT row FROM vector WHERE key = ?1")?;
            keys.iter()
                .map(|key| {
                    let row: Option<Vec<u8>> =
                        statement.query_row([key], |row| row.get(0)).optional()?;
                    let fits = |row: &Vec<u8>| row.len() == dim * size_of::<f32>();
                    Ok(row.filter(fits).map(|row| numbers(&row)))
                })
                .collect()
        })
    }

    fn keep(&self, keys: &[VectorKey], rows: &[&[f32]]) -> Result<(), Error> {
        self.with(|connection| {
            let transaction = connection.transaction()?;
            {
                let mut statement = transaction
                    .prepare_cached("INSERT OR IGNORE INTO vector (key, row) VALUES (?1, ?2)")?;
                for (key, row) in keys.iter().zip(rows) {
                    statement.execute(params![key, cast_slice::<f32, u8>(row)])?;
                }
            }
            if let Some(row) = rows.first() {
                shrink(&transaction, self.bound, size_of_val::<[f32]>(*row) as u64)?;
            }
            transaction.commit()
        })
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().copied().map(f32::from_ne_bytes).collect()
}

/// Lets the oldest go where there are more than the bound allows.
fn shrink(connection: &Connection, bound: u64, row: u64) -> rusqlite::Result<()> {
    let last: i64 = connection.query_row(
        "SELECT coalesce(max(rowid) - min(rowid) + 1, 0) FROM vector",
        [],
        |row| row.get(0),
    )?;
    let most = bound / (row + size_of::<VectorKey>() as u64).max(1);
    if (last as u64) <= most {
        return Ok(());
    }
    let kept = (most as f64 * (1.0 - FREED)) as i64;
    connection.execute(
        "DELETE FROM vector WHERE rowid <= (SELECT max(rowid) FROM vector) - ?1",
        [kept],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> VectorKey {
        [number; 32]
    }

    #[test]
    fn a_vector_is_kept_bit_for_bit_and_the_first_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let row = [0.1f32, -0.0, 1e-30];
        let store = Vectors::open(&path, 1 << 20).unwrap();
        store.keep(&[key(1)], &[&row]).unwrap();
        store.keep(&[key(1)], &[&[1.0, 2.0, 3.0]]).unwrap();
        drop(store);
        let store = Vectors::open(&path, 1 << 20).unwrap();
        let found = store.find(&[key(1), key(2)], 3).unwrap();
        assert_eq!(found, [Some(row.to_vec()), None]);
        assert_eq!(store.find(&[key(1)], 4).unwrap(), [None]);
    }

    #[test]
    fn the_oldest_go_where_the_bound_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        let store = Vectors::open(&folder.path().join("vectors"), 36 * 10).unwrap();
        for number in 0..30 {
            store.keep(&[key(number)], &[&[1.0]]).unwrap();
        }
        let keys: Vec<VectorKey> = (0..30).map(key).collect();
        let found = store.find(&keys, 1).unwrap();
        let kept = found.iter().flatten().count();
        assert!((9..=10).contains(&kept), "{kept}");
        assert!(found[29].is_some() && found[0].is_none());
    }

    #[test]
    fn a_broken_file_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        std::fs::write(&path, "no database at all".repeat(1000)).unwrap();
        let store = Vectors::open(&path, 1 << 20).unwrap();
        assert_eq!(store.find(&[key(1)], 1).unwrap(), [None]);
    }
}
