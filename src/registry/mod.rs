//! The registry: tools and namespaces that change while they are served, and the log of how.
//!
//! Every accepted change gets a [`Revision`], the next number in one total order, with its author,
//! time and reason. The log is never rewritten: what is served at a revision is what the log up to
//! it says, and the history of a tool is its part of the log.
//!
//! This module says what a change is ([`Change`]), which are accepted ([`decide()`]) and what a
//! place that keeps them must do ([`Store`]). It touches no disk and no network; [`crate::store`]
//! has the places.

mod change;
mod decide;
mod error;
mod item;
mod store;

pub use change::{Action, Applied, Batch, Change, Effect, Expect, Mode, Replacement};
pub use decide::{Decision, Held, MIN_SHARE, decide, guard};
pub use error::{Error, Refusal};
pub use item::{Document, Hash, Id, Kind, Revision};
pub use store::{Author, Entry, Record, Store, VectorKey, VectorStore};
