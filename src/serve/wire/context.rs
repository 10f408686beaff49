//! The moment of a request, as its sender tells it.

use serde::Deserialize;
use utoipa::ToSchema;

use super::Invalid;
use crate::rules::Context;

/// Characters of one field of a context.
const MAX_TEXT: usize = 256;
/// Turns that a context may count.
const MAX_TURN: u32 = 1_000_000;

/// The moment of a request. Business rules look at it; what the caller may see does not depend on
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// Phase of the task, in the words of the rules: `locate`, `modify`, `verify`.
    #[schema(example = "locate")]
    pub phase: Option<String>,
    /// Programming language of the project.
    #[schema(example = "rust")]
    pub language: Option<String>,
    /// How the last call ended, in the words of the rules: `ok`, `error`, `empty`.
    #[schema(example = "ok")]
    pub previous_result: Option<String>,
    /// Key of the tool called last.
    pub previous_tool: Option<String>,
    /// Turns taken so far.
    #[schema(maximum = 1_000_000)]
    pub turn: Option<u32>,
}

impl ContextRequest {
    /// The context in the core's words.
    ///
    /// # Errors
    /// [`Invalid`] naming the field that is too long or too large.
    pub fn check(self) -> Result<Context, Invalid> {
        for (field, text) in [
            ("context.phase", &self.phase),
            ("context.language", &self.language),
            ("context.previous_result", &self.previous_result),
            ("context.previous_tool", &self.previous_tool),
        ] {
            let length = text.as_ref().map_or(0, |text| text.chars().count());
            if MAX_TEXT < length {
                let reason = format!("{length} characters, at most {MAX_TEXT}");
                return Err(Invalid::new(field, reason));
            }
        }
        if let Some(turn) = self.turn.filter(|turn| MAX_TURN < *turn) {
            let reason = format!("{turn}, at most {MAX_TURN}");
            return Err(Invalid::new("context.turn", reason));
        }
        Ok(Context {
            phase: self.phase,
            language: self.language,
            previous_result: self.previous_result,
            previous_tool: self.previous_tool,
            turn: self.turn,
        })
    }
}
