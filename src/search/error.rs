//! What can go wrong with a search. Nothing that a query says can: queries are answered.

use crate::{embed, index};

/// Why a request could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model failed on the request.
    #[error("the request could not be embedded: {0}")]
    Embed(#[from] embed::Error),
    /// Vectors do not fit the index.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The index was made with another model.
    #[error(
        "the index was made with model '{index}' and the request with '{query}': make the index again"
    )]
    Model {
        /// Model of the index.
        index: String,
        /// Model of the request.
        query: String,
    },
}
