//! Scores and their order: finite, higher is better, ties by ascending tool.

use std::cmp::Ordering;

use crate::tool::ToolId;

/// A finite number where higher is better, with a total order.
///
/// An arm's score lies in `0.0..=1.0`; a fused score too, since weights sum to one.
///
/// ```
/// use toolscout::score::Score;
/// assert!(Score::new(0.7) > Score::new(0.2));
/// assert_eq!(Score::new(f32::NAN), Score::ZERO);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score(f32);

impl Score {
    /// The lowest score of an arm.
    pub const ZERO: Self = Self(0.0);
    /// The highest score of an arm.
    pub const ONE: Self = Self(1.0);

    /// A score from any float: what is not finite counts as zero, so that a fault in an arm can
    /// never place a tool first. Negative zero becomes zero, so that equal scores are equal bits.
    pub fn new(value: f32) -> Self {
        Self(if value.is_finite() { value + 0.0 } else { 0.0 })
    }

    /// A score held to an arm's range.
    pub fn unit(value: f32) -> Self {
        Self::new(Self::new(value).0.clamp(0.0, 1.0))
    }

    /// The number.
    pub fn get(self) -> f32 {
        self.0
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A tool with a score. Sorts best first; equal scores by ascending tool, which is ascending key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    /// The tool.
    pub tool: ToolId,
    /// Its score.
    pub score: Score,
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .cmp(&self.score)
            .then(self.tool.cmp(&other.tool))
    }
}

/// The `k` best of `scored`, best first.
///
/// ```
/// use toolscout::score::{Score, Scored, top_k};
/// use toolscout::tool::ToolId;
/// let s = |t, x| Scored { tool: ToolId(t), score: Score::new(x) };
/// assert_eq!(top_k(vec![s(2, 0.5), s(0, 0.1), s(1, 0.5)], 2), vec![s(1, 0.5), s(2, 0.5)]);
/// ```
pub fn top_k(mut scored: Vec<Scored>, k: usize) -> Vec<Scored> {
    if k == 0 {
        return Vec::new();
    }
    if k < scored.len() {
        scored.select_nth_unstable(k - 1);
        scored.truncate(k);
    }
    scored.sort_unstable();
    scored
}
