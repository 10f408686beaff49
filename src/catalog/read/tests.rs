use std::io::Write;

use super::*;

fn read_bytes(bytes: &[u8]) -> Reading {
    let mut file = tempfile::Builder::new()
        .suffix(".jsonl")
        .tempfile()
        .unwrap();
    file.write_all(bytes).unwrap();
    read(file.path()).unwrap()
}

/// The one problem of a line, without its file.
fn problem(line: &str) -> String {
    let reading = read_bytes(line.as_bytes());
    assert_eq!(reading.problems.len(), 1, "{:?}", reading.problems);
    let problem = &reading.problems[0];
    let text = problem.to_string();
    let from = text.find(".jsonl").unwrap() + ".jsonl".len();
    format!("{:?}{}", problem.severity, &text[from..])
}

#[test]
fn only_a_name_is_required() {
    let reading = read_bytes(br#"{"name": "ping", "description": "Answers pong."}"#);
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    let tool = &reading.tools[0];
    assert_eq!((tool.key.as_str(), tool.namespace.as_str()), ("ping", ""));
    assert_eq!(tool.input_schema.as_str(), r#"{"type":"object"}"#);
}

#[test]
fn the_key_is_the_id_or_namespace_and_name() {
    let reading = read_bytes(
        b"{\"id\": \"x1\", \"namespace\": \"crm\", \"name\": \"find\", \"description\": \"d\"}\n\
          {\"namespace\": \"crm\", \"name\": \"a/b c\", \"description\": \"d\"}\n\
          {\"namespace\": null, \"name\": \"root\", \"description\": \"d\"}",
    );
    let keys: Vec<&str> = reading.tools.iter().map(|tool| tool.key.as_str()).collect();
    assert_eq!(keys, ["x1", "crm/a/b c", "root"]);
}

#[test]
fn each_bad_line_names_its_field_and_reason() {
    for (line, expected) in [
        (
            r#"{"description": "x"}"#,
            "Error:1: field 'name': every tool needs a name",
        ),
        (
            r#"{"name": 7}"#,
            "Error:1: field 'name': expected a text, found a number",
        ),
        (
            r#"{"name": "a\u0000b"}"#,
            "Error:1: field 'name': holds the control character U+0000",
        ),
        (
            r#"{"name": "a", "description": "d", "tags": [1]}"#,
            "Error:1: tool 'a': field 'tags': expected a list of texts, found a number",
        ),
        (
            r#"{"name": "a", "description": "d", "input_schema": [1]}"#,
            "Error:1: tool 'a': field 'input_schema': expected a JSON Schema, which is an object, found a list",
        ),
        (
            r#"{"name": "a", "description": "d", "kind": "magic"}"#,
            "Error:1: tool 'a': field 'kind': 'magic' is none of search, read, parse, query, act",
        ),
        (
            r#"["a"]"#,
            "Error:1: expected one JSON object a line (convert arrays of tools first)",
        ),
        (
            r#"{"name": "a"}"#,
            "Warning:1: tool 'a': field 'description': empty: only its name lets 'a' be found",
        ),
        (
            r#"{"name": "a", "description": "d", "colour": "red"}"#,
            "Warning:1: tool 'a': field 'colour': unknown field, ignored",
        ),
        (
            r#"{"name": "a", "description": "d\u0000e"}"#,
            "Warning:1: tool 'a': field 'description': control characters (such as NUL) were replaced by spaces",
        ),
        (
            r##"{"name": "a", "description": "d", "input_schema": {"properties": {"n": {"$ref": "#"}}}}"##,
            "Warning:1: tool 'a': field 'input_schema': a $ref leads back to itself; its inside is searchable once",
        ),
        (
            r#"{"name": "a", "description": "d", "input_schema": {"type": "array"}}"#,
            "Warning:1: tool 'a': field 'input_schema': its type is not 'object': model providers refuse such arguments",
        ),
    ] {
        assert_eq!(problem(line), expected, "{line}");
    }
}

#[test]
fn a_bad_line_does_not_cost_its_neighbours() {
    let mut bytes = b"{\"name\": \"a\", \"description\": \"d\"}\n\xff\xfe\n{\"name\":\n\n".to_vec();
    bytes.extend(b"{\"name\": \"b\", \"description\": \"d\"}\n");
    let reading = read_bytes(&bytes);
    assert_eq!(reading.tools.len(), 2);
    let reasons: Vec<&str> = reading.problems.iter().map(|p| p.reason.as_str()).collect();
    assert_eq!(reasons[0], "not valid UTF-8 from byte 1 on");
    assert!(reasons[1].starts_with("not valid JSON: EOF"));
    assert_eq!(reading.rejected(), 2);
}

#[test]
fn a_ten_megabyte_schema_is_refused_without_being_held() {
    let line = format!(
        "{{\"name\": \"big\", \"input_schema\": {{\"description\": \"{}\"}}}}\n{}",
        "x".repeat(10 << 20),
        r#"{"name": "small", "description": "d"}"#
    );
    let reading = read_bytes(line.as_bytes());
    assert_eq!(reading.tools.len(), 1);
    assert!(
        reading.problems[0]
            .reason
            .contains("at most 1048576 are taken")
    );
}

#[test]
fn deep_nesting_is_an_error_not_an_overflow() {
    let line = format!(
        "{{\"name\": \"deep\", \"input_schema\": {}1{}}}",
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    assert!(
        read_bytes(line.as_bytes()).problems[0]
            .reason
            .contains("recursion limit")
    );
}

#[test]
fn a_second_tool_of_a_key_is_refused_unless_their_tenants_differ() {
    let reading = read_bytes(
        b"{\"name\": \"a\", \"description\": \"first\"}\n\
          {\"name\": \"a\", \"description\": \"second\"}\n\
          {\"name\": \"b\", \"description\": \"d\", \"tenants\": [\"x\"]}\n\
          {\"name\": \"b\", \"description\": \"d\", \"tenants\": [\"y\"]}\n",
    );
    assert_eq!(reading.tools.len(), 3);
    assert!(reading.problems[0].reason.contains("the key is taken by"));
    assert_eq!(reading.into_catalog().with_key("b").len(), 2);
}

#[test]
fn a_folder_is_read_in_order_of_name_with_its_namespaces() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "b.jsonl",
        r#"{"namespace": "b", "name": "y", "description": "d"}"#,
    );
    write(
        "a.jsonl",
        r#"{"namespace": "a", "name": "x", "description": "d"}"#,
    );
    write(
        "namespaces.jsonl",
        r#"{"name": "a", "description": "first letters"}"#,
    );
    write("notes.txt", "not read");
    let catalog = read(folder.path()).unwrap().into_catalog();
    assert_eq!(catalog.len(), 2);
    assert_eq!(catalog.namespaces()[0].description, "first letters");
    assert_eq!(catalog.namespaces()[1].description, "");
}

#[test]
fn what_is_not_there_is_named() {
    let error = read(Path::new("no/such/file.jsonl")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read catalogue no/such/file.jsonl")
    );
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(read(empty.path()), Err(Error::NoFiles { .. })));
}
