//! One line of a bulk change.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::change::invalid;
use crate::catalog::read::{self, MAX_LINE_BYTES};
use crate::catalog::schema::canonical;
use crate::registry::{Action, Change, Document, Expect, Hash, Id};

/// Bytes of a line.
pub(super) const MAX_LINE: usize = MAX_LINE_BYTES;

/// Why a line is no change.
pub(super) struct Fault {
    /// What it is about, where it got as far as saying so.
    pub(super) id: Option<Id>,
    pub(super) reason: String,
}

impl Fault {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            id: None,
            reason: reason.into(),
        }
    }
}

/// A line that is more than a tool.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Put {
        tool: Value,
        if_match: Option<String>,
    },
    Patch {
        key: String,
        #[serde(default)]
        tenant: String,
        patch: Map<String, Value>,
        if_match: Option<String>,
    },
    Delete {
        key: String,
        #[serde(default)]
        tenant: String,
        replacement: Option<String>,
        if_match: Option<String>,
    },
    Namespace {
        namespace: Value,
        if_match: Option<String>,
    },
}

/// The change that a line says.
pub(super) fn read(text: &[u8]) -> Result<Change, Fault> {
    if text.len() > MAX_LINE {
        let reason = format!("the line has more than {MAX_LINE} bytes");
        return Err(Fault::new(reason));
    }
    let value: Value = serde_json::from_slice(text)
        .map_err(|error| Fault::new(format!("not valid JSON: {error}")))?;
    if value.get("op").is_none() {
        return tool(value).map(Change::put);
    }
    let line = Line::deserialize(value).map_err(|error| Fault::new(error.to_string()))?;
    let (change, if_match) = match line {
        Line::Put {
            tool: value,
            if_match,
        } => (Change::put(tool(value)?), if_match),
        Line::Patch {
            key,
            tenant,
            patch,
            if_match,
        } => {
            let change = Change {
                id: Id::tool_of(tenant, key),
                expect: Expect::Anything,
                action: Action::Patch(canonical(&Value::Object(patch))),
            };
            (change, if_match)
        }
        Line::Delete {
            key,
            tenant,
            replacement,
            if_match,
        } => {
            let change = Change {
                id: Id::tool_of(tenant, key),
                expect: Expect::Anything,
                action: Action::Delete { replacement },
            };
            (change, if_match)
        }
        Line::Namespace {
            namespace,
            if_match,
        } => {
            let read = read::namespace(namespace)
                .map_err(|rejected| Fault::new(invalid(rejected).to_string()))?;
            (Change::put(Document::of_namespace(&read)), if_match)
        }
    };
    let expect = expected(if_match.as_deref()).map_err(|reason| Fault {
        id: Some(change.id.clone()),
        reason,
    })?;
    Ok(Change { expect, ..change })
}

fn tool(value: Value) -> Result<Document, Fault> {
    let name = value.get("name").and_then(Value::as_str);
    let name = name.map(Id::tool);
    match read::tool(value) {
        Ok(one) => Ok(Document::of_tool(&one.tool)),
        Err(rejected) => Err(Fault {
            id: name,
            reason: invalid(rejected).to_string(),
        }),
    }
}

fn expected(if_match: Option<&str>) -> Result<Expect, String> {
    match if_match {
        None => Ok(Expect::Anything),
        Some("*") => Ok(Expect::Something),
        Some(text) => Hash::parse(text)
            .map(Expect::Hash)
            .ok_or_else(|| "if_match: must be * or one hash: 64 hexadecimal digits".to_owned()),
    }
}
