//! A tool or namespace as one canonical JSON object that holds all of it: what a registry keeps.
//!
//! Reading an object and writing it again gives the same bytes, whatever the source looked like, so
//! two documents are equal when and only when their bytes, and so their hashes, are.

use serde_json::{Map, Value, json};

use super::read::{self, One, Rejected};
use super::schema::canonical;
use crate::tool::{Json, Kind, Namespace, Tool};

/// Levels that [`differences`] looks into before it compares values whole.
const MAX_DEPTH: usize = 12;
/// Differences that are told.
const MAX_DIFFERENCES: usize = 200;

/// All of a tool; what is empty is left out.
pub fn of_tool(tool: &Tool) -> Json {
    // Taken apart in full, so that a new field cannot be forgotten.
    let Tool {
        key,
        namespace,
        name,
        description,
        use_when,
        avoid_when,
        examples,
        input_schema,
        output_schema,
        inputs: _,
        outputs: _,
        side_effect,
        tags,
        aliases,
        kind,
        phases,
        risk,
        exposure,
        required_scopes,
        tenants,
        owner,
    } = tool;
    let mut value = json!({
        "id": key,
        "namespace": namespace,
        "name": name,
        "description": description,
        "use_when": use_when,
        "avoid_when": avoid_when,
        "examples": examples,
        "input_schema": parse(input_schema),
        "output_schema": output_schema.as_ref().map(parse),
        "side_effect": side_effect.as_str(),
        "tags": tags,
        "aliases": aliases,
        "kind": kind.map(Kind::as_str),
        "phases": phases,
        "risk": risk.as_str(),
        "exposure": exposure.as_str(),
        "required_scopes": required_scopes,
        "tenants": tenants,
        "owner": owner,
    });
    if let Value::Object(map) = &mut value {
        map.retain(|_, value| !is_empty(value));
    }
    canonical(&value)
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_str().is_some_and(str::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
}

/// All of a namespace.
pub fn of_namespace(namespace: &Namespace) -> Json {
    let Namespace {
        name,
        description,
        tags,
    } = namespace;
    canonical(&json!({"name": name, "description": description, "tags": tags}))
}

/// The tool that a document holds.
///
/// # Errors
/// [`Rejected`] where it holds none.
pub fn to_tool(document: &str) -> Result<One, Rejected> {
    read::tool(value(document)?)
}

/// The namespace that a document holds.
///
/// # Errors
/// [`Rejected`] where it holds none.
pub fn to_namespace(document: &str) -> Result<Namespace, Rejected> {
    read::namespace(value(document)?)
}

/// `document` with `patch` applied as a JSON Merge Patch (RFC 7396): members of the patch replace
/// those of the document, and null takes them away.
///
/// ```
/// use toolscout::catalog::document::merged;
/// let document = r#"{"name":"a","tags":["x"],"owner":"b"}"#;
/// let patched = merged(document, r#"{"tags":["y"],"owner":null}"#).unwrap();
/// assert_eq!(patched.as_str(), r#"{"name":"a","tags":["y"]}"#);
/// ```
///
/// # Errors
/// [`Rejected`] where either is not JSON.
pub fn merged(document: &str, patch: &str) -> Result<Json, Rejected> {
    let mut target = value(document)?;
    merge(&mut target, value(patch)?);
    Ok(canonical(&target))
}

fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(target) = target {
        for (name, value) in patch {
            if value.is_null() {
                target.remove(&name);
            } else {
                merge(target.entry(name).or_insert(Value::Null), value);
            }
        }
    }
}

/// One place where two documents differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, as a JSON Pointer (RFC 6901): `/input_schema/properties/order`.
    pub place: String,
    /// What was there, as JSON; none where there was nothing.
    pub before: Option<String>,
    /// What is there now; none where there is nothing.
    pub after: Option<String>,
}

/// Where two documents differ, in order of place; the first 200. Lists are compared whole.
///
/// # Errors
/// [`Rejected`] where either is not JSON.
pub fn differences(before: &str, after: &str) -> Result<Vec<Difference>, Rejected> {
    let mut found = Vec::new();
    compare(
        &mut String::new(),
        (Some(&value(before)?), Some(&value(after)?)),
        &mut found,
    );
    Ok(found)
}

fn compare(
    place: &mut String,
    (before, after): (Option<&Value>, Option<&Value>),
    found: &mut Vec<Difference>,
) {
    if before == after || found.len() == MAX_DIFFERENCES {
        return;
    }
    let deep = place.matches('/').count() < MAX_DEPTH;
    if let (Some(Value::Object(old)), Some(Value::Object(new)), true) = (before, after, deep) {
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let length = place.len();
            place.push('/');
            place.push_str(&name.replace('~', "~0").replace('/', "~1"));
            compare(place, (old.get(name), new.get(name)), found);
            place.truncate(length);
        }
        return;
    }
    let text = |value: Option<&Value>| value.map(|value| canonical(value).as_str().to_owned());
    found.push(Difference {
        place: place.clone(),
        before: text(before),
        after: text(after),
    });
}

fn parse(json: &Json) -> Value {
    // Canonical text was made from a value, so it parses; an empty object keeps a schema valid.
    serde_json::from_str(json.as_str()).unwrap_or_else(|_| json!({"type": "object"}))
}

fn value(text: &str) -> Result<Value, Rejected> {
    serde_json::from_str(text).map_err(|error| Rejected {
        field: None,
        reason: format!("not valid JSON: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;
    use crate::tool::{Exposure, Risk, SideEffect};

    fn full() -> Tool {
        let mut tool = fixture::tool("crm", "find");
        tool.key = "own/key".into();
        tool.description = "Finds.\nA \"customer\".".into();
        tool.use_when = vec!["客户在哪".into()];
        tool.avoid_when = vec!["never".into()];
        tool.examples = vec!["find bob".into()];
        tool.output_schema = Some(canonical(&json!({"type": "object"})));
        tool.side_effect = SideEffect::Read;
        tool.tags = vec!["b".into(), "a".into()];
        tool.aliases = vec!["lookup".into()];
        tool.kind = Some(Kind::Query);
        tool.phases = vec!["locate".into()];
        tool.risk = Risk::High;
        tool.exposure = Exposure::DeclarationOnly;
        tool.required_scopes = vec!["crm:read".into()];
        tool.tenants = vec!["acme".into()];
        tool.owner = Some("team".into());
        tool
    }

    #[test]
    fn a_document_holds_all_of_a_tool_and_reads_back_the_same() {
        for tool in [full(), fixture::tool("", "ping")] {
            let mut tool = tool;
            let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
            tool.input_schema = canonical(&schema);
            tool.inputs = super::super::schema::parameters(&schema).list;
            let document = of_tool(&tool);
            let read = to_tool(document.as_str()).unwrap().tool;
            assert_eq!(read, tool);
            assert_eq!(of_tool(&read), document);
        }
    }

    #[test]
    fn differences_name_their_places() {
        let mut changed = full();
        changed.owner = None;
        changed.tags = vec!["b".into()];
        let found = differences(of_tool(&full()).as_str(), of_tool(&changed).as_str()).unwrap();
        let places: Vec<&str> = found.iter().map(|one| one.place.as_str()).collect();
        assert_eq!(places, ["/owner", "/tags"]);
        assert_eq!(found[0].before.as_deref(), Some("\"team\""));
        assert_eq!(found[0].after, None);
        assert_eq!(found[1].after.as_deref(), Some("[\"b\"]"));
    }

    #[test]
    fn a_document_that_is_none_is_told_so() {
        assert!(to_tool("[]").unwrap_err().to_string().contains("object"));
        assert!(to_tool("{").unwrap_err().to_string().contains("JSON"));
        let rejected = to_tool("{}").unwrap_err();
        assert_eq!(
            rejected.to_string(),
            "field 'name': every tool needs a name"
        );
    }
}
