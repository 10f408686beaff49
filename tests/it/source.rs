//! Servers of tools, good and hostile, as real child processes (`tests/mcp/server.py`).

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolscout::source::{Bounds, Endpoint, Error, Heard, Listing, Source, Sources, fetch};

/// The script in `mode`; `switch` is a file that it looks at.
fn server(mode: &str, switch: &str) -> Source {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");
    Source {
        name: "test".into(),
        endpoint: Endpoint::Command {
            program: "python3".into(),
            args: [script, mode, switch].map(str::to_owned).to_vec(),
            env: vec![("TOKEN".into(), "s3cret".into())],
        },
        poll: Duration::from_secs(1),
    }
}

fn bounds() -> Bounds {
    Bounds {
        pages: 20,
        tools: 2000,
        bytes: 600_000,
        message: 1 << 20,
        opening: Duration::from_secs(20),
        listing: Duration::from_secs(2),
        call: Duration::from_secs(1),
        result: 100_000,
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn listed(mode: &str) -> Result<Listing, Error> {
    block_on(fetch(&server(mode, ""), &bounds()))
}

fn names(listing: &Listing) -> Vec<String> {
    let reading = listing.read("test");
    reading.tools.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn a_list_becomes_tools_of_the_server() {
    let listing = listed("good").unwrap();
    let reading = listing.read("test");
    assert_eq!(reading.rejected(), 0, "{:?}", reading.problems);
    let tool = &reading.tools[0];
    assert_eq!(tool.key, "test/echo");
    assert_eq!(tool.side_effect.as_str(), "read");
    assert_eq!(tool.owner.as_deref(), Some("mcp:test"));
    assert_eq!(tool.inputs[0].path, "text");
    assert_eq!(reading.namespaces[0].description, "Echoes what it is told.");
    assert_eq!(names(&listed("pages").unwrap()), ["t0", "t1", "t2"]);
}

#[test]
fn a_hostile_list_is_an_error_in_time() {
    for (mode, reason) in [
        ("endless", "more than 20 pages"),
        ("loop", "leads back to one before it"),
        ("many", "more than 2000 tools"),
        ("large", "more than 600000 bytes"),
        // The message is thrown away where it is too long, so it never comes.
        ("giant", "listing its tools took longer than 2 s"),
        ("listless", "has no list of tools"),
        ("midway", "listing its tools failed"),
    ] {
        let begun = Instant::now();
        let error = listed(mode).unwrap_err().to_string();
        assert!(error.contains(reason), "{mode}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{mode}");
    }
}

#[test]
fn a_server_that_opens_nothing_is_an_error_in_time() {
    let quick = Bounds {
        opening: Duration::from_millis(1500),
        ..bounds()
    };
    for mode in ["drip", "deaf"] {
        let error = block_on(fetch(&server(mode, ""), &quick)).unwrap_err();
        assert!(matches!(error, Error::Slow { .. }), "{mode}: {error}");
    }
    let error = listed("exit").unwrap_err().to_string();
    // What it said is told, and the secret that it was given is not.
    assert!(
        error.ends_with("it said: cannot log in with ***"),
        "{error}"
    );
    let nothing = Endpoint::Command {
        program: "no-such-program".into(),
        args: vec![],
        env: vec![],
    };
    let source = Source {
        endpoint: nothing,
        ..server("", "")
    };
    let error = block_on(fetch(&source, &bounds())).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot start 'no-such-program'"),
        "{error}"
    );
}

#[test]
fn noise_and_bad_tools_cost_themselves_alone() {
    assert_eq!(names(&listed("flood").unwrap()).len(), 3);
    assert_eq!(names(&listed("garbage").unwrap()).len(), 3);
    let listing = listed("malformed").unwrap();
    assert_eq!(names(&listing), ["good"]);
    assert_eq!(listing.read("test").rejected(), 4);
}

#[test]
fn a_child_gets_no_secret_but_its_own() {
    let listing = listed("environment").unwrap();
    let text = listing.records[0]["description"].as_str().unwrap();
    let environment: serde_json::Map<String, Value> = serde_json::from_str(text).unwrap();
    assert_eq!(environment["TOKEN"], "s3cret");
    // Cargo gives the test a score of variables; the child must have none of them.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    let cargo = environment.keys().filter(|name| name.starts_with("CARGO"));
    assert_eq!(cargo.count(), 0, "{environment:?}");
    assert!(environment.contains_key("PATH"));
    let shown = format!("{:?}", server("good", ""));
    assert!(!shown.contains("s3cret"), "{shown}");
}

/// What was heard of the sources, in order.
type Lists = Arc<Mutex<Vec<Vec<String>>>>;

fn hearing() -> (Lists, Heard) {
    let lists = Lists::default();
    let told = Arc::clone(&lists);
    let heard: Heard = Arc::new(move |name, listing| {
        assert_eq!(name, "test");
        told.lock().unwrap().push(names(listing));
    });
    (lists, heard)
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn changes_are_heard_and_emptiness_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let switch = folder.path().join("switch");
    block_on(async {
        let (lists, heard) = hearing();
        let source = server("good", &switch.display().to_string());
        let sources = Sources::follow(vec![source], bounds(), &heard);
        sources.tried(Duration::from_secs(20)).await;
        assert_eq!(lists.lock().unwrap().len(), 1);
        std::fs::write(&switch, "nothing").unwrap();
        tokio::time::sleep(Duration::from_millis(2500)).await;
        assert_eq!(lists.lock().unwrap().len(), 1, "nothing is not handed on");
        std::fs::write(&switch, "more").unwrap();
        until("a change", || lists.lock().unwrap().len() == 2).await;
        assert_eq!(lists.lock().unwrap()[1], ["echo", "more"]);
        assert!(!sources.is_down("mcp:test"));
    });
}

#[test]
fn a_server_that_dies_is_down_and_comes_back() {
    block_on(async {
        let (lists, heard) = hearing();
        let sources = Sources::follow(vec![server("good", "")], bounds(), &heard);
        sources.tried(Duration::from_secs(20)).await;
        let call = |text: &'static str| {
            let arguments = json!({"text": text}).as_object().unwrap().clone();
            sources.call("mcp:test", "echo".into(), arguments)
        };
        let said = call("hello").await.unwrap();
        assert_eq!(said.structured_content, Some(json!({"said": "hello"})));
        assert!(call("die").await.is_err());
        until("down", || sources.is_down("mcp:test")).await;
        assert!(matches!(call("hello").await, Err(Error::Unavailable)));
        until("up", || !sources.is_down("mcp:test")).await;
        assert!(call("hello").await.is_ok());
        assert_eq!(lists.lock().unwrap().len(), 1, "the same list is not news");
        assert!(!sources.is_down("team-a"), "an owner that is no source");
    });
}

#[test]
fn a_call_is_bounded() {
    block_on(async {
        let (_, heard) = hearing();
        let sources = Sources::follow(vec![server("good", "")], bounds(), &heard);
        sources.tried(Duration::from_secs(20)).await;
        let call = |tool: &str| sources.call("mcp:test", tool.to_owned(), serde_json::Map::new());
        let huge = call("huge").await.unwrap_err();
        // Beyond a message's bound it never comes; below it, it is too large.
        assert!(
            matches!(huge, Error::Slow { .. } | Error::LargeResult(_)),
            "{huge}"
        );
        let begun = Instant::now();
        assert!(matches!(call("slow").await, Err(Error::Slow { .. })));
        assert!(begun.elapsed() < Duration::from_secs(5));
    });
}

/// Dropping the sources ends their children.
#[test]
fn no_child_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark").display().to_string();
    let running = || {
        let found = std::process::Command::new("pgrep")
            .args(["-f", &mark])
            .output();
        !found.unwrap().stdout.is_empty()
    };
    block_on(async {
        let (_, heard) = hearing();
        let sources = Sources::follow(vec![server("good", &mark)], bounds(), &heard);
        sources.tried(Duration::from_secs(20)).await;
        assert!(running());
        drop(sources);
        until("gone", || !running()).await;
    });
}
