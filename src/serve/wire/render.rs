//! A tool's definition in as much detail as the caller wants.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::Detail;
use crate::catalog::definition::definition;
use crate::catalog::sentence::first_sentence;
use crate::tool::Tool;

/// A tool's definition.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Definition {
    /// All that a model needs to choose and call the tool: canonical JSON, byte for byte what the
    /// catalogue's hash was taken over.
    Full(Box<RawValue>),
    /// As much as a model needs to choose it.
    Compact(CompactDefinition),
}

/// As much of a definition as a model needs to choose the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CompactDefinition {
    /// The name the model calls.
    pub name: String,
    /// First sentence of the description.
    pub description: String,
    /// Names of the parameters, without those nested in others.
    pub parameters: Vec<String>,
}

/// The definition of `tool`; none where the key alone is wanted.
pub fn render(tool: &Tool, detail: Detail) -> Option<Definition> {
    match detail {
        Detail::Name => None,
        Detail::Compact => Some(Definition::Compact(compact(tool))),
        Detail::Full => {
            let text = definition(tool).as_str().to_owned();
            // Canonical JSON is JSON.
            let raw = RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
            Some(Definition::Full(raw))
        }
    }
}

fn compact(tool: &Tool) -> CompactDefinition {
    let parameters = tool
        .inputs
        .iter()
        .filter(|input| !input.path.contains(['.', '[']))
        .map(|input| input.path.clone())
        .collect();
    CompactDefinition {
        name: tool.name.clone(),
        description: first_sentence(&tool.description).to_owned(),
        parameters,
    }
}
