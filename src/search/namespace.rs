//! The namespace arm: does the request speak of the group that a tool belongs to?
//!
//! Server-then-tool routing in one pass: a namespace counts by how much of its name the request
//! mentions, by its own text, and by how well its best tools match. It says nothing where there are
//! no namespaces to choose between.

use std::collections::BTreeSet;

use super::config::Config;
use super::evidence::{Evidence, Question};
use super::keyword::saturate;
use super::view::View;
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
    /// How well the namespaces fit `question`; none where there are not at least two named ones.
    ///
    /// `hint` is what the caller thinks it knows of the namespace; its vector is the unit of that
    /// number, where there is one.
    pub(super) fn weigh(
        evidence: &Evidence,
        (index, view): (&Index, &View),
        question: &Question,
        candidates: &BTreeSet<ToolId>,
        config: &Config,
    ) -> Option<Self> {
        if view.namespaces.len() < 2 {
            return None;
        }
        let shares = &config.namespace;
        let total = shares.mention + shares.meaning + shares.member_words + shares.member_meaning;
        if total <= 0.0 {
            return None;
        }
        let mut members = vec![Best::default(); view.namespaces.len()];
        for tool in candidates {
            let Some(at) = view.namespace(index.catalog.namespace_of(*tool)) else {
                continue;
            };
            let points = evidence.matches[question.whole].raw(*tool);
            members[at]
                .words
                .push(saturate(points, config.keyword_scale));
            let cosine = evidence.cosine(index, question.whole, *tool);
            members[at]
                .meaning
                .push(cosine.map_or(0.0, |cosine| index.calibration.apply(cosine)));
        }
        let words: BTreeSet<&str> = evidence.terms[question.whole]
            .iter()
            .map(|term| term.text.as_str())
            .collect();
        let vector = evidence
            .vectors
            .as_ref()
            .map(|vectors| vectors.row(question.whole));
        let values = view
            .namespaces
            .iter()
            .zip(members)
            .map(|(namespace, members)| {
                if index.catalog.namespace(namespace.id).name.is_empty() {
                    return 0.0;
                }
                let nearness = vector
                    .zip(index.namespace_vector(namespace.id))
                    .map_or(0.0, |(a, b)| index.calibration.apply(dot(a, b)));
                let sum = shares.mention * mention(&namespace.words, &words)
                    + shares.meaning * nearness
                    + shares.member_words * mean_of_best(members.words)
                    + shares.member_meaning * mean_of_best(members.meaning);
                sum / total
            })
            .collect();
        Some(Self { values })
    }

    /// The arm's value of a tool, `0.0..=1.0`.
    pub(super) fn value(&self, index: &Index, view: &View, tool: ToolId) -> f32 {
        view.namespace(index.catalog.namespace_of(tool))
            .map_or(0.0, |at| self.values[at])
    }
}

#[derive(Debug, Clone, Default)]
struct Best {
    words: Vec<f32>,
    meaning: Vec<f32>,
}

/// The share of a name, by weight of its words, that the request holds.
fn mention(name: &[(String, f32)], request: &BTreeSet<&str>) -> f32 {
    let total: f32 = name.iter().map(|(_, weight)| weight).sum();
    let held: f32 = name
        .iter()
        .filter(|(word, _)| request.contains(word.as_str()))
        .map(|(_, weight)| weight)
        .sum();
    if total <= 0.0 { 0.0 } else { held / total }
}

/// The mean of the [`MEMBERS`] greatest; missing ones count as 0.
fn mean_of_best(mut values: Vec<f32>) -> f32 {
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().take(MEMBERS).sum::<f32>() / MEMBERS as f32
}
