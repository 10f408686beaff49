//! Found nothing, why? For administrators alone: the answer tells what a caller must not know.

use std::collections::BTreeSet;

use super::find::Engine;
use super::keyword::Text;
use super::names::words;
use super::settings::Mode;
use super::state::Session;
use crate::search::request::MAX_LIMIT;
use crate::search::{Error, Request, search};
use crate::tool::{Exposure, ToolId};

/// Tools that are named as being ahead of the one asked about.
const AHEAD: usize = 5;

/// What lies outside the index.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// Sources (owners of tools) that do not answer at present.
    pub down: BTreeSet<String>,
    /// Keys of tools that are registered and not in the index yet.
    pub pending: BTreeSet<String>,
}

/// What became of a tool in a session.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// No tool has this key or name.
    NotRegistered,
    /// It is registered and not in the index yet.
    NotIndexedYet,
    /// The caller may not see it.
    NotPermitted,
    /// Its exposure keeps it from the model.
    Hidden(Exposure),
    /// Its result was fetched before the model was asked.
    Prefetched,
    /// It is exposed or loaded already.
    Active,
    /// Its source does not answer.
    SourceDown(String),
    /// It can be found; no query was given to say how well.
    Deferred,
    /// The query shares no word with it, and words alone are looked for.
    NoWord,
    /// The best tool for the query is not likely enough to fit, so none is given.
    BelowThreshold {
        /// How sure the search is of the best tool.
        confidence: f32,
        /// What is asked of it.
        threshold: f32,
    },
    /// It is so like a better tool that it was folded into it.
    FoldedInto(ToolId),
    /// Others fit better.
    OutrankedBy {
        /// Its place from 1; none beyond the hundredth.
        rank: Option<usize>,
        /// The best of those ahead, best first.
        ahead: Vec<ToolId>,
    },
    /// The query finds it.
    Found {
        /// Its place, from 1.
        rank: usize,
    },
}

impl State {
    /// The word used in answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotRegistered => "not_registered",
            Self::NotIndexedYet => "not_indexed_yet",
            Self::NotPermitted => "not_permitted",
            Self::Hidden(_) => "hidden_by_exposure",
            Self::Prefetched => "prefetched",
            Self::Active => "already_active",
            Self::SourceDown(_) => "source_down",
            Self::Deferred => "deferred",
            Self::NoWord => "no_word",
            Self::BelowThreshold { .. } => "below_threshold",
            Self::FoldedInto(_) => "folded_into",
            Self::OutrankedBy { .. } => "outranked_by",
            Self::Found { .. } => "found",
        }
    }
}

/// A tool with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The tool; none where there is no such tool.
    pub tool: Option<ToolId>,
    /// What became of it.
    pub state: State,
}

/// What became of the tools that `name` is the key or name of, for the caller of `session` and,
/// where one is given, for `query`. Several where several tools have the name.
///
/// # Errors
/// What [`search()`] says.
pub fn why(
    session: &Session,
    name: &str,
    query: Option<&str>,
    outside: &Outside,
    engine: Engine<'_>,
) -> Result<Vec<Verdict>, Error> {
    let catalog = &session.surface.index.catalog;
    let mut tools = catalog.with_key(name);
    if tools.is_empty() {
        tools = catalog.with_name(name);
    }
    if tools.is_empty() {
        let state = if outside.pending.contains(name) {
            State::NotIndexedYet
        } else {
            State::NotRegistered
        };
        return Ok(vec![Verdict { tool: None, state }]);
    }
    tools
        .iter()
        .map(|tool| {
            let state = match (place(session, *tool, outside), query) {
                (Some(state), _) => state,
                (None, None) => State::Deferred,
                (None, Some(query)) => match session.settings.mode {
                    Mode::Keyword => by_points(session, *tool, query),
                    Mode::Hybrid => by_search(session, *tool, query, engine)?,
                },
            };
            Ok(Verdict {
                tool: Some(*tool),
                state,
            })
        })
        .collect()
}

/// What keeps a tool from being found whatever the query.
fn place(session: &Session, tool: ToolId, outside: &Outside) -> Option<State> {
    let surface = &session.surface;
    let owner = surface.tool(tool).owner.as_ref();
    let own = surface.tool(tool).exposure;
    match surface.exposure(tool) {
        // A tool that is hidden by its owner is permitted to nobody.
        None if own == Exposure::Hidden => Some(State::Hidden(own)),
        None => Some(State::NotPermitted),
        Some(exposure @ (Exposure::Hidden | Exposure::CodeMode)) => Some(State::Hidden(exposure)),
        Some(_) if session.is_prefetched(tool) => Some(State::Prefetched),
        Some(_) => match owner.filter(|owner| outside.down.contains(*owner)) {
            Some(owner) => Some(State::SourceDown(owner.clone())),
            None => session.is_active(tool).then_some(State::Active),
        },
    }
}

fn by_points(session: &Session, tool: ToolId, query: &str) -> State {
    if Text::of(session.surface.tool(tool)).points(&words(query)) == 0 {
        return State::NoWord;
    }
    let ranked = session.by_points(query, &[]);
    ranked_at(session, tool, &ranked)
}

fn by_search(
    session: &Session,
    tool: ToolId,
    query: &str,
    engine: Engine<'_>,
) -> Result<State, Error> {
    let request = Request {
        threshold: Some(0.0),
        ..Request::new(query, MAX_LIMIT)
    };
    let view = session.searched(&[]);
    let index = &session.surface.index;
    let answer = search(index, engine.embedder, &view, &request, engine.config)?;
    if answer.confidence < engine.config.threshold {
        return Ok(State::BelowThreshold {
            confidence: answer.confidence,
            threshold: engine.config.threshold,
        });
    }
    let folded = answer.hits.iter().find(|hit| hit.variants.contains(&tool));
    if let Some(hit) = folded {
        return Ok(State::FoldedInto(hit.tool));
    }
    let ranked: Vec<ToolId> = answer.hits.iter().map(|hit| hit.tool).collect();
    Ok(ranked_at(session, tool, &ranked))
}

fn ranked_at(session: &Session, tool: ToolId, ranked: &[ToolId]) -> State {
    let at = ranked.iter().position(|ranked| *ranked == tool);
    match at {
        Some(at) if at < session.limit(None) => State::Found { rank: at + 1 },
        _ => State::OutrankedBy {
            rank: at.map(|at| at + 1),
            ahead: ranked
                .iter()
                .take(at.unwrap_or(AHEAD).min(AHEAD))
                .copied()
                .collect(),
        },
    }
}
