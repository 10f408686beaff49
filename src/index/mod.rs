//! What is searched: one immutable value that holds the catalogue, its words and its vectors.
//!
//! [`build()`](build::build) makes an [`Index`] from a catalogue, [`snapshot`] keeps it on disk.
//! [`lexical`] answers "which tools hold these words", [`dense`] "which tools lie near this vector";
//! both only ever count and return tools of a [`Permitted`] set.

pub mod analyze;
pub mod build;
pub mod dense;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
pub mod lexical;
pub mod snapshot;

use std::sync::Arc;

use crate::access::Permitted;
use crate::catalog::Catalog;
use crate::embed::{Calibration, Vectors};
use crate::tool::{NamespaceId, ToolId};

pub use error::Error;

/// A catalogue with everything that searching it needs. Immutable; swapped whole.
#[derive(Debug)]
pub struct Index {
    /// The tools and namespaces.
    pub catalog: Arc<Catalog>,
    /// Words of the tools.
    pub lexical: lexical::Lexical,
    /// Vectors of the tools.
    pub dense: dense::Dense,
    /// Vectors of the namespaces that have something to say, in the catalogue's order, each from the
    /// namespace's own text alone: nothing of a tool is in it, so it tells nothing of hidden tools.
    pub namespaces: Vectors,
    /// Row of each namespace in `namespaces`; none where it has no text or could not be embedded.
    pub namespace_rows: Vec<Option<u32>>,
    /// The vector space; see [`Embedder::model_id`](crate::embed::Embedder::model_id).
    pub model_id: String,
    /// Where the model's cosines lie.
    pub calibration: Calibration,
    /// Hash of each tool's definition, in the catalogue's order.
    pub definition_hashes: Vec<[u8; 32]>,
    /// Tools that have no document vector because the model refused their text, ascending: found by
    /// keyword only.
    pub unembedded: Vec<ToolId>,
}

impl Index {
    /// Hash over the definitions that are permitted, in hexadecimal (32 digits): changes when and
    /// only when something changes that the caller may see.
    pub fn etag(&self, permitted: &Permitted) -> String {
        let mut hasher = blake3::Hasher::new();
        for tool in permitted.iter() {
            hasher.update(&self.definition_hashes[tool.index()]);
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// The vector of a namespace; none where it has no text or could not be embedded.
    pub fn namespace_vector(&self, namespace: NamespaceId) -> Option<&[f32]> {
        self.namespace_rows[namespace.index()].map(|row| self.namespaces.row(row as usize))
    }
}
