//! One request of one user: which of the permitted tools its model sees at once, which it must look
//! for first, and which it has found.
//!
//! A [`Surface`] is what a permitted set looks like under the [exposure rules](exposure); it is
//! immutable and shared. A [`Session`] opens over one and only ever grows: [`Session::find`] says
//! what a [`tool_search`](SEARCH_NAME) would load, [`Session::load`] loads it, and what is loaded
//! may be called from the next turn on. The [`directory`] tells the model what there is to be found,
//! and [`why`] tells an administrator why a tool was not.
//!
//! Data and functions; no I/O but for what the embedder does.

pub mod directory;
pub mod exposure;
mod find;
mod keyword;
mod look;
mod names;
mod query;
pub mod settings;
mod state;
mod surface;
pub mod why;

pub use exposure::ExposureRule;
pub use find::{Engine, Found, MAX_SELECTED, Wanted};
pub use look::SearchOptions;
pub use settings::{Directory, Mode, Opening, Outcome, Prefetched, Settings};
pub use state::{Allowed, Fallback, Session, Via};
pub use surface::Surface;

/// The tool by which a model searches, unless a real tool has this name.
pub const SEARCH_NAME: &str = "tool_search";
