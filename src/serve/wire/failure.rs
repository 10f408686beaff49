//! The shape of every error.

use serde::Serialize;
use utoipa::ToSchema;

/// An error: the body of every answer whose status is 400 or more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorResponse {
    /// What went wrong.
    pub error: FailureResponse,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureResponse {
    /// Stable word for programs.
    #[schema(example = "invalid_request")]
    pub code: String,
    /// Sentence for people: what is wrong and what to do.
    #[schema(example = "limit: 0 is not within 1..=100")]
    pub message: String,
    /// The answer's `x-request-id`: names the request in the server's log.
    pub request_id: String,
}
