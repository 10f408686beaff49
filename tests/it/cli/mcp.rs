//! The server on standard input and output, as a client starts it.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::command::{Run, Sandbox, demo, demo_index, program, support_keys, toolscout};

fn message(id: u32, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// Sends lines, closes standard input, and gives what was answered and how it ended.
fn talk(args: &[&str], key: Option<&str>, lines: &[String]) -> (Vec<Value>, Run) {
    let mut command = program();
    command.args(["mcp", "--index", &demo_index()]).args(args);
    if let Some(key) = key {
        command.env("TOOLSCOUT_KEY", key);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        // A server that has ended does not read the rest.
        let _ = writeln!(input, "{line}");
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let run = Run {
        code: output.status.code().expect("ended by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    let answers = run.out.lines().map(|line| {
        serde_json::from_str(line).expect("standard output carries the protocol alone")
    });
    (answers.collect(), run)
}

fn opening() -> Vec<String> {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    vec![message(1, "initialize", &params), initialized.to_string()]
}

fn answer(answers: &[Value], id: u32) -> &Value {
    answers.iter().find(|answer| answer["id"] == id).unwrap()
}

#[test]
fn a_client_lists_and_calls() {
    let mut lines = opening();
    lines.push(message(2, "tools/list", &json!({})));
    let call = json!({"name": "discover_tools", "arguments": {"query": "cancel the order"}});
    lines.push(message(3, "tools/call", &call));
    let (answers, run) = talk(&["--open"], None, &lines);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(
        answer(&answers, 1)["result"]["protocolVersion"],
        "2025-11-25"
    );
    let tools = &answer(&answers, 2)["result"]["tools"];
    assert_eq!(tools[0]["name"], "discover_tools");
    let index = demo_index();
    let printed = toolscout(&[
        "search",
        "--index",
        &index,
        "--open",
        "--json",
        "cancel the order",
    ]);
    let text = &answer(&answers, 3)["result"]["content"][0]["text"];
    assert_eq!(text, printed.out.trim_end());
}

#[test]
fn a_key_in_the_environment_says_who_asks() {
    let sandbox = Sandbox::new();
    let keys = support_keys(&sandbox);
    let args = ["--keys", &keys, "--policy", &demo("policy.toml")];
    let mut lines = opening();
    lines.push(message(2, "tools/list", &json!({})));
    let (answers, run) = talk(&args, Some("secret"), &lines);
    assert_eq!(run.code, 0, "{}", run.err);
    let told = answer(&answers, 2)["result"]["tools"][0]["description"].as_str();
    let told = told.unwrap();
    assert!(
        told.contains("\n- tickets (") && !told.contains("\n- cloud ("),
        "{told}"
    );
    for key in [None, Some("guess")] {
        let (answers, run) = talk(&args, key, &lines);
        assert_eq!((run.code, answers.len()), (2, 0));
        assert!(run.err.contains("TOOLSCOUT_KEY"), "{}", run.err);
    }
}

#[test]
fn nobody_asks_by_default() {
    let (answers, run) = talk(&[], None, &opening());
    assert_eq!((run.code, answers.len()), (2, 0));
    assert!(run.err.contains("say who asks: --open"), "{}", run.err);
}

#[test]
fn rubbish_costs_itself_alone() {
    let mut lines = vec!["rubbish".to_owned(), "{\"jsonrpc\":\"2.0\"}".to_owned()];
    lines.extend(opening());
    lines.push("{".repeat(100_000));
    lines.push("x".repeat(3 << 20));
    lines.push(message(2, "ping", &json!({})));
    let (answers, run) = talk(&["--open"], None, &lines);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(answer(&answers, 2)["result"].is_object());
}
