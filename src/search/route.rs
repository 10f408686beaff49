//! The tools of one turn, before the model is asked: what is always there, what suits the phase, and
//! what the request needs, within a number of tokens.
//!
//! What is the same from turn to turn comes first and in ascending order of key, and so do the tools
//! of each later group: as long as the same tools are chosen they have the same bytes, and the
//! provider's prompt cache holds.

use super::answer::Answer;
use super::view::View;
use crate::catalog::{definition::definition, tokens};
use crate::index::Index;
use crate::rules::{Context, Ruling};
use crate::tool::{Exposure, ToolId};

/// What the tools of a turn are chosen by.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Keys or names of tools that are always there.
    pub always: &'a [String],
    /// The moment.
    pub context: &'a Context,
    /// What the business rules say in it.
    pub ruling: &'a Ruling,
    /// Tools that may be there for the phase alone.
    pub phase_limit: usize,
    /// Tokens (o200k) that all definitions together may take; none for no bound.
    pub token_budget: Option<usize>,
}

/// Why a tool is there. The order is that of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Because {
    /// The harness always wants it.
    Always,
    /// A rule never defers it.
    Rule,
    /// Its own exposure is direct.
    Direct,
    /// It is made for the phase.
    Phase,
    /// The request needs it.
    Retrieval,
}

impl Because {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Rule => "rule",
            Self::Direct => "direct",
            Self::Phase => "phase",
            Self::Retrieval => "retrieval",
        }
    }
}

/// A tool of the turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Active {
    /// The tool.
    pub tool: ToolId,
    /// Why it is there.
    pub because: Because,
    /// Its score where it was searched for.
    pub score: Option<f32>,
    /// Tokens of its definition.
    pub tokens: usize,
}

/// The tools of one turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Route {
    /// By group, then by key.
    pub tools: Vec<Active>,
    /// Tokens of their definitions.
    pub tokens: usize,
    /// The budget or a limit left something out.
    pub truncated: bool,
    /// Names of `always` that are no tool the caller may see.
    pub skipped: Vec<String>,
}

/// The permitted tool of this key, or the only one of this name.
pub fn named(index: &Index, view: &View, name: &str) -> Option<ToolId> {
    let permitted = |tool: &&ToolId| view.permitted.contains(**tool);
    let catalog = &index.catalog;
    if let Some(tool) = catalog.with_key(name).iter().find(permitted) {
        return Some(*tool);
    }
    let mut spelt = catalog
        .with_name(name)
        .iter()
        .filter(permitted)
        .filter(|tool| catalog.tool(**tool).name == name);
    match (spelt.next(), spelt.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    }
}

/// Chooses the tools of a turn from what `view` shows. `found` is the answer to the turn's request,
/// under the same rules; none where nothing is asked.
///
/// Each group is filled before the next, and the best of what was found before the rest; a tool that
/// the budget has no room for is left out. Rules that leave tools out do so everywhere but among
/// what is always there.
pub fn route(index: &Index, view: &View, wanted: &Wanted<'_>, found: Option<&Answer>) -> Route {
    let mut route = Route::default();
    let mut always = Vec::new();
    for name in wanted.always {
        match named(index, view, name) {
            Some(tool) => always.push(tool),
            None => route.skipped.push(name.clone()),
        }
    }
    always.sort_unstable();
    add(&mut route, index, wanted, (Because::Always, &always));
    let kept = || {
        view.permitted
            .iter()
            .filter(|tool| wanted.ruling.keeps(*tool))
    };
    let by_rule: Vec<ToolId> = kept()
        .filter(|tool| wanted.ruling.never_defers(*tool).is_some())
        .collect();
    add(&mut route, index, wanted, (Because::Rule, &by_rule));
    let direct: Vec<ToolId> = kept()
        .filter(|tool| index.catalog.tool(*tool).exposure == Exposure::Direct)
        .collect();
    add(&mut route, index, wanted, (Because::Direct, &direct));
    if let Some(phase) = &wanted.context.phase {
        let fits = |tool: &ToolId| index.catalog.tool(*tool).phases.contains(phase);
        let is_new = |tool: &ToolId| route.tools.iter().all(|known| known.tool != *tool);
        let mut suited: Vec<ToolId> = kept().filter(fits).filter(is_new).collect();
        route.truncated |= wanted.phase_limit < suited.len();
        suited.truncate(wanted.phase_limit);
        add(&mut route, index, wanted, (Because::Phase, &suited));
    }
    if let Some(found) = found {
        let hits: Vec<ToolId> = found.hits.iter().map(|hit| hit.tool).collect();
        add(&mut route, index, wanted, (Because::Retrieval, &hits));
        route.truncated |= found.truncated;
        // A score changes from turn to turn, which what stays must not.
        let found_only = |active: &&mut Active| active.because == Because::Retrieval;
        for active in route.tools.iter_mut().filter(found_only) {
            let hit = found.hits.iter().find(|hit| hit.tool == active.tool);
            active.score = hit.map(|hit| hit.score);
        }
    }
    route
        .tools
        .sort_by_key(|active| (active.because, active.tool));
    route
}

/// Adds what is new of a group, as far as the budget goes.
fn add(
    route: &mut Route,
    index: &Index,
    wanted: &Wanted<'_>,
    (because, tools): (Because, &[ToolId]),
) {
    for tool in tools {
        if route.tools.iter().any(|known| known.tool == *tool) {
            continue;
        }
        let text = definition(index.catalog.tool(*tool));
        let tokens = tokens::of_text(text.as_str());
        let room = wanted
            .token_budget
            .is_none_or(|budget| route.tokens + tokens <= budget);
        if !room {
            route.truncated = true;
            continue;
        }
        route.tokens += tokens;
        route.tools.push(Active {
            tool: *tool,
            because,
            score: None,
            tokens,
        });
    }
}
