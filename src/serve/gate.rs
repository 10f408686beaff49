//! The one way from the asynchronous threads to work that keeps a core busy: so many at a time, so
//! many waiting, and the rest are refused at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Span;

use super::error::Error;
use super::limits::Limits;

/// Bounded work on threads of its own.
#[derive(Debug)]
pub(super) struct Gate {
    /// Places for what runs or waits.
    places: Arc<Semaphore>,
    /// Places for what runs.
    turns: Arc<Semaphore>,
}

impl Gate {
    pub(super) fn new(limits: &Limits) -> Self {
        let searches = limits.searches.max(1);
        Self {
            places: Arc::new(Semaphore::new(searches + limits.waiting)),
            turns: Arc::new(Semaphore::new(searches)),
        }
    }

    /// Runs `work` when its turn has come.
    ///
    /// A caller that gives up while waiting gives its place back; work that has begun runs to its
    /// end and holds its turn until then, whether or not somebody still waits for it, so that no
    /// more than the limit ever run.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| Error::Overloaded)?;
        let turn = Arc::clone(&self.turns)
            .acquire_owned()
            .await
            .map_err(|closed| Error::internal(&closed))?;
        let span = Span::current();
        let job = move || {
            let _held: [OwnedSemaphorePermit; 2] = [place, turn];
            span.in_scope(work)
        };
        tokio::task::spawn_blocking(job)
            .await
            .map_err(|failed| Error::internal(&failed))
    }
}
