//! How good the search is: measured on labelled sets, and fitted to them.
//!
//! A [`dataset`] is read, [`run`] asks every question of it in every way, [`metric`] turns rankings
//! into figures, and [`report`] puts them side by side. [`tune`] looks for better constants,
//! [`strategies`] compares ways of giving tools to a model, [`gate`] refuses a change that loses
//! more than chance explains.
//!
//! Everything is deterministic: equal inputs give equal reports, to the byte.

pub mod dataset;
mod error;
pub mod keep;
pub mod metric;
pub mod random;

pub use error::Error;
