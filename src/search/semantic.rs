//! The semantic arm: how near a tool's nearest passage is to the request.

use super::config::PartShares;
use super::evidence::{Evidence, Question};
use crate::index::Index;
use crate::tool::ToolId;

/// The cosine of the request and the tool, the best part counting beside the whole; none where
/// there is no model or the tool has no vector.
pub(super) fn raw(
    evidence: &Evidence,
    index: &Index,
    question: &Question,
    tool: ToolId,
    shares: &PartShares,
) -> Option<f32> {
    let mut whole = evidence.cosine(index, question.whole, tool)?;
    if question.clean != question.whole {
        let clean = evidence.cosine(index, question.clean, tool)?;
        whole += shares.clean * (clean - whole);
    }
    let Some(best) = question
        .parts
        .clone()
        .filter_map(|unit| evidence.cosine(index, unit, tool))
        .reduce(f32::max)
    else {
        return Some(whole);
    };
    Some(whole + shares.semantic * (best - whole))
}

/// The raw cosine as the arm's value, `0.0..=1.0`.
pub(super) fn value(index: &Index, cosine: f32) -> f32 {
    index.calibration.apply(cosine)
}
