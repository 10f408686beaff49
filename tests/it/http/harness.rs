//! What a harness asks around a turn: which tools to show, and whether a call may be made.

use axum::Router;
use serde_json::{Value, json};
use toolscout::access::Policy;
use toolscout::serve::{App, router};

use super::fixture::*;
use super::rules::{ruled, rules};

fn ask(service: &Router, path: &str, body: &Value, key: &str) -> Value {
    let answer = block_on(send(service, post(path, body.to_string(), key)));
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("cache-control"), "no-store");
    answer.json()
}

fn groups(route: &Value) -> Vec<(&str, &str)> {
    let tools = route["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            let reason = tool["reason"].as_str().unwrap();
            (tool["tool"].as_str().unwrap(), reason)
        })
        .collect()
}

const RULES: &str = r#"
[[rule]]
name = "calendar at hand"
tools = { field = "tool.namespace", glob = ["cal*", "vault"] }
effect = "never_defer"
[[rule]]
name = "look only"
when = { field = "context.phase", eq = "locate" }
tools = { any = [{ field = "tool.kind", in = ["read"] }, { field = "tool.namespace", eq = "calendar" }] }
effect = "require"
"#;

#[test]
fn a_route_holds_each_group_and_says_why() {
    let service = ruled(RULES);
    let body = json!({
        "query": "where is my parcel", "limit": 2, "threshold": 0,
        "always": ["ping", "vault/rotate_secrets", "nobody", "forecast"],
    });
    let route = ask(&service, "/v1/route", &body, GUEST);
    assert_eq!(
        groups(&route),
        [
            ("ping", "always"),
            ("weather/forecast", "always"),
            ("calendar/create_event", "rule"),
            // The request's other hit is there already.
            ("logistics/get_shipping_eta", "retrieval"),
        ]
    );
    // Hidden and unknown alike.
    assert_eq!(route["skipped"], json!(["vault/rotate_secrets", "nobody"]));
    assert_eq!(route["tools"][2]["rule"], "calendar at hand");
    let tokens: u64 = route["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(route["tokens"], tokens);
    let located =
        json!({"query": "stop my parcel", "threshold": 0, "context": {"phase": "locate"}});
    let located = ask(&service, "/v1/route", &located, GUEST);
    let names: Vec<&str> = groups(&located).iter().map(|(tool, _)| *tool).collect();
    assert!(!names.contains(&"logistics/cancel_shipment"), "{names:?}");
}

#[test]
fn a_route_keeps_to_its_budget_and_to_its_bytes() {
    let service = ruled(RULES);
    let full = json!({"query": "parcel", "threshold": 0, "always": ["ping"]});
    let all = ask(&service, "/v1/route", &full, GUEST);
    let tokens = all["tokens"].as_u64().unwrap();
    for budget in [0, 20, 60, 100, tokens - 1, tokens] {
        let body =
            json!({"query": "parcel", "threshold": 0, "always": ["ping"], "token_budget": budget});
        let route = ask(&service, "/v1/route", &body, GUEST);
        assert!(route["tokens"].as_u64().unwrap() <= budget, "{route}");
        let left_out = groups(&route).len() < groups(&all).len();
        assert_eq!(
            route["truncated"].as_bool().unwrap(),
            left_out || all["truncated"] == true
        );
    }
    let text = || block_on(send(&service, post("/v1/route", full.to_string(), GUEST))).text;
    assert_eq!(text(), text());
    // Another request, the same first groups: the same bytes before the first difference.
    let other = json!({"query": "weather", "threshold": 0, "always": ["ping"]});
    let other = block_on(send(&service, post("/v1/route", other.to_string(), GUEST))).text;
    let stable = text().find("\"retrieval\"").unwrap() - "{\"tool\":\"logistics/".len() - 40;
    assert_eq!(text()[..stable], other[..stable]);
}

#[test]
fn a_route_without_a_request_searches_for_nothing() {
    let route = ask(&ruled(RULES), "/v1/route", &json!({}), GUEST);
    assert_eq!(groups(&route), [("calendar/create_event", "rule")]);
    assert_eq!(
        (&route["confidence"], &route["no_match"]),
        (&json!(null), &json!(null))
    );
    let none = json!({"query": "qwertz", "threshold": 1});
    let none = ask(&ruled(""), "/v1/route", &none, GUEST);
    assert_eq!(none["no_match"]["reason"], "below_threshold");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let service = ruled("");
    for (path, body, message) in [
        (
            "/v1/route",
            json!({"phase_limit": 101}),
            "phase_limit: 101 is not within",
        ),
        (
            "/v1/route",
            json!({"always": vec!["a"; 65]}),
            "always: 65 names, at most 64",
        ),
        ("/v1/route", json!({"always": [""]}), "always[0]: must have"),
        ("/v1/route", json!({"query": " "}), "query: is empty"),
        ("/v1/route", json!({"limit": 0}), "limit: 0 is not within"),
        ("/v1/authorize", json!({}), "body: missing field `tool`"),
        ("/v1/authorize", json!({"tool": ""}), "tool: must have"),
        (
            "/v1/authorize",
            json!({"tool": "a", "side_effect": "boom"}),
            "side_effect: unknown variant",
        ),
    ] {
        let answer = block_on(send(&service, post(path, body.to_string(), GUEST)));
        let (status, _, said) = answer.error();
        assert_eq!(status, 422, "{said}");
        assert!(said.starts_with(message), "{said}");
    }
}

#[test]
fn a_call_is_judged_by_who_makes_it_and_what_it_does() {
    let service = service();
    let judge = |tool: &str, effect: Value, key| {
        let body = json!({"tool": tool, "side_effect": effect});
        let answer = ask(&service, "/v1/authorize", &body, key);
        let reason = answer["reason"].as_str().unwrap().to_owned();
        assert_eq!(answer["allowed"], reason == "permitted");
        reason
    };
    let eta = "logistics/get_shipping_eta";
    assert_eq!(judge(eta, json!(null), GUEST), "permitted");
    assert_eq!(judge("get_shipping_eta", json!("read"), GUEST), "permitted");
    assert_eq!(judge(eta, json!("write"), GUEST), "side_effect");
    assert_eq!(judge("ping", json!("destructive"), GUEST), "permitted");
    assert_eq!(
        judge("vault/rotate_secrets", json!("destructive"), ADMIN),
        "permitted"
    );
    assert_eq!(
        judge("vault/rotate_secrets", json!("read"), STRANGER),
        "unknown_tool"
    );
    let large = json!({"tool": eta, "arguments": {"order": "x".repeat(300_000)}});
    let large = ask(&service, "/v1/authorize", &large, GUEST);
    assert_eq!(
        (&large["allowed"], &large["reason"]),
        (&json!(false), &json!("arguments_too_large"))
    );
}

#[test]
fn authorize_answers_alike_for_unknown_and_forbidden() {
    let service = service();
    let text = |tool: &str, effect: &str| {
        let body = json!({"tool": tool, "side_effect": effect, "arguments": {"a": 1}});
        block_on(send(
            &service,
            post("/v1/authorize", body.to_string(), GUEST),
        ))
    };
    for effect in ["none", "destructive"] {
        let hidden = text("vault/rotate_secrets", effect);
        assert_eq!(hidden, text("vault/rotate_nothing", effect));
        assert_eq!(hidden, text("rotate_secrets", effect));
        assert_eq!(
            hidden.text,
            r#"{"allowed":false,"reason":"unknown_tool","tool":null}"#
        );
    }
}

#[test]
fn authorize_goes_by_the_policy_of_now() {
    let app = App::new(parts(&everything())).unwrap();
    app.publish_rules(rules(RULES));
    let service = router(app.clone());
    let body = json!({"tool": "ping"});
    assert_eq!(
        ask(&service, "/v1/authorize", &body, GUEST)["allowed"],
        true
    );
    app.publish_policy(Policy::new(vec![]).unwrap().into());
    assert_eq!(
        ask(&service, "/v1/authorize", &body, GUEST)["allowed"],
        false
    );
}
