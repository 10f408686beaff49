//! `POST /v1/discover`: which tools does this request need?

use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use axum::response::Response;
use axum::routing::post;

use super::fresh::Fresh;
use crate::access::Principal;
use crate::index::Index;
use crate::search::shadow::shadow;
use crate::search::{Answer, Config, Detail, View, search};
use crate::serve::audit::{Event, Trail};
use crate::serve::auth::Caller;
use crate::serve::error::Error;
use crate::serve::extract::Json;
use crate::serve::state::App;
use crate::serve::wire::{
    Asked, DiscoverRequest, DiscoverResponse, ErrorResponse, ShadowResponse,
    discover_response_tagged, shadow_response, to_json,
};

static SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

pub(super) fn router() -> Router<App> {
    Router::new().route("/v1/discover", post(discover))
}

/// A rendered answer and where its time went.
pub(in crate::serve) struct Found {
    pub(in crate::serve) json: String,
    waited: Duration,
    searched: Duration,
    rendered: Duration,
}

/// Find the few tools that a request needs
///
/// Searches the tools that the caller may see, and says so where none of them fits. How long it
/// took is in the header `server-timing` (milliseconds), not in the body: equal requests on an
/// unchanged catalogue get equal bytes.
#[utoipa::path(
    post,
    path = "/v1/discover",
    operation_id = "discover",
    tag = "discover",
    params(("min_revision" = Option<u64>, Query, description = "For those who may write: waits until this revision is served")),
    request_body = DiscoverRequest,
    responses(
        (status = 200, description = "What was found", body = DiscoverResponse),
        (status = 400, description = "`malformed_json`, `broken_body`", body = ErrorResponse),
        (status = 401, description = "`unauthorized`", body = ErrorResponse),
        (status = 403, description = "`not_local`", body = ErrorResponse),
        (status = 408, description = "`slow_body`", body = ErrorResponse),
        (status = 413, description = "`body_too_large`", body = ErrorResponse),
        (status = 415, description = "`unsupported_media_type`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
        (status = 500, description = "`internal`", body = ErrorResponse),
        (status = 503, description = "`overloaded`", body = ErrorResponse),
        (status = 504, description = "`timeout`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn discover(
    Caller(principal): Caller,
    _: Fresh,
    State(app): State<App>,
    trail: Trail,
    Json(request): Json<DiscoverRequest>,
) -> Result<Response, Error> {
    let asked = request.check()?;
    let came = Instant::now();
    let worker = app.clone();
    let found = app
        .gate()
        .run(move || find(&worker, &principal, asked, (came, &trail)))
        .await??;
    Ok(respond(found))
}

/// Searches and renders; `came` is when the request did. Keeps a core busy.
pub(in crate::serve) fn find(
    app: &App,
    principal: &Principal,
    mut asked: Asked,
    (came, trail): (Instant, &Trail),
) -> Result<Found, Error> {
    let waited = came.elapsed();
    let served = app.served();
    let index = &served.index;
    let seen = served.seen_by(principal);
    asked.request.ruling = served.rules.ruling(principal, &asked.context);
    let config = asked.preset.as_ref().unwrap_or_else(|| app.config());
    let answer = search(index, app.embedder(), &seen.view, &asked.request, config)?;
    if let Some(fault) = &answer.model_fault {
        tracing::warn!(%fault, "answered by words alone: the model failed");
    }
    let searched = came.elapsed() - waited;
    let tools = answer
        .hits
        .iter()
        .map(|hit| index.catalog.tool(hit.tool).key.clone());
    let (query, tools) = (&asked.request.query, &tools.collect::<Vec<String>>());
    app.note(trail, principal, Event::Discover { query, tools })?;
    let mut response = discover_response_tagged(index, &seen.etag, &answer, asked.detail);
    response.shadow = in_shadow((app, index), &seen.view, &asked, config, &answer)?;
    response.unavailable = app.unavailable(&seen.owners);
    let json = to_json(&response).map_err(|error| Error::internal(&error))?;
    Ok(Found {
        json,
        waited,
        searched,
        rendered: came.elapsed() - waited - searched,
    })
}

/// What rules in shadow would change: told where explanations are asked for, and logged else as far
/// as it can be known without another search.
fn in_shadow(
    (app, index): (&App, &Index),
    view: &View,
    asked: &Asked,
    config: &Config,
    answer: &Answer,
) -> Result<Option<ShadowResponse>, Error> {
    let ruling = &asked.request.ruling;
    if asked.request.detail == Detail::Explained {
        let shadow = shadow(
            (index, app.embedder()),
            view,
            &asked.request,
            config,
            answer,
        )?;
        return Ok(shadow.map(|shadow| shadow_response(index, &shadow)));
    }
    if let Some(would) = ruling.with_shadow() {
        let rules: Vec<&str> = ruling.in_shadow().map(|rule| &*rule.name).collect();
        let tools = || answer.hits.iter().map(|hit| hit.tool);
        let gone = tools().filter(|tool| !would.keeps(*tool)).count();
        let moved = tools().filter(|tool| would.pull(*tool) != ruling.pull(*tool));
        let (rules, moved) = (rules.join(", "), moved.count());
        tracing::info!(
            rules,
            gone,
            moved,
            hits = answer.hits.len(),
            "rules in shadow"
        );
    }
    Ok(None)
}

fn respond(found: Found) -> Response {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let timing = format!(
        "wait;dur={:.3}, search;dur={:.3}, render;dur={:.3}",
        ms(found.waited),
        ms(found.searched),
        ms(found.rendered)
    );
    let mut response = super::json(found.json);
    let headers = response.headers_mut();
    if let Ok(timing) = HeaderValue::from_str(&timing) {
        headers.insert(SERVER_TIMING.clone(), timing);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
