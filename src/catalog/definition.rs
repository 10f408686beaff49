//! The definition of a tool as callers get it: canonical JSON, the same bytes every time.

use serde_json::{Map, Value, json};

use super::schema::canonical;
use crate::tool::{Json, SideEffect, Tool};

/// The definition: `name`, `description` and `input_schema` always, the rest where there is some.
///
/// It holds what a model needs to choose and call the tool, and nothing about who may: tenants,
/// scopes and owner stay out.
pub fn definition(tool: &Tool) -> Json {
    let mut map = Map::new();
    map.insert("name".into(), json!(tool.name));
    map.insert("description".into(), json!(tool.description));
    map.insert("input_schema".into(), parse(&tool.input_schema));
    if let Some(schema) = &tool.output_schema {
        map.insert("output_schema".into(), parse(schema));
    }
    let mut optional = |field: &str, value: Value| {
        let empty = value.as_str().is_some_and(str::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !empty {
            map.insert(field.into(), value);
        }
    };
    optional("namespace", json!(tool.namespace));
    optional("use_when", json!(tool.use_when));
    optional("avoid_when", json!(tool.avoid_when));
    optional("tags", json!(tool.tags));
    optional("kind", json!(tool.kind.map_or("", |kind| kind.as_str())));
    if tool.side_effect != SideEffect::Unknown {
        map.insert("side_effect".into(), json!(tool.side_effect.as_str()));
    }
    canonical(&Value::Object(map))
}

/// Hash of all that a caller may get to see of a tool: its key and its definition.
pub fn definition_hash(tool: &Tool) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(tool.key.len() as u64).to_le_bytes());
    hasher.update(tool.key.as_bytes());
    hasher.update(definition(tool).as_str().as_bytes());
    *hasher.finalize().as_bytes()
}

fn parse(json: &Json) -> Value {
    // Canonical text was made from a value, so it parses; an empty object keeps a schema valid.
    serde_json::from_str(json.as_str()).unwrap_or_else(|_| json!({"type": "object"}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;

    #[test]
    fn a_bare_tool_has_just_the_three_fields() {
        assert_eq!(
            definition(&fixture::tool("", "ping")).as_str(),
            r#"{"description":"","input_schema":{"type":"object"},"name":"ping"}"#
        );
    }

    #[test]
    fn access_does_not_show_in_a_definition() {
        let plain = fixture::tool("crm", "find");
        let mut guarded = plain.clone();
        guarded.tenants = vec!["acme".into()];
        guarded.required_scopes = vec!["crm:read".into()];
        guarded.owner = Some("team".into());
        assert_eq!(definition(&plain), definition(&guarded));
    }
}
