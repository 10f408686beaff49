//! What can go wrong with an index. Every message says what to do where something can be done.

use std::path::PathBuf;

use crate::embed;

/// Why an index could not be built, searched, saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model cannot embed anything.
    #[error("embedding the catalogue failed: {0}")]
    Embed(#[from] embed::Error),
    /// A model gave a number of vectors that is not the number of texts.
    #[error("model '{model}' gave {found} vectors for {expected} texts")]
    VectorCount {
        /// The model.
        model: String,
        /// Texts given to it.
        expected: usize,
        /// Vectors it gave.
        found: usize,
    },
    /// A vector has another dimension than those it is to be compared with.
    #[error(
        "a vector has {found} dimensions where the index has {expected}: was it made by another model?"
    )]
    Dimension {
        /// Dimension of the index.
        expected: usize,
        /// Dimension of the vector.
        found: usize,
    },
    /// A query vector holds NaN or infinity.
    #[error("a query vector is not finite")]
    QueryNotFinite,
    /// Rows, owners and passages of an index do not fit together.
    #[error("vectors do not fit together: {reason} (row {row})")]
    Rows {
        /// First row at fault.
        row: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no snapshot.
    #[error("no index at {path}: make one with `toolscout index`")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is not a snapshot of ours.
    #[error(
        "{path} is not an index of toolscout: check the path, or make an index with `toolscout index`"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A snapshot in a format that this version does not read.
    #[error(
        "{path} has index format {found}, and this version reads {supported}: run `toolscout index` again, or use the version that wrote it"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Format of the file.
        found: u16,
        /// Format read here.
        supported: u16,
    },
    /// A snapshot that ends too early.
    #[error("{path} is cut short ({found} bytes of {expected}): run `toolscout index` again")]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes that there should be.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// A snapshot whose bytes are not those that were written.
    #[error("{path} is damaged in section '{section}': run `toolscout index` again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which part of it.
        section: String,
    },
    /// A snapshot whose parts are whole but do not fit together: written by a faulty program.
    #[error(
        "{path} is not consistent in section '{section}' ({reason}): run `toolscout index` again"
    )]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// Which part of it.
        section: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// A snapshot whose words were made by another analyser.
    #[error(
        "{path} was made with analyser {found}, and this version has {expected}: run `toolscout index` again"
    )]
    Analyzer {
        /// The file.
        path: PathBuf,
        /// Analyser of the file.
        found: u32,
        /// Analyser here.
        expected: u32,
    },
    /// A snapshot whose vectors are another model's.
    #[error(
        "{path} holds vectors of model '{found}', and the model here is '{expected}': run `toolscout index` again, or choose that model"
    )]
    Model {
        /// The file.
        path: PathBuf,
        /// Model of the file.
        found: String,
        /// Model wanted.
        expected: String,
    },
}
