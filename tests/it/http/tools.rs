//! The catalogue as callers see it.

use serde_json::{Value, json};
use toolscout::serve::{App, router};

use super::fixture::*;

fn keys_of(page: &Value) -> Vec<String> {
    let tools = page["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["tool"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn pages_follow_each_other_until_all_is_seen() {
    let service = service();
    let whole = block_on(send(&service, get("/v1/tools", GUEST))).json();
    assert_eq!(
        keys_of(&whole),
        [
            "calendar/create_event",
            "logistics/cancel_shipment",
            "logistics/get_shipping_eta",
            "ping",
            "weather/forecast"
        ]
    );
    assert_eq!(
        (&whole["total"], &whole["next_cursor"]),
        (&json!(5), &Value::Null)
    );
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/tools?limit=2&detail=name{cursor}");
        let page = block_on(send(&service, get(&path, GUEST))).json();
        assert_eq!(page["total"], 5);
        seen.extend(keys_of(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={}", next.replace('/', "%2F")),
            None => break,
        }
    }
    assert_eq!(seen, keys_of(&whole));
    let end = block_on(send(&service, get("/v1/tools?limit=5", GUEST))).json();
    assert_eq!(end["next_cursor"], Value::Null);
    let beyond = block_on(send(&service, get("/v1/tools?cursor=zzz", GUEST))).json();
    assert_eq!((keys_of(&beyond), &beyond["total"]), (vec![], &json!(5)));
}

#[test]
fn filters_narrow_a_list() {
    let service = service();
    for (query, expected) in [
        (
            "namespace=logistics&kind=act",
            vec!["logistics/cancel_shipment"],
        ),
        (
            "namespace=weather&namespace=calendar",
            vec!["calendar/create_event", "weather/forecast"],
        ),
        (
            "tag=parcel&side_effect=read",
            vec!["logistics/get_shipping_eta"],
        ),
        ("side_effect=unknown", vec!["ping"]),
        ("namespace=", vec!["ping"]),
        ("tag=%E5%8C%85%E8%A3%B9", vec![]),
    ] {
        let page = block_on(send(&service, get(&format!("/v1/tools?{query}"), GUEST))).json();
        assert_eq!(keys_of(&page), expected, "{query}");
    }
}

#[test]
fn a_tool_is_told_in_three_details() {
    let service = service();
    let first = |detail: &str| {
        let path = format!("/v1/tools?namespace=logistics&kind=read&detail={detail}");
        block_on(send(&service, get(&path, GUEST))).json()["tools"][0].clone()
    };
    assert_eq!(first("name"), json!({"tool": "logistics/get_shipping_eta"}));
    assert_eq!(
        first("compact"),
        json!({"tool": "logistics/get_shipping_eta", "definition": {
            "name": "get_shipping_eta",
            "description": "Estimates when a parcel arrives.",
            "parameters": ["address", "order"],
        }})
    );
    let one = block_on(send(
        &service,
        get("/v1/tools/logistics%2Fget_shipping_eta", GUEST),
    ))
    .json();
    assert_eq!(first("full")["definition"], one["definition"]);
    let definition = &one["definition"];
    assert_eq!(definition["input_schema"]["required"], json!(["order"]));
    assert_eq!(definition["use_when"], json!(["where is my parcel"]));
}

#[test]
fn the_directory_counts_what_is_seen() {
    let answer = block_on(send(&service(), get("/v1/namespaces", GUEST)));
    let page = answer.json();
    assert_eq!(
        page["namespaces"],
        json!([
            {"name": "", "description": "", "tags": [], "tools": 1},
            {"name": "calendar", "description": "", "tags": [], "tools": 1},
            {"name": "logistics", "description": "Parcels and their ways.", "tags": ["shipping"], "tools": 2},
            {"name": "weather", "description": "", "tags": [], "tools": 1},
        ])
    );
    let mut again = get("/v1/namespaces", GUEST);
    let etag = answer.header("etag").parse().unwrap();
    again.headers_mut().insert("if-none-match", etag);
    assert_eq!(block_on(send(&service(), again)).status, 304);
}

#[test]
fn the_etag_changes_with_what_is_seen_and_with_nothing_else() {
    let app = App::new(parts(&everything())).unwrap();
    let service = router(app.clone());
    let etag = |key| {
        let answer = block_on(send(&service, get("/v1/tools", key)));
        let body = answer.json()["catalog_etag"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("etag"), format!("\"{body}\""));
        let who = "authorization, toolscout-principal, toolscout-narrow";
        assert_eq!(answer.header("vary"), who);
        let found = block_on(send(&service, discover(r#"{"query": "parcel"}"#, key))).json();
        assert_eq!(found["catalog_etag"], body);
        body
    };
    let (guest, admin) = (etag(GUEST), etag(ADMIN));
    assert_ne!(guest, admin);

    let hidden = everything().replace("every weather service", "no service");
    app.publish_index(index(&hidden)).unwrap();
    assert_eq!(etag(GUEST), guest);
    assert_ne!(etag(ADMIN), admin);

    let seen = everything().replace("Answers pong.", "Answers.");
    app.publish_index(index(&seen)).unwrap();
    assert_ne!(etag(GUEST), guest);
    app.publish_index(index(&everything())).unwrap();
    assert_eq!((etag(GUEST), etag(ADMIN)), (guest, admin));
}

#[test]
fn a_copy_that_is_still_right_costs_no_body() {
    let service = service();
    for path in ["/v1/tools?limit=2", "/v1/tools/ping"] {
        let fresh = block_on(send(&service, get(path, GUEST)));
        let etag = fresh.header("etag");
        assert_eq!(etag.len(), 34);
        for kept in [
            etag.to_owned(),
            format!("W/{etag}"),
            format!("\"x\", {etag}"),
            "*".into(),
        ] {
            let mut request = get(path, GUEST);
            request
                .headers_mut()
                .insert("if-none-match", kept.parse().unwrap());
            let answer = block_on(send(&service, request));
            assert_eq!(
                (answer.status.as_u16(), answer.text.as_str()),
                (304, ""),
                "{kept}"
            );
            assert_eq!(answer.header("etag"), etag);
        }
        let mut other = get(path, ADMIN);
        other
            .headers_mut()
            .insert("if-none-match", etag.parse().unwrap());
        assert_eq!(block_on(send(&service, other)).status, 200);
    }
    let mut gone = get("/v1/tools/nothing", GUEST);
    gone.headers_mut()
        .insert("if-none-match", "*".parse().unwrap());
    assert_eq!(block_on(send(&service, gone)).status, 404);
}

#[test]
fn a_request_under_way_ends_with_the_index_it_began_with() {
    let app = App::new(parts(TOOLS)).unwrap();
    let service = router(app.clone());
    let before = block_on(send(&service, get("/v1/tools/ping", GUEST)));
    let without = TOOLS
        .lines()
        .filter(|line| !line.contains("ping"))
        .collect::<Vec<_>>()
        .join("\n");
    app.publish_index(index(&without)).unwrap();
    let after = block_on(send(&service, get("/v1/tools/ping", GUEST)));
    assert_eq!((before.status.as_u16(), after.status.as_u16()), (200, 404));
}
