//! `POST /v1/route`: which tools to put before the model this turn.

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::response::Response;
use axum::routing::post;

use crate::access::Principal;
use crate::search::route::{Wanted, route as choose};
use crate::search::{Query, search};
use crate::serve::audit::{Event, Trail};
use crate::serve::auth::Caller;
use crate::serve::error::Error;
use crate::serve::extract::Json;
use crate::serve::state::App;
use crate::serve::wire::{
    ErrorResponse, RouteAsked, RouteRequest, RouteResponse, route_response, to_json,
};

pub(super) fn router() -> Router<App> {
    Router::new().route("/v1/route", post(route))
}

/// Choose the tools of a turn, before the model is asked
///
/// What is always there, what rules never defer, what is made for the phase and what the request
/// needs, within a number of tokens; each with the reason why it is there. Equal requests on an
/// unchanged catalogue get equal bytes, and what stays from turn to turn comes first.
#[utoipa::path(
    post,
    path = "/v1/route",
    operation_id = "route",
    tag = "harness",
    request_body = RouteRequest,
    responses(
        (status = 200, description = "The tools of this turn", body = RouteResponse),
        (status = 400, description = "`malformed_json`, `broken_body`", body = ErrorResponse),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn route(
    Caller(principal): Caller,
    State(app): State<App>,
    trail: Trail,
    Json(request): Json<RouteRequest>,
) -> Result<Response, Error> {
    let asked = request.check()?;
    let worker = app.clone();
    let work = move || chosen(&worker, &principal, &trail, asked);
    let mut response = super::json(app.gate().run(work).await??);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn chosen(
    app: &App,
    principal: &Principal,
    trail: &Trail,
    mut wanted: RouteAsked,
) -> Result<String, Error> {
    let served = app.served();
    let index = &served.index;
    let seen = served.seen_by(principal);
    let ruling = served.rules.ruling(principal, &wanted.asked.context);
    wanted.asked.request.ruling = ruling;
    let request = &wanted.asked.request;
    let found = wanted
        .searches
        .then(|| search(index, app.embedder(), &seen.view, request, app.config()))
        .transpose()?;
    let by = Wanted {
        always: &wanted.always,
        context: &wanted.asked.context,
        ruling: &request.ruling,
        phase_limit: wanted.phase_limit,
        token_budget: wanted.token_budget,
    };
    let route = choose(index, &seen.view, &by, found.as_ref());
    let tools = route
        .tools
        .iter()
        .map(|active| index.catalog.tool(active.tool).key.clone());
    let tools = &tools.collect::<Vec<String>>();
    let unasked = Query::default();
    let query = if wanted.searches {
        &request.query
    } else {
        &unasked
    };
    app.note(trail, principal, Event::Discover { query, tools })?;
    let response = route_response(
        (index, &seen.etag),
        &route,
        found.as_ref(),
        &request.ruling,
        wanted.asked.detail,
    );
    to_json(&response).map_err(|error| Error::internal(&error))
}
