//! Who may ask, and that nobody learns of what is hidden.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use toolscout::serve::auth::{Authentication, Keys, hash_of_key};
use toolscout::serve::{App, router, run};

use super::fixture::*;

#[test]
fn a_missing_and_an_unknown_key_answer_alike() {
    let service = service();
    let ask = |authorization: Option<&str>| {
        let mut request = get("/v1/tools", "");
        request.headers_mut().remove("authorization");
        if let Some(value) = authorization {
            request
                .headers_mut()
                .insert("authorization", value.parse().unwrap());
        }
        block_on(send(&service, request))
    };
    let missing = ask(None);
    let message = "a valid API key is required: send the header 'authorization: Bearer KEY'";
    assert_eq!(
        missing.error(),
        (401, "unauthorized".into(), message.into())
    );
    assert_eq!(missing.header("www-authenticate"), "Bearer");
    for wrong in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer nobody",
        "Basic Z3Vlc3Q=",
        GUEST,
        "Bearer guest-key x",
    ] {
        assert_eq!(ask(Some(wrong)), missing, "{wrong}");
    }
    assert_eq!(ask(Some("bearer guest-key")).status, 200);
}

#[test]
fn an_unknown_caller_learns_nothing_from_its_body() {
    let service = service();
    let empty = block_on(send(&service, discover("", "nobody")));
    let good = block_on(send(&service, discover(r#"{"query": "parcel"}"#, "nobody")));
    assert_eq!(empty, good);
    assert_eq!(empty.status, 401);
}

#[test]
fn anybody_may_ask_for_signs_of_life() {
    let service = service();
    for (path, body) in [
        ("/healthz", r#"{"status":"ok"}"#),
        ("/readyz", r#"{"status":"ready"}"#),
    ] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = block_on(send(&service, request));
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, body));
    }
}

#[test]
fn unknown_and_forbidden_answer_alike() {
    let service = service();
    let forbidden = block_on(send(
        &service,
        get("/v1/tools/vault%2Frotate_secrets", GUEST),
    ));
    let unknown = block_on(send(&service, get("/v1/tools/vault%2Fno_such_tool", GUEST)));
    assert_eq!(forbidden, unknown);
    assert_eq!(forbidden.status, 404);
    let seen = block_on(send(
        &service,
        get("/v1/tools/vault%2Frotate_secrets", ADMIN),
    ));
    assert_eq!(seen.status, 200);
    let other = block_on(send(
        &service,
        get("/v1/tools/vault%2Frotate_secrets", STRANGER),
    ));
    assert_eq!(other, unknown);
}

/// Every form of request, on the catalogue and on the catalogue without what the caller may not
/// see: status, headers and body are the same.
#[test]
fn non_interference_over_http() {
    let whole = service();
    let without = router(App::new(parts(TOOLS)).unwrap());
    let bodies = [
        r#"{"query": "where is my parcel", "explain": true}"#,
        r#"{"query": "replace the password of the vault", "explain": true, "threshold": 0}"#,
        r#"{"query": "select:vault/rotate_secrets"}"#,
        r#"{"query": "rotate_secrets", "limit": 1, "detail": "name"}"#,
        r#"{"query": "parcel", "limit": 1, "threshold": 0}"#,
        r#"{"query": "parcel", "filters": {"tags": ["staff"]}}"#,
        r#"{"query": "parcel", "filters": {"namespaces": ["vault"]}}"#,
        r#"{"query": "parcel", "filters": {"namespaces": ["nowhere"]}}"#,
        r#"{"queries": ["weather tomorrow", "rotate the secrets"], "explain": true}"#,
        r#"{"hints": {"namespace": "vault", "tool": "rotate secrets"}, "explain": true}"#,
        r#"{"query": "qwertz", "detail": "compact"}"#,
        r#"{"query": ""}"#,
    ];
    let paths = [
        "/v1/tools",
        "/v1/tools?limit=2",
        "/v1/tools?limit=2&cursor=logistics/hidden_eta",
        "/v1/tools?tag=staff",
        "/v1/tools?namespace=vault",
        "/v1/tools/vault%2Frotate_secrets",
        "/v1/tools/logistics%2Fget_shipping_eta",
        "/v1/namespaces",
    ];
    let requests = || {
        let posts = bodies.iter().map(|body| discover(*body, GUEST));
        posts.chain(paths.iter().map(|path| get(path, GUEST)))
    };
    for (one, other) in requests().zip(requests()) {
        let what = format!("{} {}", one.method(), one.uri());
        let mut answers = [block_on(send(&whole, one)), block_on(send(&without, other))];
        for answer in &mut answers {
            // Times differ from one request to the next, of whatever catalogue.
            answer.headers.remove("server-timing");
        }
        let [one, other] = answers;
        assert_eq!(one, other, "{what}");
    }
}

#[test]
fn callers_of_one_view_do_not_share_it_with_others() {
    let service = service();
    let total =
        |key| block_on(send(&service, get("/v1/tools?detail=name", key))).json()["total"].clone();
    for _ in 0..2 {
        assert_eq!(
            (total(GUEST), total(ADMIN), total(STRANGER)),
            (5.into(), 7.into(), 0.into())
        );
    }
}

#[test]
fn a_change_of_policy_takes_effect_at_once() {
    let app = App::new(parts(&everything())).unwrap();
    let service = router(app.clone());
    let secret = || {
        block_on(send(
            &service,
            get("/v1/tools/vault%2Frotate_secrets", ADMIN),
        ))
        .status
    };
    assert_eq!(secret(), 200);
    let nobody = toolscout::access::Policy::new(vec![]).unwrap();
    app.publish_policy(Arc::new(nobody));
    assert_eq!(secret(), 404);
}

/// Index and policy are published by different threads, and neither may bring back an old other.
#[test]
fn changes_at_once_do_not_undo_each_other() {
    let app = App::new(parts(TOOLS)).unwrap();
    let service = router(app.clone());
    let total = || block_on(send(&service, get("/v1/tools", ADMIN))).json()["total"].clone();
    for _ in 0..20 {
        app.publish_index(index(TOOLS)).unwrap();
        app.publish_policy(Arc::new(toolscout::access::Policy::new(vec![]).unwrap()));
        assert_eq!(total(), 0);
        let (whole, rules) = (index(&everything()), policy());
        std::thread::scope(|scope| {
            scope.spawn(|| app.publish_index(Arc::clone(&whole)).unwrap());
            scope.spawn(|| app.publish_policy(Arc::clone(&rules)));
        });
        assert_eq!(total(), 7);
    }
}

#[test]
fn keys_are_changed_while_serving_and_openness_is_not() {
    let app = App::new(parts(TOOLS)).unwrap();
    let service = router(app.clone());
    let status = |key| {
        block_on(send(&service, get("/v1/tools", key)))
            .status
            .as_u16()
    };
    assert_eq!((status(GUEST), status("new-key")), (200, 401));
    let hash = hash_of_key("new-key");
    let text = format!("[[key]]\nname = 'new'\nsha256 = '{hash}'\ntenant = 'acme'\n");
    let keys = Keys::parse("keys.toml".as_ref(), &text).unwrap();
    app.publish_authentication(Authentication::Keys(keys))
        .unwrap();
    assert_eq!((status(GUEST), status("new-key")), (401, 200));
    assert!(app.publish_authentication(open()).is_err());
    assert_eq!((status(GUEST), status("new-key")), (401, 200));
}

#[test]
fn an_open_server_answers_its_own_machine_only() {
    let service = open_service();
    let ask = |host: &'static str, origin: Option<&'static str>| {
        let mut request = Request::get("/v1/tools?detail=name").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        block_on(send(&service, request.body(Body::empty()).unwrap()))
    };
    assert_eq!(ask("localhost:8080", None).json()["total"], 5);
    assert_eq!(ask("127.0.0.1", Some("http://localhost:3000")).status, 200);
    let rebound = ask("evil.example", None);
    let message =
        "this server is open to its own machine only: ask for it as localhost or 127.0.0.1";
    assert_eq!(rebound.error(), (403, "not_local".into(), message.into()));
    assert_eq!(ask("localhost", Some("https://evil.example")).status, 403);

    let app = App::new(toolscout::serve::Parts {
        authentication: open(),
        ..parts(TOOLS)
    })
    .unwrap();
    let refused = block_on(async {
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
        run(listener, app, std::future::pending()).await
    });
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("can be reached by other machines"),
        "{message}"
    );
    assert!(
        message.contains("listen on 127.0.0.1, or give it API keys"),
        "{message}"
    );
}

#[test]
fn a_server_does_not_show_its_callers_when_logged() {
    let app = App::new(parts(TOOLS)).unwrap();
    let shown = format!("{app:?}");
    assert!(shown.contains("Keys(3)"), "{shown}");
    assert!(!shown.contains("acme") && !shown.contains(&hash_of_key(GUEST)));
}

#[test]
fn an_index_of_another_model_is_refused() {
    let embedder = Arc::new(toolscout::embed::hashed::Hashed::new(32));
    let refused = App::new(toolscout::serve::Parts {
        embedder: Some(embedder),
        ..parts(TOOLS)
    });
    let message = refused.unwrap_err().to_string();
    assert_eq!(
        message,
        "the index holds vectors of model 'hashed@1/64', and the model here is 'hashed@1/32': \
         index again, or choose that model"
    );
}
