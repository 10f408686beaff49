//! The keyword arm: how much evidence the shared words are.
//!
//! BM25F points are taken as they are, not divided by what the request could have scored at most: a
//! wordy request and a short one that share the same rare words with a tool have the same evidence
//! for it. Dividing by the request's mass lost up to two points of recall@5 on every development set.

use super::answer::TermMatch;
use super::config::{Hearing, PartShares};
use super::evidence::{Evidence, Question};
use crate::index::Index;
use crate::index::lexical::Field;
use crate::tool::ToolId;

/// Matched terms that an explanation lists.
const MAX_TERMS: usize = 12;

/// The points of BM25F for the request and the tool, the best part counting beside the whole.
pub(super) fn raw(
    evidence: &Evidence,
    question: &Question,
    tool: ToolId,
    shares: &PartShares,
) -> f32 {
    let points = |unit: usize| evidence.matches[unit].raw(tool);
    let whole = points(question.whole);
    let Some(best) = question.parts.clone().map(points).reduce(f32::max) else {
        return whole;
    };
    whole + shares.keyword * (best - whole)
}

/// Factor on the arm for a question of which the permitted tools know `heard` of the words:
/// `floor` where they know none, 1 from `full` on. Otherwise one brand name in Latin letters would
/// decide a Chinese request over English tools.
pub(super) fn trust(heard: f32, hearing: &Hearing) -> f32 {
    (hearing.floor + (1.0 - hearing.floor) * heard / hearing.full).clamp(hearing.floor, 1.0)
}

/// Points as a number in `0.0..1.0`: `1 - exp(-points / scale)`.
pub(super) fn saturate(points: f32, scale: f32) -> f32 {
    1.0 - (-points / scale).exp()
}

/// Whether any permitted tool shares a word with the question.
pub(super) fn speaks(evidence: &Evidence, question: &Question) -> bool {
    question
        .units()
        .any(|unit| !evidence.matches[unit].is_empty())
}

/// The words of the question found in `tool`, heaviest first.
pub(super) fn matched(
    evidence: &Evidence,
    index: &Index,
    question: &Question,
    tool: ToolId,
) -> Vec<TermMatch> {
    let matches = evidence.matches[question.whole].terms();
    let mut found: Vec<TermMatch> = evidence.terms[question.whole]
        .query
        .iter()
        .zip(matches)
        .map(|(term, matches)| (&term.text, matches.share(tool)))
        .filter(|(_, points)| 0.0 < *points)
        .map(|(term, points)| TermMatch {
            term: term.clone(),
            fields: fields(index, term, tool),
            points,
        })
        .collect();
    found.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.term.cmp(&b.term)));
    found.truncate(MAX_TERMS);
    found
}

fn fields(index: &Index, term: &str, tool: ToolId) -> Vec<&'static str> {
    let posting = index
        .lexical
        .postings(term)
        .find(|posting| posting.tool == tool);
    let counts = posting.map(|posting| posting.counts).unwrap_or_default();
    Field::ALL
        .into_iter()
        .filter(|field| 0 < counts[field.index()])
        .map(field_name)
        .collect()
}

/// The word used in explanations.
fn field_name(field: Field) -> &'static str {
    match field {
        Field::Name => "name",
        Field::Namespace => "namespace",
        Field::Description => "description",
        Field::Parameters => "parameters",
        Field::ParameterText => "parameter text",
        Field::Values => "values",
        Field::Tags => "tags",
        Field::Usage => "usage",
        Field::Joined => "joined words",
    }
}
