//! What rules in shadow would change: the same request, asked again with them in force.

use std::sync::Arc;

use super::answer::Answer;
use super::config::Config;
use super::error::Error;
use super::request::{Detail, Request};
use super::view::View;
use crate::embed::Embedder;
use crate::index::Index;
use crate::tool::ToolId;

/// What an answer would be if rules in shadow counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Shadow {
    /// The rules in shadow that speak in this moment, in the order of their file.
    pub rules: Vec<Arc<str>>,
    /// The hits there would be, best first.
    pub hits: Vec<ToolId>,
    /// The hits that would be gone, best first.
    pub gone: Vec<ToolId>,
}

/// What `answer` to `request` would be if rules in shadow counted; none where none speaks now.
///
/// Costs another search.
///
/// # Errors
/// As [`search`](super::search).
pub fn shadow(
    (index, embedder): (&Index, Option<&dyn Embedder>),
    view: &View,
    request: &Request,
    config: &Config,
    answer: &Answer,
) -> Result<Option<Shadow>, Error> {
    let Some(ruling) = request.ruling.with_shadow() else {
        return Ok(None);
    };
    let rules = request
        .ruling
        .in_shadow()
        .map(|rule| Arc::clone(&rule.name));
    let rules = rules.collect();
    let request = Request {
        ruling,
        detail: Detail::Scores,
        ..request.clone()
    };
    let would = super::search(index, embedder, view, &request, config)?;
    let hits: Vec<ToolId> = would.hits.iter().map(|hit| hit.tool).collect();
    let shown = answer.hits.iter().map(|hit| hit.tool);
    Ok(Some(Shadow {
        rules,
        gone: shown.filter(|tool| !hits.contains(tool)).collect(),
        hits,
    }))
}
