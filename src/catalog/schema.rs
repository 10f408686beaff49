//! JSON Schemas: their canonical text, and the parameters in them.
//!
//! Hostile schemas are bounded, not trusted: depth, number of parameters, enumerated values and
//! text lengths all have a limit, and a `$ref` is followed only inside the document and never twice
//! on one path.

use std::sync::Arc;

use serde_json::Value;

use crate::tool::{Json, Parameter};

/// Levels of nesting that parameters are taken from.
const MAX_DEPTH: usize = 8;
/// Parameters taken from one schema; IronClaw's tool search bounds its nodes likewise (256).
const MAX_PARAMETERS: usize = 256;
/// Enumerated values taken from one parameter.
const MAX_VALUES: usize = 32;
/// Characters taken from one description or value.
const MAX_TEXT: usize = 400;

/// The canonical text of a value: object keys sorted, no white space.
///
/// ```
/// use toolscout::catalog::schema::canonical;
/// let value = serde_json::json!({"b": [1, {"d": null, "c": "x"}], "a": true});
/// assert_eq!(canonical(&value).as_str(), r#"{"a":true,"b":[1,{"c":"x","d":null}]}"#);
/// ```
pub fn canonical(value: &Value) -> Json {
    let mut text = String::new();
    write_canonical(value, &mut text);
    Json(Arc::from(text))
}

// serde_json's map is sorted only while no crate in the tree turns on `preserve_order`, so the keys
// are sorted here. Recursion is bounded by serde_json's own limit of 128 levels when reading.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (at, key) in keys.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

/// What was found in a schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameters {
    /// The parameters, in the schema's sorted order, parents before children.
    pub list: Vec<Parameter>,
    /// A `$ref` led back to a schema that holds it; its inside was taken once.
    pub cyclic: bool,
    /// A `$ref` led nowhere, or outside the document.
    pub dangling: Option<String>,
    /// Some parameters were left out by a limit.
    pub truncated: bool,
}

/// The parameters of an object schema, nested ones included.
///
/// ```
/// use toolscout::catalog::schema::parameters;
/// let schema = serde_json::json!({"type": "object", "required": ["order"], "properties": {
///     "order": {"type": "object", "properties": {"id": {"description": "order number"}}}}});
/// let paths: Vec<_> = parameters(&schema).list.into_iter().map(|p| p.path).collect();
/// assert_eq!(paths, ["order", "order.id"]);
/// ```
pub fn parameters(schema: &Value) -> Parameters {
    let mut walk = Walk {
        root: schema,
        open: Vec::new(),
        found: Parameters::default(),
    };
    walk.object(schema, "", 0);
    walk.found
}

struct Walk<'a> {
    root: &'a Value,
    /// References being followed on the current path.
    open: Vec<&'a str>,
    found: Parameters,
}

impl<'a> Walk<'a> {
    fn object(&mut self, schema: &'a Value, path: &str, depth: usize) {
        if depth > MAX_DEPTH {
            self.found.truncated = true;
            return;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            self.follow(reference, path, depth);
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let required: Vec<&str> = strings(schema.get("required")).collect();
            let mut names: Vec<&'a String> = properties.keys().collect();
            names.sort_unstable();
            for name in names {
                let child = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                let is_required = required.contains(&name.as_str());
                self.parameter(&properties[name], &child, is_required, depth);
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in schema
                .get(keyword)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.object(branch, path, depth + 1);
            }
        }
        if let Some(items) = schema.get("items") {
            self.object(items, &format!("{path}[]"), depth + 1);
        }
    }

    fn parameter(&mut self, schema: &'a Value, path: &str, required: bool, depth: usize) {
        if self.found.list.len() >= MAX_PARAMETERS {
            self.found.truncated = true;
            return;
        }
        // The same path comes again from the branches of a union: one entry is enough.
        if !self.found.list.iter().any(|known| known.path == path) {
            let description = schema.get("description").and_then(Value::as_str);
            self.found.list.push(Parameter {
                path: path.to_owned(),
                description: clip(description.unwrap_or_default()),
                values: values(schema),
                required,
            });
        }
        self.object(schema, path, depth + 1);
    }

    fn follow(&mut self, reference: &'a str, path: &str, depth: usize) {
        if self.open.contains(&reference) {
            self.found.cyclic = true;
            return;
        }
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| self.root.pointer(pointer));
        match target {
            Some(target) => {
                self.open.push(reference);
                self.object(target, path, depth + 1);
                self.open.pop();
            }
            None => self.found.dangling = Some(clip(reference)),
        }
    }
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn values(schema: &Value) -> Vec<String> {
    let listed = schema
        .get("enum")
        .or_else(|| schema.get("items")?.get("enum"));
    let constant = schema.get("const");
    listed
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .chain(constant)
        .filter_map(|value| match value {
            Value::String(text) => Some(clip(text)),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        })
        .take(MAX_VALUES)
        .collect()
}

/// The first [`MAX_TEXT`] characters.
fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(schema: &Value) -> Vec<String> {
        parameters(schema)
            .list
            .into_iter()
            .map(|p| p.path)
            .collect()
    }

    #[test]
    fn a_cycle_is_taken_once_and_reported() {
        let schema = json!({"type": "object", "$defs": {"node": {"properties": {
            "label": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}},
            "properties": {"head": {"$ref": "#/$defs/node"}}});
        let found = parameters(&schema);
        assert!(found.cyclic);
        assert_eq!(paths(&schema), ["head", "head.label", "head.next"]);
    }

    #[test]
    fn a_reference_to_nowhere_is_reported() {
        let schema = json!({"properties": {"a": {"$ref": "https://example.org/a.json"}}});
        assert_eq!(
            parameters(&schema).dangling.as_deref(),
            Some("https://example.org/a.json")
        );
    }

    #[test]
    fn arrays_and_unions_are_walked() {
        let schema = json!({"properties": {"rows": {"type": "array", "items": {"anyOf": [
            {"properties": {"sku": {}}}, {"properties": {"sku": {}, "ean": {}}}]}}}});
        assert_eq!(paths(&schema), ["rows", "rows[].sku", "rows[].ean"]);
    }

    #[test]
    fn a_wide_schema_is_bounded() {
        let properties: serde_json::Map<String, Value> =
            (0..5000).map(|n| (format!("p{n}"), json!({}))).collect();
        let found = parameters(&json!({"properties": properties}));
        assert!(found.truncated);
        assert_eq!(found.list.len(), MAX_PARAMETERS);
    }

    #[test]
    fn doubling_references_do_not_explode() {
        // Each level refers to the next one twice: 2^40 paths if they were all walked.
        let mut defs = serde_json::Map::new();
        for n in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            defs.insert(format!("d{n}"), json!({"allOf": [next, next]}));
        }
        let found = parameters(&json!({"$defs": defs, "allOf": [{"$ref": "#/$defs/d0"}]}));
        assert!(found.truncated);
    }
}
