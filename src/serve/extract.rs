//! From a request's body and query string to what a handler wants, with errors of our own shape.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Query, Request};
use axum::http::Uri;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use super::error::Error;
use super::state::App;
use super::wire::Invalid;

/// A JSON object from the body. Extracts last, after the caller is known: nobody else's body is
/// read.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self, Error> {
        if !is_plain_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        let limits = app.limits();
        let body = tokio::time::timeout(limits.body_time, Bytes::from_request(request, &()))
            .await
            .map_err(|_| Error::SlowBody(limits.body_time))?
            .map_err(|rejection| match rejection {
                BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
                    Error::BodyTooLarge { limit: limits.body }
                }
                _ => Error::BrokenBody,
            })?;
        parse(&body).map(Self)
    }
}

/// The query string, cut into names and values and decoded.
pub(super) fn pairs(uri: &Uri) -> Result<Vec<(String, String)>, Error> {
    match Query::try_from_uri(uri) {
        Ok(Query(pairs)) => Ok(pairs),
        Err(rejection) => Err(Invalid::new("query string", rejection.body_text()).into()),
    }
}

fn is_plain_json(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let essence = text(CONTENT_TYPE)
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase());
    let is_json = essence.is_some_and(|essence| {
        essence == "application/json"
            || (essence.starts_with("application/") && essence.ends_with("+json"))
    });
    is_json && text(CONTENT_ENCODING).is_none_or(|value| value.eq_ignore_ascii_case("identity"))
}

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(not_an_object(body));
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        match inner.classify() {
            Category::Data => wrong(&path, &inner),
            Category::Io | Category::Syntax | Category::Eof => malformed(&inner),
        }
    })?;
    reader.end().map_err(|error| malformed(&error))?;
    Ok(value)
}

/// Derived readers take a list for an object, field by field; a caller that sends one is mistaken.
fn not_an_object(body: &[u8]) -> Error {
    if body.trim_ascii().is_empty() {
        let reason = "it is empty".to_owned();
        return Error::MalformedJson { reason };
    }
    match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) => Invalid::new("body", "must be a JSON object").into(),
        Err(error) => malformed(&error),
    }
}

fn malformed(error: &serde_json::Error) -> Error {
    let reason = error.to_string();
    Error::MalformedJson { reason }
}

/// A field of a wrong type, an unknown field, or one given twice.
fn wrong(path: &str, error: &serde_json::Error) -> Error {
    let mut reason = error.to_string();
    if let Some(at) = reason.rfind(" at line ") {
        reason.truncate(at);
    }
    for (type_name, words) in [
        (
            "expected u32",
            "expected a whole number that is not negative",
        ),
        ("expected f32", "expected a number"),
    ] {
        reason = reason.replace(type_name, words);
    }
    let field = if path == "." { "body" } else { path };
    Invalid::new(field, reason).into()
}
