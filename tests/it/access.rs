//! Who sees what, over real HTTP: keys, tokens, acting for others, narrowing, and policies.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use toolscout::catalog::read;
use toolscout::embed::hashed::Hashed;
use toolscout::index::build;
use toolscout::search::Config;
use toolscout::serve::auth::{Authentication, Keys, hash_of_key};
use toolscout::serve::{App, Limits, Parts, mcp, run};

const TOOLS: &str = r#"
{"namespace": "acme", "name": "own", "tenants": ["acme"]}
{"namespace": "cloud", "name": "stop", "side_effect": "write"}
{"namespace": "crm", "name": "delete", "side_effect": "destructive", "risk": "high", "tags": ["danger"]}
{"namespace": "crm", "name": "find", "side_effect": "read"}
{"namespace": "inner", "name": "sync", "exposure": "hidden"}
{"namespace": "pay", "name": "refund", "side_effect": "write", "required_scopes": ["pay:write"]}
{"namespace": "umbrella", "name": "own", "tenants": ["umbrella"]}
{"namespace": "wiki", "name": "read", "side_effect": "read"}
"#;

const POLICY: &str = r#"
[groups.roles]
desk = ["support", "sales"]

[[rule]]
name = "everybody"
effect = "allow"
namespaces = ["wiki", "acme", "umbrella", "inner"]
[[rule]]
effect = "allow"
roles = ["@desk"]
tools = ["crm/*"]
[[rule]]
effect = "allow"
roles = ["finance"]
tools = ["p?y/*"]
[[rule]]
effect = "allow"
scopes = ["ops:cloud"]
namespaces = ["cl*"]
[[rule]]
effect = "allow"
roles = ["reader"]
side_effects = ["read"]
[[rule]]
effect = "allow"
tenants = ["acme"]
roles = ["root"]
[[rule]]
effect = "allow"
environments = ["staging"]
tools = ["cloud/stop"]
[[rule]]
effect = "deny"
environments = ["production"]
risks = ["high"]
[[rule]]
effect = "deny"
roles = ["intern"]
tags = ["danger"]
"#;

const KEYS: [(&str, &str); 15] = [
    ("plain", "tenant = 'acme'"),
    ("stranger", "tenant = 'umbrella'"),
    ("stranger-root", "tenant = 'umbrella'\nroles = ['root']"),
    ("support", "tenant = 'acme'\nroles = ['support']"),
    (
        "support-live",
        "tenant = 'acme'\nroles = ['support']\nenvironment = 'production'",
    ),
    ("intern", "tenant = 'acme'\nroles = ['sales', 'intern']"),
    ("finance", "tenant = 'acme'\nroles = ['finance']"),
    (
        "finance-write",
        "tenant = 'acme'\nroles = ['finance']\nscopes = ['pay:write']",
    ),
    ("ops", "tenant = 'acme'\nscopes = ['ops:cloud', 'other']"),
    ("reader", "tenant = 'acme'\nroles = ['reader']"),
    (
        "root",
        "tenant = 'acme'\nroles = ['root']\nscopes = ['pay:write']",
    ),
    ("staging", "tenant = 'acme'\nenvironment = 'staging'"),
    (
        "harness",
        "tenant = 'acme'\nroles = ['sales', 'reader']\nacts_for = ['acme']",
    ),
    (
        "platform",
        "tenant = 'host'\nroles = ['root']\nacts_for = ['*']",
    ),
    ("boss", "tenant = 'acme'\nadmin = true"),
];

const ISSUER: &str = "https://login.example";
const RSA: &[u8] = include_bytes!("keys/rsa.pem");
const EC: &[u8] = include_bytes!("keys/ec.pem");
const ED: &[u8] = include_bytes!("keys/ed.pem");
/// Not among the issuer's keys.
const FOREIGN: &[u8] = include_bytes!("keys/other.pem");

/// A server, and the issuer of its tokens.
struct World {
    url: String,
    issuer: Arc<Issuing>,
}

/// An issuer's address, which counts how often its keys are fetched.
struct Issuing {
    url: String,
    fetched: AtomicUsize,
    keys: std::sync::Mutex<String>,
}

fn private(algorithm: Algorithm, pem: &[u8]) -> EncodingKey {
    match algorithm {
        Algorithm::ES256 => EncodingKey::from_ec_pem(pem),
        Algorithm::EdDSA => EncodingKey::from_ed_pem(pem),
        _ => EncodingKey::from_rsa_pem(pem),
    }
    .unwrap()
}

fn public(name: &str, algorithm: Algorithm, pem: &[u8]) -> Value {
    let key = Jwk::from_encoding_key(&private(algorithm, pem), algorithm).unwrap();
    let mut key = serde_json::to_value(key).unwrap();
    key["kid"] = json!(name);
    key
}

impl Issuing {
    fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let keys = json!({"keys": [
            public("rsa", Algorithm::RS256, RSA),
            public("ec", Algorithm::ES256, EC),
            public("ed", Algorithm::EdDSA, ED),
        ]});
        let issuing = Arc::new(Self {
            url: format!("http://{}/keys", listener.local_addr().unwrap()),
            fetched: AtomicUsize::new(0),
            keys: std::sync::Mutex::new(keys.to_string()),
        });
        let server = Arc::clone(&issuing);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 4096];
                let _ = stream.read(&mut head);
                server.fetched.fetch_add(1, Ordering::SeqCst);
                let body = server.keys.lock().unwrap().clone();
                let length = body.len();
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ";
                let _ = write!(stream, "{head}{length}\r\n\r\n{body}");
            }
        });
        issuing
    }
}

impl World {
    fn start() -> Self {
        let issuer = Issuing::start();
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let catalog = read::read(&file("tools.jsonl", TOOLS.trim())).unwrap();
        let index = build::build(Arc::new(catalog.into_catalog()), &Hashed::new(16), &|_| {});
        let policy = toolscout::cli::policy::read(&file("policy.toml", POLICY)).unwrap();
        let entry = |(name, rest): &(&str, &str)| {
            let sha256 = hash_of_key(name);
            format!("[[key]]\nname = '{name}'\nsha256 = '{sha256}'\n{rest}\n")
        };
        let keys: String = KEYS.iter().map(entry).collect();
        let jwt = format!(
            "[jwt]\nissuer = '{ISSUER}'\naudience = ['toolscout']\njwks = '{}'\n\
             algorithms = ['RS256', 'ES256', 'EdDSA']\nleeway = 5\n",
            issuer.url
        );
        let keys = Keys::read(&file("keys.toml", &(keys + &jwt))).unwrap();
        let app = App::new(Parts {
            index: Arc::new(index.unwrap()),
            policy: Arc::new(policy),
            embedder: None,
            config: Config::shipped(),
            authentication: Authentication::Keys(keys),
            limits: Limits::for_cores(2),
            mcp: mcp::Options::default(),
        })
        .unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                run(listener, app, std::future::pending()).await.unwrap();
            });
        });
        let url = format!("http://{}", told.recv().unwrap());
        Self { url, issuer }
    }

    /// Status and body of a request with these headers.
    fn ask(&self, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> (u16, Value) {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let url = format!("{}{path}", self.url);
        let answer = if let Some(body) = body {
            let request = agent.post(url).header("content-type", "application/json");
            let with = |request: ureq::RequestBuilder<_>, (name, value): &(&str, &str)| {
                request.header(*name, *value)
            };
            headers.iter().fold(request, with).send(body)
        } else {
            let with = |request: ureq::RequestBuilder<_>, (name, value): &(&str, &str)| {
                request.header(*name, *value)
            };
            headers.iter().fold(agent.get(url), with).call()
        };
        let mut answer = answer.unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (
            answer.status().as_u16(),
            serde_json::from_str(&text).unwrap(),
        )
    }

    /// What a caller of `key` sees, as words; or the code of the error.
    fn sees(&self, key: &str, more: &[(&str, &str)]) -> String {
        let bearer = format!("Bearer {key}");
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(more);
        let (status, body) = self.ask("/v1/tools?detail=name", &headers, None);
        if status != 200 {
            return format!("{status} {}", body["error"]["code"].as_str().unwrap());
        }
        let keys: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["tool"].as_str().unwrap())
            .collect();
        assert_eq!(body["total"], keys.len());
        keys.join(" ")
    }
}

fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.unwrap().as_secs()
}

/// Claims of a token that is to be believed, changed by `change`.
fn claims(change: &Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": "toolscout", "exp": now() + 300, "sub": "someone",
        "tenant": "acme", "roles": ["finance"], "scope": "pay:write other",
    });
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn token(algorithm: Algorithm, name: &str, pem: &[u8], change: &Value) -> String {
    let header = Header {
        kid: Some(name.to_owned()),
        ..Header::new(algorithm)
    };
    encode(&header, &claims(change), &private(algorithm, pem)).unwrap()
}

/// A token with a header of one's own making, and a signature to match or not.
fn forged(header: &Value, payload: &Value, signature: &str) -> String {
    let part = |value: &Value| base64url(value.to_string().as_bytes());
    format!("{}.{}.{signature}", part(header), part(payload))
}

fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = [0; 3];
        word[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, word[0], word[1], word[2]]);
        for digit in 0..=chunk.len() {
            let six = (bits >> (18 - 6 * digit)) & 63;
            text.push(char::from(DIGITS[six as usize]));
        }
    }
    text
}

const REFUSED: &str = "401 unauthorized";
const INVALID: &str = "422 invalid_request";

#[test]
fn keys_see_what_their_roles_scopes_and_environment_allow() {
    let world = World::start();
    for (key, seen) in [
        ("plain", "acme/own wiki/read"),
        ("nobody", REFUSED),
        ("stranger", "umbrella/own wiki/read"),
        // A role of the same name in another tenant, to which the rule does not speak.
        ("stranger-root", "umbrella/own wiki/read"),
        ("support", "acme/own crm/delete crm/find wiki/read"),
        // A deny wins over the allowance, by risk and environment, and by role and tag.
        ("support-live", "acme/own crm/find wiki/read"),
        ("intern", "acme/own crm/find wiki/read"),
        // A grant is not enough where the tool requires a scope.
        ("finance", "acme/own wiki/read"),
        ("finance-write", "acme/own pay/refund wiki/read"),
        ("ops", "acme/own cloud/stop wiki/read"),
        ("reader", "acme/own crm/find wiki/read"),
        // What is hidden by its exposure stays so, and tenants do not mix even for one who may all.
        (
            "root",
            "acme/own cloud/stop crm/delete crm/find pay/refund wiki/read",
        ),
        ("staging", "acme/own cloud/stop wiki/read"),
    ] {
        assert_eq!(world.sees(key, &[]), seen, "{key}");
    }
}

#[test]
fn acting_for_another_gives_what_both_may_see() {
    let world = World::start();
    let principal = "toolscout-principal";
    for (key, named, seen) in [
        ("harness", r#"{"tenant": "acme"}"#, "acme/own wiki/read"),
        (
            "harness",
            r#"{"tenant": "acme", "roles": ["support"]}"#,
            "acme/own crm/delete crm/find wiki/read",
        ),
        (
            "harness",
            r#"{"tenant": "acme", "roles": ["support", "intern"]}"#,
            "acme/own crm/find wiki/read",
        ),
        // More than the harness itself may see.
        (
            "harness",
            r#"{"tenant": "acme", "roles": ["root"]}"#,
            "acme/own crm/delete crm/find wiki/read",
        ),
        ("harness", r#"{"tenant": "umbrella"}"#, "403 may_not_act"),
        ("plain", r#"{"tenant": "acme"}"#, "403 may_not_act"),
        (
            "platform",
            r#"{"tenant": "umbrella", "roles": ["root"]}"#,
            "umbrella/own wiki/read",
        ),
        (
            "platform",
            r#"{"tenant": "acme", "roles": ["support"], "environment": "production"}"#,
            "acme/own crm/find wiki/read",
        ),
        ("harness", r#"{"roles": ["root"]}"#, INVALID),
        ("harness", r#"{"tenant": "acme", "admin": true}"#, INVALID),
        ("harness", r#"["acme", ["root"]]"#, INVALID),
        ("nobody", r#"{"tenant": "acme"}"#, REFUSED),
    ] {
        assert_eq!(
            world.sees(key, &[(principal, named)]),
            seen,
            "{key} {named}"
        );
    }
    let twice = [(principal, r#"{"tenant": "acme"}"#); 2];
    assert_eq!(world.sees("harness", &twice), INVALID);
}

#[test]
fn a_caller_can_give_up_rights_and_gain_none() {
    let world = World::start();
    for (key, narrowing, seen) in [
        ("support", r#"{"roles": []}"#, "acme/own wiki/read"),
        ("support", r#"{"roles": ["root"]}"#, INVALID),
        ("support", "{}", "acme/own crm/delete crm/find wiki/read"),
        (
            "support",
            r#"{"environment": "production"}"#,
            "acme/own crm/find wiki/read",
        ),
        // Allowed in staging, and not to this caller: an environment is not won by naming it.
        (
            "plain",
            r#"{"environment": "staging"}"#,
            "acme/own wiki/read",
        ),
        ("support-live", r#"{"environment": "staging"}"#, INVALID),
        // Without the role that a denial names, the denial still holds.
        (
            "intern",
            r#"{"roles": ["sales"]}"#,
            "acme/own crm/find wiki/read",
        ),
        ("ops", r#"{"scopes": ["other"]}"#, "acme/own wiki/read"),
        ("ops", r#"{"scopes": ["pay:write"]}"#, INVALID),
        ("ops", r#"{"tenant": "umbrella"}"#, INVALID),
    ] {
        assert_eq!(
            world.sees(key, &[("toolscout-narrow", narrowing)]),
            seen,
            "{key} {narrowing}"
        );
    }
    let both = [
        (
            "toolscout-principal",
            r#"{"tenant": "acme", "roles": ["support", "intern"]}"#,
        ),
        ("toolscout-narrow", r#"{"roles": ["support"]}"#),
    ];
    assert_eq!(world.sees("harness", &both), "acme/own crm/find wiki/read");
}

#[test]
fn tokens_are_believed_when_nothing_is_wrong_with_them() {
    let world = World::start();
    let seen = "acme/own pay/refund wiki/read";
    let rsa = |change: &Value| token(Algorithm::RS256, "rsa", RSA, change);
    for good in [
        rsa(&json!({})),
        token(Algorithm::ES256, "ec", EC, &json!({})),
        token(Algorithm::EdDSA, "ed", ED, &json!({})),
        rsa(&json!({"aud": ["other", "toolscout"], "nbf": now() - 10})),
        // Within the leeway.
        rsa(&json!({"exp": now() - 2})),
    ] {
        assert_eq!(world.sees(&good, &[]), seen, "{good}");
    }
    let others = rsa(&json!({"tenant": "umbrella", "roles": "root finance"}));
    assert_eq!(
        world.sees(&others, &[]),
        "pay/refund umbrella/own wiki/read"
    );
    let live = rsa(&json!({"roles": ["support"], "environment": "production"}));
    assert_eq!(world.sees(&live, &[]), "acme/own crm/find wiki/read");
    let named = [("toolscout-principal", r#"{"tenant": "acme"}"#)];
    assert_eq!(world.sees(&rsa(&json!({})), &named), "403 may_not_act");
    assert_eq!(world.issuer.fetched.load(Ordering::SeqCst), 1);
}

#[test]
fn tokens_that_claim_something_wrong_are_refused_alike() {
    let world = World::start();
    let rsa = |change: &Value| token(Algorithm::RS256, "rsa", RSA, change);
    assert_ne!(world.sees(&rsa(&json!({})), &[]), REFUSED);
    for (what, wrong) in [
        ("expired", rsa(&json!({"exp": now() - 60}))),
        ("not yet valid", rsa(&json!({"nbf": now() + 60}))),
        ("without an end", rsa(&json!({"exp": null}))),
        (
            "another issuer",
            rsa(&json!({"iss": "https://evil.example"})),
        ),
        ("no issuer", rsa(&json!({"iss": null}))),
        ("another audience", rsa(&json!({"aud": "someone-else"}))),
        ("no audience", rsa(&json!({"aud": null}))),
        ("no tenant", rsa(&json!({"tenant": null}))),
        ("an empty tenant", rsa(&json!({"tenant": ""}))),
        ("roles that are no texts", rsa(&json!({"roles": [1]}))),
    ] {
        assert_eq!(world.sees(&wrong, &[]), REFUSED, "{what}");
    }
}

#[test]
fn tokens_that_are_forged_are_refused_alike() {
    let world = World::start();
    let rsa = |change: &Value| token(Algorithm::RS256, "rsa", RSA, change);
    let good = rsa(&json!({}));
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let payload = claims(&json!({}));
    let header = |algorithm: &str| json!({"alg": algorithm, "typ": "JWT", "kid": "rsa"});
    // The public key as the secret of a shared-secret algorithm.
    let secret = public("rsa", Algorithm::RS256, RSA).to_string();
    let confused = Header {
        kid: Some("rsa".to_owned()),
        ..Header::new(Algorithm::HS256)
    };
    let secret = EncodingKey::from_secret(secret.as_bytes()).unwrap();
    let confused = encode(&confused, &payload, &secret).unwrap();
    let stolen = signed.split('.').next().unwrap();
    let changed = base64url(claims(&json!({"roles": ["root"]})).to_string().as_bytes());
    for (what, wrong) in [
        (
            "a foreign key under a known name",
            token(Algorithm::RS256, "rsa", FOREIGN, &json!({})),
        ),
        (
            "an unknown key",
            token(Algorithm::RS256, "unknown", FOREIGN, &json!({})),
        ),
        (
            "another algorithm of the same key",
            token(Algorithm::RS512, "rsa", RSA, &json!({})),
        ),
        (
            "the name of a key of another kind",
            token(Algorithm::RS256, "ec", RSA, &json!({})),
        ),
        ("no algorithm", forged(&header("none"), &payload, "")),
        (
            "no algorithm, in capitals",
            forged(&header("NONE"), &payload, signature),
        ),
        ("the public key as a secret", confused),
        (
            "another header over the signature",
            forged(&header("HS256"), &payload, signature),
        ),
        (
            "another payload under the signature",
            format!("{stolen}.{changed}.{signature}"),
        ),
        ("no signature", format!("{signed}.")),
        ("two parts", signed.to_owned()),
        (
            "a key inside the header",
            forged(
                &json!({"alg": "RS256", "jwk": public("rsa", Algorithm::RS256, FOREIGN)}),
                &payload,
                signature,
            ),
        ),
        ("far too long", format!("{signed}.{}", "A".repeat(20_000))),
    ] {
        assert_eq!(world.sees(&wrong, &[]), REFUSED, "{what}");
    }
}

/// Keys that are turned are fetched once; made-up names do not keep the issuer busy.
#[test]
fn keys_that_are_not_known_are_fetched_once_in_a_while() {
    let world = World::start();
    let fetched = || world.issuer.fetched.load(Ordering::SeqCst);
    let good = token(Algorithm::RS256, "rsa", RSA, &json!({}));
    assert_ne!(world.sees(&good, &[]), REFUSED);
    assert_eq!(fetched(), 1);
    let turned = json!({"keys": [public("next", Algorithm::RS256, FOREIGN)]});
    *world.issuer.keys.lock().unwrap() = turned.to_string();
    let next = token(Algorithm::RS256, "next", FOREIGN, &json!({}));
    assert_ne!(world.sees(&next, &[]), REFUSED);
    assert_eq!(world.sees(&good, &[]), REFUSED);
    for number in 0..20 {
        let made_up = token(
            Algorithm::RS256,
            &format!("made-up-{number}"),
            FOREIGN,
            &json!({}),
        );
        assert_eq!(world.sees(&made_up, &[]), REFUSED);
    }
    assert_eq!(fetched(), 2);
}

#[test]
fn administrators_are_told_why() {
    let world = World::start();
    let why = |key: &str, body: &str| {
        let bearer = format!("Bearer {key}");
        world.ask("/v1/policy/why", &[("authorization", &bearer)], Some(body))
    };
    let body = r#"{"tool": "crm/delete", "principal": {"tenant": "acme", "roles": ["intern"]}}"#;
    let (status, told) = why("boss", body);
    assert_eq!((status, &told["visible"]), (200, &json!(false)));
    assert_eq!(
        told["obstacles"][0],
        json!({"obstacle": "denied", "rule": 9})
    );
    assert_eq!(told["obstacles"][1]["obstacle"], "not_allowed");
    let wants = &told["obstacles"][1]["would_allow"][0]["wants"][0];
    assert_eq!(
        *wants,
        json!({"field": "role", "any_of": ["support", "sales"]})
    );
    let public = r#"{"tool": "wiki/read", "principal": {"tenant": "acme"}}"#;
    let (_, told) = why("boss", public);
    assert_eq!(
        told["allowed_by"],
        json!([{"rule": 1, "name": "everybody"}])
    );
    assert_eq!(
        why("boss", r#"{"tool": "x", "principal": {"tenant": "acme"}}"#).0,
        404
    );
    for (key, status, code) in [
        ("root", 403, "not_administrator"),
        ("nobody", 401, "unauthorized"),
    ] {
        let (found, body) = why(key, public);
        assert_eq!(
            (found, body["error"]["code"].as_str().unwrap()),
            (status, code)
        );
    }
}
