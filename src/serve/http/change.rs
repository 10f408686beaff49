//! Changes of one tool or one namespace of the registry, and what was changed before.

use std::time::Duration;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put as at_put};
use serde_json::Value;

use crate::catalog::read::Rejected;
use crate::registry::{Action, Applied, Author, Batch, Change, Document, Effect, Expect, Hash, Id};
use crate::serve::auth::Writer;
use crate::serve::error::{Error, refusal_code};
use crate::serve::extract::{Json, pairs};
use crate::serve::registry::Registry;
use crate::serve::state::App;
use crate::serve::wire::{
    ChangeParameters, ChangeResponse, ErrorResponse, HistoryResponse, Invalid, LineResponse,
    SummaryResponse, effect_word, to_json,
};

/// Changes that a history tells.
const MAX_HISTORY: usize = 100;
/// How long a change that waits is waited for, within the time of a request.
pub(super) const PATIENCE: Duration = Duration::from_secs(25);

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/v1/tools/{key}", at_put(put).patch(patch).delete(delete))
        .route("/v1/tools/{key}/history", get(history))
}

pub(super) type Key = Result<Path<String>, PathRejection>;

/// Put a tool
///
/// The body is a tool as in a line of a catalogue. `if-match: "HASH"` makes the change only where
/// that document is there, `if-none-match: *` only where none is. For administrators.
#[utoipa::path(
    put,
    path = "/v1/tools/{key}",
    operation_id = "put_tool",
    tag = "registry",
    params(("key" = String, Path, description = "Key of the tool, percent-encoded"), ChangeParameters),
    request_body(content = Object),
    responses(
        (status = 200, description = "What became of it", body = ChangeResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 409, description = "`key_taken`, `quota`", body = ErrorResponse),
        (status = 412, description = "`stale`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
        (status = 507, description = "`registry_full`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn put(
    writer: Writer,
    State(app): State<App>,
    (key, uri, headers): (Key, Uri, HeaderMap),
    Json(mut tool): Json<Value>,
) -> Result<Response, Error> {
    let parameters = ChangeParameters::check(pairs(&uri)?, &[])?;
    let id = id(key, &parameters)?;
    let document = tool_of(&mut tool, &parameters)?;
    if document.id != id {
        let reason = format!(
            "the body is the tool '{}' of {}: its id, or namespace and name, must give the key of the path, and its tenants the tenant",
            document.id.key,
            if document.id.tenant.is_empty() {
                "all tenants".to_owned()
            } else {
                format!("tenant '{}'", document.id.tenant)
            }
        );
        return Err(Invalid::new("body", reason).into());
    }
    let change = Change {
        id,
        expect: expected(&headers)?,
        action: Action::Put(document),
    };
    one(&app, writer, parameters, change).await
}

/// Change a part of a tool
///
/// The body is a JSON Merge Patch (RFC 7396) of the whole document. For administrators.
#[utoipa::path(
    patch,
    path = "/v1/tools/{key}",
    operation_id = "patch_tool",
    tag = "registry",
    params(("key" = String, Path, description = "Key of the tool, percent-encoded"), ChangeParameters),
    request_body(content = Object),
    responses(
        (status = 200, description = "What became of it", body = ChangeResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 404, description = "`unknown_tool`", body = ErrorResponse),
        (status = 412, description = "`stale`", body = ErrorResponse),
        (status = 422, description = "`invalid_request`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn patch(
    writer: Writer,
    State(app): State<App>,
    (key, uri, headers): (Key, Uri, HeaderMap),
    Json(patch): Json<Value>,
) -> Result<Response, Error> {
    let parameters = ChangeParameters::check(pairs(&uri)?, &[])?;
    let change = Change {
        id: id(key, &parameters)?,
        expect: expected(&headers)?,
        action: Action::Patch(crate::catalog::schema::canonical(&patch)),
    };
    one(&app, writer, parameters, change).await
}

/// Delete a tool
///
/// Its history stays. For administrators.
#[utoipa::path(
    delete,
    path = "/v1/tools/{key}",
    operation_id = "delete_tool",
    tag = "registry",
    params(("key" = String, Path, description = "Key of the tool, percent-encoded"), ChangeParameters),
    responses(
        (status = 200, description = "What became of it", body = ChangeResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 404, description = "`unknown_tool`", body = ErrorResponse),
        (status = 412, description = "`stale`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn delete(
    writer: Writer,
    State(app): State<App>,
    (key, uri, headers): (Key, Uri, HeaderMap),
) -> Result<Response, Error> {
    let parameters = ChangeParameters::check(pairs(&uri)?, &["replacement"])?;
    let replacement = parameters.replacement.clone();
    let change = Change {
        id: id(key, &parameters)?,
        expect: expected(&headers)?,
        action: Action::Delete { replacement },
    };
    one(&app, writer, parameters, change).await
}

/// Tell what was changed of a tool
///
/// Its hundred last changes, with author, time, reason and document. For administrators.
#[utoipa::path(
    get,
    path = "/v1/tools/{key}/history",
    operation_id = "tool_history",
    tag = "registry",
    params(
        ("key" = String, Path, description = "Key of the tool, percent-encoded"),
        ("tenant" = Option<String>, Query, description = "The one tenant whose own the tool is"),
    ),
    responses(
        (status = 200, description = "Its changes, newest first", body = HistoryResponse),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 404, description = "`unknown_tool`", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn history(
    _: Writer,
    State(app): State<App>,
    (key, uri): (Key, Uri),
) -> Result<Response, Error> {
    let parameters = ChangeParameters::check(pairs(&uri)?, &[])?;
    let id = id(key, &parameters)?;
    let tool = id.key.clone();
    let found = registry(&app)?
        .run(move |store| store.history(&id, MAX_HISTORY))
        .await?;
    if found.is_empty() {
        return Err(Error::UnknownTool);
    }
    let changes = found.into_iter().map(Into::into).collect();
    answer(&HistoryResponse { tool, changes })
}

pub(super) fn registry(app: &App) -> Result<&Registry, Error> {
    app.registry().ok_or(Error::NotWritable)
}

pub(super) fn author(writer: Writer, parameters: &ChangeParameters) -> Author {
    Author {
        name: writer.name,
        reason: parameters.reason.clone(),
    }
}

fn id(key: Key, parameters: &ChangeParameters) -> Result<Id, Error> {
    let Path(key) = key.map_err(|_| Error::UnknownTool)?;
    Ok(Id::tool_of(parameters.tenant(), key))
}

/// The tool of a body; one of a tenant's own catalogue need not say so itself.
pub(super) fn tool_of(
    tool: &mut Value,
    parameters: &ChangeParameters,
) -> Result<Document, Invalid> {
    if let (Value::Object(map), Some(tenant)) = (&mut *tool, &parameters.tenant) {
        map.entry("tenants").or_insert(vec![tenant.clone()].into());
    }
    let read = crate::catalog::read::tool(tool.take()).map_err(invalid)?;
    Ok(Document::of_tool(&read.tool))
}

pub(super) fn invalid(rejected: Rejected) -> Invalid {
    Invalid::new(rejected.field.unwrap_or("body".to_owned()), rejected.reason)
}

/// What the headers say must be there.
pub(super) fn expected(headers: &HeaderMap) -> Result<Expect, Invalid> {
    let text = |name: &HeaderName| -> Result<Option<String>, Invalid> {
        let Some(value) = headers.get(name) else {
            return Ok(None);
        };
        let wrong = |_| Invalid::new(name.as_str(), "is not plain text");
        Ok(Some(value.to_str().map_err(wrong)?.trim().to_owned()))
    };
    match (text(&IF_MATCH)?, text(&IF_NONE_MATCH)?) {
        (None, None) => Ok(Expect::Anything),
        (None, Some(any)) if any == "*" => Ok(Expect::Nothing),
        (None, Some(_)) => Err(Invalid::new("if-none-match", "must be * for a change")),
        (Some(any), None) if any == "*" => Ok(Expect::Something),
        (Some(tag), None) => {
            let wrong = || Invalid::new("if-match", "must be * or one hash: 64 hexadecimal digits");
            let hash = Hash::parse(tag.trim_matches('"')).ok_or_else(wrong)?;
            Ok(Expect::Hash(hash))
        }
        (Some(_), Some(_)) => Err(Invalid::new("if-match", "goes without if-none-match")),
    }
}

/// Makes one change and tells what became of it.
pub(super) async fn one(
    app: &App,
    writer: Writer,
    parameters: ChangeParameters,
    change: Change,
) -> Result<Response, Error> {
    let registry = registry(app)?;
    let batch = Batch {
        dry_run: parameters.dry_run,
        ..Batch::one(author(writer, &parameters), change)
    };
    let applied = registry.run(move |store| store.apply(batch)).await?;
    let summary = summary(registry, &applied, parameters.wait).await;
    let Some((id, effect)) = applied.effects.into_iter().next() else {
        let cause = "the store told of no effect".to_owned();
        return Err(Error::Internal { cause });
    };
    if let Effect::Refused(refusal) = effect {
        return Err(refusal.into());
    }
    let hash = effect.hash().map(|hash| hash.to_string());
    let mut response = answer(&ChangeResponse {
        tool: id.key,
        effect: effect_word(&effect),
        hash: hash.clone(),
        revision: summary.revision,
        committed: summary.committed,
        served: summary.served,
    })?;
    if let Some(tag) = hash.and_then(|hash| HeaderValue::from_str(&format!("\"{hash}\"")).ok()) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

/// The summary without its counts; waits for the change to be served, if that is wanted.
pub(super) async fn summary(registry: &Registry, applied: &Applied, wait: bool) -> SummaryResponse {
    let patience = if wait && applied.committed {
        PATIENCE
    } else {
        Duration::ZERO
    };
    SummaryResponse {
        revision: applied.revision.0,
        committed: applied.committed,
        served: registry.served(applied.revision, patience).await,
        ..SummaryResponse::default()
    }
}

pub(super) fn line(number: Option<u64>, id: Option<&Id>, effect: &Effect) -> LineResponse {
    let refusal = match effect {
        Effect::Refused(refusal) => Some(refusal),
        _ => None,
    };
    LineResponse {
        line: number,
        tool: id.map(|id| id.key.clone()),
        effect: effect_word(effect),
        hash: effect.hash().map(|hash| hash.to_string()),
        code: refusal.map(refusal_code),
        message: refusal.map(ToString::to_string),
    }
}

pub(super) fn answer(response: &impl serde::Serialize) -> Result<Response, Error> {
    let text = to_json(response).map_err(|error| Error::internal(&error))?;
    Ok((StatusCode::OK, super::json(text)).into_response())
}
