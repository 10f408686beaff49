//! Servers of tools behind a running one: what callers see of them, call through it, and see when
//! one of them goes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::command::{Sandbox, demo_index, program};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(config: &str, args: &[&str]) -> Self {
        let mut command = program();
        command
            .args([
                "serve",
                "--bind",
                "127.0.0.1:0",
                "--index",
                &demo_index(),
                "--config",
                config,
            ])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .expect(&line);
        Self {
            address: address.to_owned(),
            child,
        }
    }

    fn post(&self, path: &str, headers: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
             accept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).expect(&answer)
    }

    /// The result of a call, or the error of the protocol.
    fn call(&self, headers: &str, tool: &str, arguments: &Value) -> Value {
        let call =
            json!({"name": "call_tool", "arguments": {"tool": tool, "arguments": arguments}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        let mut answer = self.post("/mcp", headers, &request);
        let answer = answer.as_object_mut().unwrap();
        answer.remove("result").or(answer.remove("error")).unwrap()
    }

    fn discover(&self, headers: &str, query: &str) -> Value {
        let request = json!({"query": query, "detail": "name", "limit": 3});
        self.post("/v1/discover", headers, &request)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn config(sandbox: &Sandbox, gateway: &str) -> String {
    let text = format!(
        "[[source]]\nname = \"echo\"\ncommand = [\"python3\", \"{SERVER}\", \"good\", \"{}\"]\npoll = 1\n\n\
         [gateway]\nenabled = \"{gateway}\"\ntimeout = 2\n",
        sandbox.path("switch")
    );
    sandbox.file("config.toml", text)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_tool_of_a_server_is_found_and_called() {
    let sandbox = Sandbox::new();
    let server = Server::start(&config(&sandbox, "yes"), &["--open"]);
    let found = server.discover("", "select:echo/echo");
    assert_eq!(found["hits"][0]["tool"], "echo/echo", "{found}");
    assert_eq!(found.get("unavailable"), None);
    let said = server.call("", "echo/echo", &json!({"text": "hello"}));
    assert_eq!(
        (text(&said), &said["structuredContent"]),
        ("hello", &json!({"said": "hello"}))
    );

    for (tool, arguments, told) in [
        (
            "echo/echo",
            json!({}),
            "arguments: \"text\" is a required property",
        ),
        (
            "echo/echo",
            json!({"text": 7}),
            "arguments/text: 7 is not of type \"string\"",
        ),
        (
            "echo/echo",
            json!({"text": "x", "more": 1}),
            "arguments: Additional properties",
        ),
        ("echo/none", json!({}), "there is no tool with this key"),
        (
            "logistics/get_shipping_eta",
            json!({"order_id": "1"}),
            "cannot be called through this server",
        ),
        (
            "echo/huge",
            json!({"text": "x"}),
            "the result has more than",
        ),
        (
            "echo/slow",
            json!({"text": "x"}),
            "the call took longer than 2 s",
        ),
    ] {
        let result = server.call("", tool, &arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(text(&result).contains(told), "{tool}: {result}");
    }
    // What a server lists anew is found.
    std::fs::write(sandbox.path("switch"), "more").unwrap();
    until("a new tool", || {
        server.discover("", "select:echo/more")["hits"][0]["tool"] == "echo/more"
    });
}

#[test]
fn a_server_that_dies_is_unavailable_and_comes_back() {
    let sandbox = Sandbox::new();
    let server = Server::start(&config(&sandbox, "yes"), &["--open"]);
    let id = || {
        let found = Command::new("pgrep")
            .args(["-f", &sandbox.path("switch")])
            .output()
            .unwrap();
        String::from_utf8(found.stdout)
            .unwrap()
            .lines()
            .next()
            .map(str::to_owned)
    };
    // The program that is asked names the file of its config, not the switch.
    let first = id().unwrap();
    assert!(
        Command::new("kill")
            .args(["-9", &first])
            .status()
            .unwrap()
            .success()
    );
    let mut seen_down = false;
    until("back again", || {
        let found = server.discover("", "select:echo/echo");
        assert_eq!(
            found["hits"][0]["tool"], "echo/echo",
            "its tools stay: {found}"
        );
        if found.get("unavailable") == Some(&json!(["echo"])) {
            seen_down = true;
            let result = server.call("", "echo/echo", &json!({"text": "hello"}));
            assert!(
                result["isError"] == true || text(&result) == "hello",
                "{result}"
            );
        }
        seen_down && found.get("unavailable").is_none()
    });
    assert_eq!(
        text(&server.call("", "echo/echo", &json!({"text": "again"}))),
        "again"
    );
    assert_ne!(id().unwrap(), first);
}

/// Who may see no tool of a server learns nothing of it: not that it is there, not that it is down.
#[test]
fn a_server_behind_forbidden_tools_shows_nowhere() {
    let sandbox = Sandbox::new();
    let keys: String = ["sees", "not"]
        .map(|name| {
            let hash = toolscout::serve::auth::hash_of_key(name);
            format!(
                "[[key]]\nname = '{name}'\nsha256 = '{hash}'\ntenant = 't'\nroles = ['{name}']\n"
            )
        })
        .concat();
    let keys = sandbox.file("keys.toml", keys);
    let policy = "[[rule]]\neffect = \"allow\"\nroles = [\"sees\"]\n\n\
                  [[rule]]\neffect = \"allow\"\nroles = [\"not\"]\nnamespaces = [\"logistics\"]\n";
    let policy = sandbox.file("policy.toml", policy);
    let server = Server::start(
        &config(&sandbox, "yes"),
        &["--keys", &keys, "--policy", &policy],
    );
    let (sees, not) = (
        "authorization: Bearer sees\r\n",
        "authorization: Bearer not\r\n",
    );
    assert_eq!(
        text(&server.call(sees, "echo/echo", &json!({"text": "hello"}))),
        "hello"
    );
    let forbidden = server.call(not, "echo/echo", &json!({"text": "hello"}));
    let unknown = server.call(not, "echo/no_such", &json!({"text": "hello"}));
    assert_eq!(forbidden, unknown);
    let before = server.discover(not, "say it again");
    server.call(sees, "echo/echo", &json!({"text": "die"}));
    let mut seen_down = false;
    until("down", || {
        assert_eq!(server.discover(not, "say it again"), before);
        seen_down |= server
            .discover(sees, "say it again")
            .get("unavailable")
            .is_some();
        seen_down
    });
    assert_eq!(
        server.call(not, "echo/echo", &json!({"text": "hello"})),
        unknown
    );
}

#[test]
fn a_gateway_is_asked_for_by_name() {
    let sandbox = Sandbox::new();
    let server = Server::start(&config(&sandbox, "no"), &["--open"]);
    let refused = server.call("", "echo/echo", &json!({"text": "hello"}));
    assert_eq!(refused["code"], -32602, "{refused}");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let list = server.post("/mcp", "", &list).to_string();
    assert!(!list.contains("call_tool"), "{list}");
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
