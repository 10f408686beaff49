//! Everything that can go wrong between a model's name and a vector, each saying what to do next.

use std::path::PathBuf;

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model gave something that is not whole rows.
    #[error(
        "the model gave {numbers} numbers, which are not rows of {dim}: check 'dimension' in its manifest"
    )]
    Shape {
        /// Numbers expected in a row.
        dim: usize,
        /// Numbers given.
        numbers: usize,
    },
    /// A model gave a row that has no direction.
    #[error("the model gave a vector that is not finite or has no length (row {row})")]
    NotFinite {
        /// Which row.
        row: usize,
    },
    /// A model's vectors are of another length than expected.
    #[error(
        "model '{model}' gives vectors of {found} numbers where {expected} were expected: correct 'dimension' in its manifest, or the model is another"
    )]
    Dimension {
        /// The model.
        model: String,
        /// Numbers expected.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// A file of the model is missing, unreadable or not what its manifest says.
    #[error("model file {path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A manifest says something that cannot be.
    #[error("manifest {path}: {reason}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// No model of that name.
    #[error("no model named '{name}'; known are: {known}")]
    UnknownModel {
        /// The name asked for.
        name: String,
        /// Names found, comma separated.
        known: String,
    },
    /// ONNX Runtime cannot be had.
    #[error("ONNX Runtime: {reason}")]
    Runtime {
        /// What was tried and what to do.
        reason: String,
    },
    /// The model failed while running.
    #[error("model '{model}' failed: {reason}")]
    Model {
        /// The model.
        model: String,
        /// What it said.
        reason: String,
    },
    /// A remote endpoint failed.
    #[error("embedding endpoint {url}: {reason}")]
    Endpoint {
        /// Where.
        url: String,
        /// What happened.
        reason: String,
    },
}
