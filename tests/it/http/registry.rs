//! Changes over REST: made, refused, waited for, and hidden from who may not make them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolscout::access::Policy;
use toolscout::embed::Embedder;
use toolscout::embed::hashed::Hashed;
use toolscout::refresh::{self, Following, Pace, Remembered, Source, follow};
use toolscout::serve::{App, Parts, Registry, router};
use toolscout::store::sqlite::{Limits, Sqlite};
use toolscout::store::vectors::Vectors;

use super::fixture::*;

/// A server over an empty registry.
struct Fixture {
    service: Router,
    following: Arc<Following>,
    _folder: TempDir,
}

fn fixture(with: impl FnOnce(Parts) -> (Parts, bool)) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let vectors = Vectors::open(&at("vectors"), 1 << 20).unwrap();
    let model: Arc<dyn Embedder> = Arc::new(Hashed::new(64));
    let source = Source {
        store: Arc::new(Sqlite::open(&at("r.db"), Limits::default()).unwrap()),
        embedder: Arc::new(Remembered::new(model, Arc::new(vectors))),
        snapshots: None,
        pace: Pace {
            quiet: Duration::from_millis(1),
            ..Pace::default()
        },
    };
    let first = refresh::open(&source, &|_| {}).unwrap();
    let (parts, writable) = with(parts(TOOLS));
    let app = App::new(Parts {
        index: Arc::clone(&first.index),
        ..parts
    })
    .unwrap();
    let following = Arc::new(follow(source.clone(), first, app.publisher()).unwrap());
    let spool = folder.path().to_owned();
    app.set_registry(Registry::new(
        source.store,
        Arc::clone(&following),
        spool,
        writable,
    ));
    Fixture {
        service: router(app),
        following,
        _folder: folder,
    }
}

/// An open server whose callers may write.
fn writable() -> Fixture {
    fixture(|parts| {
        let parts = Parts {
            authentication: open(),
            policy: Arc::new(Policy::open("a test of changes")),
            ..parts
        };
        (parts, true)
    })
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.following.stop();
    }
}

impl Fixture {
    fn send(&self, request: Request<Body>) -> Answer {
        block_on(send(&self.service, request))
    }

    fn change(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(change(method, path, &[], body))
    }

    fn keys(&self) -> Vec<String> {
        let tools = self.send(get("/v1/tools?detail=name", "")).json();
        let keys = tools["tools"].as_array().unwrap().iter();
        keys.map(|tool| tool["tool"].as_str().unwrap().to_owned())
            .collect()
    }

    fn bulk(&self, query: &str, body: String) -> (Vec<Value>, Value) {
        let request = Request::post(format!("/v1/tools:bulk?{query}"))
            .header("content-type", "application/x-ndjson")
            .body(Body::from(body))
            .unwrap();
        let answer = self.send(request);
        assert_eq!(answer.status, 200, "{}", answer.text);
        let mut lines: Vec<Value> = answer
            .text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let summary = lines.pop().unwrap()["summary"].clone();
        (lines, summary)
    }
}

fn change(method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("x-request-id", "test-1")
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

fn lion(description: &str) -> Value {
    json!({"namespace": "zoo", "name": "feed", "description": description})
}

const LION: &str = "/v1/tools/zoo%2Ffeed?wait=true";

#[test]
fn a_change_that_was_waited_for_is_seen() {
    let fixture = writable();
    let created = fixture.change("PUT", LION, &lion("Feeds the lion."));
    assert_eq!(created.status, 200, "{}", created.text);
    let body = created.json();
    assert_eq!(
        (&body["effect"], &body["served"]),
        (&json!("created"), &json!(true))
    );
    let hash = body["hash"].as_str().unwrap().to_owned();
    assert_eq!(created.header("etag"), format!("\"{hash}\""));
    assert_eq!(fixture.keys(), ["zoo/feed"]);

    let stale = change("PATCH", LION, &[("if-match", &"0".repeat(64))], &json!({}));
    assert_eq!(fixture.send(stale).error().1, "stale");
    let patch = json!({"description": "Feeds the tiger."});
    let patched = fixture.send(change("PATCH", LION, &[("if-match", &hash)], &patch));
    assert_eq!(patched.json()["effect"], "updated");
    let one = fixture.send(get("/v1/tools/zoo%2Ffeed", "")).json();
    assert_eq!(one["definition"]["description"], "Feeds the tiger.");
    let again = fixture.change("PUT", LION, &lion("Feeds the tiger."));
    assert_eq!(again.json()["effect"], "unchanged");
    assert_eq!(again.json()["revision"], 2);

    let deleted = fixture.change("DELETE", &format!("{LION}&reason=closed"), &json!({}));
    assert_eq!(deleted.json()["effect"], "deleted");
    assert!(fixture.keys().is_empty());
    let gone = fixture.change("DELETE", LION, &json!({}));
    assert_eq!(gone.error().1, "unknown_tool");
    let history = fixture.send(get("/v1/tools/zoo%2Ffeed/history", "")).json();
    let revisions: Vec<&Value> = history["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["revision"])
        .collect();
    assert_eq!(revisions, [3, 2, 1]);
    assert_eq!(history["changes"][0]["reason"], "closed");
    assert_eq!(history["changes"][0]["author"], "local");
    let state = fixture.send(get("/v1/index", "")).json();
    assert_eq!(
        (&state["served"], &state["pending"]),
        (&json!(3), &json!(0))
    );
}

#[test]
fn a_writer_may_ask_for_a_revision_and_nobody_else() {
    let fixture = writable();
    let ask = |key: &str, revision: u64| {
        let mut request = discover(r#"{"query": "lion"}"#, key);
        let path = format!("/v1/discover?min_revision={revision}");
        *request.uri_mut() = path.parse().unwrap();
        request
    };
    let made = fixture.change("PUT", "/v1/tools/zoo%2Ffeed", &lion("Feeds the lion."));
    assert_eq!(made.json()["revision"], 1);
    let answer = fixture.send(ask(GUEST, 1));
    assert!(answer.text.contains("zoo/feed"), "{}", answer.text);
    let keyed = super::registry::fixture(|parts| (parts, true));
    let refused = [0, 1, u64::MAX].map(|revision| keyed.send(ask(GUEST, revision)));
    assert_eq!(refused[0].error().1, "not_administrator");
    assert!(refused.iter().all(|one| *one == refused[0]));
}

#[test]
fn what_cannot_be_made_is_told() {
    let fixture = writable();
    for (method, path, body, code) in [
        ("PUT", "/v1/tools/other", lion("a"), "invalid_request"),
        ("PUT", LION, json!({"name": 3}), "invalid_request"),
        (
            "PUT",
            "/v1/tools/a?wait=perhaps",
            json!({"name": "a"}),
            "invalid_request",
        ),
        (
            "PUT",
            "/v1/tools/a?wat=true",
            json!({"name": "a"}),
            "invalid_request",
        ),
        ("PATCH", LION, json!({}), "unknown_tool"),
        (
            "PUT",
            "/v1/tools/a?tenant=b",
            json!({"name": "a", "tenants": ["c"]}),
            "invalid_request",
        ),
        (
            "PUT",
            "/v1/namespaces/zoo/tools",
            json!({"tools": [{"name": "a", "namespace": "b"}]}),
            "invalid_request",
        ),
        (
            "PUT",
            "/v1/namespaces/zoo/tools",
            json!({"tols": []}),
            "invalid_request",
        ),
    ] {
        let answer = fixture.change(method, path, &body);
        assert_eq!(answer.error().1, code, "{method} {path}: {}", answer.text);
    }
    let twice = [("if-match", "*"), ("if-none-match", "*")];
    let answer = fixture.send(change("PUT", LION, &twice, &lion("a")));
    assert_eq!(answer.error().1, "invalid_request");
    let dry = fixture.change("PUT", &format!("{LION}&dry_run=true"), &lion("a"));
    assert_eq!(
        (&dry.json()["effect"], &dry.json()["committed"]),
        (&json!("created"), &json!(false))
    );
    assert!(fixture.keys().is_empty());
}

#[test]
fn a_tenants_own_tool_and_a_shared_one_do_not_share_a_key() {
    let fixture = writable();
    let own = fixture.change(
        "PUT",
        "/v1/tools/a?tenant=acme&wait=true",
        &json!({"name": "a"}),
    );
    assert_eq!(own.json()["effect"], "created");
    let other = fixture.change("PUT", "/v1/tools/a?tenant=umbrella", &json!({"name": "a"}));
    assert_eq!(other.json()["effect"], "created");
    let shared = fixture.change("PUT", "/v1/tools/a?wait=true", &json!({"name": "a"}));
    assert_eq!(shared.error().1, "key_taken");
    assert_eq!(fixture.keys(), ["a"]);
}

#[test]
fn a_listing_replaces_a_namespace() {
    let fixture = writable();
    let listing = |names: &[&str]| {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        json!({"tools": tools})
    };
    let path = "/v1/namespaces/zoo/tools?wait=true";
    let made = fixture
        .change("PUT", path, &listing(&["a", "b", "c"]))
        .json();
    assert_eq!(made["summary"]["created"], 3);
    let described = json!({"description": "Animals", "tags": ["zoo"]});
    let namespace = fixture.change("PUT", "/v1/namespaces/zoo?wait=true", &described);
    assert_eq!(namespace.json()["effect"], "created");
    let names = fixture.send(get("/v1/namespaces", "")).text;
    assert!(names.contains("Animals"), "{names}");
    assert_eq!(
        fixture.change("PUT", path, &listing(&[])).error().1,
        "shrinks"
    );
    let made = fixture
        .change("PUT", path, &listing(&["a", "c", "d"]))
        .json();
    let counts = ["created", "unchanged", "deleted"].map(|name| &made["summary"][name]);
    assert_eq!(counts, [1, 2, 1]);
    assert_eq!(fixture.keys(), ["zoo/a", "zoo/c", "zoo/d"]);
    fixture.change("PUT", &format!("{path}&force=true"), &listing(&[]));
    assert!(fixture.keys().is_empty());
}

#[test]
fn a_bulk_change_is_made_line_by_line_or_whole() {
    let fixture = writable();
    let lines = [
        r#"{"name": "a", "description": "one"}"#,
        r#"{"op": "patch", "key": "a", "patch": {"description": "two"}}"#,
        "",
        "no json",
        r#"{"op": "delete", "key": "none"}"#,
        r#"{"op": "put", "tool": {"name": "b"}, "if_match": "*"}"#,
        r#"{"op": "namespace", "namespace": {"name": "n", "description": "d"}}"#,
        r#"{"op": "burn", "key": "a"}"#,
    ];
    let body = || lines.join("\n");
    for query in ["", "mode=atomic", "mode=best_effort&dry_run=true"] {
        let (results, summary) = fixture.bulk(query, body());
        assert_eq!(results.len(), 7);
        assert_eq!(
            (&summary["committed"], &summary["refused"]),
            (&json!(false), &json!(4)),
            "{query}"
        );
    }
    let (results, summary) = fixture.bulk("mode=best_effort&wait=true", body());
    let told: Vec<(i64, &str)> = results
        .iter()
        .map(|line| {
            let effect = line["code"].as_str().or(line["effect"].as_str());
            (line["line"].as_i64().unwrap(), effect.unwrap())
        })
        .collect();
    let expected = [
        (1, "created"),
        (2, "updated"),
        (4, "invalid_request"),
        (5, "unknown_tool"),
        (6, "stale"),
        (7, "created"),
        (8, "invalid_request"),
    ];
    assert_eq!(told, expected);
    assert_eq!(summary["revision"], 3);
    assert_eq!(summary["served"], true);
    assert_eq!(fixture.keys(), ["a"]);

    let many: Vec<String> = (0..1200)
        .map(|at| format!(r#"{{"name": "t{at}"}}"#))
        .collect();
    let (_, summary) = fixture.bulk("wait=true", many.join("\n"));
    assert_eq!(
        (&summary["created"], &summary["committed"]),
        (&json!(1200), &json!(true))
    );
    let (_, summary) = fixture.bulk("mode=best_effort", many.join("\n"));
    assert_eq!(summary["unchanged"], 1200);
    let long = format!(r#"{{"name": "{}"}}"#, "x".repeat(2 << 20));
    let (results, _) = fixture.bulk(
        "mode=best_effort",
        format!("{long}\n{{\"name\": \"after\"}}"),
    );
    assert_eq!(results[0]["effect"], "refused");
    assert_eq!(results[1]["effect"], "created");
}

#[test]
fn a_bulk_change_must_say_what_it_is() {
    let fixture = writable();
    let request = Request::post("/v1/tools:bulk")
        .header("content-type", "text/plain")
        .header("x-request-id", "test-1")
        .body(Body::from("{}"))
        .unwrap();
    assert_eq!(fixture.send(request).error().1, "invalid_request");
}

/// Everything that only a writer may ask.
fn for_writers() -> Vec<(&'static str, &'static str)> {
    vec![
        ("PUT", "/v1/tools/ping"),
        ("PATCH", "/v1/tools/ping"),
        ("DELETE", "/v1/tools/ping"),
        ("GET", "/v1/tools/ping/history"),
        ("PUT", "/v1/namespaces/zoo"),
        ("PUT", "/v1/namespaces/zoo/tools"),
        ("POST", "/v1/tools:bulk"),
        ("GET", "/v1/index"),
        ("POST", "/v1/index:rebuild"),
    ]
}

#[test]
fn who_may_not_write_learns_nothing() {
    let keyed = fixture(|parts| (parts, true));
    for (method, path) in for_writers() {
        for key in [GUEST, STRANGER] {
            let authorization = format!("Bearer {key}");
            let headers = [("authorization", authorization.as_str())];
            let body = json!({"name": "ping"});
            let here = keyed.send(change(method, path, &headers, &body));
            assert_eq!(here.error().1, "not_administrator", "{method} {path}");
            let hidden = path.replace("ping", "vault%2Frotate_secrets");
            let there = keyed.send(change(method, &hidden, &headers, &body));
            assert_eq!((here.status, &here.text), (there.status, &there.text));
        }
        let nobody = keyed.send(change(method, path, &[], &json!({})));
        assert_eq!(nobody.error().1, "unauthorized");
    }
    let read_only = fixture(|parts| {
        let authentication = open();
        (
            Parts {
                authentication,
                ..parts
            },
            false,
        )
    });
    let fixed = open_service();
    for (method, path) in for_writers() {
        let request = || change(method, path, &[], &json!({"name": "ping"}));
        assert_eq!(read_only.send(request()).error().1, "not_writable");
        assert_eq!(block_on(send(&fixed, request())).error().1, "not_writable");
    }
}
