//! Near-duplicates folded into one hit, so that twins from two servers do not fill an answer.

use std::collections::HashMap;

use crate::catalog::text::{Passage, spaced};
use crate::index::Index;
use crate::index::dense::dot;
use crate::tool::ToolId;

/// A tool and those that it stands for.
pub(super) struct Group {
    /// The first of them in the order given.
    pub(super) tool: ToolId,
    /// The others, in that order.
    pub(super) variants: Vec<ToolId>,
}

/// `tools`, best first, with their variants: each stands once, in the first group it belongs to.
///
/// Two tools are variants if they have the same name, however spelt, and their documents' cosine is
/// at least `cosine`; tools without vectors if name and description are the same.
pub(super) fn fold(tools: impl Iterator<Item = ToolId>, index: &Index, cosine: f32) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    for tool in tools {
        let name = spaced(&index.catalog.tool(tool).name).to_lowercase();
        let same = named.entry(name).or_default();
        let twin = same
            .iter()
            .find(|at| are_variants(index, groups[**at].tool, tool, cosine));
        match twin {
            Some(at) => groups[*at].variants.push(tool),
            None => {
                same.push(groups.len());
                groups.push(Group {
                    tool,
                    variants: Vec::new(),
                });
            }
        }
    }
    groups
}

/// Whether two tools of the same name do the same.
fn are_variants(index: &Index, a: ToolId, b: ToolId, cosine: f32) -> bool {
    match (document(index, a), document(index, b)) {
        (Some(one), Some(other)) => cosine <= dot(one, other),
        _ => index.catalog.tool(a).description == index.catalog.tool(b).description,
    }
}

fn document(index: &Index, tool: ToolId) -> Option<&[f32]> {
    index
        .dense
        .rows_of(tool)
        .find(|row| index.dense.passage(*row) == Passage::Short)
        .map(|row| index.dense.vector(row))
}
