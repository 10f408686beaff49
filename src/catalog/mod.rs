//! The catalogue: all tools and namespaces at one revision, immutable once built; and the way from
//! files to it.
//!
//! [`import`] turns the shapes of others into records, [`read`] files and records into tools and
//! problems, [`text`] decides what of a tool is searchable, [`doctor`] says what would make a
//! catalogue easier to search, and [`tokens`] what its definitions cost in a prompt. Nothing here
//! knows vectors.

pub mod call_name;
pub mod definition;
pub mod doctor;
pub mod document;
#[cfg(test)]
pub(crate) mod fixture;
pub mod import;
pub mod read;
pub mod schema;
pub mod sentence;
pub mod text;
pub mod tokens;

use std::collections::{BTreeMap, HashMap};

use crate::tool::{Namespace, NamespaceId, Tool, ToolId};

/// Tools in ascending order of key, and their namespaces in ascending order of name.
///
/// The order does not depend on the order of reading, so the same tools always get the same
/// [`ToolId`]s, and taking tools away keeps the order of the rest.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: Vec<Tool>,
    namespaces: Vec<Namespace>,
    namespace_of: Vec<NamespaceId>,
    by_key: HashMap<String, Vec<ToolId>>,
    by_name: HashMap<String, Vec<ToolId>>,
}

impl Catalog {
    /// A catalogue of `tools`. A namespace that a tool names and `namespaces` does not describe is
    /// added without a description; one that no tool names is left out.
    ///
    /// Two tools may share a key only if they share no tenant; [`read`] reports such duplicates, and
    /// here the first of them wins.
    pub fn new(mut tools: Vec<Tool>, namespaces: Vec<Namespace>) -> Self {
        tools.sort_by(|a, b| (&a.key, &a.tenants).cmp(&(&b.key, &b.tenants)));
        let mut kept: Vec<Tool> = Vec::with_capacity(tools.len());
        let mut by_key: HashMap<String, Vec<ToolId>> = HashMap::with_capacity(tools.len());
        for tool in tools {
            let ids = by_key.entry(tool.key.clone()).or_default();
            if ids
                .iter()
                .all(|id| !share_a_tenant(&kept[id.index()], &tool))
            {
                ids.push(ToolId(kept.len() as u32));
                kept.push(tool);
            }
        }

        let mut by_name: HashMap<String, Vec<ToolId>> = HashMap::with_capacity(kept.len());
        for (at, tool) in kept.iter().enumerate() {
            let ids = by_name.entry(plain_name(&tool.name)).or_default();
            ids.push(ToolId(at as u32));
        }

        let mut named: BTreeMap<String, Namespace> = kept
            .iter()
            .map(|tool| {
                let name = tool.namespace.clone();
                let bare = Namespace {
                    name: name.clone(),
                    description: String::new(),
                    tags: Vec::new(),
                };
                (name, bare)
            })
            .collect();
        for namespace in namespaces {
            if let Some(place) = named.get_mut(&namespace.name) {
                *place = namespace;
            }
        }
        let position: HashMap<&str, NamespaceId> = named
            .keys()
            .enumerate()
            .map(|(at, name)| (name.as_str(), NamespaceId(at as u32)))
            .collect();
        let namespace_of = kept
            .iter()
            .map(|tool| position[tool.namespace.as_str()])
            .collect();
        Self {
            tools: kept,
            namespaces: named.into_values().collect(),
            namespace_of,
            by_key,
            by_name,
        }
    }

    /// All tools; a [`ToolId`] is a position here.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool at `id`.
    pub fn tool(&self, id: ToolId) -> &Tool {
        &self.tools[id.index()]
    }

    /// All namespaces; a [`NamespaceId`] is a position here.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// The namespace at `id`.
    pub fn namespace(&self, id: NamespaceId) -> &Namespace {
        &self.namespaces[id.index()]
    }

    /// The namespace that a tool belongs to.
    pub fn namespace_of(&self, id: ToolId) -> NamespaceId {
        self.namespace_of[id.index()]
    }

    /// The tools with this key: more than one only where tenants have tools of the same key.
    pub fn with_key(&self, key: &str) -> &[ToolId] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// The tools of this name, whatever its case and however its words are joined: `getWeather`,
    /// `get_weather` and "get weather" are one name.
    pub fn with_name(&self, name: &str) -> &[ToolId] {
        self.by_name
            .get(&plain_name(name))
            .map_or(&[], Vec::as_slice)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// There are no tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

fn plain_name(name: &str) -> String {
    text::spaced(name).to_lowercase()
}

/// Whether some tenant would see both tools. A tool without tenants belongs to all of them.
pub(crate) fn share_a_tenant(a: &Tool, b: &Tool) -> bool {
    a.tenants.is_empty()
        || b.tenants.is_empty()
        || a.tenants.iter().any(|tenant| b.tenants.contains(tenant))
}
