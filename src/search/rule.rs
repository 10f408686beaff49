//! The rule arm: what business rules say of a tool in this moment.
//!
//! No rules can be written yet, so the arm has nothing to say and its weight goes to the others.
//! Rules will only ever reorder or remove what is permitted; they can never add.

use crate::tool::ToolId;

/// What the rules say of `tool`, `0.0..=1.0`; none where no rule speaks of it.
pub(super) fn value(_tool: ToolId) -> Option<f32> {
    None
}
