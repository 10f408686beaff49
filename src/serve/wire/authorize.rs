//! The request and the answer of `POST /v1/authorize`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Invalid, SideEffectWord};
use crate::tool::{Exposure, SideEffect, Tool};

/// Characters of a tool's key or name.
const MAX_NAME: usize = 512;
/// Bytes of a call's arguments.
const MAX_ARGUMENTS: usize = 256 * 1024;

/// May this call be made?
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorizeRequest {
    /// Key of the tool, or a name that only one tool has.
    #[schema(example = "payments/refund_payment")]
    pub tool: String,
    /// What the call would change, as the harness sees it.
    pub side_effect: Option<SideEffectWord>,
    /// The call's arguments; looked at for their size alone, at most 256 KiB.
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Box<RawValue>>,
}

/// Why a call may be made or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It may.
    Permitted,
    /// There is no such tool among those that the caller may see.
    UnknownTool,
    /// The tool is shown and not to be called.
    NotCallable,
    /// The call would change more than the tool says it does.
    SideEffect,
    /// The arguments are too large.
    Arguments,
}

impl Verdict {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permitted => "permitted",
            Self::UnknownTool => "unknown_tool",
            Self::NotCallable => "not_callable",
            Self::SideEffect => "side_effect",
            Self::Arguments => "arguments_too_large",
        }
    }
}

impl AuthorizeRequest {
    /// Whether the request can be decided at all.
    ///
    /// # Errors
    /// [`Invalid`] where the name is empty or too long.
    pub fn check(self) -> Result<Self, Invalid> {
        if self.tool.is_empty() || MAX_NAME < self.tool.chars().count() {
            let reason = format!("must have 1 to {MAX_NAME} characters");
            return Err(Invalid::new("tool", reason));
        }
        Ok(self)
    }

    /// The verdict, where `tool` is what the name means to the caller, if anything.
    ///
    /// A tool that does not say what it changes is not held to anything.
    pub fn verdict(&self, tool: Option<&Tool>) -> Verdict {
        let Some(tool) = tool else {
            return Verdict::UnknownTool;
        };
        if tool.exposure == Exposure::DeclarationOnly {
            return Verdict::NotCallable;
        }
        let declared = tool.side_effect;
        let claimed = self.side_effect.map_or(SideEffect::Unknown, Into::into);
        if declared != SideEffect::Unknown && declared < claimed {
            return Verdict::SideEffect;
        }
        let length = self.arguments.as_ref().map_or(0, |json| json.get().len());
        if MAX_ARGUMENTS < length {
            return Verdict::Arguments;
        }
        Verdict::Permitted
    }
}

/// Whether the call may be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuthorizeResponse {
    /// It may.
    pub allowed: bool,
    /// `permitted`, `unknown_tool` (there is none, or the caller may not see it), `not_callable`,
    /// `side_effect` (the call would change more than the tool declares) or `arguments_too_large`.
    #[schema(value_type = String, example = "permitted")]
    pub reason: &'static str,
    /// Key of the tool; null where it is not among those the caller may see.
    pub tool: Option<String>,
}
