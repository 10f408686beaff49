//! `toolscout import`: from documents and servers to a catalogue that can be indexed.

use super::command::{Sandbox, program, toolscout};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");

#[test]
fn documents_become_catalogues() {
    let sandbox = Sandbox::new();
    let out = sandbox.path("tools.jsonl");
    let openai = r#"[{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}, {"type": "function", "function": {"description": "no name"}}]"#;
    let file = sandbox.file("openai.json", openai);
    let run = toolscout(&[
        "import",
        "--file",
        &file,
        "--out",
        &out,
        "--namespace",
        "calc",
    ]);
    assert_eq!(run.code, 3, "{} {}", run.out, run.err);
    assert!(run.out.starts_with("1 tool imported"), "{}", run.out);
    let written = std::fs::read_to_string(&out).unwrap();
    assert_eq!(
        written,
        "{\"description\":\"Adds.\",\"input_schema\":{\"type\":\"object\"},\"name\":\"add\",\"namespace\":\"calc\"}\n"
    );
    let yaml =
        "openapi: 3.0.0\ninfo: {title: Pets}\npaths:\n  /pets: {get: {summary: List pets}}\n";
    let file = sandbox.file("pets.yaml", yaml);
    let run = toolscout(&["import", "--file", &file, "--out", &out, "--json"]);
    assert_eq!((run.code, &run.json()["tools"]), (0, &1.into()));
    let index = sandbox.path("index");
    let run = toolscout(&[
        "index",
        "--catalog",
        &out,
        "--out",
        &index,
        "--model",
        "hashed",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = toolscout(&["search", "--index", &index, "--open", "--json", "list pets"]);
    assert_eq!(run.json()["hits"][0]["tool"], "pets/get_pets");
}

#[test]
fn a_server_becomes_a_catalogue() {
    let sandbox = Sandbox::new();
    let out = sandbox.path("tools.jsonl");
    let args = [
        "import",
        "--out",
        &out,
        "--namespace",
        "echo",
        "--env",
        "TOKEN=${ECHO_TOKEN}",
    ];
    let server = ["--mcp-stdio", "python3", SERVER, "environment"];
    let mut command = program();
    command.args(args).args(server).env("ECHO_TOKEN", "s3cret");
    let run = super::command::Run::of(command);
    assert_eq!(run.code, 0, "{}", run.err);
    let written = std::fs::read_to_string(&out).unwrap();
    // The server tells its environment: the variable that it was given, and none that was not.
    assert!(
        written.contains("TOKEN") && written.contains("s3cret"),
        "{written}"
    );
    assert!(!written.contains("ECHO_TOKEN"), "{written}");
}

#[test]
fn faults_say_what_to_do() {
    let sandbox = Sandbox::new();
    let out = sandbox.path("tools.jsonl");
    let list = sandbox.file("list.json", "[1]");
    let empty = sandbox.file("empty.json", "{\"tools\": []}");
    for (args, code, told) in [
        (
            &["--file", &list][..],
            1,
            "is no list of tools that is known",
        ),
        (
            &["--file", &empty, "--format", "mcp"],
            1,
            "holds no tool that could be read",
        ),
        (&["--file", "/no/such"], 2, "cannot read document /no/such"),
        (
            &["--mcp-stdio", "no-such-program"],
            1,
            "cannot start 'no-such-program'",
        ),
        (
            &["--mcp-stdio", "python3", SERVER, "exit"],
            1,
            "it said: cannot log in",
        ),
        (
            &["--mcp-url", "http://127.0.0.1:1/mcp"],
            1,
            "did not open the protocol",
        ),
        (
            &[
                "--mcp-url",
                "http://127.0.0.1:1",
                "--header",
                "a: ${NO_SUCH}",
            ],
            2,
            "no variable 'NO_SUCH'",
        ),
        (
            &["--mcp-url", "http://127.0.0.1:1", "--header", "a b: c"],
            1,
            "'a b' is no header",
        ),
        (&[], 2, "required"),
    ] {
        let mut all = vec!["import", "--out", &out];
        all.extend(args);
        let run = toolscout(&all);
        assert_eq!(run.code, code, "{args:?}: {}", run.err);
        assert!(run.err.contains(told), "{args:?}: {}", run.err);
    }
}
