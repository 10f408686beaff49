//! What each wrong argument or file is told: one line, what to do, and an exit code.

use super::command::{Run, Sandbox, demo, demo_index, program, toolscout};

/// The fault is told in one line of words, with this code.
fn check(run: &Run, code: i32, told: &str) {
    assert_eq!(run.code, code, "{}{}", run.out, run.err);
    assert_eq!(run.out, "");
    assert!(run.err.starts_with("error: "), "{}", run.err);
    assert!(run.err.contains(told), "'{told}' in {}", run.err);
    for word in ["panicked", "Error {", "Os {", "backtrace", "unwrap"] {
        assert!(!run.err.contains(word), "{}", run.err);
    }
}

/// As [`check`], and nothing but that line: for what is not clap's to tell.
fn check_line(run: &Run, code: i32, told: &str) {
    check(run, code, told);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
}

fn search(args: &[&str]) -> Run {
    let index = demo_index();
    toolscout(&[&["search", "--index", index.as_str()], args].concat())
}

#[test]
fn requests() {
    let long = "x".repeat(9_000);
    for (args, told) in [
        (&["x"][..], "say who asks: --open"),
        (&["--open"], "query: is missing"),
        (&["--open", " "], "query: is empty"),
        (
            &["--open", "-n", "0", "x"],
            "limit: 0 is not within 1..=100",
        ),
        (&["--open", "-n", "101", "x"], "limit: 101 is not within"),
        (&["--open", "--threshold", "2", "x"], "threshold: 2 is not"),
        (&["--open", "--preset", "crad", "x"], "'crad' is not one of"),
        (&["--open", &long], "9000 characters, at most 8000"),
    ] {
        check_line(&search(args), 2, told);
    }
    let nowhere = toolscout(&["search", "--open", "x"]);
    check_line(&nowhere, 2, "say what to search: --index DIR");
}

#[test]
fn arguments() {
    for (args, told) in [
        (&["serach"][..], "unrecognized subcommand 'serach'"),
        (&["index", "--catalog", "x"], "--out <DIR>"),
        (&["search", "--opne", "x"], "unexpected argument '--opne'"),
        (&["search", "-n", "many", "x"], "invalid value 'many'"),
        (
            &["search", "--kind", "serch", "x"],
            "similar value exists: 'search'",
        ),
        (
            &["search", "--dense", "fast", "x"],
            "[possible values: auto, exact, hnsw]",
        ),
        (
            &["search", "--open", "--role", "a", "x"],
            "cannot be used with",
        ),
        (
            &["search", "--index", "a", "--catalog", "b", "x"],
            "cannot be used with",
        ),
    ] {
        check(&toolscout(args), 2, told);
    }
}

#[test]
fn catalogues() {
    let sandbox = Sandbox::new();
    let out = sandbox.path("out");
    let index = |path: &str| {
        toolscout(&[
            "index",
            "--catalog",
            path,
            "--out",
            &out,
            "--model",
            "hashed",
        ])
    };
    check_line(
        &index(&sandbox.path("absent.jsonl")),
        1,
        "cannot read catalogue",
    );
    let empty = sandbox.file("empty.jsonl", "");
    check_line(
        &index(&empty),
        1,
        "holds no tool that could be read: it is empty",
    );
    let array = sandbox.file("array.jsonl", "[{\"name\": \"a\"}]\n");
    check_line(&index(&array), 1, "one JSON object a line");
    let binary = sandbox.file("binary.jsonl", [0xff, 0xfe, b'\n']);
    check_line(&index(&binary), 1, "binary.jsonl:1: not valid UTF-8");
    let folder = sandbox.file("folder/readme.txt", "");
    let folder = folder.trim_end_matches("/readme.txt");
    check_line(&index(folder), 1, "holds no .jsonl file of tools");
    let good = sandbox.file("good.jsonl", "{\"name\": \"a\"}\n");
    let blocked = sandbox.file("blocked", "a file where a folder should be");
    let run = toolscout(&[
        "index",
        "--catalog",
        &good,
        "--out",
        &blocked,
        "--model",
        "hashed",
    ]);
    check_line(&run, 1, "blocked");
    let unknown = toolscout(&[
        "index",
        "--catalog",
        &demo(""),
        "--show-document",
        "x/get_shipping",
    ]);
    check_line(&unknown, 1, "there is 'logistics/get_shipping_eta'");
}

#[test]
fn snapshots() {
    let sandbox = Sandbox::new();
    let whole = std::fs::read(format!("{}/index.toolscout", demo_index())).unwrap();
    let search = |name: &str| {
        let folder = sandbox.path(name);
        toolscout(&["search", "--index", &folder, "--open", "x"])
    };
    check_line(&search("absent"), 1, "toolscout index");
    let write = |name: &str, bytes: &[u8]| {
        sandbox.file(&format!("{name}/index.toolscout"), bytes);
    };
    write("empty", b"");
    write(
        "foreign",
        b"PK\x03\x04 not ours at all, but long enough to hold a header of something",
    );
    write("truncated", &whole[..whole.len() / 2]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    write("flipped", &flipped);
    for name in ["empty", "foreign", "truncated", "flipped"] {
        check_line(&search(name), 1, "index.toolscout");
        check_line(&search(name), 1, "toolscout index");
    }
}

#[test]
fn models() {
    let index = demo_index();
    let unknown = toolscout(&[
        "search", "--index", &index, "--open", "--model", "nonesuch", "x",
    ]);
    check_line(&unknown, 1, "no model named 'nonesuch'");
    check_line(
        &toolscout(&["models", "pull", "nonesuch"]),
        1,
        "no model named 'nonesuch'",
    );
    let absent = toolscout(&[
        "models",
        "--models",
        "/nowhere/at/all",
        "pull",
        "use-multilingual-v3",
    ]);
    check_line(&absent, 1, "/nowhere/at/all");
    let sandbox = Sandbox::new();
    let tools = sandbox.file("tools.jsonl", "{\"name\": \"a\"}\n");
    let run = toolscout(&[
        "search",
        "--catalog",
        &tools,
        "--open",
        "--model",
        "none",
        "x",
    ]);
    check_line(&run, 2, "--model none");
}

#[test]
fn a_library_that_is_not_there() {
    let mut command = program();
    command.env("ORT_DYLIB_PATH", "/nowhere/libonnxruntime.so");
    command.args(["models", "--offline", "check", "use-multilingual-v3"]);
    let run = Run::of(command);
    check_line(&run, 1, "/nowhere/libonnxruntime.so");
    assert!(run.err.contains("ORT_DYLIB_PATH"), "{}", run.err);
}

#[test]
fn settings_files() {
    let (sandbox, index) = (Sandbox::new(), demo_index());
    let config = |text: &str| {
        let file = sandbox.file("config.toml", text);
        toolscout(&[
            "search", "--config", &file, "--index", &index, "--open", "x",
        ])
    };
    check_line(
        &config("[search]\nlimt = 3\n"),
        2,
        "config.toml, line 2: unknown key 'limt'",
    );
    check_line(
        &config("[search]\nlimit = 1000\n"),
        2,
        "'search.limit' must be a whole number",
    );
    check_line(
        &config("[weights]\nrule = \"a lot\"\n"),
        2,
        "'weights.rule' must be a number",
    );
    check_line(&config("search = [\n"), 2, "config.toml, line");
    let absent = [
        "search",
        "--config",
        "/nowhere.toml",
        "--index",
        &index,
        "--open",
        "x",
    ];
    check_line(
        &toolscout(&absent),
        2,
        "cannot read config file /nowhere.toml",
    );
    let policy = |text: &str| {
        let file = sandbox.file("policy.toml", text);
        toolscout(&["search", "--policy", &file, "--index", &index, "x"])
    };
    check_line(&policy(""), 2, "holds no [[rule]]");
    check_line(
        &policy("[[rule]]\neffect = \"alow\"\n"),
        2,
        "line 2: 'rule.effect' must be one of",
    );
    check_line(
        &policy("[[rule]]\neffect = \"allow\"\ntool = []\n"),
        2,
        "line 3: unknown key 'tool'",
    );
    check_line(
        &policy("\n[[rule]]\neffect = \"allow\"\ntools = [\"a[\"]\n"),
        2,
        "line 2: 'a[' is not a glob",
    );
}

#[test]
fn servers() {
    let (sandbox, index) = (Sandbox::new(), demo_index());
    let serve = |args: &[&str]| {
        let start = ["serve", "--index", index.as_str()];
        toolscout(&[&start[..], args].concat())
    };
    check_line(&serve(&[]), 2, "say who may ask: --open");
    check_line(&serve(&["--keys", "k.toml"]), 2, "--policy FILE");
    check_line(
        &serve(&["--policy", &demo("policy.toml")]),
        2,
        "--keys FILE",
    );
    check_line(
        &serve(&["--open", "--bind", "0.0.0.0:0"]),
        2,
        "reached by other machines",
    );
    check(
        &serve(&["--open", "--bind", "here"]),
        2,
        "invalid value 'here'",
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = serve(&["--open", "--bind", &address]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(
        run.err
            .contains(&format!("error: cannot listen on {address}")),
        "{}",
        run.err
    );
    let keys = sandbox.file(
        "keys.toml",
        "[[key]]\nname = \"a\"\nsha256 = \"12\"\ntenant = \"t\"\n",
    );
    let run = serve(&["--keys", &keys, "--policy", &demo("policy.toml")]);
    check_line(&run, 2, "key 'a': sha256 is not 64 hexadecimal digits");
    let mut command = program();
    command.env("RUST_LOG", "a=loud");
    command.args([
        "serve",
        "--index",
        &index,
        "--open",
        "--bind",
        "127.0.0.1:0",
    ]);
    check_line(&Run::of(command), 2, "RUST_LOG");
}
