//! How sure it is that the best tool fits: a number that means the same for every catalogue.
//!
//! A score ranks tools for one request; it does not say whether the best of a bad lot is any good.
//! The confidence does. It is a logistic model over features that depend neither on the size of the
//! catalogue nor on the length of the request.

use super::answer::Arm;
use super::config::ConfidenceModel;
use super::evidence::Question;
use super::rank::{List, Ranked, Ranking};

/// How many features there are.
pub const FEATURE_COUNT: usize = 6;

/// Names of the features, each in `0.0..=1.0`.
pub const FEATURES: [&str; FEATURE_COUNT] = [
    "semantic",
    "keyword",
    "margin",
    "rare words covered",
    "arms agree",
    "semantic lead",
];

/// The heaviest words of a request that a fitting tool should hold some of.
const RARE: usize = 4;

/// The features of the best tool of a list, in the order of [`FEATURES`].
pub(super) fn features(
    ranking: &Ranking<'_>,
    question: &Question,
    list: &List,
) -> [f32; FEATURE_COUNT] {
    let Some(best) = list.ranked.first() else {
        return [0.0; FEATURE_COUNT];
    };
    let second = list.ranked.get(1);
    let margin = best.score - second.map_or(0.0, |second| second.score);
    [
        value(best, Arm::Semantic),
        value(best, Arm::Keyword),
        margin.clamp(0.0, 1.0),
        covered(ranking, question, best),
        agreement(best, list),
        lead(best, list),
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

fn value(ranked: &Ranked, arm: Arm) -> f32 {
    ranked
        .arms
        .iter()
        .find(|said| said.arm == arm)
        .map_or(0.0, |said| said.value)
}

/// The share of the request's heaviest words, by weight, that the tool holds.
fn covered(ranking: &Ranking<'_>, question: &Question, best: &Ranked) -> f32 {
    let mut terms: Vec<_> = ranking.evidence.matches[question.whole]
        .terms()
        .iter()
        .map(|term| (term.ceiling, term.share(best.tool)))
        .collect();
    terms.sort_by(|a, b| b.0.total_cmp(&a.0));
    terms.truncate(RARE);
    let total: f32 = terms.iter().map(|(ceiling, _)| ceiling).sum();
    let held: f32 = terms
        .iter()
        .filter(|(_, share)| 0.0 < *share)
        .map(|(ceiling, _)| ceiling)
        .sum();
    if total <= 0.0 { 0.0 } else { held / total }
}

/// The share of the semantic and keyword arms that have the best tool first.
fn agreement(best: &Ranked, list: &List) -> f32 {
    let first = |arm: Arm| {
        let own = value(best, arm);
        0.0 < own && list.ranked.iter().all(|other| value(other, arm) <= own)
    };
    let arms = [Arm::Semantic, Arm::Keyword];
    arms.into_iter().filter(|arm| first(*arm)).count() as f32 / arms.len() as f32
}

/// How far the best tool's meaning is ahead of the next one's.
fn lead(best: &Ranked, list: &List) -> f32 {
    let next = list
        .ranked
        .iter()
        .skip(1)
        .map(|other| value(other, Arm::Semantic))
        .fold(0.0, f32::max);
    (value(best, Arm::Semantic) - next).clamp(0.0, 1.0)
}
