//! How good the search is: measured on labelled sets, and fitted to them.
//!
//! A [`dataset`] is read, [`run`] asks every question of it in every way, [`metric`] turns rankings
//! into figures, and [`report`] puts them side by side. [`tune`] looks for better constants,
//! [`strategies`] compares ways of giving tools to a model, [`gate`] refuses a change that loses
//! more than chance explains.
//!
//! Everything is deterministic: equal inputs give equal reports, to the byte.

pub mod bench;
pub mod dataset;
mod error;
pub mod gate;
pub mod keep;
pub mod metric;
pub mod random;
pub mod report;
pub mod run;
pub mod strategies;
pub mod tune;

pub use error::Error;

/// How far a long step has come. Sent often; cheap to ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done, as a reader would want to see it beside a bar.
    pub step: &'a str,
    /// How many are done.
    pub done: usize,
    /// How many there are. The step is over when `done` equals it.
    pub total: usize,
}
