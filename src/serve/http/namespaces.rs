//! `GET /v1/namespaces`: the directory.

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::conditional::{Kept, Versioned};
use crate::serve::auth::Caller;
use crate::serve::error::Error;
use crate::serve::state::App;
use crate::serve::wire::{ErrorResponse, NamespacesResponse, namespaces_response, to_json};

pub(super) fn router() -> Router<App> {
    Router::new().route("/v1/namespaces", get(list))
}

/// List the namespaces that hold a tool the caller may see
///
/// Each with how many of its tools those are. A namespace whose tools are all hidden is not there.
#[utoipa::path(
    get,
    path = "/v1/namespaces",
    operation_id = "list_namespaces",
    tag = "catalogue",
    responses(
        (status = 200, description = "The directory", body = NamespacesResponse),
        (status = 304, description = "The caller's copy is still right"),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn list(
    Caller(principal): Caller,
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let served = app.served();
    let work = move || {
        let seen = served.seen_by(&principal);
        to_json(&namespaces_response(&served.index, &seen.view, &seen.etag))
    };
    let json = app.gate().run(work).await?;
    let json = json.map_err(|error| Error::internal(&error))?;
    // The catalogue's etag is over definitions, and a namespace's description is not in any.
    let etag = blake3::hash(json.as_bytes()).to_hex()[..32].to_owned();
    let unchanged = Kept::of(&headers).holds(&etag);
    let json = (!unchanged).then_some(json);
    Ok(Versioned { etag, json }.into_response())
}
