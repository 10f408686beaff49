//! A small catalogue, two callers, and a way to ask.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use toolscout::access::{Effect, Policy, Principal, Rule};
use toolscout::catalog::{Catalog, read};
use toolscout::embed::hashed::Hashed;
use toolscout::embed::{self, Calibration, Embedder, Side, Vectors};
use toolscout::index::{Index, build};
use toolscout::search::Config;
use toolscout::serve::auth::{Authentication, Keys, hash_of_key};
use toolscout::serve::{App, Limits, Parts, mcp, router};
use tower::ServiceExt;

/// Tools that everybody may see.
pub(super) const TOOLS: &str = r#"
{"namespace": "logistics", "name": "get_shipping_eta", "description": "Estimates when a parcel arrives. Needs the order number.", "kind": "read", "side_effect": "read", "tags": ["parcel"], "use_when": ["where is my parcel"], "input_schema": {"type": "object", "required": ["order"], "properties": {"order": {"type": "string", "description": "Order number"}, "address": {"type": "object", "properties": {"city": {"type": "string"}}}}}}
{"namespace": "logistics", "name": "cancel_shipment", "description": "Stops a parcel on its way.", "kind": "act", "side_effect": "write", "tags": ["parcel"]}
{"namespace": "calendar", "name": "create_event", "description": "Puts a meeting into the calendar.", "kind": "act", "side_effect": "write"}
{"namespace": "weather", "name": "forecast", "description": "Tomorrow's weather in a city.", "kind": "read", "side_effect": "read"}
{"name": "ping", "description": "Answers pong."}
"#;

/// Tools that only an administrator may see.
pub(super) const SECRET: &str = r#"
{"namespace": "vault", "name": "rotate_secrets", "description": "Replaces the parcel password of every weather service.", "kind": "act", "side_effect": "destructive", "tags": ["vault"]}
{"namespace": "logistics", "name": "hidden_eta", "description": "Estimates when a parcel arrives, for staff.", "kind": "read", "tags": ["parcel", "staff"]}
"#;

pub(super) const NAMESPACES: &str = r#"
{"name": "logistics", "description": "Parcels and their ways.", "tags": ["shipping"]}
{"name": "vault", "description": "Secrets of the house."}
"#;

/// A key that may see [`TOOLS`], one that may see [`SECRET`] too, and one of another tenant.
pub(super) const GUEST: &str = "guest-key";
pub(super) const ADMIN: &str = "admin-key";
pub(super) const STRANGER: &str = "stranger-key";

pub(super) fn catalog(tools: &str) -> Catalog {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tools.jsonl"), tools.trim()).unwrap();
    std::fs::write(folder.path().join("namespaces.jsonl"), NAMESPACES.trim()).unwrap();
    let reading = read::read(folder.path()).unwrap();
    assert_eq!(reading.rejected(), 0, "{:?}", reading.problems);
    reading.into_catalog()
}

pub(super) fn index(tools: &str) -> Arc<Index> {
    let embedder = Hashed::new(64);
    let index = build::build(Arc::new(catalog(tools)), &embedder, &|_| {});
    Arc::new(index.unwrap())
}

/// Everybody sees everything but the vault and what is for staff, which administrators see.
pub(super) fn policy() -> Arc<Policy> {
    let allow = Rule {
        tenants: vec!["acme".into()],
        tools: vec![
            "logistics/[!h]*".into(),
            "calendar/*".into(),
            "weather/*".into(),
            "ping".into(),
        ],
        ..Rule::new(Effect::Allow)
    };
    let admin = Rule {
        roles: vec!["admin".into()],
        tools: vec![],
        ..allow.clone()
    };
    Arc::new(Policy::new(vec![allow, admin]).unwrap())
}

pub(super) fn keys() -> Authentication {
    let entry = |name: &str, key: &str, tenant: &str, rest: &str| {
        let sha256 = hash_of_key(key);
        format!("[[key]]\nname = '{name}'\nsha256 = '{sha256}'\ntenant = '{tenant}'\n{rest}\n")
    };
    let text = entry("guest", GUEST, "acme", "")
        + &entry("admin", ADMIN, "acme", "roles = ['admin']")
        + &entry("stranger", STRANGER, "umbrella", "roles = ['admin']");
    Authentication::Keys(Keys::parse("keys.toml".as_ref(), &text).unwrap())
}

pub(super) fn open() -> Authentication {
    Authentication::Open(Principal::of_tenant("acme"))
}

pub(super) fn parts(tools: &str) -> Parts {
    Parts {
        index: index(tools),
        policy: policy(),
        embedder: Some(Arc::new(Hashed::new(64))),
        config: Config::shipped(),
        authentication: keys(),
        limits: Limits::for_cores(2),
        mcp: mcp::Options::default(),
    }
}

pub(super) fn everything() -> String {
    format!("{}{}", TOOLS.trim_end(), SECRET)
}

/// A server over all tools, asked with keys.
pub(super) fn service() -> Router {
    router(App::new(parts(&everything())).unwrap())
}

/// A server over all tools, asked as guest without keys.
pub(super) fn open_service() -> Router {
    let parts = Parts {
        authentication: open(),
        ..parts(&everything())
    };
    router(App::new(parts).unwrap())
}

/// An answer, read to its end.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(super) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Status, code and message of an error.
    pub(super) fn error(&self) -> (u16, String, String) {
        let error = &self.json()["error"];
        let field = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        assert_eq!(field("request_id"), self.header("x-request-id"));
        assert_eq!(self.header("content-type"), "application/json");
        assert_eq!(self.header("content-length"), self.text.len().to_string());
        (self.status.as_u16(), field("code"), field("message"))
    }
}

pub(crate) async fn send(service: &Router, request: Request<Body>) -> Answer {
    let response = service.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer {
        status: parts.status,
        headers: parts.headers,
        text: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

pub(super) fn get(path: &str, key: &str) -> Request<Body> {
    Request::get(path)
        .header("authorization", format!("Bearer {key}"))
        .header("x-request-id", "test-1")
        .body(Body::empty())
        .unwrap()
}

pub(super) fn discover(body: impl Into<Body>, key: &str) -> Request<Body> {
    post("/v1/discover", body, key)
}

pub(crate) fn post(path: &str, body: impl Into<Body>, key: &str) -> Request<Body> {
    Request::post(path)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("x-request-id", "test-1")
        .body(body.into())
        .unwrap()
}

/// Runs the test on one thread with a real clock.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// What an embedder does instead of embedding a query at once.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trouble {
    Sleep(Duration),
    Fail,
    Panic,
}

/// The hashing embedder, with trouble on queries.
pub(super) struct Troubled {
    inner: Hashed,
    trouble: Trouble,
    /// Queries begun.
    pub(super) begun: AtomicUsize,
}

impl Troubled {
    pub(super) fn new(trouble: Trouble) -> Arc<Self> {
        Arc::new(Self {
            inner: Hashed::new(64),
            trouble,
            begun: AtomicUsize::new(0),
        })
    }
}

impl Embedder for Troubled {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn calibration(&self) -> Calibration {
        self.inner.calibration()
    }

    #[expect(
        clippy::panic,
        reason = "the server is to survive an embedder that panics"
    )]
    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match self.trouble {
            Trouble::Sleep(time) => std::thread::sleep(time),
            Trouble::Panic => std::panic::panic_any("the cause is not for callers"),
            Trouble::Fail => {
                return Err(embed::Error::Model {
                    model: "m".into(),
                    reason: "the cause is not for callers".into(),
                });
            }
        }
        self.inner.embed(side, texts)
    }
}
