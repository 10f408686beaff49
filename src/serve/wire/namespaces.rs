//! The directory of namespaces.

use serde::Serialize;
use utoipa::ToSchema;

use crate::index::Index;
use crate::search::View;

/// The namespaces that hold a tool the caller may see, in ascending order of name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamespacesResponse {
    /// Changes when and only when a definition changes that the caller may see.
    pub catalog_etag: String,
    /// The namespaces.
    pub namespaces: Vec<NamespaceResponse>,
}

/// One namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamespaceResponse {
    /// Its name; empty for the root namespace.
    pub name: String,
    /// What the group is for; may be empty.
    pub description: String,
    /// Free labels.
    pub tags: Vec<String>,
    /// How many of its tools the caller may see: at least 1.
    pub tools: usize,
}

/// The directory for the caller of `view`, whose etag is `etag`.
pub fn namespaces_response(index: &Index, view: &View, etag: &str) -> NamespacesResponse {
    let namespaces = view
        .namespaces
        .iter()
        .map(|visible| {
            let namespace = index.catalog.namespace(visible.id);
            NamespaceResponse {
                name: namespace.name.clone(),
                description: namespace.description.clone(),
                tags: namespace.tags.clone(),
                tools: visible.tools,
            }
        })
        .collect();
    NamespacesResponse {
        catalog_etag: etag.to_owned(),
        namespaces,
    }
}
