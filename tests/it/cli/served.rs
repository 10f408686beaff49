//! The server as a process: the same bytes as the command line, and an orderly end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use super::command::{Sandbox, demo, demo_index, program, support_keys, toolscout};

/// A server on a port of its own; killed with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut command = program();
        command
            .args(["serve", "--bind", "127.0.0.1:0", "--index", &demo_index()])
            .args(args);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .unwrap()
            .to_owned();
        Self { child, address }
    }

    /// Status line and body of an answer.
    fn discover(&self, body: &str, headers: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /v1/discover HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_server_answers_with_the_bytes_of_the_command_line() {
    let server = Server::start(&["--open"]);
    let body = r#"{"query": "cancel the order", "limit": 5}"#;
    let (status, answer) = server.discover(body, "");
    assert!(status.ends_with("200 OK"), "{status}");
    let index = demo_index();
    let printed = toolscout(&[
        "search",
        "--index",
        &index,
        "--open",
        "--json",
        "cancel the order",
    ]);
    assert_eq!(answer, printed.out.trim_end());
}

#[test]
fn a_key_stands_for_a_role() {
    let sandbox = Sandbox::new();
    let keys = support_keys(&sandbox);
    let server = Server::start(&["--keys", &keys, "--policy", &demo("policy.toml")]);
    let body = r#"{"query": "terminate the virtual machine", "limit": 100, "threshold": 0}"#;
    assert!(server.discover(body, "").0.contains("401"));
    let (status, answer) = server.discover(body, "authorization: Bearer secret\r\n");
    assert!(status.ends_with("200 OK"), "{status}");
    assert!(answer.contains("\"tickets/") && !answer.contains("\"cloud/"));
}

/// What the server lets `body` find, asked until it is `wanted` or ten seconds have passed.
fn eventually(server: &Server, key: &str, wanted: impl Fn(&str, &str) -> bool) -> bool {
    let body = r#"{"query": "terminate the virtual machine", "limit": 100, "threshold": 0}"#;
    let header = format!("authorization: Bearer {key}\r\n");
    (0..100).any(|_| {
        let (status, answer) = server.discover(body, &header);
        std::thread::sleep(std::time::Duration::from_millis(100));
        wanted(&status, &answer)
    })
}

#[test]
fn keys_and_policy_are_read_again_when_they_change() {
    let sandbox = Sandbox::new();
    let key = |name: &str| {
        let hash = toolscout::serve::auth::hash_of_key(name);
        format!("[[key]]\nname = \"{name}\"\nsha256 = \"{hash}\"\ntenant = \"t\"\n")
    };
    let allow =
        |namespace: &str| format!("[[rule]]\neffect = \"allow\"\nnamespaces = [\"{namespace}\"]\n");
    let keys = sandbox.file("keys.toml", key("one"));
    let policy = sandbox.file("policy.toml", allow("cloud"));
    let server = Server::start(&["--keys", &keys, "--policy", &policy]);
    assert!(eventually(&server, "one", |_, answer| answer.contains("\"cloud/")));
    sandbox.file("policy.toml", allow("tickets"));
    assert!(eventually(&server, "one", |_, answer| answer
        .contains("\"tickets/")
        && !answer.contains("\"cloud/")));
    // Both broken: what was read before stays.
    sandbox.file("policy.toml", "[[rule]]\neffect = \"al");
    sandbox.file("keys.toml", "");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(eventually(&server, "one", |_, answer| answer.contains("\"tickets/")));
    sandbox.file("keys.toml", key("two"));
    assert!(eventually(&server, "one", |status, _| status.contains("401")));
    assert!(eventually(&server, "two", |status, _| status.contains("200")));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_order() {
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(&["--open"]);
        let id = server.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn the_audit_outlives_a_server_that_is_killed() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("audit.jsonl");
    let key = sandbox.file("key", "0123456789abcdef0123456789abcdef");
    let args = ["--open", "--audit", &path, "--audit-key", &key];
    for _ in 0..2 {
        let mut server = Server::start(&args);
        for _ in 0..5 {
            let (status, _) = server.discover(r#"{"query": "cancel the order"}"#, "");
            assert!(status.ends_with("200 OK"), "{status}");
        }
        // What was noted is written as soon as nothing else waits.
        std::thread::sleep(std::time::Duration::from_millis(300));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let events = text.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["event"].as_str().unwrap().to_owned()
    });
    assert_eq!(events.collect::<Vec<String>>(), ["discover"; 10]);
    assert!(!text.contains("cancel the order"), "{text}");
}

#[test]
fn rules_that_change_are_taken_up() {
    let sandbox = Sandbox::new();
    let rules = sandbox.file("rules.toml", "");
    let server = Server::start(&["--open", "--rules", &rules]);
    let body = r#"{"query": "cancel the order", "threshold": 0, "limit": 3, "detail": "name"}"#;
    let before = server.discover(body, "").1;
    assert!(!before.contains("weather/"), "{before}");
    let pin = "[[rule]]\nname = \"p\"\neffect = \"pin\"\ntools = { field = \"tool.namespace\", eq = \"weather\" }\n";
    sandbox.file("rules.toml", pin);
    let waited = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        server.discover(body, "").1.contains("weather/")
    });
    assert!(waited);
    // A broken file changes nothing.
    sandbox.file("rules.toml", "[[rule]]\nname = 3\n");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(server.discover(body, "").1.contains("weather/"));
}
