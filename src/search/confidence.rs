//! How sure it is that the best tool fits: a number that means the same for every catalogue.
//!
//! A score ranks tools for one request; it does not say whether the best of a bad lot is any good.
//! The confidence does. It is a logistic model over features that depend neither on the size of the
//! catalogue nor on the length of the request.

use std::collections::BTreeSet;

use super::answer::{Arm, ArmScore};
use super::config::ConfidenceModel;
use super::evidence::Question;
use super::keyword;
use super::rank::{List, Ranked, Ranking};
use super::terms::Role;
use crate::index::analyze::{TokenKind, analyze};

/// How many features there are.
pub const FEATURE_COUNT: usize = 4;

/// Names of the features, all of the best tool, each in `0.0..=1.0`.
///
/// Its cosine; its points of BM25F, saturated; the share of the request's words, by weight, that
/// it holds; the share of its name's words, by weight, that the request holds.
pub const FEATURES: [&str; FEATURE_COUNT] = ["semantic", "keyword", "coverage", "name"];

/// The features of the best tool of a list, and how much of the request the tools have heard.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    /// In the order of [`FEATURES`].
    pub values: [f32; FEATURE_COUNT],
    /// Trust in the words, `0.0..=1.0`: 1 where the tools know most words of the request.
    pub heard: f32,
}

/// The features of the best tool of `list`.
pub(super) fn features(ranking: &Ranking<'_>, question: &Question, list: &List) -> Features {
    let Some(best) = list.ranked.first() else {
        return Features::default();
    };
    let config = ranking.config;
    let points = said(best, Arm::Keyword).map_or(0.0, |arm| arm.raw);
    Features {
        values: [
            said(best, Arm::Semantic).map_or(0.0, |arm| arm.value),
            keyword::saturate(points, config.keyword_scale),
            coverage(ranking, question, best),
            name(ranking, question, best),
        ],
        heard: (ranking.evidence.heard(question) / config.hearing.full).clamp(0.0, 1.0),
    }
}

/// How sure it is that the best tool fits, `0.0..=1.0`.
///
/// A logistic model over all features where the request's words are known, one over the meaning
/// alone where they are not, mixed by [`Features::heard`] in between.
///
/// ```
/// use toolscout::search::confidence::{Features, confidence};
/// use toolscout::search::config::ConfidenceModel;
/// let model = ConfidenceModel {
///     bias: 0.0,
///     weights: [1.0; 4],
///     meaning_bias: 0.0,
///     meaning_weight: 0.0,
/// };
/// assert_eq!(confidence(&model, &Features::default()), 0.5);
/// ```
pub fn confidence(model: &ConfidenceModel, features: &Features) -> f32 {
    let logistic = |z: f32| 1.0 / (1.0 + (-z).exp());
    let sum: f32 = model
        .weights
        .iter()
        .zip(features.values)
        .map(|(weight, feature)| weight * feature)
        .sum();
    let all = logistic(model.bias + sum);
    let meaning = logistic(model.meaning_bias + model.meaning_weight * features.values[0]);
    meaning + features.heard * (all - meaning)
}

fn said(ranked: &Ranked, arm: Arm) -> Option<&ArmScore> {
    ranked.arms.iter().find(|said| said.arm == arm)
}

/// The share of the request's words, by weight, that the tool holds; words that no permitted tool
/// holds do not count.
fn coverage(ranking: &Ranking<'_>, question: &Question, best: &Ranked) -> f32 {
    let found = ranking.evidence.matches[question.whole].terms();
    let (mut total, mut held) = (0.0, 0.0);
    for (role, term) in ranking.evidence.terms[question.whole]
        .roles
        .iter()
        .zip(found)
    {
        if *role != Role::Net {
            total += term.ceiling;
            if 0.0 < term.share(best.tool) {
                held += term.ceiling;
            }
        }
    }
    if total <= 0.0 { 0.0 } else { held / total }
}

/// The share of the tool's name, by weight of its words, that the request holds.
fn name(ranking: &Ranking<'_>, question: &Question, best: &Ranked) -> f32 {
    let (index, view) = (ranking.index, ranking.view);
    let request = &ranking.evidence.terms[question.whole].query;
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
