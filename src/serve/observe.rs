//! What surrounds every request: its identity, its log line, the body of its error, its time limit.

use std::any::Any;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::{Instrument, field};

use super::audit::RequestId;
use super::error::{Error, Failure};
use super::state::App;
use super::wire::{ErrorResponse, FailureResponse, to_json};

/// Names a request in answers and logs. A caller may give its own.
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of a caller's own request identity.
const MAX_REQUEST_ID: usize = 64;

/// Outermost of all: identity, span, error body, log.
pub(super) async fn observe(mut request: Request, next: Next) -> Response {
    let id = own_id(request.headers()).unwrap_or_else(new_id);
    let named = RequestId(id.to_str().unwrap_or_default().to_owned());
    request.extensions_mut().insert(named);
    let span = tracing::info_span!(
        "request",
        id = %id.to_str().unwrap_or_default(),
        method = %request.method(),
        path = request.uri().path(),
        caller = field::Empty,
    );
    async move {
        let begun = Instant::now();
        let mut response = next.run(request).await;
        let failure = response.extensions_mut().remove::<Failure>();
        log(&response, failure.as_ref(), begun);
        if let Some(failure) = failure {
            write_body(&mut response, failure, &id);
        }
        response.headers_mut().insert(REQUEST_ID.clone(), id);
        response
    }
    .instrument(span)
    .await
}

/// Ends a request that takes too long.
pub(super) async fn bounded(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Error> {
    let limits = app.limits();
    let limit = if request.uri().path() == super::http::bulk::PATH {
        limits.bulk_time
    } else {
        limits.request_time
    };
    tokio::time::timeout(limit, next.run(request))
        .await
        .map_err(|_| Error::Timeout(limit))
}

/// The answer to a request whose handler panicked.
// The layer that calls it wants a function over a boxed payload.
#[expect(clippy::needless_pass_by_value)]
pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Response {
    let said = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    let cause = format!("panicked: {}", said.unwrap_or("without a message"));
    Error::Internal { cause }.into_response()
}

fn log(response: &Response, failure: Option<&Failure>, begun: Instant) {
    let status = response.status().as_u16();
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    match failure {
        None => tracing::info!(status, ms, "served"),
        Some(Failure {
            code,
            cause: Some(cause),
            ..
        }) => tracing::error!(status, ms, code, cause, "failed"),
        Some(Failure { code, message, .. }) => {
            tracing::info!(status, ms, code, message, "refused");
        }
    }
}

fn write_body(response: &mut Response, failure: Failure, id: &HeaderValue) {
    let body = ErrorResponse {
        error: FailureResponse {
            code: failure.code.to_owned(),
            message: failure.message,
            request_id: id.to_str().unwrap_or_default().to_owned(),
        },
    };
    // Three strings always become JSON.
    let json = to_json(&body).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(json.len()));
    *response.body_mut() = Body::from(json);
}

/// The identity that the caller gave, where it is short and plain enough for a log.
fn own_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(&REQUEST_ID)?;
    let plain = |c: &u8| c.is_ascii_alphanumeric() || b"-_.".contains(c);
    let bytes = id.as_bytes();
    let fits = (1..=MAX_REQUEST_ID).contains(&bytes.len()) && bytes.iter().all(plain);
    fits.then(|| id.clone())
}

/// A new identity: unlike any other of this process, and most likely of others. Not a secret.
fn new_id() -> HeaderValue {
    static PROCESS: LazyLock<[u8; 32]> = LazyLock::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&now.unwrap_or_default().as_nanos().to_le_bytes());
        hasher.update(&std::process::id().to_le_bytes());
        *hasher.finalize().as_bytes()
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let hash = blake3::keyed_hash(&PROCESS, &count.to_le_bytes()).to_hex();
    // Hexadecimal digits make a header value.
    HeaderValue::from_str(&hash[..24]).unwrap_or(HeaderValue::from_static("none"))
}
