//! From a registry that changes to an index that is served: changes are gathered, the index is
//! built beside the one in use, and swapped in whole. Queries never wait.
//!
//! [`open()`] makes the first index, from the last good snapshot where there is one; [`follow`]
//! then keeps it up to date on a thread of its own, and its [`Following`] says how far it is.
//! Nothing is lost by a crash here: the log of the registry is the truth, and what was not indexed
//! yet is indexed after the next start.

mod advance;
mod progress;
mod remembered;
mod saved;
mod work;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::embed::Embedder;
use crate::index::{self, Index};
use crate::registry::{self, Store};

pub use advance::{Followed, open};
pub use progress::{Built, Phase, State};
pub use remembered::Remembered;
pub use work::{Following, follow};

/// What is followed, and by what means.
#[derive(Clone)]
pub struct Source {
    /// The registry.
    pub store: Arc<dyn Store>,
    /// The model; [`Remembered`] spares it what it has embedded before.
    pub embedder: Arc<dyn Embedder>,
    /// Folder of snapshots; without one, every start builds the index anew.
    pub snapshots: Option<PathBuf>,
    /// How changes are gathered.
    pub pace: Pace,
}

/// How changes are gathered, and how often the index is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// An index is built once no change has come for so long...
    pub quiet: Duration,
    /// ... or once the first change has waited for so long.
    pub longest: Duration,
    /// Time between two looks at the registry where nobody says that it changed: other processes
    /// may write it.
    pub poll: Duration,
    /// An index is saved once nothing has changed for so long, or ten times as long after the first
    /// change that is not saved.
    pub save: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(20),
            longest: Duration::from_millis(250),
            poll: Duration::from_secs(1),
            save: Duration::from_secs(5),
        }
    }
}

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] registry::Error),
    /// The index cannot be built.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The index cannot be served.
    #[error("the new index cannot be served: {0}")]
    Publish(String),
}

/// Puts an index into service; says why where it cannot.
pub type Publish = Box<dyn FnMut(Arc<Index>) -> Result<(), String> + Send>;

#[cfg(test)]
mod tests;
