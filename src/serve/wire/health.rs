//! The shape of a sign of life. It says nothing of tools, since anybody may ask.

use serde::Serialize;
use utoipa::ToSchema;

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HealthResponse {
    /// `ok` or `ready`.
    #[schema(value_type = String, example = "ok")]
    pub status: &'static str,
}
