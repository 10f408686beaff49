//! What one principal sees of an index: the permitted tools and every statistic over them.

use std::collections::{BTreeSet, HashMap};

use crate::access::Permitted;
use crate::index::Index;
use crate::index::analyze::{TokenKind, analyze};
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
    /// Their namespaces, ascending.
    pub namespaces: Vec<VisibleNamespace>,
}

/// A namespace of which some tool is permitted.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibleNamespace {
    /// The namespace.
    pub id: NamespaceId,
    /// How many permitted tools are in it.
    pub tools: usize,
    /// The words of its name, each with how much it says: `ln(1 + (n - df + 0.5) / (df + 0.5))`
    /// over the visible namespaces.
    pub words: Vec<(String, f32)>,
}

impl View {
    /// The view of `index` that `permitted` allows.
    pub fn new(index: &Index, permitted: Permitted) -> Self {
        let mut counts = vec![0; index.catalog.namespaces().len()];
        for tool in permitted.iter() {
            counts[index.catalog.namespace_of(tool).index()] += 1;
        }
        let visible: Vec<(NamespaceId, usize)> = (0..)
            .map(NamespaceId)
            .zip(counts)
            .filter(|(_, count)| 0 < *count)
            .collect();
        Self {
            statistics: index.lexical.statistics(&permitted),
            namespaces: weigh_names(index, &visible),
            permitted,
        }
    }

    /// Which of the visible namespaces `id` is.
    pub fn namespace(&self, id: NamespaceId) -> Option<usize> {
        self.namespaces
            .binary_search_by_key(&id, |namespace| namespace.id)
            .ok()
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

fn weigh_names(index: &Index, visible: &[(NamespaceId, usize)]) -> Vec<VisibleNamespace> {
    let words: Vec<BTreeSet<String>> = visible
        .iter()
        .map(|(id, _)| name_words(&index.catalog.namespace(*id).name))
        .collect();
    let mut frequency: HashMap<&str, f32> = HashMap::new();
    for word in words.iter().flatten() {
        *frequency.entry(word).or_default() += 1.0;
    }
    let n = visible.len() as f32;
    let weight = |word: &str| {
        let df = frequency[word];
        (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
    };
    visible
        .iter()
        .zip(&words)
        .map(|((id, tools), words)| VisibleNamespace {
            id: *id,
            tools: *tools,
            words: words
                .iter()
                .map(|word| (word.clone(), weight(word)))
                .collect(),
        })
        .collect()
}

fn name_words(name: &str) -> BTreeSet<String> {
    analyze(name)
        .into_iter()
        .filter(|token| !matches!(token.kind, TokenKind::Joined | TokenKind::Bigram))
        .map(|token| token.text)
        .collect()
}
