//! Why a measurement could not be made. Every message names the file and the line.

use std::path::PathBuf;

use crate::{catalog, embed, index, search};

/// Why a set could not be read, searched or reported on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line of a labelled set is not what the format says. Nothing of the set is measured: a
    /// figure over half a set looks like a figure.
    #[error("{file}:{line}: {reason}")]
    Line {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The tools cannot be read.
    #[error(transparent)]
    Catalogue(#[from] catalog::read::Error),
    /// A set without tools of its own, and no catalogue was named.
    #[error("{folder} holds no tools.jsonl and no folder tools: name its catalogue with --catalog")]
    NoTools {
        /// The set.
        folder: PathBuf,
    },
    /// A set of which nothing can be measured.
    #[error(
        "{folder}: no query has a label that the catalogue knows ({unlabelled} without a label, \
         {unknown} labels of unknown tools)"
    )]
    NothingLabelled {
        /// The set.
        folder: PathBuf,
        /// Queries without a label.
        unlabelled: usize,
        /// Labels whose tool the catalogue does not hold.
        unknown: usize,
    },
    /// Texts cannot be embedded.
    #[error(transparent)]
    Embed(#[from] embed::Error),
    /// An index cannot be built.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// A search failed.
    #[error("query '{query}': {source}")]
    Search {
        /// Id of the query.
        query: String,
        /// Why.
        source: search::Error,
    },
    /// The model failed on a query.
    #[error("query '{query}' could not be embedded: {reason}")]
    Model {
        /// Id of the query.
        query: String,
        /// What the model said.
        reason: String,
    },
    /// A report that cannot be read back.
    #[error("{path} is no report of `toolscout eval --report`: {source}")]
    Report {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Two reports without a set in common.
    #[error("the two reports have no set in common ({left} / {right})")]
    NothingInCommon {
        /// Sets of the first.
        left: String,
        /// Sets of the second.
        right: String,
    },
    /// Cross-validation holds one set out, so it needs another to fit on.
    #[error("tuning needs at least two sets, and got {found}")]
    TooFewSets {
        /// Sets given.
        found: usize,
    },
}
