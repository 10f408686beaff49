//! Business rules over HTTP: what they reorder, what they remove, and what they leave alone.

use std::sync::Arc;

use axum::Router;
use serde_json::{Value, json};
use toolscout::cli::rules::read;
use toolscout::rules::Rules;
use toolscout::serve::{App, router};

use super::fixture::*;

pub(super) fn rules(text: &str) -> Arc<Rules> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Arc::new(read(file.path()).unwrap())
}

pub(super) fn ruled(text: &str) -> Router {
    let app = App::new(parts(&everything())).unwrap();
    app.publish_rules(rules(text));
    router(app)
}

fn ask(service: &Router, body: &Value, key: &str) -> Value {
    let answer = block_on(send(service, discover(body.to_string(), key)));
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn keys(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["tool"].as_str().unwrap())
        .collect()
}

fn parcel(context: &Value) -> Value {
    json!({"query": "stop my parcel", "threshold": 0, "explain": true, "context": context})
}

const LOOK: &str = r#"
[[rule]]
name = "look only"
when = { field = "context.phase", eq = "locate" }
tools = { field = "tool.kind", in = ["search", "read"] }
effect = "require"
"#;

#[test]
fn a_phase_leaves_its_tools_only() {
    let service = ruled(LOOK);
    let all = ask(&service, &parcel(&json!({})), GUEST);
    assert!(keys(&all).contains(&"logistics/cancel_shipment"), "{all}");
    assert!(all["hits"][0]["explanation"].get("rules").is_none());
    let located = ask(&service, &parcel(&json!({"phase": "locate"})), GUEST);
    assert_eq!(
        keys(&located),
        ["logistics/get_shipping_eta", "weather/forecast"]
    );
    assert_eq!(
        located["hits"][0]["explanation"]["rules"],
        json!([{"name": "look only", "effect": "require", "shadow": false}])
    );
    for query in ["cancel_shipment", "select:logistics/cancel_shipment"] {
        let body = json!({"query": query, "threshold": 0, "context": {"phase": "locate"}});
        let named = ask(&service, &body, GUEST);
        assert!(
            !keys(&named).contains(&"logistics/cancel_shipment"),
            "{named}"
        );
    }
    let filters =
        json!({"query": "parcel", "context": {"phase": "locate"}, "filters": {"kinds": ["act"]}});
    let none = ask(&service, &filters, GUEST);
    assert_eq!(none["no_match"]["reason"], "ruled_out");
}

#[test]
fn scores_of_what_is_left_do_not_move() {
    let service = ruled(LOOK);
    let without = ask(&ruled(""), &parcel(&json!({"phase": "locate"})), GUEST);
    let with = ask(&service, &parcel(&json!({"phase": "locate"})), GUEST);
    for hit in with["hits"].as_array().unwrap() {
        let same = without["hits"].as_array().unwrap().iter();
        let same: Vec<&Value> = same.filter(|other| other["tool"] == hit["tool"]).collect();
        for arm in 0..2 {
            let of = |hit: &Value| hit["explanation"]["arms"][arm]["raw"].clone();
            assert_eq!(
                of(hit),
                of(same[0]),
                "statistics are over all that is permitted"
            );
        }
    }
}

#[test]
fn boost_and_suppress_go_through_the_rule_arm() {
    let rules = r#"
[[rule]]
name = "up"
tools = { field = "tool.namespace", eq = "weather" }
effect = "boost"
[[rule]]
name = "down"
tools = { field = "tool.name", eq = "cancel_shipment" }
effect = "suppress"
strength = 0.5
"#;
    let plain = ask(&ruled(""), &parcel(&json!({})), GUEST);
    assert!(!plain["arms"].as_array().unwrap().contains(&json!("rule")));
    let answer = ask(&ruled(rules), &parcel(&json!({})), GUEST);
    assert!(answer["arms"].as_array().unwrap().contains(&json!("rule")));
    let value = |tool: &str| {
        let hits = answer["hits"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["tool"] == tool).unwrap();
        let arms = hit["explanation"]["arms"].as_array().unwrap();
        arms.iter().find(|arm| arm["arm"] == "rule").unwrap()["value"].clone()
    };
    assert_eq!(value("weather/forecast"), 1.0);
    assert_eq!(value("logistics/cancel_shipment"), 0.25);
    assert_eq!(value("logistics/get_shipping_eta"), 0.5);
}

#[test]
fn a_pinned_tool_comes_first_but_after_one_that_is_named() {
    let service = ruled(
        "[[rule]]\nname = 'p'\neffect = 'pin'\ntools = { field = 'tool.key', glob = ['ping', 'vault/*'] }\n",
    );
    let first = |query: &str, key| {
        let body = json!({"query": query, "threshold": 0, "limit": 2});
        let answer = ask(&service, &body, key);
        let keys = keys(&answer).into_iter().map(str::to_owned);
        keys.collect::<Vec<String>>()
    };
    assert_eq!(first("stop my parcel", GUEST)[0], "ping");
    assert_eq!(
        first("stop my parcel", ADMIN),
        ["ping", "vault/rotate_secrets"]
    );
    assert_eq!(
        first("create_event", GUEST),
        ["calendar/create_event", "ping"]
    );
}

#[test]
fn a_rule_in_shadow_changes_nothing_and_says_what_it_would() {
    let text = format!("mode = 'shadow'\n{LOOK}");
    let shadowed = ruled(&text);
    let plain = |explain: bool| json!({"query": "stop my parcel", "threshold": 0, "explain": explain, "context": {"phase": "locate"}});
    let ask_text = |service: &Router, explain| {
        block_on(send(service, discover(plain(explain).to_string(), GUEST))).text
    };
    assert_eq!(ask_text(&shadowed, false), ask_text(&ruled(""), false));
    let answer = ask(&shadowed, &plain(true), GUEST);
    let enforced = ask(&ruled(LOOK), &plain(true), GUEST);
    assert_eq!(keys(&answer), keys(&ask(&ruled(""), &plain(true), GUEST)));
    assert_eq!(answer["shadow"]["rules"], json!(["look only"]));
    assert_eq!(answer["shadow"]["hits"], json!(keys(&enforced)));
    assert!(
        answer["shadow"]["gone"]
            .as_array()
            .unwrap()
            .contains(&json!("logistics/cancel_shipment"))
    );
    let hits = answer["hits"].as_array().unwrap();
    let cancel = hits
        .iter()
        .find(|hit| hit["tool"] == "logistics/cancel_shipment")
        .unwrap();
    assert_eq!(
        cancel["explanation"]["rules"],
        json!([{"name": "look only", "effect": "leave_out", "shadow": true}])
    );
}

#[test]
fn a_context_never_widens_what_is_seen() {
    let text = "[[rule]]\nname = 'p'\neffect = 'pin'\n[[rule]]\nname = 'b'\neffect = 'boost'\n[[rule]]\nname = 'r'\neffect = 'require'\ntools = { field = 'tool.namespace', eq = 'vault' }\nwhen = { field = 'context.phase', eq = 'x' }\n";
    let service = ruled(text);
    for context in [
        json!({}),
        json!({"phase": "x"}),
        json!({"previous_tool": "vault/rotate_secrets"}),
    ] {
        let body = json!({"query": "rotate the secrets of the vault", "threshold": 0, "limit": 100, "context": context});
        let answer = ask(&service, &body, GUEST).to_string();
        assert!(
            !answer.contains("vault") && !answer.contains("hidden"),
            "{answer}"
        );
    }
}

#[test]
fn a_context_is_checked() {
    let service = ruled(LOOK);
    let long = "x".repeat(257);
    for (context, message) in [
        (json!({"fase": "x"}), "context.fase: unknown field `fase`"),
        (json!({"phase": 3}), "context.phase: invalid type"),
        (
            json!({"phase": long}),
            "context.phase: 257 characters, at most 256",
        ),
        (
            json!({"turn": 2_000_000}),
            "context.turn: 2000000, at most 1000000",
        ),
    ] {
        let body = json!({"query": "parcel", "context": context}).to_string();
        let (status, code, said) = block_on(send(&service, discover(body, GUEST))).error();
        assert_eq!((status, code.as_str()), (422, "invalid_request"));
        assert!(said.starts_with(message), "{said}");
    }
}
