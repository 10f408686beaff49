//! Near-duplicates folded into one hit, so that twins from two servers do not fill an answer.

use super::rank::Ranked;
use crate::catalog::text::{Passage, spaced};
use crate::index::Index;
use crate::index::dense::dot;
use crate::tool::ToolId;

/// The ranked tools with their variants: each tool stands once, in the first group it belongs to.
///
/// Two tools are variants if they have the same name, however spelt, and their documents' cosine is
/// at least `cosine`; tools without vectors if name and description are the same.
pub(super) fn fold(ranked: Vec<Ranked>, index: &Index, cosine: f32) -> Vec<(Ranked, Vec<ToolId>)> {
    let mut groups: Vec<(Ranked, Vec<ToolId>)> = Vec::new();
    for candidate in ranked {
        let twin = groups
            .iter_mut()
            .find(|(first, _)| are_variants(index, first.tool, candidate.tool, cosine));
        match twin {
            Some((_, variants)) => variants.push(candidate.tool),
            None => groups.push((candidate, Vec::new())),
        }
    }
    groups
}

fn are_variants(index: &Index, a: ToolId, b: ToolId, cosine: f32) -> bool {
    let (one, other) = (index.catalog.tool(a), index.catalog.tool(b));
    if spaced(&one.name).to_lowercase() != spaced(&other.name).to_lowercase() {
        return false;
    }
    match (document(index, a), document(index, b)) {
        (Some(one), Some(other)) => cosine <= dot(one, other),
        _ => one.description == other.description,
    }
}

fn document(index: &Index, tool: ToolId) -> Option<&[f32]> {
    index
        .dense
        .rows_of(tool)
        .find(|row| index.dense.passage(*row) == Passage::Short)
        .map(|row| index.dense.vector(row))
}
