//! The Model Context Protocol: the same search as REST, as tools that a model calls.
//!
//! One handler serves both transports. Over streamable HTTP ([`router`]) it is mounted at `/mcp`
//! behind the authentication of all other paths, and each request's principal is the one that
//! authentication put into that request: there are no sessions, so nothing can be carried from one
//! caller to another, and any replica can answer. Over standard input and output ([`serve_stdio`])
//! the principal is that of the process.
//!
//! `definition` says what tools there are, `arguments` what they take, `call` what they do.

mod arguments;
mod call;
mod definition;
mod forward;
mod handler;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};

use self::handler::Handler;
use super::auth::Caller;
use super::state::App;
use crate::access::Principal;
use crate::source::Sources;

/// Origins of pages that programs on this machine serve.
const LOCAL_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "https://localhost:*",
    "http://127.0.0.1:*",
    "https://127.0.0.1:*",
    "http://[::1]:*",
    "https://[::1]:*",
];

/// What the Model Context Protocol's side of a server is told.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Names by which the server may be asked for (`tools.example.com`, with or without a port);
    /// with none, an open server answers to names of this machine and one with keys to any.
    pub hosts: Vec<String>,
    /// Origins of browser pages that may ask, with scheme and port
    /// (`https://app.example.com:443`). A request without an origin is none of a browser's.
    pub origins: Vec<String>,
    /// Servers of tools that are followed: answers say which of them are not available.
    pub sources: Option<Sources>,
    /// Whether `call_tool` passes calls on to them.
    pub gateway: bool,
}

/// Why serving over standard input and output ended badly.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// What came first was no opening of the protocol.
    #[error("the client did not open the protocol: {0}")]
    Opening(Box<ServerInitializeError>),
    /// The serving task was lost.
    #[error("serving broke off: {0}")]
    Lost(#[from] tokio::task::JoinError),
}

/// `/mcp`, for the service that [`super::router`] makes.
pub(super) fn router(app: &App) -> Router<App> {
    let options = app.mcp();
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(app.limits().body);
    let is_open = app.authentication().is_open();
    if !options.hosts.is_empty() {
        config = config.with_allowed_hosts(options.hosts.clone());
    } else if !is_open {
        // A page behind a rebound name has no key to send.
        config = config.disable_allowed_hosts();
    }
    let local = LOCAL_ORIGINS.iter().filter(|_| is_open).copied();
    let origins = options.origins.iter().map(String::as_str).chain(local);
    let config = config
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let shared = app.clone();
    let service = StreamableHttpService::new(
        move || Ok(Handler::of_requests(shared.clone())),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Router::new()
        .route_service("/mcp", service)
        .layer(from_fn_with_state(app.clone(), identify))
}

/// Refuses who is not known, and tells the handler who asks.
async fn identify(caller: Caller, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// Serves one client over a pair of streams, most often standard input and output, until it closes
/// them. Whoever is at the other end is `principal`.
///
/// # Errors
/// [`StdioError`] where the client speaks another protocol.
pub async fn serve_stdio(
    app: App,
    principal: Principal,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), StdioError> {
    let limit = app.limits().body;
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(limit);
    match Handler::of_one(app, principal).serve(transport).await {
        Ok(serving) => {
            serving.waiting().await?;
            Ok(())
        }
        // A client that looks and goes away has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Opening(Box::new(error))),
    }
}
