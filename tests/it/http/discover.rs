//! The main question over HTTP.

use serde_json::json;
use toolscout::access::Principal;
use toolscout::embed::hashed::Hashed;
use toolscout::search::{Config, Request, View, search};
use toolscout::serve::wire::{Detail, discover_response, to_json};
use toolscout::serve::{App, Parts, router};

use super::fixture::*;

#[test]
fn the_best_tool_comes_first_with_its_definition() {
    let answer = block_on(send(
        &service(),
        discover(r#"{"query": "where is my parcel", "limit": 2}"#, GUEST),
    ));
    let body = answer.json();
    let first = &body["hits"][0];
    assert_eq!(first["tool"], "logistics/get_shipping_eta");
    assert_eq!(first["definition"]["name"], "get_shipping_eta");
    assert_eq!(
        first["definition"]["input_schema"]["required"],
        json!(["order"])
    );
    assert_eq!(body["no_match"], json!(null));
    assert!(first.get("explanation").is_none() && first.get("needs").is_none());
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "no-store");
    let timing = answer.header("server-timing");
    assert!(
        timing.starts_with("wait;dur=") && timing.contains(", search;dur="),
        "{timing}"
    );
}

#[test]
fn rest_and_the_command_line_answer_with_the_same_bytes() {
    let index = index(&everything());
    let principal = Principal::of_tenant("acme");
    let view = View::new(&index, policy().permit(&principal, index.catalog.tools()));
    let request = Request::new("where is my parcel", 2);
    let embedder = Hashed::new(64);
    let answer = search(&index, Some(&embedder), &view, &request, &Config::shipped()).unwrap();
    let direct = to_json(&discover_response(&index, &view, &answer, Detail::Full)).unwrap();
    let body = r#"{"limit": 2, "query": "where is my parcel"}"#;
    let service = service();
    for _ in 0..2 {
        let served = block_on(send(&service, discover(body, GUEST)));
        assert_eq!(served.text, direct);
    }
    let open = block_on(send(&open_service(), discover(body, "")));
    assert_eq!(open.text, direct);
}

#[test]
fn every_option_is_taken() {
    let body = json!({
        "query": "stop my parcel",
        "queries": ["cancel the shipment", "put a meeting into the calendar"],
        "limit": 3,
        "hints": {"namespace": "parcels", "tool": null},
        "filters": {"namespaces": ["logistics", "calendar"], "tags": [], "kinds": ["act"], "side_effects": ["write", "destructive"]},
        "threshold": 0,
        "detail": "compact",
        "explain": true,
        "dense": "exact",
        "preset": "card",
    });
    let answer = block_on(send(&service(), discover(body.to_string(), GUEST)));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.json();
    let mut keys: Vec<&str> = body["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["tool"].as_str().unwrap())
        .collect();
    keys.sort_unstable();
    assert_eq!(keys, ["calendar/create_event", "logistics/cancel_shipment"]);
    let hit = &body["hits"][0];
    assert!(hit["definition"]["parameters"].is_array(), "{hit}");
    let arms = hit["explanation"]["arms"].as_array().unwrap();
    let weights: f64 = arms.iter().map(|arm| arm["weight"].as_f64().unwrap()).sum();
    assert!((weights - 1.0).abs() < 1e-5, "{weights}");
    assert!(hit["needs"].is_array(), "{hit}");
}

#[test]
fn nulls_are_as_good_as_nothing() {
    let service = service();
    let bare = r#"{"query": "parcel"}"#;
    let nulls = r#"{"query": "parcel", "limit": null, "threshold": null, "detail": null, "explain": null, "dense": null, "preset": null}"#;
    let [bare, nulls] =
        [bare, nulls].map(|body| block_on(send(&service, discover(body, GUEST))).text);
    assert_eq!(bare, nulls);
}

#[test]
fn nothing_fitting_is_said_and_explained() {
    let service = service();
    let ask = |body: &'static str| block_on(send(&service, discover(body, GUEST))).json();
    let none = ask(r#"{"query": "parcel", "filters": {"namespaces": ["nowhere"]}}"#);
    assert_eq!(none["hits"], json!([]));
    assert_eq!(none["no_match"]["reason"], "nothing_permitted");
    assert!(!none["no_match"]["advice"].as_str().unwrap().is_empty());
    let sure = ask(r#"{"query": "qwertz", "threshold": 1.0}"#);
    assert_eq!(sure["no_match"]["reason"], "below_threshold");
    assert!(sure["no_match"]["near"].is_array());
    let stranger = block_on(send(&service, discover(r#"{"query": "parcel"}"#, STRANGER))).json();
    assert_eq!(stranger["no_match"]["reason"], "nothing_permitted");
}

#[test]
fn without_a_model_the_answer_names_the_arms_that_spoke() {
    let parts = Parts {
        embedder: None,
        ..parts(TOOLS)
    };
    let service = router(App::new(parts).unwrap());
    let body = block_on(send(&service, discover(r#"{"query": "parcel"}"#, GUEST))).json();
    let arms = body["arms"].as_array().unwrap();
    assert!(
        arms.contains(&json!("keyword")) && !arms.contains(&json!("semantic")),
        "{arms:?}"
    );
}
