//! The namespace arm: does the request speak of the group that a tool belongs to?
//!
//! Server-then-tool routing in one pass: a namespace counts by how much of its name the request
//! mentions, by its own text, and by how well its best tools match. It says nothing where no
//! namespace has a name.

use std::collections::BTreeSet;

use super::config::Config;
use super::evidence::{Evidence, Question};
use super::keyword;
use super::view::{View, VisibleNamespace};
use crate::index::Index;
use crate::index::dense::dot;
use crate::tool::ToolId;

/// Tools of a namespace that speak for it: a group whose one tool fits by chance is no fit.
const MEMBERS: usize = 3;

/// The arm's value of each visible namespace, in the view's order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Namespaces {
    values: Vec<f32>,
}

impl Namespaces {
    /// How well the namespaces fit `question`; none where no namespace has a name.
    pub(super) fn weigh(
        evidence: &Evidence,
        (index, view): (&Index, &View),
        question: &Question,
        candidates: &BTreeSet<ToolId>,
        config: &Config,
    ) -> Option<Self> {
        let named = |namespace: &VisibleNamespace| !namespace.words.is_empty();
        if !view.namespaces.iter().any(named) {
            return None;
        }
        let shares = &config.namespace;
        let total = shares.members + shares.mention + shares.meaning;
        if total <= 0.0 {
            return None;
        }
        let mut points = vec![Vec::new(); view.namespaces.len()];
        for tool in candidates {
            if let Some(at) = view.namespace(index.catalog.namespace_of(*tool)) {
                points[at].push(keyword::raw(evidence, question, *tool, &config.parts));
            }
        }
        let words: BTreeSet<&str> = evidence.terms[question.whole]
            .query
            .iter()
            .map(|term| term.text.as_str())
            .collect();
        let vector = evidence
            .vectors
            .as_ref()
            .map(|vectors| vectors.row(question.whole));
        let value = |(namespace, points): (&VisibleNamespace, Vec<f32>)| {
            if index.catalog.namespace(namespace.id).name.is_empty() {
                return 0.0;
            }
            let nearness = vector
                .zip(index.namespace_vector(namespace.id))
                .map_or(0.0, |(a, b)| index.calibration.apply(dot(a, b)));
            let members = keyword::saturate(mean_of_best(points), config.keyword_scale);
            let sum = shares.members * members
                + shares.mention * mention(&namespace.words, &words, shares.mention_scale)
                + shares.meaning * nearness;
            sum / total
        };
        let values = view.namespaces.iter().zip(points).map(value).collect();
        Some(Self { values })
    }

    /// The arm's value of a tool, `0.0..=1.0`.
    pub(super) fn value(&self, index: &Index, view: &View, tool: ToolId) -> f32 {
        view.namespace(index.catalog.namespace_of(tool))
            .map_or(0.0, |at| self.values[at])
    }
}

/// How clearly the request speaks of a name: the square of the share of the name's words, by weight,
/// that it holds, times `1 - exp(-weight held / scale)`. Common words (`mcp`, `server`) weigh
/// nothing, and half a name is much less than a name.
fn mention(name: &[(String, f32)], request: &BTreeSet<&str>, scale: f32) -> f32 {
    let total: f32 = name.iter().map(|(_, weight)| weight).sum();
    let held: f32 = name
        .iter()
        .filter(|(word, _)| request.contains(word.as_str()))
        .map(|(_, weight)| weight)
        .sum();
    if total <= 0.0 {
        return 0.0;
    }
    (held / total).powi(2) * keyword::saturate(held, scale)
}

/// The mean of the [`MEMBERS`] greatest; missing ones count as 0.
fn mean_of_best(mut values: Vec<f32>) -> f32 {
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().take(MEMBERS).sum::<f32>() / MEMBERS as f32
}
