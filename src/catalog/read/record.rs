//! One JSON object to one tool or namespace.

use serde_json::{Map, Value, json};

use super::super::schema::{Parameters, canonical, parameters};
use super::field::{Fields, WrongType, wrong};
use crate::tool::{Exposure, Json, Kind, Namespace, Risk, SideEffect, Tool};

/// Characters of a name or namespace.
const MAX_NAME: usize = 256;
/// Characters of a key: a namespace, a slash and a name.
const MAX_KEY: usize = 520;

/// Why a line was left out.
pub(super) struct Rejection {
    pub(super) tool: Option<String>,
    pub(super) field: Option<String>,
    pub(super) reason: String,
}

impl Rejection {
    /// The whole line is to blame.
    pub(super) fn line(reason: String) -> Self {
        Self {
            tool: None,
            field: None,
            reason,
        }
    }

    fn field(field: &str, reason: impl Into<String>) -> Self {
        Self {
            tool: None,
            field: Some(field.to_owned()),
            reason: reason.into(),
        }
    }
}

impl From<WrongType> for Rejection {
    fn from(wrong: WrongType) -> Self {
        Self::field(&wrong.field, wrong.reason)
    }
}

/// One JSON object, being read.
pub(super) struct Record {
    fields: Fields,
    /// Field and what was done about it.
    pub(super) warnings: Vec<(String, String)>,
}

impl Record {
    pub(super) fn new(map: Map<String, Value>) -> Self {
        Self {
            fields: Fields::new(map),
            warnings: Vec::new(),
        }
    }

    /// The object as a tool.
    pub(super) fn tool(&mut self) -> Result<Tool, Rejection> {
        let name = self.name("name")?;
        if name.is_empty() {
            return Err(Rejection::field("name", "every tool needs a name"));
        }
        let namespace = self.name("namespace")?;
        let key = self.key(&namespace, &name)?;
        let mut tool = self.described(&name).map_err(|rejection| Rejection {
            tool: Some(key.clone()),
            ..rejection
        })?;
        for field in self.fields.rest() {
            self.fields.warn(&field, "unknown field, ignored");
        }
        self.warnings.append(&mut self.fields.warnings);
        (tool.key, tool.namespace, tool.name) = (key, namespace, name);
        Ok(tool)
    }

    /// The object as a namespace.
    pub(super) fn namespace(&mut self) -> Result<Namespace, Rejection> {
        Ok(Namespace {
            name: self.name("name")?,
            description: self.fields.text("description")?.unwrap_or_default(),
            tags: self.fields.texts("tags")?,
        })
    }

    /// Everything but the names and the key.
    fn described(&mut self, name: &str) -> Result<Tool, Rejection> {
        let fields = &mut self.fields;
        let description = fields.text("description")?.unwrap_or_default();
        if description.trim().is_empty() {
            let reason = format!("empty: only its name lets '{name}' be found");
            fields.warn("description", reason);
        }
        let (input_schema, inputs) = self
            .schema(
                "input_schema",
                &["input_schema", "inputSchema", "parameters"],
            )?
            .unwrap_or_else(|| (canonical(&json!({"type": "object"})), Parameters::default()));
        let output = self.schema("output_schema", &["output_schema", "outputSchema"])?;
        let (output_schema, outputs) =
            output.map_or((None, Vec::new()), |(json, found)| (Some(json), found.list));
        let fields = &mut self.fields;
        Ok(Tool {
            key: String::new(),
            namespace: String::new(),
            name: String::new(),
            description,
            use_when: fields.texts("use_when")?,
            avoid_when: fields.texts("avoid_when")?,
            examples: fields.texts("examples")?,
            input_schema,
            output_schema,
            inputs: inputs.list,
            outputs,
            side_effect: fields
                .word("side_effect", &SideEffect::words())?
                .unwrap_or_default(),
            tags: fields.texts("tags")?,
            aliases: fields.texts("aliases")?,
            kind: fields.word("kind", &Kind::words())?,
            phases: fields.texts("phases")?,
            risk: fields.word("risk", &Risk::words())?.unwrap_or_default(),
            exposure: fields
                .word("exposure", &Exposure::words())?
                .unwrap_or_default(),
            required_scopes: fields.texts("required_scopes")?,
            tenants: fields.texts("tenants")?,
            owner: fields.text("owner")?,
        })
    }

    /// A name or namespace: trimmed, without control characters, bounded; empty where absent.
    fn name(&mut self, field: &str) -> Result<String, Rejection> {
        let text = match self.fields.value(&[field]) {
            None => return Ok(String::new()),
            Some(Value::String(text)) => text,
            Some(other) => return Err(wrong(field, "a text", &other).into()),
        };
        check_name(field, text.trim(), MAX_NAME)
    }

    fn key(&mut self, namespace: &str, name: &str) -> Result<String, Rejection> {
        match self.fields.value(&["id"]) {
            Some(Value::String(id)) if !id.trim().is_empty() => {
                check_name("id", id.trim(), MAX_KEY)
            }
            None | Some(Value::String(_)) if namespace.is_empty() => Ok(name.to_owned()),
            None | Some(Value::String(_)) => Ok(format!("{namespace}/{name}")),
            Some(other) => Err(wrong("id", "a text", &other).into()),
        }
    }

    fn schema(
        &mut self,
        field: &str,
        names: &[&str],
    ) -> Result<Option<(Json, Parameters)>, Rejection> {
        let value = match self.fields.value(names) {
            None => return Ok(None),
            // `true` is the schema that accepts anything.
            Some(Value::Bool(true)) => json!({"type": "object"}),
            Some(value @ Value::Object(_)) => value,
            Some(other) => {
                let expected = "a JSON Schema, which is an object";
                return Err(wrong(field, expected, &other).into());
            }
        };
        let kind = value.get("type").and_then(Value::as_str);
        if field == "input_schema" && kind.is_some_and(|kind| kind != "object") {
            let reason = "its type is not 'object': model providers refuse such arguments";
            self.fields.warn(field, reason);
        }
        let found = parameters(&value);
        if found.cyclic {
            let reason = "a $ref leads back to itself; its inside is searchable once";
            self.fields.warn(field, reason);
        }
        if let Some(reference) = &found.dangling {
            let reason = format!("$ref '{reference}' leads nowhere in this schema");
            self.fields.warn(field, reason);
        }
        if found.truncated {
            let reason = "too large or too deep: only its first parameters are searchable";
            self.fields.warn(field, reason);
        }
        Ok(Some((canonical(&value), found)))
    }
}

fn check_name(field: &str, text: &str, limit: usize) -> Result<String, Rejection> {
    if let Some(c) = text.chars().find(|c| c.is_control()) {
        let reason = format!("holds the control character U+{:04X}", c as u32);
        return Err(Rejection::field(field, reason));
    }
    let length = text.chars().count();
    if length > limit {
        let reason = format!("has {length} characters; at most {limit} are allowed");
        return Err(Rejection::field(field, reason));
    }
    Ok(text.to_owned())
}
