//! The audit: what is noted, what of it can be read, and what happens when it cannot be written.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolscout::serve::audit::{Audit, Options, Text};
use toolscout::serve::{App, router};

use super::fixture::*;

fn options(path: PathBuf) -> Options {
    Options {
        path,
        max_bytes: 1 << 20,
        files: 2,
        text: Text::Hashed(b"0123456789abcdef".to_vec()),
        required: false,
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let parse = |line| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

fn audited(audit: &Audit) -> axum::Router {
    let app = App::new(parts(&everything())).unwrap();
    app.keep_audit(audit.clone());
    router(app)
}

fn ask(service: &axum::Router, path: &str, body: &Value) -> u16 {
    let answer = block_on(send(service, post(path, body.to_string(), GUEST)));
    answer.status.as_u16()
}

#[test]
fn what_is_asked_and_allowed_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Audit::start(options(path.clone())).unwrap();
    let service = audited(&audit);
    let query = json!({"query": "where is my parcel", "limit": 1});
    assert_eq!(ask(&service, "/v1/discover", &query), 200);
    for tool in ["ping", "vault/rotate_secrets"] {
        assert_eq!(ask(&service, "/v1/authorize", &json!({"tool": tool})), 200);
    }
    assert_eq!(
        ask(&service, "/v1/route", &json!({"always": ["ping"]})),
        200
    );
    audit.finish();
    let mut lines = lines(&path);
    for line in &mut lines {
        let time = line.as_object_mut().unwrap().remove("time").unwrap();
        assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
        assert_eq!(
            (&line["request"], &line["caller"], &line["tenant"]),
            (&json!("test-1"), &json!("guest"), &json!("acme"))
        );
    }
    let hmac = |line: &Value| line["query_hmac"].as_str().unwrap().to_owned();
    // printf %s 'where is my parcel' | openssl dgst -sha256 -hmac 0123456789abcdef
    assert_eq!(hmac(&lines[0]), EXPECTED);
    assert_eq!(lines[0]["tools"], json!(["logistics/get_shipping_eta"]));
    assert_eq!(
        (&lines[1]["event"], &lines[1]["allowed"]),
        (&json!("authorize"), &json!(true))
    );
    assert_eq!(
        (&lines[2]["reason"], &lines[2]["allowed"]),
        (&json!("unknown_tool"), &json!(false))
    );
    assert_eq!(lines[3]["tools"], json!(["ping"]));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("where is my parcel"));
}

const EXPECTED: &str = "449cea01c90ebee03bf618fa5b21c1c42e06500949fa30787847e2b6011f0794";

/// Over the Model Context Protocol as over REST: who asked, and which request it was.
#[test]
fn what_models_ask_is_noted_with_caller_and_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Audit::start(options(path.clone())).unwrap();
    let service = audited(&audit);
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let mut request = post("/mcp", body.to_string(), GUEST);
        for (name, value) in [
            ("host", "localhost"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
        ] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        block_on(send(&service, request))
    };
    let asked = json!({"query": "where is my parcel", "limit": 1, "context": {"phase": "locate"}});
    let found = call("discover_tools", asked).json();
    assert!(found["result"]["structuredContent"].is_object(), "{found}");
    call("describe_tool", json!({"tool": "ping"}));
    audit.finish();
    let lines = lines(&path);
    for line in &lines {
        assert_eq!(
            (&line["request"], &line["caller"], &line["tenant"]),
            (&json!("test-1"), &json!("guest"), &json!("acme"))
        );
    }
    assert_eq!(
        (
            &lines[0]["event"],
            &lines[0]["query_hmac"],
            &lines[0]["tools"]
        ),
        (
            &json!("discover"),
            &json!(EXPECTED),
            &json!(["logistics/get_shipping_eta"])
        )
    );
    assert_eq!(
        (&lines[1]["event"], &lines[1]["tools"]),
        (&json!("load"), &json!(["ping"]))
    );
}

#[test]
fn plain_text_is_kept_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Audit::start(Options {
        text: Text::Plain,
        ..options(path.clone())
    })
    .unwrap();
    let query = json!({"query": "where", "queries": ["is", "it"]});
    assert_eq!(ask(&audited(&audit), "/v1/discover", &query), 200);
    audit.finish();
    assert_eq!(lines(&path)[0]["query"], "where\nis\nit");
}

#[test]
fn files_are_put_aside_and_the_oldest_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Audit::start(Options {
        max_bytes: 1000,
        ..options(path.clone())
    })
    .unwrap();
    let service = audited(&audit);
    for at in 0..30 {
        let body = json!({"tool": format!("tool-{at:02}")});
        assert_eq!(ask(&service, "/v1/authorize", &body), 200);
    }
    audit.finish();
    assert_eq!(audit.dropped(), 0);
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]);
    let mut kept = Vec::new();
    for name in ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"] {
        let path = folder.path().join(name);
        assert!(std::fs::metadata(&path).unwrap().len() <= 1000);
        kept.extend(lines(&path).iter().map(|line| line["tools"][0].to_string()));
    }
    // The newest, in order and without a gap.
    let last: Vec<String> = (30 - kept.len()..30)
        .map(|at| format!("\"tool-{at:02}\""))
        .collect();
    assert!(10 < kept.len() && kept == last, "{kept:?}");
}

#[test]
fn a_line_that_was_cut_off_spoils_none_but_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::fs::write(&path, "{\"event\":\"discover\"}\n{\"event\":\"autho").unwrap();
    let audit = Audit::start(options(path.clone())).unwrap();
    assert_eq!(
        ask(&audited(&audit), "/v1/authorize", &json!({"tool": "ping"})),
        200
    );
    audit.finish();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(serde_json::from_str::<Value>(lines[2]).is_ok(), "{text}");
}

/// A named pipe that nobody reads: whoever writes to it waits.
#[cfg(unix)]
fn stuck(folder: &Path) -> PathBuf {
    let path = folder.join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    path
}

#[cfg(unix)]
#[test]
fn a_disk_that_does_not_answer_stops_no_request_unless_required() {
    let folder = tempfile::tempdir().unwrap();
    let path = stuck(folder.path());
    for required in [false, true] {
        let audit = Audit::with_queue(
            Options {
                required,
                ..options(path.clone())
            },
            2,
        )
        .unwrap();
        let service = audited(&audit);
        let long = json!({"tool": "x".repeat(500)});
        let refused = (0..600).any(|_| ask(&service, "/v1/authorize", &long) == 503);
        assert_eq!(refused, required);
        assert_eq!(0 < audit.dropped(), !required);
    }
}

/// Nothing is answered that is not noted: not even what is asked first, before anybody knows that
/// the disk is full.
#[cfg(target_os = "linux")]
#[test]
fn a_required_audit_on_a_full_disk_refuses_the_first_request_too() {
    for required in [true, false] {
        let audit = Audit::start(Options {
            required,
            ..options("/dev/full".into())
        });
        let audit = audit.unwrap();
        let service = audited(&audit);
        let expected = if required { 503 } else { 200 };
        for _ in 0..3 {
            let body = json!({"tool": "ping"});
            assert_eq!(ask(&service, "/v1/authorize", &body), expected);
        }
        audit.finish();
        // What was refused is not lost.
        assert_eq!(audit.dropped(), if required { 0 } else { 3 });
    }
}

#[test]
fn a_required_audit_has_the_line_before_the_answer_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Audit::start(Options {
        required: true,
        ..options(path.clone())
    });
    let service = audited(&audit.unwrap());
    for asked in 1..=20 {
        assert_eq!(
            ask(&service, "/v1/authorize", &json!({"tool": "ping"})),
            200
        );
        assert_eq!(lines(&path).len(), asked);
    }
}
