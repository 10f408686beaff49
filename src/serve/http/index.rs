//! `GET /v1/index` and `POST /v1/index:rebuild`: how far the served index is behind the registry.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Deserialize;
use utoipa::ToSchema;

use super::change::registry;
use crate::refresh::{Phase, State as Progress};
use crate::serve::auth::Writer;
use crate::serve::error::Error;
use crate::serve::extract::Json;
use crate::serve::state::App;
use crate::serve::wire::{BuiltResponse, ErrorResponse, IndexResponse, ProgressResponse, to_json};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/v1/index", get(state))
        .route("/v1/index:rebuild", post(rebuild))
}

/// Say how far the served index is
///
/// For administrators: revisions count changes of tools that others may not see.
#[utoipa::path(
    get,
    path = "/v1/index",
    operation_id = "index_state",
    tag = "registry",
    responses(
        (status = 200, description = "How far it is", body = IndexResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn state(_: Writer, State(app): State<App>) -> Result<Response, Error> {
    told(&app)
}

/// An empty object: it takes a program, not a link in a page, to send one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct RebuildRequest {}

/// Build the whole index anew
///
/// Answers at once; the old index is served until the new one is there. For administrators.
#[utoipa::path(
    post,
    path = "/v1/index:rebuild",
    operation_id = "rebuild_index",
    tag = "registry",
    request_body = RebuildRequest,
    responses(
        (status = 200, description = "How far it is", body = IndexResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn rebuild(
    _: Writer,
    State(app): State<App>,
    Json(RebuildRequest {}): Json<RebuildRequest>,
) -> Result<Response, Error> {
    registry(&app)?.following().rebuild();
    told(&app)
}

fn told(app: &App) -> Result<Response, Error> {
    let response = response(registry(app)?.following().state());
    let text = to_json(&response).map_err(|error| Error::internal(&error))?;
    Ok(super::json(text))
}

fn response(state: Progress) -> IndexResponse {
    let progress = match state.phase {
        Phase::Building { done, total } => Some(ProgressResponse { done, total }),
        Phase::Idle | Phase::Gathering | Phase::Waiting => None,
    };
    IndexResponse {
        phase: match state.phase {
            Phase::Idle => "idle",
            Phase::Gathering => "gathering",
            Phase::Building { .. } => "building",
            Phase::Waiting => "waiting",
        },
        served: state.served.0,
        wanted: state.wanted.0,
        pending: state.wanted.0.saturating_sub(state.served.0),
        tools: state.tools,
        progress,
        built: state.built.map(|built| BuiltResponse {
            revision: built.revision.0,
            seconds: built.seconds,
            changes: built.changes,
        }),
        builds: state.builds,
        error: state.error.map(|(_, text)| text),
        unembedded: state.unembedded.0,
        unembedded_tools: state.unembedded.1,
        problems: state.problems,
        saved: state.saved.0,
        save_error: state.save_error,
    }
}
