//! How sure it is that the best tool fits: a number that means the same for every catalogue.
//!
//! A score ranks tools for one request; it does not say whether the best of a bad lot is any good.
//! The confidence does. It is a logistic model over features that depend neither on the size of the
//! catalogue nor on the length of the request.

use std::collections::BTreeSet;

use super::answer::{Arm, ArmScore};
use super::config::ConfidenceModel;
use super::evidence::Question;
use super::rank::{List, Ranked, Ranking};
use crate::index::analyze::{TokenKind, analyze};

/// How many features there are.
pub const FEATURE_COUNT: usize = 5;

/// Names of the features, all of the best tool.
///
/// Its cosine; its keyword value; how far its score is above the mean of the next
/// five; the share of the request's words, by weight, that it holds; the share of its name's words,
/// by weight, that the request holds. Each lies in `-1.0..=1.0`.
pub const FEATURES: [&str; FEATURE_COUNT] = ["semantic", "keyword", "lead", "coverage", "name"];

/// Tools that the best one's lead is measured against.
const FIELD: usize = 5;

/// The features of the best tool of a list, in the order of [`FEATURES`].
pub(super) fn features(
    ranking: &Ranking<'_>,
    question: &Question,
    list: &List,
) -> [f32; FEATURE_COUNT] {
    let Some(best) = list.ranked.first() else {
        return [0.0; FEATURE_COUNT];
    };
    [
        said(best, Arm::Semantic).map_or(0.0, |arm| arm.raw),
        said(best, Arm::Keyword).map_or(0.0, |arm| arm.value),
        lead(best, list),
        coverage(ranking, question, best),
        name(ranking, question, best),
    ]
}

/// The model applied to features: `0.0..=1.0`.
///
/// ```
/// use toolscout::search::confidence::{FEATURE_COUNT, confidence};
/// use toolscout::search::config::ConfidenceModel;
/// let model = ConfidenceModel { bias: 0.0, weights: [1.0; FEATURE_COUNT] };
/// assert_eq!(confidence(&model, &[0.0; FEATURE_COUNT]), 0.5);
/// ```
pub fn confidence(model: &ConfidenceModel, features: &[f32; FEATURE_COUNT]) -> f32 {
    let sum: f32 = model
        .weights
        .iter()
        .zip(features)
        .map(|(weight, feature)| weight * feature)
        .sum();
    1.0 / (1.0 + (-(model.bias + sum)).exp())
}

fn said(ranked: &Ranked, arm: Arm) -> Option<&ArmScore> {
    ranked.arms.iter().find(|said| said.arm == arm)
}

/// How far the best tool's score is above the mean of the next [`FIELD`].
fn lead(best: &Ranked, list: &List) -> f32 {
    let next: f32 = list
        .ranked
        .iter()
        .skip(1)
        .take(FIELD)
        .map(|ranked| ranked.score)
        .sum();
    best.score - next / FIELD as f32
}

/// The share of the request's words, by weight, that the tool holds; words that no permitted tool
/// holds do not count.
fn coverage(ranking: &Ranking<'_>, question: &Question, best: &Ranked) -> f32 {
    let terms = ranking.evidence.matches[question.whole].terms();
    let total: f32 = terms.iter().map(|term| term.ceiling).sum();
    let held: f32 = terms
        .iter()
        .filter(|term| 0.0 < term.share(best.tool))
        .map(|term| term.ceiling)
        .sum();
    if total <= 0.0 { 0.0 } else { held / total }
}

/// The share of the tool's name, by weight of its words, that the request holds.
fn name(ranking: &Ranking<'_>, question: &Question, best: &Ranked) -> f32 {
    let (index, view) = (ranking.index, ranking.view);
    let request = &ranking.evidence.terms[question.whole];
    let words: BTreeSet<String> = analyze(&index.catalog.tool(best.tool).name)
        .into_iter()
        .filter(|token| !matches!(token.kind, TokenKind::Joined | TokenKind::Bigram))
        .map(|token| token.text)
        .collect();
    let (mut total, mut held) = (0.0, 0.0);
    for word in &words {
        let frequency = index.lexical.frequency(word, &view.permitted);
        let weight = view.statistics.idf(frequency);
        total += weight;
        if request.iter().any(|term| term.text == *word) {
            held += weight;
        }
    }
    if total <= 0.0 { 0.0 } else { held / total }
}
