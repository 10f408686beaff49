//! A request, as the caller means it: plain data, bounded and checked before it gets here.

use crate::index::dense::DensePath;
use crate::rules::Ruling;
use crate::tool::{Kind, SideEffect, Tool};

/// Characters of a query that are read; the rest is left out.
pub const MAX_QUERY: usize = 8_000;
/// Needs that one request may hold.
pub const MAX_NEEDS: usize = 16;
/// Hits that one request may ask for.
pub const MAX_LIMIT: usize = 100;

/// What to look for, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What to look for.
    pub query: Query,
    /// Hits wanted, `1..=`[`MAX_LIMIT`].
    pub limit: usize,
    /// Confidence, `0.0..=1.0`, under which the answer is "nothing fits"; the configuration's own
    /// where `None`, and 0 never abstains.
    pub threshold: Option<f32>,
    /// Which of the permitted tools count at all.
    pub filters: Filters,
    /// Which way the nearest vectors are found.
    pub dense: DensePath,
    /// What the business rules say in this moment.
    pub ruling: Ruling,
    /// Whether hits say how they got their score.
    pub detail: Detail,
}

impl Request {
    /// A request for the `limit` best tools for a text, with everything else as usual.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self {
            query: Query::text(text),
            limit,
            threshold: None,
            filters: Filters::default(),
            dense: DensePath::Auto,
            ruling: Ruling::default(),
            detail: Detail::Scores,
        }
    }
}

/// How much a hit tells of its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The score alone.
    Scores,
    /// Each arm's value, weight and share, and the words that matched.
    Explained,
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The request in the user's words; empty where only `needs` are given.
    pub text: String,
    /// Several needs, each to be served by the answer: at most [`MAX_NEEDS`].
    pub needs: Vec<String>,
    /// What the caller thinks it knows of the tool.
    pub hints: Hints,
}

impl Query {
    /// A query of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// What a caller thinks it knows of the tool: descriptions rather than names, in the manner of
/// MCP-Zero's active requests (arXiv:2506.01056).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hints {
    /// Of the namespace or server.
    pub namespace: Option<String>,
    /// Of the tool.
    pub tool: Option<String>,
}

/// Which of the permitted tools count. An empty list puts no condition on its field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// Namespaces by name.
    pub namespaces: Vec<String>,
    /// Tags: any one of them is enough.
    pub tags: Vec<String>,
    /// Kinds.
    pub kinds: Vec<Kind>,
    /// Side effects.
    pub side_effects: Vec<SideEffect>,
}

impl Filters {
    /// No condition at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `tool` counts.
    pub fn admit(&self, tool: &Tool) -> bool {
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|x| x == value);
        any(&self.namespaces, &tool.namespace)
            && (self.tags.is_empty() || self.tags.iter().any(|tag| tool.tags.contains(tag)))
            && (self.kinds.is_empty() || tool.kind.is_some_and(|kind| self.kinds.contains(&kind)))
            && (self.side_effects.is_empty() || self.side_effects.contains(&tool.side_effect))
    }
}
