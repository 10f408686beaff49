//! How far the index is behind the registry, for administrators.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::registry::Revision;

/// Keys of tools and texts of problems that are told.
pub(super) const MAX_TOLD: usize = 100;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Nothing: all that is known of is served.
    #[default]
    Idle,
    /// Changes are waited for that come with those that came.
    Gathering,
    /// An index is being built.
    Building {
        /// Texts embedded.
        done: usize,
        /// Texts to embed.
        total: usize,
    },
    /// The last build failed; it is tried again later.
    Waiting,
}

/// How an index was built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Built {
    /// The revision it is of.
    pub revision: Revision,
    /// When it was put into service.
    pub at: SystemTime,
    /// Seconds from the first look at the changes to its service.
    pub seconds: f64,
    /// Changes it took up.
    pub changes: usize,
}

/// How far the index is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// What is being done.
    pub phase: Phase,
    /// The revision that is served.
    pub served: Revision,
    /// The last revision that the registry is known to have.
    pub wanted: Revision,
    /// The last build.
    pub built: Option<Built>,
    /// Builds since the start.
    pub builds: u64,
    /// What went wrong last, and when; none once all is well again.
    pub error: Option<(SystemTime, String)>,
    /// Tools that are served.
    pub tools: usize,
    /// How many tools are found by words alone, and the first of their keys.
    pub unembedded: (usize, Vec<String>),
    /// Documents of the registry that cannot be read, and so are not served; the first hundred.
    pub problems: Vec<String>,
    /// The last revision of which there is a snapshot.
    pub saved: Revision,
    /// Why the last snapshot could not be saved.
    pub save_error: Option<String>,
}

/// A state that is shared with those who ask for it.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<State>);

impl Shared {
    pub(super) fn get(&self) -> State {
        self.lock().clone()
    }

    pub(super) fn served(&self) -> Revision {
        self.lock().served
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
    }

    /// Every change leaves the state whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
