//! From a catalogue to an index.

use std::sync::Arc;

use super::{Error, Index, definition_hashes, dense::Dense, lexical::Lexical};
use crate::catalog::{Catalog, text};
use crate::embed::{Embedder, Side, Vectors};
use crate::tool::ToolId;

/// How far a build has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Texts embedded.
    pub done: usize,
    /// Texts to embed.
    pub total: usize,
}

/// Builds an index: analyses and embeds all that the catalogue says.
///
/// A text that the model refuses costs its tool that vector only; see [`Index::unembedded`].
///
/// # Errors
/// [`Error::Embed`] where the model cannot embed anything, [`Error::VectorCount`] and
/// [`Error::Dimension`] where it is not what it says it is.
pub fn build(
    catalog: Arc<Catalog>,
    embedder: &dyn Embedder,
    progress: &dyn Fn(Progress),
) -> Result<Index, Error> {
    let lexical = Lexical::build(&catalog);
    let (mut texts, mut owners, mut passages) = (Vec::new(), Vec::new(), Vec::new());
    for (at, tool) in catalog.tools().iter().enumerate() {
        for (passage, text) in text::passages(tool) {
            texts.push(text);
            owners.push(ToolId(at as u32));
            passages.push(passage);
        }
    }
    let total = texts.len();
    progress(Progress { done: 0, total });
    let vectors = if texts.is_empty() {
        Vectors::empty(embedder.dim())
    } else {
        embedder.embed(Side::Document, &texts)?
    };
    progress(Progress { done: total, total });
    let dense = Dense::new(vectors, owners, passages, catalog.len())?;
    let (mut names, mut namespace_rows) = (Vec::new(), Vec::new());
    for namespace in catalog.namespaces() {
        let text = text::namespace_passage(namespace);
        namespace_rows.push((!text.is_empty()).then_some(names.len() as u32));
        if !text.is_empty() {
            names.push(text);
        }
    }
    let namespaces = if names.is_empty() {
        Vectors::empty(embedder.dim())
    } else {
        embedder.embed(Side::Document, &names)?
    };
    Ok(Index {
        definition_hashes: definition_hashes(&catalog),
        lexical,
        dense,
        namespaces,
        namespace_rows,
        model_id: embedder.model_id().to_owned(),
        calibration: embedder.calibration(),
        unembedded: Vec::new(),
        catalog,
    })
}
