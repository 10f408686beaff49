//! What the tools take, read as strictly as the bodies of REST.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::serve::error::Error;
use crate::serve::extract::parse;
use crate::serve::wire::{
    ContextRequest, Detail, DiscoverRequest, FiltersRequest, KindWord, SideEffectWord,
};

/// Arguments of `discover_tools`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Discover {
    query: Option<String>,
    #[serde(default)]
    queries: Vec<String>,
    limit: Option<u32>,
    #[serde(default)]
    namespaces: Vec<String>,
    #[serde(default)]
    kinds: Vec<KindWord>,
    #[serde(default)]
    side_effects: Vec<SideEffectWord>,
    #[serde(default)]
    context: ContextRequest,
    detail: Option<Detail>,
}

/// Arguments of `describe_tool`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Describe {
    /// Key, or a name that is one tool's alone.
    pub(super) tool: String,
}

/// Arguments of `call_tool`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// Key, or a name that is one tool's alone.
    pub(super) tool: String,
    /// What the tool takes.
    #[serde(default)]
    pub(super) arguments: JsonObject,
}

/// Reads arguments. They are an object already, so only its fields can be at fault.
pub(super) fn read<T: DeserializeOwned>(arguments: &JsonObject) -> Result<T, Error> {
    let text = serde_json::to_vec(arguments).map_err(|error| Error::internal(&error))?;
    parse(&text)
}

impl From<Discover> for DiscoverRequest {
    fn from(asked: Discover) -> Self {
        Self {
            query: asked.query,
            queries: asked.queries,
            limit: asked.limit,
            filters: FiltersRequest {
                namespaces: asked.namespaces,
                kinds: asked.kinds,
                side_effects: asked.side_effects,
                ..FiltersRequest::default()
            },
            context: asked.context,
            detail: asked.detail,
            ..Self::default()
        }
    }
}
