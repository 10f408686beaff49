//! The rule arm: what business rules say of a tool in this moment.
//!
//! Rules come after everything that is counted: they reorder and remove within what is permitted,
//! and can never add. Where some rule boosts or suppresses a candidate, the arm speaks, and a tool
//! that no rule speaks of lies in the middle; where none does, the arm is silent and its weight goes
//! to the others.

use std::collections::BTreeSet;

use super::answer::{Arm, RuleNote};
use super::fuse::Said;
use crate::rules::{Effect, Mode, NEUTRAL, Ruling};
use crate::tool::ToolId;

/// Whether some rule boosts or suppresses a candidate.
pub(super) fn speaks(ruling: &Ruling, candidates: &BTreeSet<ToolId>) -> bool {
    !ruling.is_silent() && candidates.iter().any(|tool| ruling.value(*tool).is_some())
}

/// What the arm says of `tool` where it speaks.
pub(super) fn said(ruling: &Ruling, tool: ToolId) -> Said {
    Said {
        arm: Arm::Rule,
        raw: ruling.pull(tool).unwrap_or(0.0),
        value: ruling.value(tool).unwrap_or(NEUTRAL),
    }
}

/// The rules that speak of a hit, and those in shadow that would leave it out.
pub(super) fn notes(ruling: &Ruling, tool: ToolId) -> Vec<RuleNote> {
    let about = ruling.about(tool).map(|rule| RuleNote {
        name: rule.name.clone(),
        effect: rule.effect.as_str(),
        strength: match rule.effect {
            Effect::Boost(strength) | Effect::Suppress(strength) => Some(strength),
            Effect::Require | Effect::Pin | Effect::NeverDefer => None,
        },
        shadow: rule.mode == Mode::Shadow,
    });
    let against = ruling.against(tool).map(|rule| RuleNote {
        name: rule.name.clone(),
        effect: "leave_out",
        strength: None,
        shadow: rule.mode == Mode::Shadow,
    });
    about.chain(against).collect()
}
