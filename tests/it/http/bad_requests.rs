//! Every kind of bad request: status, code and sentence.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use toolscout::serve::{App, Limits, Parts, router};

use super::fixture::*;

/// A body sent to `/v1/discover`, and the status, code and beginning of the message it gets.
type BadBody<'a> = (&'a str, u16, &'a str, &'a str);

const NOT_JSON: [BadBody; 5] = [
    (
        "",
        400,
        "malformed_json",
        "the body is not JSON: it is empty",
    ),
    (
        "query=parcel",
        400,
        "malformed_json",
        "the body is not JSON: expected value at line 1 column 1",
    ),
    (
        r#"{"query": "parcel""#,
        400,
        "malformed_json",
        "the body is not JSON: EOF while parsing an object at line 1 column 18",
    ),
    (
        r#"{"query": "a"} {}"#,
        400,
        "malformed_json",
        "the body is not JSON: trailing characters at line 1 column 16",
    ),
    (
        r#"{"query": "\ud800"}"#,
        400,
        "malformed_json",
        "the body is not JSON: ",
    ),
];

const NOT_A_REQUEST: [BadBody; 21] = [
    (
        r#"["parcel"]"#,
        422,
        "invalid_request",
        "body: must be a JSON object",
    ),
    (
        "null",
        422,
        "invalid_request",
        "body: must be a JSON object",
    ),
    (
        "{}",
        422,
        "invalid_request",
        "query: is missing: say in a sentence what the tool should do",
    ),
    (
        r#"{"query": "  \n"}"#,
        422,
        "invalid_request",
        "query: is empty: say in a sentence what the tool should do, or leave it out",
    ),
    (
        r#"{"query": 7}"#,
        422,
        "invalid_request",
        "query: invalid type: integer `7`, expected a string",
    ),
    (
        r#"{"query": "a", "query": "b"}"#,
        422,
        "invalid_request",
        "body: duplicate field `query`",
    ),
    (
        r#"{"query": "a", "limt": 5}"#,
        422,
        "invalid_request",
        "limt: unknown field `limt`, expected one of `query`, `queries`, `limit`",
    ),
    (
        r#"{"query": "a", "limit": 0}"#,
        422,
        "invalid_request",
        "limit: 0 is not within 1..=100",
    ),
    (
        r#"{"query": "a", "limit": 101}"#,
        422,
        "invalid_request",
        "limit: 101 is not within 1..=100",
    ),
    (
        r#"{"query": "a", "limit": -1}"#,
        422,
        "invalid_request",
        "limit: invalid value: integer `-1`, expected a whole number that is not negative",
    ),
    (
        r#"{"query": "a", "limit": "5"}"#,
        422,
        "invalid_request",
        "limit: invalid type: string \"5\", expected a whole number that is not negative",
    ),
    (
        r#"{"query": "a", "limit": 99999999999}"#,
        422,
        "invalid_request",
        "limit: invalid value: integer `99999999999`, expected a whole number",
    ),
    (
        r#"{"query": "a", "threshold": 1.5}"#,
        422,
        "invalid_request",
        "threshold: 1.5 is not within 0..=1",
    ),
    (
        r#"{"query": "a", "threshold": 1e39}"#,
        422,
        "invalid_request",
        "threshold: 1000000000000000000000000000000000000000 is not within 0..=1",
    ),
    (
        r#"{"query": "a", "detail": "all"}"#,
        422,
        "invalid_request",
        "detail: unknown variant `all`, expected one of `full`, `compact`, `name`",
    ),
    (
        r#"{"query": "a", "dense": "fast"}"#,
        422,
        "invalid_request",
        "dense: unknown variant `fast`, expected one of `auto`, `exact`, `hnsw`",
    ),
    (
        r#"{"query": "a", "preset": "best"}"#,
        422,
        "invalid_request",
        "preset: 'best' is not one of default, card",
    ),
    (
        r#"{"query": "a", "filters": {"kinds": ["read", "eat"]}}"#,
        422,
        "invalid_request",
        "filters.kinds[1]: unknown variant `eat`, expected one of `search`, `read`, `parse`, `query`, `act`",
    ),
    (
        r#"{"query": "a", "filters": {"kind": ["read"]}}"#,
        422,
        "invalid_request",
        "filters.kind: unknown field `kind`, expected one of `namespaces`, `tags`, `kinds`, `side_effects`",
    ),
    (
        r#"{"query": "a", "hints": {"tool": ""}}"#,
        422,
        "invalid_request",
        "hints.tool: is empty",
    ),
    (
        r#"{"queries": ["a", ""]}"#,
        422,
        "invalid_request",
        "queries[1]: is empty",
    ),
];

#[test]
fn bad_bodies_say_what_is_wrong() {
    let long = format!(r#"{{"query": "{}"}}"#, "x".repeat(8001));
    let many = format!(r#"{{"queries": [{}]}}"#, vec![r#""a""#; 17].join(","));
    let tags = vec![r#""t""#; 65].join(",");
    let tags = format!(r#"{{"query": "a", "filters": {{"tags": [{tags}]}}}}"#);
    let deep = format!(r#"{{"query": {}"#, "[".repeat(4000));
    let too_much: [BadBody<'_>; 4] = [
        (
            &long,
            422,
            "invalid_request",
            "query: 8001 characters, at most 8000: send the request, not the conversation",
        ),
        (
            &many,
            422,
            "invalid_request",
            "queries: 17 needs, at most 16",
        ),
        (
            &tags,
            422,
            "invalid_request",
            "filters.tags: 65 entries, at most 64",
        ),
        (
            &deep,
            422,
            "invalid_request",
            "query: invalid type: sequence, expected a string",
        ),
    ];
    let service = service();
    for (body, status, code, message) in NOT_JSON.into_iter().chain(NOT_A_REQUEST).chain(too_much) {
        let answer = block_on(send(&service, discover(body.to_owned(), GUEST)));
        let found = answer.error();
        assert_eq!((found.0, found.1.as_str()), (status, code), "{body:.80}");
        assert!(
            found.2.starts_with(message),
            "{body:.80}\n{}\n{message}",
            found.2
        );
    }
    let invalid = discover(b"{\"query\": \"\xff\"}".to_vec(), GUEST);
    assert_eq!(
        block_on(send(&service, invalid)).error().1,
        "malformed_json"
    );
}

#[test]
fn bodies_that_are_not_declared_as_json_are_refused() {
    let service = service();
    let with = |name: &'static str, value: &str| {
        let mut request = discover(r#"{"query": "a"}"#, GUEST);
        request.headers_mut().remove(name);
        if !value.is_empty() {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        block_on(send(&service, request))
    };
    let message =
        "the body must be JSON, uncompressed: send the header 'content-type: application/json'";
    let expected = (415, "unsupported_media_type".to_owned(), message.to_owned());
    for kind in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "json",
    ] {
        assert_eq!(with("content-type", kind).error(), expected, "{kind}");
    }
    assert_eq!(with("content-encoding", "gzip").error(), expected);
    for kind in [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/vnd.api+json",
    ] {
        assert_eq!(with("content-type", kind).status, 200, "{kind}");
    }
}

/// Method and path, and the status, code and beginning of the message they get.
const BAD_PATHS: [(&str, &str, u16, &str, &str); 12] = [
    (
        "GET",
        "/v1/discover",
        405,
        "method_not_allowed",
        "this path does not answer this method: see the header 'allow'",
    ),
    (
        "DELETE",
        "/v1/tools",
        405,
        "method_not_allowed",
        "this path does not answer this method",
    ),
    (
        "PUT",
        "/v1/discover",
        405,
        "method_not_allowed",
        "this path does not answer this method",
    ),
    (
        "GET",
        "/",
        404,
        "unknown_path",
        "there is nothing at this path: see /openapi.json",
    ),
    (
        "GET",
        "/v1/tools/a/b",
        404,
        "unknown_path",
        "there is nothing at this path: see /openapi.json; a tool's key is one segment, with '/' written as %2F",
    ),
    (
        "GET",
        "/v1/tools/nothing",
        404,
        "unknown_tool",
        "there is no tool with this key among those you may see",
    ),
    (
        "GET",
        "/v1/tools/%FF",
        404,
        "unknown_tool",
        "there is no tool with this key among those you may see",
    ),
    (
        "GET",
        "/v1/tools?limit=0",
        422,
        "invalid_request",
        "limit: '0' is not a whole number within 1..=500",
    ),
    (
        "GET",
        "/v1/tools?limit=ten",
        422,
        "invalid_request",
        "limit: 'ten' is not a whole number within 1..=500",
    ),
    (
        "GET",
        "/v1/tools?limit=1&limit=2",
        422,
        "invalid_request",
        "limit: is given twice",
    ),
    (
        "GET",
        "/v1/tools?kind=eat",
        422,
        "invalid_request",
        "kind: unknown variant `eat`, expected one of `search`",
    ),
    (
        "GET",
        "/v1/tools?page=2",
        422,
        "invalid_request",
        "page: is not a parameter here; known are namespace, tag",
    ),
];

#[test]
fn bad_paths_say_what_is_wrong() {
    let service = service();
    for (method, path, status, code, message) in BAD_PATHS {
        let mut request = get(path, GUEST);
        *request.method_mut() = method.parse().unwrap();
        let answer = block_on(send(&service, request));
        let found = answer.error();
        assert_eq!(
            (found.0, found.1.as_str()),
            (status, code),
            "{method} {path}"
        );
        assert!(
            found.2.starts_with(message),
            "{method} {path}\n{}\n{message}",
            found.2
        );
        assert_eq!(status == 405, !answer.header("allow").is_empty(), "{path}");
    }
}

#[test]
fn the_head_of_an_error_has_the_length_of_its_body() {
    let mut request = get("/v1/tools/nothing", GUEST);
    *request.method_mut() = "HEAD".parse().unwrap();
    let head = block_on(send(&service(), request));
    let full = block_on(send(&service(), get("/v1/tools/nothing", GUEST)));
    assert_eq!((head.status, &head.headers), (full.status, &full.headers));
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let limits = Limits {
        body: 64,
        ..Limits::for_cores(1)
    };
    let service = router(
        App::new(Parts {
            limits,
            ..parts(TOOLS)
        })
        .unwrap(),
    );
    let fits = format!(r#"{{"query": "{}"}}"#, "x".repeat(51));
    assert_eq!(fits.len(), 64);
    assert_eq!(
        block_on(send(&service, discover(fits.clone(), GUEST))).status,
        200
    );
    let answer = block_on(send(&service, discover(fits + " ", GUEST)));
    let expected = (
        413,
        "body_too_large".into(),
        "the body is larger than 64 bytes".into(),
    );
    assert_eq!(answer.error(), expected);
}

/// A body that never comes, or breaks.
struct Bad {
    breaks: bool,
}

impl HttpBody for Bad {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, std::io::Error>>> {
        if self.breaks {
            let error = std::io::Error::other("the cause is not for callers");
            Poll::Ready(Some(Err(error)))
        } else {
            Poll::Pending
        }
    }
}

#[test]
fn a_body_that_does_not_come_ends_the_request() {
    let limits = Limits {
        body_time: Duration::from_millis(20),
        ..Limits::for_cores(1)
    };
    let service = router(
        App::new(Parts {
            limits,
            ..parts(TOOLS)
        })
        .unwrap(),
    );
    let slow = Body::new(Bad { breaks: false });
    let answer = block_on(send(&service, discover(slow, GUEST)));
    let message = "the body did not arrive within 0.02 s: send it at once";
    assert_eq!(answer.error(), (408, "slow_body".into(), message.into()));
    let broken = Body::new(Bad { breaks: true });
    let answer = block_on(send(&service, discover(broken, GUEST)));
    assert_eq!(
        answer.error(),
        (400, "broken_body".into(), "the body ended early".into())
    );
}

#[test]
fn a_caller_may_name_its_request_in_plain_characters() {
    let service = service();
    let named = |id: &'static str| {
        let mut request = get("/healthz", GUEST);
        request
            .headers_mut()
            .insert("x-request-id", id.parse().unwrap());
        let answer = block_on(send(&service, request));
        answer.header("x-request-id").to_owned()
    };
    assert_eq!(named("Trace_1.a-b"), "Trace_1.a-b");
    for refused in ["", "a b", "<script>"] {
        let own = named(refused);
        assert_eq!(own.len(), 24, "{own}");
        assert_ne!(own, named(refused));
    }
}
