//! What a tool is: plain data, as the reader made it and everybody else uses it.
//!
//! Nothing here reads, validates or serialises: that is [`crate::catalog`]'s work. Schemas are held
//! as canonical JSON text, so that a rendered definition has the same bytes every time.

use std::fmt;
use std::sync::Arc;

/// Position of a tool in one [`Catalog`](crate::catalog::Catalog): `0..catalog.len()`, in ascending
/// order of key. Means nothing outside that catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolId(pub u32);

impl ToolId {
    /// The position as an index into the catalogue's list of tools.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Position of a namespace in one catalogue, in ascending order of name. The root namespace, whose
/// name is empty, is an ordinary namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceId(pub u32);

impl NamespaceId {
    /// The position as an index into the catalogue's list of namespaces.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// JSON text in canonical form: object keys sorted, no white space. Cheap to clone.
///
/// Made by [`canonical`](crate::catalog::schema::canonical); equal values have equal bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Json(pub Arc<str>);

impl Json {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tool that an agent can call, with what helps to find it.
///
/// Only `name` is ever required of a source; what is absent there is empty or `None` here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Opaque identity, unique within a tenant: the source's `id`, else `namespace/name`.
    pub key: String,
    /// Group the tool belongs to; empty for the root namespace.
    pub namespace: String,
    /// The name the model calls.
    pub name: String,
    /// What the tool does, in any language; may be empty.
    pub description: String,
    /// Situations in which the tool is the right one, a sentence each.
    pub use_when: Vec<String>,
    /// Situations in which another tool is right, a sentence each: negative evidence.
    pub avoid_when: Vec<String>,
    /// Requests that this tool serves, as users would word them.
    pub examples: Vec<String>,
    /// JSON Schema of the arguments: always an object schema.
    pub input_schema: Json,
    /// JSON Schema of the result, where the source gives one.
    pub output_schema: Option<Json>,
    /// Parameters found in `input_schema`, nested ones included, in document order; bounded.
    pub inputs: Vec<Parameter>,
    /// Fields found in `output_schema`; bounded.
    pub outputs: Vec<Parameter>,
    /// What a call changes.
    pub side_effect: SideEffect,
    /// Free labels.
    pub tags: Vec<String>,
    /// Other names for the tool, in any language.
    pub aliases: Vec<String>,
    /// What the tool is for, in the coarse words of a harness.
    pub kind: Option<Kind>,
    /// Phases of a task (locate, modify, verify, ...) in which business rules may want the tool.
    pub phases: Vec<String>,
    /// How much harm a wrong call does.
    pub risk: Risk,
    /// How a harness may show the tool to its model.
    pub exposure: Exposure,
    /// Scopes a principal needs, all of them, besides a grant.
    pub required_scopes: Vec<String>,
    /// Tenants the tool belongs to; empty for a tool that every tenant shares.
    pub tenants: Vec<String>,
    /// Source that owns the tool: a file, an MCP server, a team.
    pub owner: Option<String>,
}

/// One argument or result field, flattened from a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Dotted path from the schema's root, array items as `[]`: `order.items[].sku`.
    pub path: String,
    /// The schema's description; may be empty.
    pub description: String,
    /// Enumerated values as text; bounded.
    pub values: Vec<String>,
    /// The schema requires it at its level.
    pub required: bool,
}

/// A group of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Unique in a catalogue; empty for the root namespace.
    pub name: String,
    /// What the group is for; may be empty.
    pub description: String,
    /// Free labels.
    pub tags: Vec<String>,
}

/// What a call changes, from nothing to beyond repair. Ordered by how careful to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SideEffect {
    /// The source does not say.
    #[default]
    Unknown,
    /// A pure computation.
    None,
    /// Reads state outside the tool.
    Read,
    /// Changes state that can be changed back.
    Write,
    /// Changes state that cannot be changed back.
    Destructive,
}

impl SideEffect {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Unknown,
        Self::None,
        Self::Read,
        Self::Write,
        Self::Destructive,
    ];

    /// Each word with what it stands for.
    pub fn words() -> [(&'static str, Self); 5] {
        Self::ALL.map(|value| (value.as_str(), value))
    }

    /// The word used in files and answers; `unknown` where the source does not say.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// What a tool is for, in the coarse words a harness groups its tools by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Finds things.
    Search,
    /// Fetches one known thing.
    Read,
    /// Turns one form into another.
    Parse,
    /// Asks a structured question of a store.
    Query,
    /// Changes something.
    Act,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Search,
        Self::Read,
        Self::Parse,
        Self::Query,
        Self::Act,
    ];

    /// Each word with what it stands for.
    pub fn words() -> [(&'static str, Self); 5] {
        Self::ALL.map(|value| (value.as_str(), value))
    }

    /// The word used in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Parse => "parse",
            Self::Query => "query",
            Self::Act => "act",
        }
    }
}

/// How much harm a wrong call does, as the owner declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Risk {
    /// Undeclared, or harmless.
    #[default]
    Low,
    /// Needs care.
    Medium,
    /// Needs a person's consent.
    High,
}

impl Risk {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Each word with what it stands for.
    pub fn words() -> [(&'static str, Self); 3] {
        Self::ALL.map(|value| (value.as_str(), value))
    }

    /// The word used in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// How a harness may show a tool to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Exposure {
    /// Found by search, then loaded.
    #[default]
    Deferred,
    /// In the prompt from the start.
    Direct,
    /// Callable from generated code only.
    CodeMode,
    /// Never shown.
    Hidden,
    /// Shown, not callable.
    DeclarationOnly,
}

impl Exposure {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Deferred,
        Self::Direct,
        Self::CodeMode,
        Self::Hidden,
        Self::DeclarationOnly,
    ];

    /// Each word with what it stands for.
    pub fn words() -> [(&'static str, Self); 5] {
        Self::ALL.map(|value| (value.as_str(), value))
    }

    /// The word used in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deferred => "deferred",
            Self::Direct => "direct",
            Self::CodeMode => "codemode",
            Self::Hidden => "hidden",
            Self::DeclarationOnly => "declaration_only",
        }
    }
}
