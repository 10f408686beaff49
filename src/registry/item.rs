//! What is registered: an identity, and a document with its hash.

use std::fmt;

use crate::catalog::document;
use crate::catalog::read::Rejected;
use crate::tool::{Json, Namespace, Tool};

/// Position of a change in the registry's one total order, from 1; 0 is the empty registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What a document describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A namespace: its description and tags.
    Namespace,
}

/// What a change is about. Ordered by kind, then key, then tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// A tool or a namespace.
    pub kind: Kind,
    /// Key of the tool, name of the namespace.
    pub key: String,
    /// The one tenant whose own the tool is; empty for a tool that all or several tenants share,
    /// and for a namespace.
    pub tenant: String,
}

impl Id {
    /// A tool that tenants share.
    pub fn tool(key: impl Into<String>) -> Self {
        Self::tool_of("", key)
    }

    /// A tool of one tenant's own; with an empty tenant, one that tenants share.
    pub fn tool_of(tenant: impl Into<String>, key: impl Into<String>) -> Self {
        Self {
            kind: Kind::Tool,
            key: key.into(),
            tenant: tenant.into(),
        }
    }

    /// A namespace.
    pub fn namespace(name: impl Into<String>) -> Self {
        Self {
            kind: Kind::Namespace,
            key: name.into(),
            tenant: String::new(),
        }
    }

    /// The identity that a tool has by its key and tenants.
    pub fn of(tool: &Tool) -> Self {
        match tool.tenants.as_slice() {
            [tenant] => Self::tool_of(tenant, &tool.key),
            _ => Self::tool(&tool.key),
        }
    }
}

/// Hash of a whole document.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of a document's bytes.
    pub fn of(json: &str) -> Self {
        Self(*blake3::hash(json.as_bytes()).as_bytes())
    }

    /// From 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self(*blake3::Hash::from_hex(text).ok()?.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A whole tool or namespace as canonical JSON, with what a store needs to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it describes.
    pub id: Id,
    /// Namespace of the tool; empty for a namespace.
    pub namespace: String,
    /// Tenants of the tool; empty where all share it, and for a namespace.
    pub tenants: Vec<String>,
    /// The document.
    pub json: Json,
    /// Hash of the document.
    pub hash: Hash,
}

impl Document {
    /// The document of a tool.
    pub fn of_tool(tool: &Tool) -> Self {
        let json = document::of_tool(tool);
        Self {
            id: Id::of(tool),
            namespace: tool.namespace.clone(),
            tenants: tool.tenants.clone(),
            hash: Hash::of(json.as_str()),
            json,
        }
    }

    /// The document of a namespace.
    pub fn of_namespace(namespace: &Namespace) -> Self {
        let json = document::of_namespace(namespace);
        Self {
            id: Id::namespace(&namespace.name),
            namespace: String::new(),
            tenants: Vec::new(),
            hash: Hash::of(json.as_str()),
            json,
        }
    }

    /// The document that a JSON text describes, in its canonical form.
    ///
    /// # Errors
    /// [`Rejected`] where the text describes nothing of this kind.
    pub fn read(kind: Kind, json: &str) -> Result<Self, Rejected> {
        Ok(match kind {
            Kind::Tool => Self::of_tool(&document::to_tool(json)?.tool),
            Kind::Namespace => Self::of_namespace(&document::to_namespace(json)?),
        })
    }
}
