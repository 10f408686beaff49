//! One JSON object to one tool or namespace: what a change of a registry brings.

use serde_json::Value;

use super::record::{Record, Rejection};
use crate::tool::{Namespace, Tool};

/// A tool that was read by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct One {
    /// The tool.
    pub tool: Tool,
    /// Fields that were mended, each with what was done about it.
    pub warnings: Vec<(String, String)>,
}

/// Why an object is no tool or namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", .field.as_ref().map(|field| format!("field '{field}': ")).unwrap_or_default())]
pub struct Rejected {
    /// The field at fault, where one is.
    pub field: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl From<Rejection> for Rejected {
    fn from(rejection: Rejection) -> Self {
        Self {
            field: rejection.field,
            reason: rejection.reason,
        }
    }
}

/// Reads one JSON object as a tool, by the rules of a line in a file.
///
/// # Errors
/// [`Rejected`] where a line with this object would be left out.
pub fn tool(value: Value) -> Result<One, Rejected> {
    let mut record = record(value)?;
    let tool = record.tool()?;
    Ok(One {
        tool,
        warnings: record.warnings,
    })
}

/// Reads one JSON object as a namespace.
///
/// # Errors
/// As [`tool`].
pub fn namespace(value: Value) -> Result<Namespace, Rejected> {
    Ok(record(value)?.namespace()?)
}

fn record(value: Value) -> Result<Record, Rejected> {
    match value {
        Value::Object(map) => Ok(Record::new(map)),
        _ => Err(Rejected {
            field: None,
            reason: "expected a JSON object".to_owned(),
        }),
    }
}
