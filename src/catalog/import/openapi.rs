//! OpenAPI documents of version 3: each operation a tool.
//!
//! Parameters become properties; a body that is an object gives its own, any other is the property
//! `body`. What schemas refer to goes along as `$defs`, as far as they reach and within bounds; a
//! reference to anything but `#/components` is left as it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Error, MAX_TOOLS, record};

/// Methods, and what a call by each changes: their own definitions say which are safe.
const METHODS: [(&str, &str); 7] = [
    ("get", "read"),
    ("head", "read"),
    ("options", "read"),
    ("post", "write"),
    ("put", "write"),
    ("patch", "write"),
    ("delete", "destructive"),
];
/// Schemas that one tool takes along.
const MAX_DEFS: usize = 64;
/// Links from reference to reference until something is there.
const MAX_LINKS: usize = 8;
/// Levels of a schema in which references are looked for.
const MAX_DEPTH: usize = 64;
/// Characters of a name made of method and path.
const MAX_NAME: usize = 64;

const SCHEMAS: &str = "#/components/schemas/";

pub(super) fn records(document: &Value, namespace: &str) -> Result<Vec<Value>, Error> {
    let version = ["openapi", "swagger"]
        .iter()
        .find_map(|field| document.get(field))
        .ok_or(Error::Unknown)?;
    let version = version
        .as_str()
        .map_or_else(|| version.to_string(), str::to_owned);
    if !version.starts_with("3.") {
        return Err(Error::Version(version));
    }
    let title = document.pointer("/info/title").and_then(Value::as_str);
    let own = plain(title.unwrap_or_default(), 64);
    let namespace = if namespace.is_empty() {
        &own
    } else {
        namespace
    };
    let mut records = Vec::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        let item = followed(document, item);
        for (method, side_effect) in METHODS {
            let Some(operation) = item.get(method).filter(|value| value.is_object()) else {
                continue;
            };
            if records.len() == MAX_TOOLS {
                return Err(Error::TooMany);
            }
            let operation = Operation {
                document,
                item,
                operation,
            };
            let text = |name| operation.operation.get(name).and_then(Value::as_str);
            let name = match text("operationId") {
                Some(id) if !id.trim().is_empty() => id.trim().to_owned(),
                _ => plain(&format!("{method} {path}"), MAX_NAME),
            };
            records.push(record([
                ("namespace", Some(json!(namespace))),
                ("name", Some(json!(name))),
                (
                    "description",
                    Some(json!(operation.description(method, path))),
                ),
                ("input_schema", Some(operation.input())),
                ("output_schema", operation.output()),
                ("side_effect", Some(json!(side_effect))),
                ("tags", operation.operation.get("tags").cloned()),
            ]));
        }
    }
    Ok(records)
}

struct Operation<'a> {
    document: &'a Value,
    /// The path's item, whose parameters all of its operations share.
    item: &'a Value,
    operation: &'a Value,
}

impl<'a> Operation<'a> {
    /// Summary and description; method and path where there is neither.
    fn description(&self, method: &str, path: &str) -> String {
        let text = |name| {
            let text = self.operation.get(name).and_then(Value::as_str);
            text.map(str::trim).filter(|text| !text.is_empty())
        };
        match (text("summary"), text("description")) {
            (Some(summary), Some(more)) if more.starts_with(summary) => more.to_owned(),
            (Some(summary), Some(more)) => {
                let stop = if summary.ends_with(['.', '!', '?', '。']) {
                    ""
                } else {
                    "."
                };
                format!("{summary}{stop} {more}")
            }
            (Some(text), None) | (None, Some(text)) => text.to_owned(),
            (None, None) => format!("{} {path}", method.to_uppercase()),
        }
    }

    fn input(&self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for parameter in self.parameters() {
            let Some(name) = parameter.get("name").and_then(Value::as_str) else {
                continue;
            };
            properties.insert(name.to_owned(), property(parameter));
            if parameter.get("required") == Some(&Value::Bool(true)) {
                required.push(json!(name));
            }
        }
        if let Some(body) = self.operation.get("requestBody") {
            let body = followed(self.document, body);
            let is_required = body.get("required") == Some(&Value::Bool(true));
            if let Some(schema) = json_schema(body) {
                let inside = followed(self.document, schema);
                match inside.get("properties").and_then(Value::as_object) {
                    Some(own) if is_plain(inside, own, &properties) => {
                        properties.extend(own.clone());
                        let needs = inside.get("required").and_then(Value::as_array);
                        required
                            .extend(needs.into_iter().flatten().filter(|_| is_required).cloned());
                    }
                    _ => {
                        properties.insert("body".to_owned(), schema.clone());
                        required.extend(is_required.then(|| json!("body")));
                    }
                }
            }
        }
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = Value::Array(required);
        }
        self.closed(schema)
    }

    /// The schema of the first answer that is a success and JSON.
    fn output(&self) -> Option<Value> {
        let responses = self.operation.get("responses")?.as_object()?;
        let answers = responses
            .iter()
            .filter(|(status, _)| status.starts_with('2'));
        let schema = answers
            .filter_map(|(_, response)| json_schema(followed(self.document, response)))
            .next()?;
        // The schema of a result must be a whole document, not a reference at its root.
        let schema = followed(self.document, schema);
        schema.is_object().then(|| self.closed(schema.clone()))
    }

    /// The parameters, the operation's own before those of its path that it does not replace.
    fn parameters(&self) -> Vec<&'a Value> {
        let of = |value: &'a Value| {
            let list = value.get("parameters").and_then(Value::as_array);
            list.into_iter()
                .flatten()
                .map(|parameter| followed(self.document, parameter))
        };
        let mut all: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
        for parameter in of(self.item).chain(of(self.operation)) {
            let text = |name| {
                parameter
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            all.insert((text("name"), text("in")), parameter);
        }
        all.into_values().collect()
    }

    /// The schema with all that it refers to.
    fn closed(&self, mut schema: Value) -> Value {
        let mut wanted = Vec::new();
        localize(&mut schema, &mut wanted, 0);
        let mut defs = Map::new();
        while let Some(name) = wanted.pop() {
            if defs.contains_key(&name) || defs.len() == MAX_DEFS {
                continue;
            }
            let found = self
                .document
                .pointer(&format!("/components/schemas/{name}"));
            let mut found = found.cloned().unwrap_or_else(|| json!({}));
            localize(&mut found, &mut wanted, 0);
            defs.insert(name, found);
        }
        if !defs.is_empty() {
            schema["$defs"] = Value::Object(defs);
        }
        schema
    }
}

/// Whether the properties of a body may stand beside parameters: no name is taken, and nothing else
/// is said of them that would be lost.
fn is_plain(body: &Value, own: &Map<String, Value>, taken: &Map<String, Value>) -> bool {
    let combines = ["allOf", "anyOf", "oneOf", "not"];
    !combines.iter().any(|word| body.get(word).is_some())
        && own.keys().all(|name| !taken.contains_key(name))
}

/// A parameter's schema, with its description.
fn property(parameter: &Value) -> Value {
    let schema = parameter.get("schema").or_else(|| json_schema(parameter));
    let mut schema = schema.filter(|schema| schema.is_object()).cloned();
    let mut schema = schema.take().unwrap_or_else(|| json!({}));
    if let (Some(about), None) = (parameter.get("description"), schema.get("description")) {
        schema["description"] = about.clone();
    }
    schema
}

/// The schema of a body, a response or a parameter in JSON, else in its first form.
fn json_schema(holder: &Value) -> Option<&Value> {
    let content = holder.get("content")?.as_object()?;
    let json = content.iter().find(|(kind, _)| kind.contains("json"));
    let (_, form) = json.or_else(|| content.iter().next())?;
    form.get("schema").filter(|schema| schema.is_object())
}

/// What a reference within the document leads to; what is none, or leads nowhere, is itself.
fn followed<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let mut value = value;
    for _ in 0..MAX_LINKS {
        let target = value.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|target| target.strip_prefix('#'));
        match target.and_then(|pointer| document.pointer(pointer)) {
            Some(next) => value = next,
            None => break,
        }
    }
    value
}

/// Turns references to the document's schemas into ones to the tool's own, and notes which.
fn localize(value: &mut Value, wanted: &mut Vec<String>, depth: usize) {
    if depth == MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get_mut("$ref")
                && let Some(name) = target.strip_prefix(SCHEMAS)
                && !name.contains('/')
            {
                let name = name.to_owned();
                *target = format!("#/$defs/{name}");
                wanted.push(name);
            }
            for inside in map.values_mut() {
                localize(inside, wanted, depth + 1);
            }
        }
        Value::Array(items) => {
            for inside in items {
                localize(inside, wanted, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A name of letters, digits and underscores: `get /pets/{id}` is `get_pets_id`.
fn plain(text: &str, limit: usize) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("_").chars().take(limit).collect()
}
