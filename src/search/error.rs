//! What can go wrong with a search. Nothing that a query says can: queries are answered.

use crate::index;

/// Why a request could not be answered. A model that fails is no reason: the answer comes from the
/// words alone, and its `arms` say so.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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
