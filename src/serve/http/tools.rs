//! `GET /v1/tools` and `GET /v1/tools/{key}`: what is there to be found.

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::conditional::{Kept, Versioned};
use crate::serve::auth::Caller;
use crate::serve::error::Error;
use crate::serve::extract::pairs;
use crate::serve::state::App;
use crate::serve::wire::{
    ErrorResponse, ListRequest, OneToolResponse, ToolsResponse, one_tool_response, to_json,
    tools_response,
};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/v1/tools", get(list))
        .route("/v1/tools/{key}", get(one))
}

/// List the tools that the caller may see
///
/// In ascending order of key, a page at a time: send `next_cursor` back as `cursor` until it is
/// null. The `etag` is the answer's `catalog_etag`; with `if-none-match` an unchanged catalogue
/// costs a 304.
#[utoipa::path(
    get,
    path = "/v1/tools",
    operation_id = "list_tools",
    tag = "catalogue",
    params(ListRequest),
    responses(
        (status = 200, description = "A page of tools", body = ToolsResponse),
        (status = 304, description = "The caller's copy is still right"),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn list(
    Caller(principal): Caller,
    State(app): State<App>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Error> {
    let page = ListRequest::check(pairs(&uri)?)?;
    let kept = Kept::of(&headers);
    let served = app.served();
    let work = move || {
        let seen = served.seen_by(&principal);
        let json = if kept.holds(&seen.etag) {
            None
        } else {
            let response = tools_response(&served.index, &seen.view, &seen.etag, &page);
            Some(to_json(&response).map_err(|error| Error::internal(&error))?)
        };
        let etag = seen.etag.clone();
        Ok(Versioned { etag, json })
    };
    let listed: Result<Versioned, Error> = app.gate().run(work).await?;
    Ok(listed?.into_response())
}

/// Get one tool
///
/// The key is one segment: a `/` in it is written `%2F`. A tool that the caller may not see answers
/// as one that does not exist, byte for byte.
#[utoipa::path(
    get,
    path = "/v1/tools/{key}",
    operation_id = "get_tool",
    tag = "catalogue",
    params(("key" = String, Path, description = "Key of the tool, percent-encoded")),
    responses(
        (status = 200, description = "The tool", body = OneToolResponse),
        (status = 304, description = "The caller's copy is still right"),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 404, description = "`unknown_tool`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn one(
    Caller(principal): Caller,
    State(app): State<App>,
    headers: HeaderMap,
    key: Result<Path<String>, PathRejection>,
) -> Result<Response, Error> {
    // A key that is not UTF-8 is a key of no tool.
    let Path(key) = key.map_err(|_| Error::UnknownTool)?;
    let kept = Kept::of(&headers);
    let served = app.served();
    let work = move || {
        let seen = served.seen_by(&principal);
        let catalog = &served.index.catalog;
        let found = catalog
            .with_key(&key)
            .iter()
            .find(|id| seen.view.permitted.contains(**id));
        let Some(id) = found else {
            return Err(Error::UnknownTool);
        };
        let json = if kept.holds(&seen.etag) {
            None
        } else {
            let response = one_tool_response(catalog.tool(*id), &seen.etag);
            Some(to_json(&response).map_err(|error| Error::internal(&error))?)
        };
        let etag = seen.etag.clone();
        Ok(Versioned { etag, json })
    };
    Ok(app.gate().run(work).await??.into_response())
}
