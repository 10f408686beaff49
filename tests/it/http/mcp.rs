//! The Model Context Protocol over HTTP, byte by byte as a client sends it.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use toolscout::serve::{App, Parts, mcp, router};

use super::fixture::*;

const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];
const LATEST: &str = "2026-07-28";

/// A request of a revision: since 2026-07-28 every one says for itself what older ones say once.
fn request(revision: &str, method: &str, params: Value, key: &str) -> Request<Body> {
    let mut params = params;
    let mut builder = Request::post("/mcp")
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("host", "localhost")
        .header("x-request-id", "test-1")
        .header("mcp-protocol-version", revision);
    if revision == LATEST {
        builder = builder.header("mcp-method", method);
        if let Some(name) = params["name"].as_str() {
            builder = builder.header("mcp-name", name);
        }
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    builder.body(Body::from(body.to_string())).unwrap()
}

async fn ask(service: &Router, method: &str, params: Value, key: &str) -> Answer {
    send(service, request("2025-11-25", method, params, key)).await
}

async fn call(service: &Router, tool: &str, arguments: Value, key: &str) -> Answer {
    let params = json!({"name": tool, "arguments": arguments});
    ask(service, "tools/call", params, key).await
}

fn names(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let tools = json["result"]["tools"].as_array().expect(&answer.text);
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

#[test]
fn every_revision_is_opened_listed_and_called() {
    block_on(async {
        let service = service();
        for revision in REVISIONS {
            let (opening, params) = if revision == LATEST {
                ("server/discover", json!({}))
            } else {
                let client = json!({"name": "test", "version": "1"});
                let params =
                    json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
                ("initialize", params)
            };
            let opened = send(&service, request(revision, opening, params, GUEST)).await;
            let result = opened.json()["result"].clone();
            assert!(
                result["capabilities"]["tools"].is_object(),
                "{}",
                opened.text
            );
            assert!(opened.text.contains(revision), "{}", opened.text);
            assert_eq!(opened.header("mcp-session-id"), "", "there are no sessions");

            let listed = send(&service, request(revision, "tools/list", json!({}), GUEST)).await;
            assert_eq!(names(&listed), ["discover_tools", "describe_tool"]);
            assert_eq!(listed.json()["result"]["cacheScope"], "private");

            let params =
                json!({"name": "discover_tools", "arguments": {"query": "where is my parcel"}});
            let called = send(&service, request(revision, "tools/call", params, GUEST)).await;
            let result = &called.json()["result"];
            let hit = &result["structuredContent"]["hits"][0]["tool"];
            assert_eq!(hit, "logistics/get_shipping_eta", "{}", called.text);
        }
        // A client of an older one is offered one of these, and may go away.
        let client = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client});
        let mut old = request("2024-11-05", "initialize", params, GUEST);
        old.headers_mut().remove("mcp-protocol-version");
        let offered = send(&service, old).await.json();
        let revision = offered["result"]["protocolVersion"].as_str().unwrap();
        assert!(REVISIONS.contains(&revision), "{offered}");
    });
}

#[test]
fn an_answer_is_the_one_of_rest() {
    block_on(async {
        let service = service();
        let asked = json!({"query": "where is my parcel", "limit": 2});
        let rest = send(&service, discover(asked.to_string(), GUEST)).await;
        let called = call(&service, "discover_tools", asked, GUEST).await.json();
        assert_eq!(called["result"]["content"][0]["text"], rest.text.as_str());
        assert_eq!(called["result"]["structuredContent"], rest.json());
        let rest = send(&service, get("/v1/tools/ping", GUEST)).await;
        let called = call(&service, "describe_tool", json!({"tool": "ping"}), GUEST).await;
        let called = called.json();
        assert_eq!(called["result"]["content"][0]["text"], rest.text.as_str());
    });
}

#[test]
fn answers_fit_the_schemas_that_are_listed() {
    block_on(async {
        let service = service();
        let listed = ask(&service, "tools/list", json!({}), GUEST).await.json();
        for (at, arguments) in [
            (0, json!({"query": "where is my parcel"})),
            (
                0,
                json!({"queries": ["parcel", "weather"], "detail": "compact"}),
            ),
            (
                0,
                json!({"query": "zzz qqq xxx", "detail": "name", "kinds": ["act"]}),
            ),
            (1, json!({"tool": "logistics/get_shipping_eta"})),
        ] {
            let tool = &listed["result"]["tools"][at];
            let input = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
            assert!(input.is_valid(&arguments), "{arguments}");
            let name = tool["name"].as_str().unwrap();
            let called = call(&service, name, arguments, GUEST).await.json();
            let structured = &called["result"]["structuredContent"];
            let output = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
            let faults: Vec<String> = output
                .iter_errors(structured)
                .map(|fault| fault.to_string())
                .collect();
            assert!(
                structured.is_object() && faults.is_empty(),
                "{faults:?} {called}"
            );
        }
    });
}

/// What is hidden shows in no byte: not in the list, its counts and its order, and not in answers.
#[test]
fn non_interference_of_mcp() {
    block_on(async {
        let (all, visible) = (service(), router(App::new(parts(TOOLS)).unwrap()));
        for (method, params) in [
            ("tools/list", json!({})),
            (
                "tools/call",
                json!({"name": "discover_tools", "arguments": {"query": "parcel weather password"}}),
            ),
            (
                "tools/call",
                json!({"name": "discover_tools", "arguments": {"query": "select:vault/rotate_secrets,logistics/hidden_eta"}}),
            ),
            (
                "tools/call",
                json!({"name": "discover_tools", "arguments": {"query": "x", "namespaces": ["vault"]}}),
            ),
            (
                "tools/call",
                json!({"name": "describe_tool", "arguments": {"tool": "vault/rotate_secrets"}}),
            ),
            (
                "tools/call",
                json!({"name": "describe_tool", "arguments": {"tool": "hidden_eta"}}),
            ),
            (
                "tools/call",
                json!({"name": "rotate_secrets", "arguments": {}}),
            ),
        ] {
            for revision in REVISIONS {
                let ask = |service| send(service, request(revision, method, params.clone(), GUEST));
                let mut answers = [ask(&all).await, ask(&visible).await];
                answers
                    .iter_mut()
                    .for_each(|answer| drop(answer.headers.remove("date")));
                assert_eq!(answers[0], answers[1], "{params}");
                assert!(
                    !answers[0].text.contains("\"vault\""),
                    "{}",
                    answers[0].text
                );
            }
        }
        let guest = call(&all, "describe_tool", json!({"tool": "hidden_eta"}), GUEST).await;
        let nobody = call(&all, "describe_tool", json!({"tool": "no_such"}), GUEST).await;
        assert_eq!(guest.text, nobody.text);
        let admin = call(&all, "describe_tool", json!({"tool": "hidden_eta"}), ADMIN).await;
        assert!(admin.text.contains("for staff"), "{}", admin.text);
    });
}

/// Each request is its own caller's, whatever session it says it belongs to.
#[test]
fn who_asks_is_who_sent_the_request() {
    block_on(async {
        let service = service();
        for (key, sees) in [
            (ADMIN, true),
            (GUEST, false),
            (ADMIN, true),
            (STRANGER, false),
        ] {
            let mut request = request("2025-11-25", "tools/list", json!({}), key);
            let session = "5d0e1c9e-0000-4000-8000-000000000000".parse().unwrap();
            request.headers_mut().insert("mcp-session-id", session);
            let text = send(&service, request).await.text;
            assert_eq!(text.contains("vault (1)"), sees, "{key}: {text}");
        }
        let mut unknown = request("2025-11-25", "tools/list", json!({}), "no-such-key");
        let answer = send(&service, unknown).await;
        assert_eq!(answer.error().1, "unauthorized");
        unknown = request("2025-11-25", "tools/list", json!({}), GUEST);
        unknown.headers_mut().remove("authorization");
        assert_eq!(send(&service, unknown).await.status.as_u16(), 401);
        // Nothing is pushed, so there is no stream to wait on.
        let mut waiting = get("/mcp", GUEST);
        waiting
            .headers_mut()
            .insert("host", "localhost".parse().unwrap());
        let stream = send(&service, waiting).await;
        assert_eq!(stream.status.as_u16(), 405);
    });
}

#[test]
fn bad_arguments_are_told_to_the_model() {
    block_on(async {
        let service = service();
        for (tool, arguments, told) in [
            ("discover_tools", json!({}), "query: is missing"),
            (
                "discover_tools",
                json!({"query": 3}),
                "query: invalid type: integer `3`, expected a string",
            ),
            ("discover_tools", json!({"query": " "}), "query: is empty"),
            (
                "discover_tools",
                json!({"query": "x", "limit": 0}),
                "limit: 0 is not within 1..=100",
            ),
            (
                "discover_tools",
                json!({"query": "x", "limit": -1}),
                "limit: invalid value",
            ),
            (
                "discover_tools",
                json!({"query": "x", "tenant": "umbrella"}),
                "tenant: unknown field",
            ),
            (
                "discover_tools",
                json!({"query": "x", "kinds": ["magic"]}),
                "kinds[0]: unknown variant",
            ),
            (
                "discover_tools",
                json!({"query": "x".repeat(100_000)}),
                "query: 100000 characters",
            ),
            ("describe_tool", json!({}), "missing field `tool`"),
            (
                "describe_tool",
                json!({"tool": "no_such"}),
                "there is no tool with this key",
            ),
        ] {
            let answer = call(&service, tool, arguments, GUEST).await.json();
            let result = &answer["result"];
            assert_eq!(result["isError"], true, "{answer}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(told), "{told:?} is not in {text:?}");
        }
        let answer = call(&service, "launch", json!({}), GUEST).await.json();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.contains("discover_tools, describe_tool"), "{told}");
    });
}

#[test]
fn pages_of_strangers_are_refused() {
    block_on(async {
        let options = mcp::Options {
            hosts: vec!["tools.example.com".into()],
            origins: vec!["https://app.example.com:443".into()],
            ..mcp::Options::default()
        };
        let named = Parts {
            mcp: options,
            ..parts(TOOLS)
        };
        let named = router(App::new(named).unwrap());
        let (keyed, open) = (service(), open_service());
        for (service, host, origin, status) in [
            (&open, "localhost:8080", "http://localhost:3000", 200),
            (&open, "evil.example.com", "", 403),
            (&open, "localhost", "http://evil.example.com", 403),
            (&keyed, "tools.internal", "", 200),
            (&keyed, "tools.internal", "https://app.example.com", 403),
            (&named, "tools.example.com", "https://app.example.com", 200),
            (&named, "tools.example.com", "https://evil.example.com", 403),
            (&named, "other.example.com", "", 403),
        ] {
            let mut request = request("2025-11-25", "tools/list", json!({}), GUEST);
            request.headers_mut().insert("host", host.parse().unwrap());
            if !origin.is_empty() {
                request
                    .headers_mut()
                    .insert("origin", origin.parse().unwrap());
            }
            let answer = send(service, request).await;
            assert_eq!(
                answer.status.as_u16(),
                status,
                "{host} {origin}: {}",
                answer.text
            );
        }
    });
}

#[test]
fn what_is_no_message_is_refused() {
    block_on(async {
        let service = service();
        for body in [
            "",
            "{",
            "[]",
            "7",
            "{\"jsonrpc\": \"2.0\"}",
            &"[".repeat(100_000),
            &"x".repeat(2 << 20),
        ] {
            let mut request = request("2025-11-25", "tools/list", json!({}), GUEST);
            *request.body_mut() = Body::from(body.to_owned());
            let answer = send(&service, request).await;
            let status = answer.status.as_u16();
            let refused = (400..500).contains(&status) || answer.text.contains("\"error\"");
            assert!(refused, "{status} {}", answer.text);
        }
    });
}
