//! The command line, from the outside: what scripts rely on.

mod command;
mod faults;
mod gateway;
mod import;
mod mcp;
mod served;

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use command::{Run, Sandbox, demo, demo_index, program, toolscout};

const COMMANDS: [&str; 8] = [
    "demo", "index", "search", "serve", "policy", "models", "doctor", "eval",
];

fn search(args: &[&str]) -> Run {
    let index = demo_index();
    let mut all = vec!["search", "--index", &index, "--open"];
    all.extend(args);
    toolscout(&all)
}

#[test]
fn a_search_prints_the_contract() {
    let run = search(&["--json", "--limit", "3", "cancel", "the", "order"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(run.out.lines().count(), 1);
    let body = run.json();
    let keys: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for key in [
        "catalog_etag",
        "hits",
        "no_match",
        "confidence",
        "truncated",
        "arms",
    ] {
        assert!(keys.contains(&key), "{key} of {keys:?}");
    }
    assert!(!body["catalog_etag"].as_str().unwrap().is_empty());
    assert_eq!(body["no_match"], Value::Null);
    let hits = body["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3);
    for hit in hits {
        assert!(hit["tool"].is_string() && hit["score"].is_number());
        let definition = hit["definition"].as_object().unwrap();
        assert!(definition["name"].is_string());
        assert!(definition["description"].is_string());
        assert!(definition["input_schema"].is_object());
        assert!(hit.get("explanation").is_none());
    }
    assert_eq!(hits[0]["tool"], "orders/cancel_order");
}

#[test]
fn the_same_request_prints_the_same_bytes() {
    let args = ["--json", "--explain", "查一下订单的物流"];
    assert_eq!(search(&args).out, search(&args).out);
}

#[test]
fn the_detail_decides_how_much_of_a_definition_is_printed() {
    let name = search(&["--json", "--detail", "name", "refund"]).json();
    assert!(name["hits"][0].get("definition").is_none());
    let compact = search(&["--json", "--detail", "compact", "refund"]).json();
    assert!(compact["hits"][0]["definition"]["parameters"].is_array());
}

#[test]
fn an_explanation_adds_up() {
    let body = search(&["--json", "--explain", "refund a payment"]).json();
    let why = &body["hits"][0]["explanation"];
    let sum: f64 = why["arms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arm| arm["contribution"].as_f64().unwrap())
        .sum();
    let number = |key: &str| why[key].as_f64().unwrap_or(0.0);
    let total = sum + number("covered") - number("avoided");
    assert!((total - number("total")).abs() < 1e-3, "{why}");
    let shown = search(&["--explain", "refund a payment"]).out;
    assert!(
        shown.contains("keyword") && shown.contains("words: "),
        "{shown}"
    );
}

#[test]
fn that_nothing_fits_is_an_answer_unless_the_exit_code_is_asked_for() {
    let run = search(&["--json", "--threshold", "1", "qqqq"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["hits"], Value::Array(vec![]));
    assert_eq!(run.json()["no_match"]["reason"], "below_threshold");
    let run = search(&["--threshold", "1", "--exit-code", "qqqq"]);
    assert_eq!(run.code, 4);
    assert!(run.out.contains("nothing fits"), "{}", run.out);
    assert_eq!(search(&["--exit-code", "refund"]).code, 0);
}

#[test]
fn several_needs_are_each_served() {
    let body = search(&[
        "--json",
        "--need",
        "cancel the order",
        "--need",
        "book a flight",
    ])
    .json();
    let serves = |need: u64| {
        let hits = body["hits"].as_array().unwrap().iter();
        hits.filter_map(|hit| hit["needs"].as_array())
            .any(|needs| needs.contains(&need.into()))
    };
    assert!(serves(0) && serves(1), "{body}");
}

#[test]
fn filters_narrow_what_is_found() {
    let body = search(&[
        "--json",
        "--namespace",
        "travel",
        "--read-only",
        "cancel the order",
    ])
    .json();
    for hit in body["hits"].as_array().unwrap() {
        assert_eq!(hit["definition"]["namespace"], "travel");
        assert!(["none", "read"].contains(&hit["definition"]["side_effect"].as_str().unwrap()));
    }
    let body = search(&["--json", "--namespace", "nowhere", "cancel the order"]).json();
    assert_eq!(body["no_match"]["reason"], "nothing_permitted");
}

#[test]
fn a_policy_decides_what_is_visible() {
    let (index, policy) = (demo_index(), demo("policy.toml"));
    let ask = |role: &str, environment: &str| {
        let args = [
            "search",
            "--index",
            &index,
            "--policy",
            &policy,
            "--role",
            role,
            "--environment",
            environment,
            "--scope",
            "cloud:admin",
            "--json",
            "--limit",
            "100",
            "--threshold",
            "0",
            "terminate the virtual machine for good",
        ];
        let body = toolscout(&args).json();
        let hits = body["hits"].as_array().unwrap().clone();
        let keys: Vec<String> = hits
            .iter()
            .map(|hit| hit["tool"].as_str().unwrap().to_owned())
            .collect();
        keys
    };
    let has = |keys: &[String], key: &str| keys.iter().any(|k| k == key);
    let engineer = ask("engineer", "staging");
    assert!(has(&engineer, "cloud/terminate_instance"));
    assert!(!engineer.iter().any(|key| key.starts_with("hr/")));
    assert!(!has(
        &ask("engineer", "production"),
        "cloud/terminate_instance"
    ));
    assert!(
        !ask("support", "staging")
            .iter()
            .any(|key| key.starts_with("cloud/"))
    );
}

#[test]
fn what_is_typed_wins_over_the_environment_and_that_over_the_file() {
    let sandbox = Sandbox::new();
    let config = sandbox.file("config.toml", "[search]\nlimit = 2\n");
    let index = demo_index();
    let ask = |args: &[&str]| {
        let mut command = program();
        command
            .env("TOOLSCOUT_INDEX", &index)
            .env("TOOLSCOUT_CONFIG", &config);
        command
            .args(["search", "--open", "--json", "order"])
            .args(args);
        let body = Run::of(command).json();
        body["hits"].as_array().unwrap().len()
    };
    assert_eq!(ask(&[]), 2);
    assert_eq!(ask(&["--limit", "3"]), 3);
    // Another index than the environment's can be searched without unsetting it.
    let tools = sandbox.file("tools.jsonl", "{\"name\": \"order_tea\"}\n");
    assert_eq!(
        ask(&["--catalog", &tools, "--model", "hashed", "--threshold", "0"]),
        1
    );
}

#[test]
fn a_catalogue_with_bad_lines_is_indexed_without_them() {
    let sandbox = Sandbox::new();
    let tools = sandbox.file(
        "tools.jsonl",
        concat!(
            r#"{"name": "good", "description": "Does good things to many people."}"#,
            "\n",
            "{broken\n",
            r#"{"description": "nameless"}"#,
            "\n",
            r#"{"name": "good", "description": "The same key again."}"#,
            "\n",
            r#"{"name": "listed", "input_schema": []}"#,
            "\n",
            r#"{"name": "plain", "description": ""}"#,
            "\n",
        ),
    );
    let out = sandbox.path("index");
    let args = [
        "index",
        "--catalog",
        &tools,
        "--out",
        &out,
        "--model",
        "hashed",
    ];
    let run = toolscout(&args);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.out.starts_with("2 tools in 1 namespace"), "{}", run.out);
    for told in [
        "4 tools left out, 1 warning",
        "tools.jsonl:2: not valid JSON",
        "tools.jsonl:3: field 'name'",
        "tools.jsonl:4: tool 'good': field 'id': the key is taken by",
        "tools.jsonl:5: tool 'listed': field 'input_schema'",
        "tools.jsonl:6: tool 'plain': field 'description'",
    ] {
        assert!(run.out.contains(told), "{told} in {}", run.out);
    }
    let mut json = args.to_vec();
    json.push("--json");
    let body = toolscout(&json).json();
    assert_eq!((&body["tools"], &body["rejected"]), (&2.into(), &4.into()));
    assert_eq!(body["problems"][0]["line"], 2);
    let found = toolscout(&["search", "--index", &out, "--open", "--json", "good people"]);
    assert_eq!(found.json()["hits"][0]["tool"], "good");
}

#[test]
fn warnings_count_where_they_are_asked_to() {
    let sandbox = Sandbox::new();
    let tools = sandbox.file("tools.jsonl", "{\"name\": \"plain\"}\n");
    let out = sandbox.path("index");
    let args = [
        "index",
        "--catalog",
        &tools,
        "--out",
        &out,
        "--model",
        "hashed",
    ];
    assert_eq!(toolscout(&args).code, 0);
    let strict = [&args[..], &["--strict"]].concat();
    assert_eq!(toolscout(&strict).code, 3);
}

#[test]
fn a_document_is_shown_without_a_model() {
    let run = toolscout(&[
        "index",
        "--catalog",
        &demo(""),
        "--show-document",
        "logistics/get_shipping_eta",
        "--model",
        "nowhere",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    for section in [
        "Name: ",
        "Description: ",
        "Use when: ",
        "Inputs:\n",
        "Embedded as ",
    ] {
        assert!(run.out.contains(section), "{section}");
    }
}

#[test]
fn the_doctor_finds_what_the_demo_catalogue_was_given() {
    let run = toolscout(&["doctor", "--catalog", &demo(""), "--json"]);
    assert_eq!(run.code, 0);
    let body = run.json();
    let finding = |check: &str| {
        let findings = body["findings"].as_array().unwrap().iter();
        findings
            .clone()
            .find(|finding| finding["check"] == check)
            .unwrap()
            .clone()
    };
    assert_eq!(
        finding("empty_description")["subjects"][0]["keys"][0],
        "inventory/sync_sku_v1"
    );
    let twin = &finding("duplicate")["subjects"][0]["keys"];
    assert_eq!(
        twin,
        &serde_json::json!(["research/search_web", "web/search_web"])
    );
    assert_eq!(
        finding("crowded_namespace")["subjects"][0]["keys"][0],
        "code"
    );
    assert!(finding("missing_use_when")["count"].as_u64().unwrap() > 10);
    assert_eq!(
        toolscout(&["doctor", "--catalog", &demo(""), "--strict"]).code,
        3
    );
    let shown = toolscout(&["doctor", "--catalog", &demo("")]).out;
    assert!(
        shown.contains("research/search_web · web/search_web"),
        "{shown}"
    );
}

#[test]
fn every_command_helps_with_examples() {
    let top = toolscout(&["--help"]);
    assert_eq!(top.code, 0);
    assert!(top.out.contains("Exit codes:"));
    for command in COMMANDS {
        assert!(top.out.contains(command), "{command}");
        let run = toolscout(&[command, "--help"]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}");
        assert!(run.out.contains("Examples:"), "{command}: {}", run.out);
        for line in run.out.lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
    }
}

#[test]
fn output_that_nobody_reads_is_no_failure() {
    let index = demo_index();
    let mut command = program();
    command.args([
        "search", "--index", &index, "--open", "--json", "--limit", "100",
    ]);
    command.args(["--threshold", "0", "order"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn a_pipe_gets_no_colour_no_bars_and_aligned_columns() {
    let run = search(&[
        "查一下我的快递 and the order",
        "--limit",
        "20",
        "--threshold",
        "0",
    ]);
    assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'));
    let wide = |c: char| {
        if ('\u{1100}'..'\u{fb00}').contains(&c) && c > '\u{2e7f}' {
            2
        } else {
            1
        }
    };
    let width = |text: &str| text.chars().map(wide).sum::<usize>();
    // The rule under the header; then a line with the key and one with the description for each hit.
    let rule = |line: &&str| line.starts_with('─');
    let lines: Vec<&str> = run.out.lines().skip_while(|line| !rule(line)).collect();
    assert_eq!(lines.len(), 1 + 2 * 20, "{}", run.out);
    let start = |line: &str| width(line) - width(line.trim_start());
    let key = |line: &str| {
        let blank = line.rfind("  ").map_or(0, |at| at + 2);
        width(&line[..blank])
    };
    for pair in lines[1..].chunks(2) {
        assert_eq!(key(pair[0]), start(pair[1]), "{}", run.out);
        assert_eq!(start(pair[1]), start(lines[2]), "{}", run.out);
        assert!(width(pair[1]) <= 100, "{}", pair[1]);
    }
}

#[test]
fn a_request_is_read_from_standard_input() {
    let index = demo_index();
    let sandbox = Sandbox::new();
    let text = sandbox.file("request.txt", "cancel\nthe order\n");
    let mut command = program();
    command.args(["search", "--index", &index, "--open", "--json", "-"]);
    command.stdin(std::fs::File::open(text).unwrap());
    assert_eq!(
        Run::of(command).json()["hits"][0]["tool"],
        "orders/cancel_order"
    );
}

/// Needs ONNX Runtime; where none is installed and none was fetched before, it says so and passes.
#[test]
fn the_demo_answers_with_the_shipped_model() {
    let mut command = program();
    command.args(["demo", "--json", "--offline"]);
    let first = Run::of(command);
    if first.err.contains("ONNX Runtime") {
        eprintln!("skipped: {}", first.err.trim());
        return;
    }
    assert_eq!(first.code, 0, "{}", first.err);
    let answers = first.json();
    let found = |query: &str, tool: &str| {
        let answers = answers.as_array().unwrap();
        let answer = answers.iter().find(|answer| answer["query"] == query);
        let hits = answer.unwrap()["answer"]["hits"].as_array().unwrap();
        hits.iter().take(3).any(|hit| hit["tool"] == tool)
    };
    assert!(found("东西啥时候到", "logistics/get_shipping_eta"));
    assert!(found("where is my parcel", "logistics/get_shipping_eta"));
}

#[test]
fn a_policy_is_checked_and_explained() {
    let (catalog, policy) = (demo(""), demo("policy.toml"));
    let ask = |args: &[&str]| {
        let mut all = vec!["policy"];
        all.extend(args);
        all.extend(["--catalog", &catalog, "--policy", &policy]);
        toolscout(&all)
    };
    let checked = ask(&["check"]);
    assert_eq!((checked.code, checked.err.as_str()), (0, ""));
    assert!(
        checked.out.contains("6 rules over 228 tools"),
        "{}",
        checked.out
    );
    let body = ask(&["check", "--json"]).json();
    assert_eq!(body["findings"], Value::Array(vec![]));
    assert!(body["everybody"].to_string().contains("\"weather/"));

    let caller = ["why", "--role", "engineer", "--environment", "production"];
    let why = |rest: &[&str]| ask(&[&caller[..], rest].concat());
    let denied = why(&["cloud/terminate_instance"]);
    assert_eq!(denied.code, 0, "{}", denied.err);
    assert!(denied.out.contains("is not visible") && denied.out.contains("denied by"));
    assert!(
        denied.out.contains("rule 6") && denied.out.contains("(line "),
        "{}",
        denied.out
    );
    let body = why(&["--json", "payments/refund_payment"]).json();
    assert_eq!(body["visible"], false);
    assert_eq!(body["obstacles"][0]["obstacle"], "not_allowed");
    assert_eq!(
        body["obstacles"][0]["would_allow"][0]["wants"][0]["field"],
        "role"
    );
    assert_eq!(why(&["nothing/at_all"]).code, 1);

    let sandbox = Sandbox::new();
    let odd = "[groups.roles]\nidle = [\"x\"]\n[[rule]]\nname = \"typo\"\neffect = \"allow\"\n\
        namespaces = [\"clod\"]\n";
    let odd = sandbox.file("odd.toml", odd);
    let run = toolscout(&[
        "policy",
        "check",
        "--strict",
        "--catalog",
        &catalog,
        "--policy",
        &odd,
    ]);
    assert_eq!(run.code, 3);
    for told in [
        "rule 1 'typo' (line 3)",
        "'clod' of its namespaces matches nothing",
        "covers no tool",
        "group 'roles.idle'",
        "nobody sees: 227 tools",
    ] {
        assert!(run.out.contains(told), "{told} in {}", run.out);
    }
}
