//! The registry as the handlers have it: its store, and how far the index is behind it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::Error;
use crate::refresh::Following;
use crate::registry::{self, Revision, Store};

/// Time between two looks whether a revision is served.
const PAUSE: Duration = Duration::from_millis(5);

/// A registry whose index is served.
pub struct Registry {
    store: Arc<dyn Store>,
    following: Arc<Following>,
    spool: PathBuf,
    open_writes: bool,
}

impl Registry {
    /// A store that is being followed. Bulk changes are kept in the folder `spool` while they
    /// arrive. With `open_writes`, everybody who asks an open server may write.
    pub fn new(
        store: Arc<dyn Store>,
        following: Arc<Following>,
        spool: PathBuf,
        open_writes: bool,
    ) -> Self {
        Self {
            store,
            following,
            spool,
            open_writes,
        }
    }

    pub(super) fn open_writes(&self) -> bool {
        self.open_writes
    }

    pub(super) fn following(&self) -> &Following {
        &self.following
    }

    pub(super) fn spool(&self) -> &Path {
        &self.spool
    }

    /// Has the store do something on a thread that may wait for the disk, and wakes the index.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&dyn Store) -> Result<T, registry::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let store = Arc::clone(&self.store);
        let done = tokio::task::spawn_blocking(move || job(&*store))
            .await
            .map_err(|failed| Error::internal(&failed))?;
        self.following.wake();
        Ok(done?)
    }

    /// Waits until a revision is served, for at most `patience`; whether it is.
    pub(super) async fn served(&self, revision: Revision, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while self.following.served() < revision {
            if end <= Instant::now() {
                return false;
            }
            sleep(PAUSE).await;
        }
        true
    }
}
