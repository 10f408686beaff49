//! Lists of tools: of the Model Context Protocol, of OpenAI and of Anthropic.

use serde_json::{Value, json};

use super::{Error, Format, record};

/// Levels of namespaces in an OpenAI list.
const MAX_DEPTH: usize = 4;

/// The list in a document: the document itself, its `tools`, or its `result.tools`.
pub(super) fn list(value: &Value) -> Option<&Vec<Value>> {
    let inside = |value: &'_ Value| value.get("tools").is_some();
    match value {
        Value::Array(items) => Some(items),
        value if inside(value) => value.get("tools")?.as_array(),
        value => value.get("result")?.get("tools")?.as_array(),
    }
}

/// The shape that one tool looks like.
pub(super) fn shape(tool: &Value) -> Option<Format> {
    let has = |field| tool.get(field).is_some();
    let kind = tool.get("type").and_then(Value::as_str);
    if has("inputSchema") {
        Some(Format::Mcp)
    } else if has("input_schema") {
        Some(Format::Anthropic)
    } else if has("function") || matches!(kind, Some("function" | "namespace")) || has("parameters")
    {
        Some(Format::OpenAi)
    } else {
        None
    }
}

/// The records of a list, each tool by `one`, which gives any number of them.
pub(super) fn records(
    value: &Value,
    namespace: &str,
    one: fn(&Value, &str) -> Vec<Value>,
) -> Result<Vec<Value>, Error> {
    let list = list(value).ok_or(Error::Unknown)?;
    Ok(list.iter().flat_map(|tool| one(tool, namespace)).collect())
}

/// A tool of the Model Context Protocol. Its title is another name for it.
pub(super) fn mcp(tool: &Value, namespace: &str) -> Vec<Value> {
    let field = |name: &str| tool.get(name).cloned();
    let annotations = tool.get("annotations").unwrap_or(&Value::Null);
    let title = [tool.get("title"), annotations.get("title")]
        .into_iter()
        .flatten()
        .find(|title| title.as_str().is_some_and(|title| !title.is_empty()));
    vec![record([
        ("namespace", Some(json!(namespace))),
        ("name", field("name")),
        ("description", field("description")),
        ("aliases", title.map(|title| json!([title]))),
        ("input_schema", field("inputSchema")),
        ("output_schema", field("outputSchema")),
        ("side_effect", side_effect(annotations).map(Value::from)),
    ])]
}

/// What the hints come to. One that is absent has the protocol's default, which is the careful one;
/// with none there is nothing to go by.
fn side_effect(annotations: &Value) -> Option<&'static str> {
    let hint = |name| annotations.get(name).and_then(Value::as_bool);
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), _) => Some("read"),
        (_, Some(false)) => Some("write"),
        (Some(false), None) | (_, Some(true)) => Some("destructive"),
        (None, None) => None,
    }
}

/// A function of OpenAI's, flat or nested, or a namespace of them.
pub(super) fn openai(tool: &Value, namespace: &str) -> Vec<Value> {
    functions(tool, namespace, 0)
}

fn functions(tool: &Value, namespace: &str, depth: usize) -> Vec<Value> {
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match text(tool, "type").as_deref() {
        Some("namespace") if depth < MAX_DEPTH => {
            let name = text(tool, "name").unwrap_or_default();
            let inside = tool.get("tools").and_then(Value::as_array);
            let inside = inside.map_or(&[][..], Vec::as_slice);
            return inside
                .iter()
                .flat_map(|tool| functions(tool, &name, depth + 1))
                .collect();
        }
        // Tools that OpenAI runs itself have no definition.
        Some("function") | None => {}
        Some(_) => return Vec::new(),
    }
    let function = tool.get("function").unwrap_or(tool);
    let field = |name: &str| function.get(name).cloned();
    vec![record([
        ("namespace", Some(json!(namespace))),
        ("name", field("name")),
        ("description", field("description")),
        ("input_schema", field("parameters")),
        ("output_schema", field("output_schema")),
    ])]
}

/// A tool of Anthropic's; those that it runs itself have no schema and are none.
pub(super) fn anthropic(tool: &Value, namespace: &str) -> Vec<Value> {
    let field = |name: &str| tool.get(name).cloned();
    if tool.get("input_schema").is_none() && tool.get("type").is_some() {
        return Vec::new();
    }
    vec![record([
        ("namespace", Some(json!(namespace))),
        ("name", field("name")),
        ("description", field("description")),
        ("input_schema", field("input_schema")),
    ])]
}
