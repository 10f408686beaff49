//! How the outside reaches a search: REST over HTTP/1, and the Model Context Protocol ([`mcp`]).
//!
//! [`App`] is what all requests share, [`router`] the service over it (which tests call without a
//! socket), [`run()`] the service on a listener. A request passes, from the outside in: identity and
//! log (`observe`), panic guard, time limit, caller ([`auth`]), body (`extract`), a turn on a
//! core (`gate`), the search, and [`wire`], which decides what an answer looks like. Every error
//! is a row of one table ([`Error`]).
//!
//! Handlers are asynchronous and short; whatever reads the index runs behind the gate.

pub mod audit;
pub mod auth;
mod error;
mod extract;
mod gate;
mod http;
mod limits;
pub mod mcp;
mod observe;
mod openapi;
mod registry;
mod run;
mod state;
pub mod wire;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use tower_http::catch_panic::CatchPanicLayer;

pub use error::Error;
pub use limits::Limits;
pub use registry::Registry;
pub use run::{Error as RunError, run};
pub use state::{App, ModelMismatch, OpennessChanged, Parts};

/// The service: every resource, and what surrounds each request. Layers added later are further
/// out.
pub fn router(app: App) -> Router {
    let body = DefaultBodyLimit::max(app.limits().body);
    http::router()
        .merge(mcp::router(&app))
        .fallback(|| async { Error::UnknownPath })
        .method_not_allowed_fallback(|| async { Error::MethodNotAllowed })
        .layer(body)
        .layer(from_fn_with_state(app.clone(), observe::bounded))
        .layer(CatchPanicLayer::custom(observe::panicked))
        .layer(from_fn(observe::observe))
        .with_state(app)
}
