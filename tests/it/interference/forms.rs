//! Every form of request that a caller can send.

use axum::body::Body;
use axum::http::Request;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{NAMESPACES, WORDS, words};

/// A request, as plain data so that it can be sent twice and shown.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
    /// Sent again with the entity tag of the first answer.
    pub(super) again: bool,
}

impl Form {
    fn new(method: &'static str, path: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body: body.into(),
            again: false,
        }
    }

    /// The request; `etag` is what the caller has kept.
    pub(super) fn request(&self, etag: Option<&str>) -> Request<Body> {
        let mut builder = Request::builder()
            .method(self.method)
            .uri(&self.path)
            .header("host", "localhost")
            .header("x-request-id", "test-1")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25");
        if !self.body.is_empty() {
            builder = builder.header("content-type", "application/json");
        }
        for (name, value) in &self.headers {
            builder = builder.header(*name, value);
        }
        if let Some(etag) = etag {
            builder = builder.header("if-none-match", etag);
        }
        builder.body(Body::from(self.body.clone())).unwrap()
    }
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..WORDS.len(), 0..9).prop_map(|at| words(&at, " "))
}

fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..WORDS.len(), 1..4).prop_map(|at| words(&at, "_"))
}

/// What may be a key: a number, or a namespace and a name.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..24usize).prop_map(|at| format!("t{at:03}")),
        (0..NAMESPACES.len(), name()).prop_map(|(at, name)| match NAMESPACES[at] {
            "" => name,
            namespace => format!("{namespace}/{name}"),
        }),
    ]
}

fn question() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(|text| json!({"query": text})),
        2 => name().prop_map(|name| json!({"query": name})),
        2 => (key(), name()).prop_map(|(key, name)| json!({"query": format!("select:{key},{name},parcel,001")})),
        1 => key().prop_map(|key| json!({"query": format!("use {key} for the parcel")})),
        2 => proptest::collection::vec(text(), 1..4).prop_map(|needs| json!({"queries": needs})),
        1 => (text(), name()).prop_map(|(text, hint)| json!({"query": text, "hints": {"namespace": "logistics", "tool": hint}})),
        1 => (name(), name()).prop_map(|(server, tool)| json!({"query": format!("<tool_request>server: {server}; tool: {tool}</tool_request>")})),
        2 => (text(), text()).prop_map(|(a, b)| json!({"query": format!("{a}, and then send \"{b}\". 然后查询{a}")})),
    ]
}

fn discover() -> impl Strategy<Value = Form> {
    let filters = prop_oneof![
        4 => Just(json!({})),
        1 => Just(json!({"namespaces": ["logistics", "crm"]})),
        1 => Just(json!({"tags": ["secret"]})),
        1 => Just(json!({"tags": ["odd", "nothing"], "side_effects": ["read"]})),
    ];
    let threshold = prop_oneof![Just(Value::Null), Just(json!(0)), Just(json!(0.6))];
    let detail = prop::sample::select(vec!["full", "compact", "name"]);
    let preset = prop::sample::select(vec!["default", "card"]);
    let dense = prop::sample::select(vec!["auto", "exact"]);
    let rest = (
        1..8u32,
        threshold,
        filters,
        any::<bool>(),
        detail,
        preset,
        dense,
    );
    (question(), rest).prop_map(|(mut body, rest)| {
        let (limit, threshold, filters, explain, detail, preset, dense) = rest;
        body["limit"] = limit.into();
        body["threshold"] = threshold;
        body["filters"] = filters;
        body["explain"] = explain.into();
        body["detail"] = detail.into();
        body["preset"] = preset.into();
        body["dense"] = dense.into();
        Form::new("POST", "/v1/discover", body.to_string())
    })
}

fn listing() -> impl Strategy<Value = Form> {
    let filter = prop::sample::select(vec![
        "",
        "&tag=secret",
        "&namespace=crm",
        "&side_effect=read",
    ]);
    (1..6u32, prop::option::of(key()), filter, any::<bool>()).prop_map(
        |(limit, after, filter, again)| {
            let after = after.map_or_else(String::new, |key| format!("&cursor={}", escaped(&key)));
            let path = format!("/v1/tools?limit={limit}{after}{filter}");
            Form {
                again,
                ..Form::new("GET", path, "")
            }
        },
    )
}

fn one() -> impl Strategy<Value = Form> {
    (key(), any::<bool>()).prop_map(|(key, again)| Form {
        again,
        ..Form::new("GET", format!("/v1/tools/{}", escaped(&key)), "")
    })
}

fn mcp() -> impl Strategy<Value = Form> {
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    };
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    prop_oneof![
        Just(list),
        text().prop_map(move |text| call("discover_tools", json!({"query": text}))),
        key()
            .prop_map(move |key| call("discover_tools", json!({"query": format!("select:{key}")}))),
        key().prop_map(move |key| call("describe_tool", json!({"tool": key}))),
        name().prop_map(move |name| call("describe_tool", json!({"tool": name}))),
        name().prop_map(move |name| call(&name, json!({}))),
    ]
    .prop_map(|body| Form::new("POST", "/mcp", body.to_string()))
}

/// What is wrong in itself, and what a caller says of its own rights.
fn odd() -> impl Strategy<Value = Form> {
    let header = |name, value: &str| Form {
        headers: vec![(name, value.to_owned())],
        ..Form::new("GET", "/v1/tools?detail=name", "")
    };
    prop_oneof![
        Just(Form::new("POST", "/v1/discover", "{")),
        Just(Form::new("POST", "/v1/discover", "{}")),
        key().prop_map(|key| Form::new(
            "POST",
            "/v1/discover",
            json!({"query": "a", key: 1}).to_string()
        )),
        key().prop_map(|key| Form::new(
            "POST",
            "/v1/discover",
            json!({"query": "a", "preset": key}).to_string()
        )),
        key().prop_map(|key| Form::new("GET", format!("/v1/tools/{key}/more"), "")),
        key().prop_map(|key| Form::new("DELETE", format!("/v1/tools/{}", escaped(&key)), "")),
        key().prop_map(|key| Form::new("GET", format!("/v1/tools?tool={}", escaped(&key)), "")),
        key().prop_map(|key| Form::new(
            "POST",
            "/v1/policy/why",
            json!({"tool": key, "principal": {"tenant": "acme"}}).to_string()
        )),
        Just(header("toolscout-narrow", r#"{"roles": []}"#)),
        Just(header("toolscout-narrow", r#"{"roles": ["root"]}"#)),
        Just(header("toolscout-principal", r#"{"tenant": "umbrella"}"#)),
    ]
}

/// What a harness asks around a call of its model.
fn harness() -> impl Strategy<Value = Form> {
    let phase = prop::sample::select(vec!["locate", "modify", "verify"]);
    let route = (text(), key(), phase, 1..6u32).prop_map(|(text, always, phase, limit)| {
        let context = json!({"phase": phase});
        let body = json!({"query": text, "always": [always], "context": context, "limit": limit});
        Form::new("POST", "/v1/route", body.to_string())
    });
    let authorize =
        key().prop_map(|key| Form::new("POST", "/v1/authorize", json!({"tool": key}).to_string()));
    prop_oneof![2 => route, 1 => authorize]
}

/// All of them.
pub(super) fn forms() -> impl Strategy<Value = Form> {
    prop_oneof![
        8 => discover(),
        3 => listing(),
        2 => one(),
        1 => any::<bool>().prop_map(|again| Form { again, ..Form::new("GET", "/v1/namespaces", "") }),
        3 => mcp(),
        3 => harness(),
        2 => odd(),
    ]
}

fn escaped(text: &str) -> String {
    use std::fmt::Write;

    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
