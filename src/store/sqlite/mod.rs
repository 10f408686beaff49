//! A registry in one file, by SQLite: no set-up, one writing process.
//!
//! One thread owns the writing connection and takes jobs from a bounded queue, so that changes
//! stand in one order and nobody waits on a lock. Reads have connections of their own and never
//! wait for writes (WAL). A commit is flushed to disk before it is acknowledged
//! (`synchronous = FULL`).

mod maintain;
mod read;
mod schema;
mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::fault;
use crate::registry::{Applied, Batch, Entry, Error, Id, Record, Replacement, Revision, Store};

pub use maintain::{Findings, backup, restore, verify};

/// Jobs that wait for the writer; more are refused.
const QUEUE: usize = 256;
/// Connections for reading that are kept open.
const READERS: usize = 4;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A registry in a file of SQLite.
pub struct Sqlite {
    path: PathBuf,
    identity: String,
    limits: Limits,
    readers: Mutex<Vec<Connection>>,
    /// None once the store is being dropped.
    jobs: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
}

/// Bounds on what a registry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tools of one tenant's own.
    pub tenant_tools: usize,
    /// Tools that tenants share.
    pub shared_tools: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tenant_tools: 100_000,
            shared_tools: 1_000_000,
        }
    }
}

impl Sqlite {
    /// Opens the registry at `path` for writing, making it if there is none.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::Version`], [`Error::Damaged`] for a file that is no registry of
    /// this version, [`Error::Locked`] where another process writes it, [`Error::ReadOnly`] and
    /// [`Error::Full`] where it cannot be written.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, Error> {
        let mut connection = schema::open(path)?;
        let identity = schema::identity(&connection).map_err(fault::of(path))?;
        let (jobs, queue) = sync_channel::<Job>(QUEUE);
        let writer = std::thread::Builder::new()
            .name("registry".to_owned())
            .spawn(move || work(&mut connection, &queue))
            .map_err(|error| Error::Failed {
                place: path.display().to_string(),
                reason: error.to_string(),
            })?;
        Ok(Self {
            path: path.to_owned(),
            identity,
            limits,
            readers: Mutex::default(),
            jobs: Some(jobs),
            writer: Some(writer),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has the writing thread do something and waits for it.
    fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let closed = || Error::Unreachable {
            place: self.path.display().to_string(),
            reason: "its writing thread has ended, or the change broke off".to_owned(),
        };
        let (sender, receiver) = sync_channel(1);
        let job = Box::new(move |connection: &mut Connection| {
            // The caller waits below; where it does not, nobody wants the answer.
            let _ = sender.send(job(connection));
        });
        match self.jobs.as_ref().ok_or_else(closed)?.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(Error::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(closed()),
        }
        receiver
            .recv()
            .map_err(|_| closed())?
            .map_err(fault::of(&self.path))
    }

    fn read<T>(&self, job: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let kept = self.readers().pop();
        let connection = match kept {
            Some(connection) => connection,
            None => schema::open_reader(&self.path)?,
        };
        let result = job(&connection).map_err(fault::of(&self.path))?;
        let mut readers = self.readers();
        if readers.len() < READERS {
            readers.push(connection);
        }
        Ok(result)
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does jobs until nobody can send any more.
fn work(connection: &mut Connection, queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        // A job that panics rolls its transaction back while it unwinds, and its sender is told by
        // the channel that is dropped: the next one finds a usable connection.
        let _ = catch_unwind(AssertUnwindSafe(|| job(connection)));
    }
}

impl Drop for Sqlite {
    /// Waits until what was sent is done, so that the file may be opened again at once.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(writer) = self.writer.take() {
            // It ends by itself; what made it panic was told to whoever sent the job.
            let _ = writer.join();
        }
    }
}

impl Store for Sqlite {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn head(&self) -> Result<Revision, Error> {
        self.read(read::head)
    }

    fn apply(&self, batch: Batch) -> Result<Applied, Error> {
        let limits = self.limits;
        self.write(move |connection| write::apply(connection, batch, limits))
    }

    fn replace(&self, replacement: Replacement) -> Result<Applied, Error> {
        let limits = self.limits;
        self.write(move |connection| write::replace(connection, replacement, limits))
    }

    fn entries(&self, after: Revision, limit: usize) -> Result<Vec<Entry>, Error> {
        self.read(|connection| read::entries(connection, after, limit))
    }

    fn page(&self, after: Option<&Id>, limit: usize) -> Result<Vec<Record>, Error> {
        self.read(|connection| read::page(connection, after, limit))
    }

    fn record(&self, id: &Id) -> Result<Option<Record>, Error> {
        self.read(|connection| read::record(connection, id))
    }

    fn history(&self, id: &Id, limit: usize) -> Result<Vec<Entry>, Error> {
        self.read(|connection| read::history(connection, id, limit))
    }
}

#[cfg(test)]
mod tests;
