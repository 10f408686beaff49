//! The one table of errors: stable code, HTTP status, sentence. No other file names a status.
//!
//! An [`Error`] becomes a response without a body; the outermost middleware
//! ([`observe`](super::observe)) writes the body, since it knows the request's identity, and logs
//! the cause, once. Causes of faults on our side never reach the caller.
//!
//! A message is made of the request and of fixed words only, never of what is in the catalogue, so
//! it says the same of a hidden tool as of one that does not exist.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};

use super::wire::Invalid;
use crate::registry::{self, Refusal};
use crate::search;
use crate::source;

/// Why a request was not served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The body is not JSON at all.
    #[error("the body is not JSON: {reason}")]
    MalformedJson {
        /// What the parser says, with line and column.
        reason: String,
    },
    /// The request can be read and cannot be served.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The body is not declared as JSON.
    #[error(
        "the body must be JSON, uncompressed: send the header 'content-type: application/json'"
    )]
    UnsupportedMediaType,
    /// The body is too large.
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge {
        /// Bytes that are accepted.
        limit: usize,
    },
    /// The body came too slowly.
    #[error("the body did not arrive within {}: send it at once", seconds(*.0))]
    SlowBody(Duration),
    /// The connection broke while the body was read.
    #[error("the body ended early")]
    BrokenBody,
    /// There is no key, or none that is known. One answer for both.
    #[error("a valid API key is required: send the header 'authorization: Bearer KEY'")]
    Unauthorized,
    /// A server without authentication was asked for by a name that is not this machine's: a page
    /// in a browser may be behind it.
    #[error("this server is open to its own machine only: ask for it as localhost or 127.0.0.1")]
    NotLocal,
    /// The key may not act for the principal that is named.
    #[error(
        "this key may not act for a principal of that tenant: its entry in the keys file lists those it may in 'acts_for'"
    )]
    MayNotAct,
    /// The key is no administrator's.
    #[error("this is for administrators: a key with 'admin = true' is required")]
    NotAdministrator,
    /// Nothing can be changed here.
    #[error(
        "tools are not changed through this server: start it with --registry FILE, and where it is open with --writable"
    )]
    NotWritable,
    /// The registry turned a change down.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The registry could not make a change, or could not be read.
    #[error(
        "{}",
        match .0 {
            registry::Error::Full { .. } => "the registry's disk is full: nothing was changed",
            registry::Error::Busy => "too many changes are waiting: try again in a second",
            _ => "the registry cannot be used now, and nothing was changed: the server's log names this request_id",
        }
    )]
    Registry(registry::Error),
    /// The revision that was asked for is not served yet.
    #[error("this revision is not served yet: GET /v1/index says how far it is")]
    NotYet,
    /// There is no such tool, or the caller may not see it. One answer for both.
    #[error("there is no tool with this key among those you may see")]
    UnknownTool,
    /// The tool may be seen and not called from here.
    #[error("this tool cannot be called through this server: call it where it is")]
    NotCallable,
    /// A server that a call was passed on to failed.
    #[error(transparent)]
    Source(#[from] source::Error),
    /// There is nothing at this path.
    #[error(
        "there is nothing at this path: see /openapi.json; a tool's key is one segment, with '/' written as %2F"
    )]
    UnknownPath,
    /// The path exists, and not for this method.
    #[error("this path does not answer this method: see the header 'allow'")]
    MethodNotAllowed,
    /// The request took too long.
    #[error("the request took longer than {}: try again, or ask for less", seconds(*.0))]
    Timeout(Duration),
    /// Too many requests are waiting.
    #[error("too many requests are waiting: try again in a second")]
    Overloaded,
    /// The audit is required and cannot be written.
    #[error("this server must note what is asked, and cannot: try again in a second")]
    AuditUnavailable,
    /// The server is about to stop.
    #[error("the server is stopping: ask another")]
    Stopping,
    /// A fault on our side.
    #[error("something went wrong on the server: its log names this request_id")]
    Internal {
        /// For the log alone.
        cause: String,
    },
}

impl From<search::Error> for Error {
    /// Nothing that a query says makes a search fail, so whatever does is a fault on our side.
    fn from(error: search::Error) -> Self {
        Self::internal(&error)
    }
}

impl Error {
    /// A fault on our side, with its chain of causes for the log.
    pub(super) fn internal(error: &dyn std::error::Error) -> Self {
        let mut cause = error.to_string();
        let mut next = error.source();
        while let Some(source) = next {
            cause = format!("{cause}: {source}");
            next = source.source();
        }
        Self::Internal { cause }
    }

    /// Tells the log the cause of a fault on our side, where no response carries it there.
    pub(super) fn log(&self) {
        if let Self::Internal { cause } = self {
            tracing::error!(cause, "failed");
        }
    }

    /// The row of the table: stable code and status.
    fn row(&self) -> (&'static str, StatusCode) {
        match self {
            Self::MalformedJson { .. } => ("malformed_json", StatusCode::BAD_REQUEST),
            Self::Invalid(_) => ("invalid_request", StatusCode::UNPROCESSABLE_ENTITY),
            Self::UnsupportedMediaType => {
                ("unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE)
            }
            Self::BodyTooLarge { .. } => ("body_too_large", StatusCode::PAYLOAD_TOO_LARGE),
            Self::SlowBody(_) => ("slow_body", StatusCode::REQUEST_TIMEOUT),
            Self::BrokenBody => ("broken_body", StatusCode::BAD_REQUEST),
            Self::Unauthorized => ("unauthorized", StatusCode::UNAUTHORIZED),
            Self::NotLocal => ("not_local", StatusCode::FORBIDDEN),
            Self::MayNotAct => ("may_not_act", StatusCode::FORBIDDEN),
            Self::NotAdministrator => ("not_administrator", StatusCode::FORBIDDEN),
            Self::NotWritable => ("not_writable", StatusCode::FORBIDDEN),
            Self::Refused(refusal) => refused(refusal),
            Self::Registry(registry::Error::Full { .. }) => {
                ("registry_full", StatusCode::INSUFFICIENT_STORAGE)
            }
            Self::Registry(registry::Error::Busy) => {
                ("overloaded", StatusCode::SERVICE_UNAVAILABLE)
            }
            Self::Registry(_) => ("registry_unavailable", StatusCode::SERVICE_UNAVAILABLE),
            Self::NotYet => ("not_yet", StatusCode::SERVICE_UNAVAILABLE),
            Self::UnknownTool => ("unknown_tool", StatusCode::NOT_FOUND),
            Self::NotCallable => ("not_callable", StatusCode::CONFLICT),
            Self::Source(_) => ("source_failed", StatusCode::BAD_GATEWAY),
            Self::UnknownPath => ("unknown_path", StatusCode::NOT_FOUND),
            Self::MethodNotAllowed => ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::Timeout(_) => ("timeout", StatusCode::GATEWAY_TIMEOUT),
            Self::Overloaded => ("overloaded", StatusCode::SERVICE_UNAVAILABLE),
            Self::AuditUnavailable => ("audit_unavailable", StatusCode::SERVICE_UNAVAILABLE),
            Self::Stopping => ("stopping", StatusCode::SERVICE_UNAVAILABLE),
            Self::Internal { .. } => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

/// The row of a change that was turned down.
fn refused(refusal: &Refusal) -> (&'static str, StatusCode) {
    match refusal {
        Refusal::Stale { .. } => ("stale", StatusCode::PRECONDITION_FAILED),
        Refusal::Unknown => ("unknown_tool", StatusCode::NOT_FOUND),
        Refusal::Taken { .. } => ("key_taken", StatusCode::CONFLICT),
        Refusal::Invalid(_) => ("invalid_request", StatusCode::UNPROCESSABLE_ENTITY),
        Refusal::Quota { .. } => ("quota", StatusCode::CONFLICT),
        Refusal::Shrinks { .. } => ("shrinks", StatusCode::CONFLICT),
    }
}

/// The word for a refusal that stands in a list of results.
pub(super) fn refusal_code(refusal: &Refusal) -> &'static str {
    refused(refusal).0
}

impl From<registry::Error> for Error {
    fn from(error: registry::Error) -> Self {
        Self::Registry(error)
    }
}

/// What the outermost middleware needs to finish an error's response; rides in its extensions.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// Stable code.
    pub(super) code: &'static str,
    /// Sentence for the caller.
    pub(super) message: String,
    /// Sentence for the log, where it is another.
    pub(super) cause: Option<String>,
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (code, status) = self.row();
        let message = self.to_string();
        let mut response = status.into_response();
        let headers = response.headers_mut();
        match &self {
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Overloaded | Self::AuditUnavailable | Self::Stopping => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        let cause = match self {
            Self::Internal { cause } => Some(cause),
            Self::Registry(error) => Some(error.to_string()),
            _ => None,
        };
        response.extensions_mut().insert(Failure {
            code,
            message,
            cause,
        });
        response
    }
}

/// The caller's copy is still right. No error, but its status belongs in this file too.
pub(super) fn not_modified() -> Response {
    StatusCode::NOT_MODIFIED.into_response()
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f32())
}
