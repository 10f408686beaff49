//! What a place that keeps a registry must do.

use super::change::{Applied, Batch, Replacement};
use super::error::Error;
use super::item::{Document, Hash, Id, Revision};
use crate::tool::Json;

/// Who makes a change, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Name of the key or program.
    pub name: String,
    /// In the author's words; none where nothing was said.
    pub reason: Option<String>,
}

/// One change of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub revision: Revision,
    /// Milliseconds since 1970, by the clock of the store. Not in the order of revisions where
    /// clocks are set back.
    pub at: i64,
    /// Who and why.
    pub author: Author,
    /// What was changed.
    pub id: Id,
    /// What was put; none where something was deleted.
    pub put: Option<(Hash, Json)>,
    /// Of a deletion: key of the tool to use instead.
    pub replacement: Option<String>,
}

/// Something that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The revision that put it there.
    pub revision: Revision,
    /// What it is.
    pub document: Document,
}

/// A place that keeps a registry.
///
/// Every call sees the effect of every call that ended before it began. What
/// [`apply`](Self::apply) has acknowledged is on disk and stays, whatever happens to the process.
/// Calls wait for disk or network: asynchronous callers move them to a thread.
pub trait Store: Send + Sync {
    /// Identity of this registry's history. A restored registry has another one, since it may go on
    /// otherwise from the revision it was restored at.
    fn identity(&self) -> &str;

    /// The last revision there is.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be read.
    fn head(&self) -> Result<Revision, Error>;

    /// Makes changes, in one transaction.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be written: then nothing was changed. That a change is
    /// refused is no error but an [`Effect`](super::Effect).
    fn apply(&self, batch: Batch) -> Result<Applied, Error>;

    /// Replaces all tools of a namespace, in one transaction.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn replace(&self, replacement: Replacement) -> Result<Applied, Error>;

    /// The log after a revision, ascending, at most `limit` changes. Complete: a reader that goes
    /// on after the last revision it was given misses none.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be read.
    fn entries(&self, after: Revision, limit: usize) -> Result<Vec<Entry>, Error>;

    /// What is there, ascending by id, at most `limit`, beginning after an id. Pages that are read
    /// while changes are made are each of their own revision.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be read.
    fn page(&self, after: Option<&Id>, limit: usize) -> Result<Vec<Record>, Error>;

    /// What is there under an id.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be read.
    fn record(&self, id: &Id) -> Result<Option<Record>, Error>;

    /// The changes of one id, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be read.
    fn history(&self, id: &Id, limit: usize) -> Result<Vec<Entry>, Error>;
}

/// Names a vector: hash of the model's identity and the text.
pub type VectorKey = [u8; 32];

/// A place that keeps vectors, so that a text is embedded once. It may forget any of them.
pub trait VectorStore: Send + Sync {
    /// The vectors of `keys`, each of `dim` numbers; none where it is not known.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be read.
    fn find(&self, keys: &[VectorKey], dim: usize) -> Result<Vec<Option<Vec<f32>>>, Error>;

    /// Keeps `rows`, a vector a key. A key that is known keeps the vector that it has.
    ///
    /// # Errors
    /// [`Error`] where the store cannot be written.
    fn keep(&self, keys: &[VectorKey], rows: &[&[f32]]) -> Result<(), Error>;
}
