//! `GET /healthz`, `/readyz` and `/openapi.json`: what anybody may ask.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;

use crate::serve::error::Error;
use crate::serve::openapi;
use crate::serve::state::App;
use crate::serve::wire::{ErrorResponse, HealthResponse, to_json};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/openapi.json", get(document))
}

/// Is the process alive?
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "healthz",
    tag = "health",
    responses((status = 200, description = "It is", body = HealthResponse)),
)]
pub(in crate::serve) async fn alive() -> Result<Response, Error> {
    status("ok")
}

/// Should requests be sent here?
///
/// Not once the server has been told to stop.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readyz",
    tag = "health",
    responses(
        (status = 200, description = "They should", body = HealthResponse),
        (status = 503, description = "`stopping`", body = ErrorResponse),
    ),
)]
pub(in crate::serve) async fn ready(State(app): State<App>) -> Result<Response, Error> {
    if app.is_stopping() {
        return Err(Error::Stopping);
    }
    status("ready")
}

async fn document() -> Response {
    super::json(openapi::document())
}

fn status(status: &'static str) -> Result<Response, Error> {
    let text = to_json(&HealthResponse { status }).map_err(|error| Error::internal(&error))?;
    Ok(super::json(text))
}
