//! Every shape that travels as JSON, and the way between it and the core's own types.
//!
//! Core types do not derive serde: what a caller sees is decided here, field by field, and a change
//! inside does not change the wire. REST and the command line's `--json` print the same bytes,
//! because both go through [`discover_response`] and [`to_json`]. The order of fields is the order
//! of declaration, numbers are rounded (see [`discover::rounded`]), and nothing that depends on the
//! moment (time taken, request identity) is in a body.

mod answer;
mod authorize;
mod change;
mod context;
pub mod discover;
mod failure;
mod health;
mod namespaces;
mod principal;
mod render;
mod route;
mod tools;
mod words;

use serde::Serialize;

pub use answer::{
    ArmResponse, DiscoverResponse, ExplanationResponse, HitResponse, NoMatchResponse,
    RuleNoteResponse, ShadowResponse, TermResponse, discover_response, discover_response_tagged,
    shadow_response,
};
pub use authorize::{AuthorizeRequest, AuthorizeResponse, Verdict};
pub use change::{
    BuiltResponse, ChangeParameters, ChangeResponse, EntryResponse, HistoryResponse, IndexResponse,
    LineResponse, ProgressResponse, ReplaceRequest, ReplaceResponse, SummaryResponse, effect_word,
};
pub use context::ContextRequest;
pub use discover::{Asked, DiscoverRequest, FiltersRequest, HintsRequest};
pub use failure::{ErrorResponse, FailureResponse};
pub use health::HealthResponse;
pub use namespaces::{NamespaceResponse, NamespacesResponse, namespaces_response};
pub use principal::{
    NarrowingRequest, ObstacleResponse, OfferResponse, PrincipalRequest, RuleResponse,
    WantResponse, WhyRequest, WhyResponse, why_response,
};
pub use render::{CompactDefinition, Definition, render};
pub use route::{ActiveResponse, RouteAsked, RouteRequest, RouteResponse, route_response};
pub use tools::{
    ListRequest, OneToolResponse, Page, ToolResponse, ToolsResponse, one_tool_response,
    tools_response,
};
pub use words::{DenseWord, Detail, KindWord, SideEffectWord};

/// A request that can be read and cannot be served: which field, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// Path of the field: `filters.kinds[0]`.
    pub field: String,
    /// What is wrong with it, and what is right.
    pub reason: String,
}

impl Invalid {
    /// A fault in `field`.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            reason: reason.into(),
        }
    }
}

/// The bytes of a response: JSON without white space, the same for equal responses.
///
/// # Errors
/// What serde_json says; none of this module's shapes gives it a reason to.
pub fn to_json(response: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(response)
}
