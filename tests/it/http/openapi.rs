//! The OpenAPI document, and golden files.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::fixture::*;

/// Compares `text` with the file `name` in `tests/it/golden`; `UPDATE_GOLDEN=1` accepts it.
pub(super) fn golden(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden");
    let path = folder.join(name);
    let text = format!("{}\n", text.trim_end());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{name} is not what it was; if the change is meant, accept it with UPDATE_GOLDEN=1\n{text}"
    );
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn the_document_is_what_it_was() {
    let answer = block_on(send(&service(), get("/openapi.json", "")));
    assert_eq!(answer.status, 200);
    golden("openapi.json", &answer.text);
}

#[test]
fn the_document_is_whole() {
    let document = block_on(send(&service(), get("/openapi.json", ""))).json();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(10 < found.len());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut operations = HashSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{key}", "ping");
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operations.insert(operation["operationId"].to_string()));
            let mut request = get(&path, GUEST);
            *request.method_mut() = method.to_uppercase().parse().unwrap();
            let status = block_on(send(&service(), request)).status;
            assert!(status != 404 && status != 405, "{method} {path}: {status}");
        }
    }
}
