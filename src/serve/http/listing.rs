//! Changes of a whole namespace: what it says of itself, and which tools it has.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::routing::put;
use serde_json::Value;

use super::change::{
    Key, answer, author, expected, invalid, line, one, registry, summary, tool_of,
};
use crate::registry::{Change, Document, Effect, Id, Replacement};
use crate::serve::auth::Writer;
use crate::serve::error::Error;
use crate::serve::extract::{Json, pairs};
use crate::serve::state::App;
use crate::serve::wire::{
    ChangeParameters, ChangeResponse, ErrorResponse, Invalid, ReplaceRequest, ReplaceResponse,
};

/// Bytes of a listing: thousands of tools.
const MAX_LISTING: usize = 64 << 20;

pub(super) fn router() -> Router<App> {
    let listing = DefaultBodyLimit::max(MAX_LISTING);
    Router::new()
        .route("/v1/namespaces/{key}", put(describe))
        .route("/v1/namespaces/{key}/tools", put(replace).layer(listing))
}

/// Describe a namespace
///
/// The body is `{"description": …, "tags": […]}`. For administrators.
#[utoipa::path(
    put,
    path = "/v1/namespaces/{key}",
    operation_id = "put_namespace",
    tag = "registry",
    params(("key" = String, Path, description = "Name of the namespace"), ChangeParameters),
    request_body(content = Object),
    responses(
        (status = 200, description = "What became of it", body = ChangeResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 412, description = "`stale`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn describe(
    writer: Writer,
    State(app): State<App>,
    (key, uri, headers): (Key, Uri, HeaderMap),
    Json(mut namespace): Json<Value>,
) -> Result<Response, Error> {
    let parameters = ChangeParameters::check(pairs(&uri)?, &[])?;
    let Path(name) = key.map_err(|_| Error::UnknownPath)?;
    if let Value::Object(map) = &mut namespace {
        map.insert("name".to_owned(), Value::from(name));
    }
    let read = crate::catalog::read::namespace(namespace).map_err(invalid)?;
    let change = Change {
        expect: expected(&headers)?,
        ..Change::put(Document::of_namespace(&read))
    };
    one(&app, writer, parameters, change).await
}

/// Replace all tools of a namespace
///
/// What is listed is put, and what is not is deleted, all or nothing. A listing with none, or less
/// than half, of the tools that are there needs `force=true`. For administrators.
#[utoipa::path(
    put,
    path = "/v1/namespaces/{key}/tools",
    operation_id = "replace_namespace",
    tag = "registry",
    params(("key" = String, Path, description = "Name of the namespace"), ChangeParameters),
    request_body = ReplaceRequest,
    responses(
        (status = 200, description = "What became of it", body = ReplaceResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 409, description = "`shrinks`, `key_taken`, `quota`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn replace(
    writer: Writer,
    State(app): State<App>,
    (key, uri): (Key, Uri),
    body: Result<Json<ReplaceRequest>, Error>,
) -> Result<Response, Error> {
    let Json(request) = body.map_err(|error| match error {
        Error::BodyTooLarge { .. } => Error::BodyTooLarge { limit: MAX_LISTING },
        other => other,
    })?;
    let parameters = ChangeParameters::check(pairs(&uri)?, &["force"])?;
    let Path(namespace) = key.map_err(|_| Error::UnknownPath)?;
    let mut tools = Vec::with_capacity(request.tools.len());
    for (at, mut tool) in request.tools.into_iter().enumerate() {
        let place = format!("tools[{at}]");
        if let Value::Object(map) = &mut tool {
            map.entry("namespace").or_insert(namespace.clone().into());
        }
        let document = tool_of(&mut tool, &parameters)
            .map_err(|fault| Invalid::new(format!("{place}.{}", fault.field), fault.reason))?;
        if document.namespace != namespace || document.id.tenant != parameters.tenant() {
            let reason = "is of another namespace or tenant than the listing";
            return Err(Invalid::new(place, reason).into());
        }
        tools.push(document);
    }
    let replacement = Replacement {
        author: author(writer, &parameters),
        tenant: parameters.tenant().to_owned(),
        namespace,
        tools,
        force: parameters.force,
        dry_run: parameters.dry_run,
    };
    let registry = registry(&app)?;
    let applied = registry
        .run(move |store| store.replace(replacement))
        .await?;
    if let Some((_, Effect::Refused(refusal))) = applied
        .effects
        .iter()
        .find(|(_, effect)| matches!(effect, Effect::Refused(_)))
    {
        return Err(refusal.clone().into());
    }
    let mut summary = summary(registry, &applied, parameters.wait).await;
    let changed = |(_, effect): &&(Id, Effect)| !matches!(effect, Effect::Unchanged(_));
    applied
        .effects
        .iter()
        .for_each(|(_, effect)| summary.count(effect));
    let changes = applied.effects.iter().filter(changed);
    let changes = changes
        .map(|(id, effect)| line(None, Some(id), effect))
        .collect();
    answer(&ReplaceResponse { changes, summary })
}
