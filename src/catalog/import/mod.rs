//! Definitions in the shapes of others, to records in the shape of a catalogue's lines.
//!
//! Pure: text or values in, records out. What a record says is checked where all records are, by
//! [`read::records`](super::read::records).
//!
//! What a definition claims of itself (that it only reads, say) becomes its side effect, which
//! helps to find and to warn; no right is ever derived from it.

mod openapi;
mod tools;

use serde_json::{Map, Value};

/// Bytes of a document: OpenAPI documents of the largest public services have a tenth of it.
pub const MAX_BYTES: usize = 128 << 20;
/// Tools of one document.
pub const MAX_TOOLS: usize = 100_000;

/// A shape that definitions come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An answer to `tools/list` of the Model Context Protocol, or its list of tools.
    Mcp,
    /// Functions as OpenAI's interfaces take them, of Chat Completions or Responses.
    OpenAi,
    /// Tools as Anthropic's interface takes them.
    Anthropic,
    /// An OpenAPI document of version 3: each operation is a tool.
    OpenApi,
}

impl Format {
    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "MCP",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::OpenApi => "OpenAPI",
        }
    }
}

/// Why a document gave no records.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document is larger than [`MAX_BYTES`].
    #[error("the document has {0} bytes; at most {MAX_BYTES} are taken")]
    TooLarge(usize),
    /// Neither JSON nor YAML.
    #[error("neither JSON ({json}) nor YAML ({yaml})")]
    Syntax {
        /// What the JSON reader says.
        json: String,
        /// What the YAML reader says.
        yaml: String,
    },
    /// The shape is none that is known.
    #[error(
        "the document is no list of tools that is known: expected an OpenAPI 3 document, or a list of tools with 'inputSchema' (MCP), 'input_schema' (Anthropic) or 'parameters' (OpenAI)"
    )]
    Unknown,
    /// An OpenAPI document of a version that is not read.
    #[error("OpenAPI version {0} is not read: convert it to version 3")]
    Version(String),
    /// More than [`MAX_TOOLS`].
    #[error("the document has more than {MAX_TOOLS} tools")]
    TooMany,
}

/// Reads a text as JSON or, failing that, as YAML, within bounds on its size and nesting.
///
/// # Errors
/// [`Error::TooLarge`] and [`Error::Syntax`].
pub fn document(text: &str) -> Result<Value, Error> {
    if text.len() > MAX_BYTES {
        return Err(Error::TooLarge(text.len()));
    }
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).or_else(|json| {
        // Its default budget bounds depth, nodes and what aliases multiply.
        serde_saphyr::from_str(text).map_err(|yaml| Error::Syntax {
            json: json.to_string(),
            yaml: first_line(&yaml.to_string()),
        })
    })
}

/// The shape that a document looks like.
///
/// ```
/// use toolscout::catalog::import::{Format, detect};
/// let value = serde_json::json!([{"name": "ping", "input_schema": {"type": "object"}}]);
/// assert_eq!(detect(&value), Some(Format::Anthropic));
/// ```
pub fn detect(value: &Value) -> Option<Format> {
    if value.get("openapi").is_some() || value.get("swagger").is_some() {
        return Some(Format::OpenApi);
    }
    tools::list(value)?.iter().find_map(tools::shape)
}

/// The records of a document, one for each tool, in its order. `namespace` is that of tools that
/// name none; where it is empty, an OpenAPI document's title gives it.
///
/// ```
/// use toolscout::catalog::import::records;
/// let value = serde_json::json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]});
/// assert_eq!(records(&value, None, "calc").unwrap()[0]["namespace"], "calc");
/// ```
///
/// # Errors
/// [`Error::Unknown`] where the shape is not the one asked for or, where none is, none that is
/// known; [`Error::Version`] and [`Error::TooMany`].
pub fn records(
    value: &Value,
    format: Option<Format>,
    namespace: &str,
) -> Result<Vec<Value>, Error> {
    let records = match format.or_else(|| detect(value)).ok_or(Error::Unknown)? {
        Format::OpenApi => openapi::records(value, namespace)?,
        Format::Mcp => tools::records(value, namespace, tools::mcp)?,
        Format::OpenAi => tools::records(value, namespace, tools::openai)?,
        Format::Anthropic => tools::records(value, namespace, tools::anthropic)?,
    };
    if records.len() > MAX_TOOLS {
        return Err(Error::TooMany);
    }
    Ok(records)
}

/// A record of the fields that are there.
fn record(fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let map: Map<String, Value> = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .filter(|(_, value)| !value.is_null() && value.as_str() != Some(""))
        .collect();
    Value::Object(map)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
