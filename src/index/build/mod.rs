//! From a catalogue to an index: count the words, embed the texts, check the vectors.
//!
//! Equal texts are embedded once. A text that the model refuses costs its tool that vector and
//! nothing else; only a model that embeds nothing at all is an error.

mod embed;

use std::collections::HashMap;
use std::sync::Arc;

use super::dense::Dense;
use super::lexical::Lexical;
use super::{Error, Index, definition_hashes};
use crate::catalog::Catalog;
use crate::catalog::text::{self, Passage};
use crate::embed::{Embedder, Vectors};
use crate::tool::ToolId;
use embed::Embedded;

/// How far a build has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Texts embedded.
    pub done: usize,
    /// Texts to embed; equal texts count once.
    pub total: usize,
}

/// Builds an index: analyses and embeds all that the catalogue says.
///
/// `progress` is called on this thread, at the start, after each batch and at the end. Tools whose
/// document the model refused are in [`Index::unembedded`].
///
/// # Errors
/// [`Error::Embed`] where the model cannot embed anything, [`Error::VectorCount`] and
/// [`Error::Dimension`] where it is not what it says it is, [`Error::Rows`] where there are more
/// texts than an index can hold.
pub fn build(
    catalog: Arc<Catalog>,
    embedder: &dyn Embedder,
    progress: &dyn Fn(Progress),
) -> Result<Index, Error> {
    let lexical = Lexical::build(&catalog);
    let texts = Texts::of(&catalog);
    let embedded = embed::each(embedder, &texts.distinct, progress)?;
    let dense = dense(&texts, &embedded, catalog.len())?;
    let (namespaces, namespace_rows) = namespaces(&texts, &embedded)?;
    let has_document = |tool: ToolId| {
        let first = dense.rows_of(tool).next();
        first.is_some_and(|row| dense.passage(row) == Passage::Document)
    };
    let tools = (0..catalog.len() as u32).map(ToolId);
    Ok(Index {
        unembedded: tools.filter(|tool| !has_document(*tool)).collect(),
        definition_hashes: definition_hashes(&catalog),
        lexical,
        dense,
        namespaces,
        namespace_rows,
        model_id: embedder.model_id().to_owned(),
        calibration: embedder.calibration(),
        catalog,
    })
}

/// Everything to be embedded. Texts are named by their position among the distinct ones.
struct Texts {
    distinct: Vec<String>,
    /// Ascending by tool.
    passages: Vec<(ToolId, Passage, usize)>,
    /// None where a namespace has nothing to say.
    namespaces: Vec<Option<usize>>,
}

impl Texts {
    fn of(catalog: &Catalog) -> Self {
        let mut distinct = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut name = |text: String| {
            *known.entry(text).or_insert_with_key(|text| {
                distinct.push(text.clone());
                distinct.len() - 1
            })
        };
        let mut passages = Vec::new();
        for (at, tool) in catalog.tools().iter().enumerate() {
            for (passage, text) in text::passages(tool) {
                passages.push((ToolId(at as u32), passage, name(text)));
            }
        }
        let namespaces = catalog
            .namespaces()
            .iter()
            .map(text::namespace_passage)
            .map(|text| (!text.is_empty()).then(|| name(text)))
            .collect();
        Self {
            distinct,
            passages,
            namespaces,
        }
    }
}

fn dense(texts: &Texts, embedded: &Embedded, tools: usize) -> Result<Dense, Error> {
    let (mut data, mut owners, mut passages) = (Vec::new(), Vec::new(), Vec::new());
    data.reserve_exact(texts.passages.len() * embedded.dim());
    for (tool, passage, text) in &texts.passages {
        if let Some(vector) = embedded.vector(*text) {
            data.extend_from_slice(vector);
            owners.push(*tool);
            passages.push(*passage);
        }
    }
    let vectors = Vectors::from_unit(embedded.dim(), data)?;
    Dense::new(vectors, owners, passages, tools)
}

fn namespaces(texts: &Texts, embedded: &Embedded) -> Result<(Vectors, Vec<Option<u32>>), Error> {
    let (mut data, mut rows) = (Vec::new(), Vec::new());
    for text in &texts.namespaces {
        let vector = text.and_then(|text| embedded.vector(text));
        rows.push(vector.map(|_| (data.len() / embedded.dim()) as u32));
        data.extend_from_slice(vector.unwrap_or(&[]));
    }
    Ok((Vectors::from_unit(embedded.dim(), data)?, rows))
}

#[cfg(test)]
mod tests;
