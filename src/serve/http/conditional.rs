//! Answers that a caller may keep and ask about again: `etag`, `if-none-match` and 304.

use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use axum::response::{IntoResponse, Response};

use crate::serve::error::not_modified;

/// The headers that say who asks.
const WHO: &str = "authorization, toolscout-principal, toolscout-narrow";

/// What the caller has kept.
pub(super) struct Kept(Vec<String>);

impl Kept {
    /// From the `if-none-match` headers.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let tags = headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"'))
            .map(str::to_owned)
            .collect();
        Self(tags)
    }

    /// Whether it is still right.
    pub(super) fn holds(&self, etag: &str) -> bool {
        self.0.iter().any(|tag| tag == etag || tag == "*")
    }
}

/// A JSON text and the version it has; without the text where the caller has it.
pub(super) struct Versioned {
    pub(super) etag: String,
    pub(super) json: Option<String>,
}

impl IntoResponse for Versioned {
    fn into_response(self) -> Response {
        let mut response = match self.json {
            Some(text) => super::json(text),
            None => not_modified(),
        };
        let headers = response.headers_mut();
        if let Ok(etag) = HeaderValue::from_str(&format!("\"{}\"", self.etag)) {
            headers.insert(ETAG, etag);
        }
        // Another caller sees another catalogue, and a right may end at any time.
        headers.insert(VARY, HeaderValue::from_static(WHO));
        let private = HeaderValue::from_static("private, no-cache");
        headers.insert(CACHE_CONTROL, private);
        response
    }
}
