//! From a catalogue to an index: count the words, embed the texts, check the vectors.
//!
//! Equal texts are embedded once, and what an index before has of a tool is taken from it. A text that the model refuses costs its tool that vector and
//! nothing else; only a model that embeds nothing at all is an error.

mod embed;
mod kept;

use std::collections::HashMap;
use std::sync::Arc;

use super::dense::Dense;
use super::lexical::Lexical;
use super::{Error, Index};
use crate::catalog::Catalog;
use crate::catalog::text::{self, Passage};
use crate::embed::{Calibration, Embedder, Vectors};
use crate::tool::{Tool, ToolId};
use embed::Embedded;
use kept::Kept;

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
    let kept = Kept::nothing(&catalog);
    let texts = Texts::of(&catalog, &kept, &|_| true);
    let embedded = embed::each(embedder, &texts.distinct, progress)?;
    let space = Space {
        model_id: embedder.model_id().to_owned(),
        calibration: embedder.calibration(),
    };
    assemble(catalog, &kept, (&texts, &embedded), space)
}

/// Which vectors are made, and by what.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The model of the index before; none where it cannot be reached.
    pub embedder: Option<&'a dyn Embedder>,
    /// Tools that are to have vectors: of those that changed, and of those that have none yet. The
    /// others of these are found by words alone, as [`Index::unembedded`] tells.
    pub wanted: &'a (dyn Fn(&Tool) -> bool + Sync),
}

/// Builds the index of `catalog` from that of a catalogue before: only what has changed is analysed
/// and embedded. Two tools are the same where all of them is. Where all vectors are wanted, the
/// index is equal to one that is built anew, to within what the model makes of a text at another
/// time.
///
/// # Errors
/// As [`build()`].
pub fn update(
    previous: &Index,
    catalog: Arc<Catalog>,
    means: Means<'_>,
    progress: &dyn Fn(Progress),
) -> Result<Index, Error> {
    let other = |model: &&dyn Embedder| model.model_id() != previous.model_id;
    if let Some(embedder) = means.embedder.filter(other) {
        return build(catalog, embedder, progress);
    }
    let wanted = |tool: &Tool| means.embedder.is_some() && (means.wanted)(tool);
    let kept = Kept::of(previous, &catalog, &wanted);
    let texts = Texts::of(&catalog, &kept, &wanted);
    let embedded = match means.embedder {
        Some(embedder) => embed::each(embedder, &texts.distinct, progress)?,
        None => Embedded::nothing(previous.dense.dim(), texts.distinct.len()),
    };
    let space = Space {
        model_id: previous.model_id.clone(),
        calibration: previous.calibration,
    };
    assemble(catalog, &kept, (&texts, &embedded), space)
}

/// The vector space of an index.
struct Space {
    model_id: String,
    calibration: Calibration,
}

fn assemble(
    catalog: Arc<Catalog>,
    kept: &Kept<'_>,
    (texts, embedded): (&Texts, &Embedded),
    space: Space,
) -> Result<Index, Error> {
    let lexical = match kept.previous {
        Some(previous) => previous.lexical.updated(&catalog, &kept.words),
        None => Lexical::build(&catalog),
    };
    let dense = dense(kept, texts, embedded)?;
    let (namespaces, namespace_rows) = namespaces(kept, texts, embedded)?;
    let has_document = |tool: ToolId| {
        let first = dense.rows_of(tool).next();
        first.is_some_and(|row| dense.passage(row) == Passage::Document)
    };
    let tools = (0..catalog.len() as u32).map(ToolId);
    Ok(Index {
        unembedded: tools.filter(|tool| !has_document(*tool)).collect(),
        definition_hashes: kept.definition_hashes(&catalog),
        lexical,
        dense,
        namespaces,
        namespace_rows,
        model_id: space.model_id,
        calibration: space.calibration,
        catalog,
    })
}

/// Everything to be embedded. Texts are named by their position among the distinct ones.
struct Texts {
    distinct: Vec<String>,
    /// Of the tools that are wanted and not kept, ascending by tool.
    passages: Vec<(ToolId, Passage, usize)>,
    /// None where a namespace is kept, or has nothing to say.
    namespaces: Vec<Option<usize>>,
}

impl Texts {
    fn of(catalog: &Catalog, kept: &Kept<'_>, wanted: &dyn Fn(&Tool) -> bool) -> Self {
        let mut distinct = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut name = |text: String| {
            *known.entry(text).or_insert_with_key(|text| {
                distinct.push(text.clone());
                distinct.len() - 1
            })
        };
        let mut passages = Vec::new();
        for ((at, tool), kept) in (0..).zip(catalog.tools()).zip(&kept.rows) {
            if kept.is_none() && wanted(tool) {
                for (passage, text) in text::passages(tool) {
                    passages.push((ToolId(at), passage, name(text)));
                }
            }
        }
        let namespaces = catalog
            .namespaces()
            .iter()
            .zip(&kept.namespaces)
            .map(|(namespace, kept)| {
                let text = kept.is_none().then(|| text::namespace_passage(namespace));
                text.filter(|text| !text.is_empty()).map(&mut name)
            })
            .collect();
        Self {
            distinct,
            passages,
            namespaces,
        }
    }
}

fn dense(kept: &Kept<'_>, texts: &Texts, embedded: &Embedded) -> Result<Dense, Error> {
    let (mut data, mut owners, mut passages) = (Vec::new(), Vec::new(), Vec::new());
    let rows = kept.count_rows() + texts.passages.len();
    data.reserve_exact(rows * embedded.dim());
    let mut fresh = texts.passages.iter().peekable();
    for (at, old) in (0..).zip(&kept.rows) {
        let tool = ToolId(at);
        if let Some((old, previous)) = old.zip(kept.previous) {
            let rows = previous.dense.rows_of(old);
            for row in rows {
                data.extend_from_slice(previous.dense.vector(row));
                owners.push(tool);
                passages.push(previous.dense.passage(row));
            }
        }
        while let Some((_, passage, text)) = fresh.next_if(|(owner, _, _)| *owner == tool) {
            if let Some(vector) = embedded.vector(*text) {
                data.extend_from_slice(vector);
                owners.push(tool);
                passages.push(*passage);
            }
        }
    }
    let vectors = Vectors::from_unit(embedded.dim(), data)?;
    Dense::new(vectors, owners, passages, kept.rows.len())
}

fn namespaces(
    kept: &Kept<'_>,
    texts: &Texts,
    embedded: &Embedded,
) -> Result<(Vectors, Vec<Option<u32>>), Error> {
    let (mut data, mut rows) = (Vec::new(), Vec::new());
    for (text, old) in texts.namespaces.iter().zip(&kept.namespaces) {
        let vector = match old.zip(kept.previous) {
            Some((old, previous)) => previous.namespace_vector(old),
            None => text.and_then(|text| embedded.vector(text)),
        };
        rows.push(vector.map(|_| (data.len() / embedded.dim()) as u32));
        data.extend_from_slice(vector.unwrap_or(&[]));
    }
    Ok((Vectors::from_unit(embedded.dim(), data)?, rows))
}

#[cfg(test)]
mod tests;
