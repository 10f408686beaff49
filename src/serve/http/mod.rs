//! The REST resources, a file each: its routes and its handlers.

pub(super) mod authorize;
mod body_lines;
pub(super) mod bulk;
mod bulk_line;
pub(super) mod change;
mod conditional;
pub(super) mod discover;
mod fresh;
pub(super) mod health;
pub(super) mod index;
pub(super) mod listing;
pub(super) mod namespaces;
pub(super) mod policy;
pub(super) mod route;
pub(super) mod tools;

use axum::Router;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};

use super::state::App;

/// All of them.
pub(super) fn router() -> Router<App> {
    Router::new()
        .merge(authorize::router())
        .merge(discover::router())
        .merge(tools::router())
        .merge(change::router())
        .merge(listing::router())
        .merge(bulk::router())
        .merge(index::router())
        .merge(namespaces::router())
        .merge(policy::router())
        .merge(route::router())
        .merge(health::router())
}

/// A response of JSON text.
fn json(text: impl Into<axum::body::Body>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, kind)], text.into()).into_response()
}
