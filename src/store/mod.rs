//! Where registries are kept: a file of SQLite ([`sqlite`]), and beside it the vectors of its texts
//! ([`vectors`]).
//!
//! The rules of what is accepted are those of [`crate::registry`]; what is here keeps them in one
//! transaction with what they decide about.

mod fault;
pub mod sqlite;
pub mod vectors;
