//! What is searched: one immutable value that holds the catalogue, its words and its vectors.
//!
//! [`build`] makes an [`Index`] from a catalogue, [`snapshot`] keeps it on disk. [`lexical`] answers
//! "which tools hold these words", [`dense`] "which tools lie near this vector"; both only ever
//! count and return tools of a [`Permitted`](crate::access::Permitted) set.

pub mod analyze;
pub mod build;
pub mod dense;
pub mod lexical;
pub mod snapshot;

use std::sync::Arc;

use crate::access::Permitted;
use crate::catalog::Catalog;
use crate::embed::{Calibration, Vectors};

/// A catalogue with everything that searching it needs. Immutable; swapped whole.
#[derive(Debug)]
pub struct Index {
    /// The tools and namespaces.
    pub catalog: Arc<Catalog>,
    /// Words of the tools.
    pub lexical: lexical::Lexical,
    /// Vectors of the tools.
    pub dense: dense::Dense,
    /// A vector for each namespace, in the catalogue's order, from the namespace's own text alone:
    /// nothing of a tool is in it, so it tells nothing of hidden tools.
    pub namespaces: Vectors,
    /// The vector space; see [`Embedder::model_id`](crate::embed::Embedder::model_id).
    pub model_id: String,
    /// Where the model's cosines lie.
    pub calibration: Calibration,
    /// Hash of each tool's definition, in the catalogue's order.
    pub definition_hashes: Vec<[u8; 32]>,
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
}
