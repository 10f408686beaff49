//! What one principal sees of an index: the permitted tools and every statistic over them.

use crate::access::Permitted;
use crate::index::Index;
use crate::index::lexical::Statistics;
use crate::tool::NamespaceId;

use super::request::Filters;

/// The permitted part of an index, with what is counted over it.
///
/// Making one costs a pass over the permitted tools; it depends on nothing but the index and the
/// set, so it may be kept for as long as both live, keyed by [`Permitted::fingerprint`].
#[derive(Debug, Clone)]
pub struct View {
    /// The tools that count.
    pub permitted: Permitted,
    /// Word statistics over them.
    pub statistics: Statistics,
    /// Their namespaces, ascending, each with how many of the tools are in it.
    pub namespaces: Vec<(NamespaceId, usize)>,
}

impl View {
    /// The view of `index` that `permitted` allows.
    pub fn new(index: &Index, permitted: Permitted) -> Self {
        let mut counts = vec![0; index.catalog.namespaces().len()];
        for tool in permitted.iter() {
            counts[index.catalog.namespace_of(tool).index()] += 1;
        }
        let namespaces = (0..)
            .map(NamespaceId)
            .zip(counts)
            .filter(|(_, count)| *count > 0)
            .collect();
        Self {
            statistics: index.lexical.statistics(&permitted),
            namespaces,
            permitted,
        }
    }

    /// The part of this view that passes `filters`, counted anew: the same answer as if the rest
    /// were not permitted.
    pub fn narrow(&self, index: &Index, filters: &Filters) -> Self {
        let permitted = self
            .permitted
            .narrow(|tool| filters.admit(index.catalog.tool(tool)));
        Self::new(index, permitted)
    }
}
