//! `POST /v1/authorize`: may this call be made, now?

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::response::Response;
use axum::routing::post;

use crate::search::route::named;
use crate::serve::audit::{Event, Trail};
use crate::serve::auth::Caller;
use crate::serve::error::Error;
use crate::serve::extract::Json;
use crate::serve::state::App;
use crate::serve::wire::{AuthorizeRequest, AuthorizeResponse, ErrorResponse, Verdict, to_json};

pub(super) fn router() -> Router<App> {
    Router::new().route("/v1/authorize", post(authorize))
}

/// Ask again before a call is made
///
/// By the policy as it is now, whatever it was when the tool was found or loaded. The status is 200
/// either way; a tool that the caller may not see answers as one that does not exist, byte for byte.
#[utoipa::path(
    post,
    path = "/v1/authorize",
    operation_id = "authorize",
    tag = "harness",
    request_body = AuthorizeRequest,
    responses(
        (status = 200, description = "Whether it may", body = AuthorizeResponse),
        (status = 400, description = "`malformed_json`, `broken_body`", body = ErrorResponse),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn authorize(
    Caller(principal): Caller,
    State(app): State<App>,
    trail: Trail,
    Json(request): Json<AuthorizeRequest>,
) -> Result<Response, Error> {
    let request = request.check()?;
    let (served, worker) = (app.served(), app.clone());
    let work = move || {
        let seen = served.seen_by(&principal);
        let found = named(&served.index, &seen.view, &request.tool);
        let tool = found.map(|id| served.index.catalog.tool(id));
        let verdict = request.verdict(tool);
        let event = Event::Authorize {
            tool: tool.map_or(&request.tool, |tool| &tool.key),
            allowed: verdict == Verdict::Permitted,
            reason: verdict.as_str(),
        };
        worker.note(&trail, &principal, event)?;
        to_json(&AuthorizeResponse {
            allowed: verdict == Verdict::Permitted,
            reason: verdict.as_str(),
            tool: tool.map(|tool| tool.key.clone()),
        })
        .map_err(|error| Error::internal(&error))
    };
    let mut response = super::json(app.gate().run(work).await??);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
