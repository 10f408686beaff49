//! Arms to one score: a weighted sum over the arms that speak.

use super::answer::{Arm, ArmScore};
use super::config::Weights;

/// What one arm says of one tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The arm.
    pub arm: Arm,
    /// Its own measure.
    pub raw: f32,
    /// The calibrated value, `0.0..=1.0`.
    pub value: f32,
}

impl Weights {
    /// The weight of an arm.
    pub fn of(&self, arm: Arm) -> f32 {
        match arm {
            Arm::Semantic => self.semantic,
            Arm::Keyword => self.keyword,
            Arm::Namespace => self.namespace,
            Arm::Rule => self.rule,
        }
    }
}

/// The arms' shares and contributions; the contributions add up to the fused score.
///
/// `speaking` are the arms that have something to say for this request; an arm that speaks and says
/// nothing of this tool counts as 0, an arm that does not speak leaves its weight to the others.
///
/// ```
/// use toolscout::search::answer::Arm;
/// use toolscout::search::Config;
/// use toolscout::search::fuse::{Said, fuse};
/// let words = Said { arm: Arm::Keyword, raw: 9.0, value: 0.5 };
/// let scores = fuse(&[words], &[Arm::Semantic, Arm::Keyword], &Config::card().weights);
/// let total: f32 = scores.iter().map(|score| score.contribution).sum();
/// assert!((total - 0.5 * 0.25 / 0.80).abs() < 1e-6);
/// ```
pub fn fuse(said: &[Said], speaking: &[Arm], weights: &Weights) -> Vec<ArmScore> {
    let total: f32 = speaking.iter().map(|arm| weights.of(*arm)).sum();
    said.iter()
        .filter(|said| speaking.contains(&said.arm))
        .map(|said| {
            let weight = if total <= 0.0 {
                0.0
            } else {
                weights.of(said.arm) / total
            };
            ArmScore {
                arm: said.arm,
                raw: said.raw,
                value: said.value,
                weight,
                contribution: said.value * weight,
            }
        })
        .collect()
}
