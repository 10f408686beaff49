//! `POST /v1/policy/why`: for administrators, who may know of every tool.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;

use crate::serve::auth::Administrator;
use crate::serve::error::Error;
use crate::serve::extract::Json;
use crate::serve::state::App;
use crate::serve::wire::{ErrorResponse, WhyRequest, WhyResponse, to_json, why_response};

pub(super) fn router() -> Router<App> {
    Router::new().route("/v1/policy/why", post(why))
}

/// Say why somebody sees a tool, or does not
///
/// Which rules decide, and what the principal would need. For keys with `admin = true` only.
#[utoipa::path(
    post,
    path = "/v1/policy/why",
    operation_id = "policy_why",
    tag = "administration",
    request_body = WhyRequest,
    responses(
        (status = 200, description = "Why", body = WhyResponse),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 403, description = "`not_administrator`", body = ErrorResponse),
        (status = 404, description = "`unknown_tool`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn why(
    _: Administrator,
    State(app): State<App>,
    Json(request): Json<WhyRequest>,
) -> Result<Response, Error> {
    let principal = request.principal.check("principal")?;
    let served = app.served();
    let work = move || {
        let (catalog, rights) = (&served.index.catalog, served.rights());
        let tools = catalog.with_key(&request.tool).iter();
        let found = tools
            .map(|id| rights.why(&principal, *id, catalog.tool(*id)))
            .min_by_key(|why| why.obstacles.len())
            .ok_or(Error::UnknownTool)?;
        to_json(&why_response(&request.tool, &found, rights.rules()))
            .map_err(|error| Error::internal(&error))
    };
    Ok(super::json(app.gate().run(work).await??))
}
