//! `tool_search`: what a query would load.

use super::SEARCH_NAME;
use super::keyword::Text;
use super::names::{self, words};
use super::query::{self, Query};
use super::settings::Mode;
use super::state::Session;
use crate::embed::Embedder;
use crate::search::request::MAX_LIMIT;
use crate::search::{Config, NoMatch, Request, View, search};
use crate::tool::ToolId;

pub use query::MAX_SELECTED;

/// What a search by meaning and words needs beside the index.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    /// The index's model; without it words alone are searched.
    pub embedder: Option<&'a dyn Embedder>,
    /// Weights and constants.
    pub config: &'a Config,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A query in the syntax of `tool_search`.
    Query(String),
    /// Namespaces, all tools of which are wanted, or names of tools.
    Paths(Vec<String>),
}

/// What a search found. Nothing is loaded yet: [`Session::load`] does that.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Tools to load, best first.
    pub loaded: Vec<ToolId>,
    /// Matches that are active already.
    pub already_loaded: Vec<ToolId>,
    /// The search tool itself was asked for; it is active already.
    pub search_tool: bool,
    /// Names that are not known here, or the whole query where nothing matches.
    pub not_found: Vec<String>,
    /// More matched than may be loaded at once.
    pub truncated: bool,
    /// Why nothing fits, where the search by meaning says so.
    pub no_match: Option<NoMatch>,
}

impl Found {
    /// Keeps the first tools to load for which `fits` holds, and says so where some do not: a tool
    /// whose definition has no room must not count as loaded.
    pub fn keep_while(&mut self, mut fits: impl FnMut(ToolId) -> bool) {
        let kept = self.loaded.iter().take_while(|tool| fits(**tool)).count();
        self.truncated |= kept < self.loaded.len();
        self.loaded.truncate(kept);
    }
}

impl Session {
    /// Tools that one search may load: what is asked for, held to `1..=` the session's own bound.
    pub fn limit(&self, asked: Option<usize>) -> usize {
        let bound = self.settings.max_results.clamp(1, MAX_LIMIT);
        asked.unwrap_or(bound).clamp(1, bound)
    }

    /// What `wanted` would load, at most [`limit`](Self::limit) tools. In a query of words a match
    /// that is active already counts towards it, so that asking again does not load worse ones.
    ///
    /// # Errors
    /// What [`search()`] says.
    pub fn find(
        &self,
        wanted: &Wanted,
        max_results: Option<usize>,
        engine: Engine<'_>,
    ) -> Result<Found, crate::search::Error> {
        let limit = self.limit(max_results);
        match wanted {
            Wanted::Paths(paths) => match query::select(paths.iter().map(String::as_str)) {
                Query::Select { names, more } => Ok(self.select(&names, more, limit)),
                Query::Words { .. } => Ok(Found::default()),
            },
            Wanted::Query(text) => match query::parse(text) {
                Query::Select { names, more } => Ok(self.select(&names, more, limit)),
                Query::Words { text, required } => self.words(&text, &required, limit, engine),
            },
        }
    }

    fn select(&self, names: &[String], more: bool, limit: usize) -> Found {
        let mut found = Found {
            truncated: more,
            ..Found::default()
        };
        for name in names {
            if self.is_search_tool(name) {
                found.search_tool = true;
                continue;
            }
            let tools = self.named(name);
            if tools.is_empty() {
                found.not_found.push(name.clone());
            }
            for tool in tools {
                if self.is_active(tool) {
                    push_new(&mut found.already_loaded, tool);
                } else if found.loaded.contains(&tool) {
                } else if found.loaded.len() < limit {
                    found.loaded.push(tool);
                } else {
                    found.truncated = true;
                }
            }
        }
        found
    }

    /// The tools of a name, else of a namespace.
    fn named(&self, name: &str) -> Vec<ToolId> {
        let mut tools = names::resolve(&self.surface, self.style, name);
        if tools.is_empty() {
            tools = names::of_namespace(&self.surface, self.style, name);
        }
        tools.retain(|tool| !self.is_prefetched(*tool));
        tools
    }

    fn words(
        &self,
        text: &str,
        required: &[String],
        limit: usize,
        engine: Engine<'_>,
    ) -> Result<Found, crate::search::Error> {
        if required.is_empty() {
            let name = text.trim_matches(|c: char| c.is_whitespace() || "`'\"“”".contains(c));
            if self.is_search_tool(name) {
                return Ok(Found {
                    search_tool: true,
                    ..Found::default()
                });
            }
            let mut named = names::by_name(&self.surface, self.style, name);
            named.retain(|tool| !self.is_prefetched(*tool));
            if !named.is_empty() {
                return Ok(self.take(&named, limit, false));
            }
        }
        let mut found = match self.settings.mode {
            Mode::Keyword => self.take(&self.by_points(text, required), limit, false),
            Mode::Hybrid => {
                let answer = {
                    let view = self.searched(required);
                    let request = Request::new(text, limit);
                    let index = &self.surface.index;
                    search(index, engine.embedder, &view, &request, engine.config)?
                };
                let hits: Vec<ToolId> = answer.hits.iter().map(|hit| hit.tool).collect();
                Found {
                    no_match: answer.no_match,
                    ..self.take(&hits, limit, answer.truncated)
                }
            }
        };
        if found.loaded.is_empty() && found.already_loaded.is_empty() {
            found.not_found.push(text.to_owned());
        }
        Ok(found)
    }

    fn is_search_tool(&self, name: &str) -> bool {
        self.fallback.is_none() && name.eq_ignore_ascii_case(SEARCH_NAME)
    }

    /// The best of `ranked`, by whether they are active already.
    fn take(&self, ranked: &[ToolId], limit: usize, more: bool) -> Found {
        let (already_loaded, loaded) = ranked
            .iter()
            .take(limit)
            .partition(|tool| self.is_active(**tool));
        Found {
            loaded,
            already_loaded,
            truncated: more || limit < ranked.len(),
            ..Found::default()
        }
    }

    /// The tools with points for `text`, most first, then by key.
    pub(super) fn by_points(&self, text: &str, required: &[String]) -> Vec<ToolId> {
        let query = words(text);
        let mut scored: Vec<(u32, ToolId)> = names::visible(&self.surface)
            .filter(|tool| !self.is_prefetched(*tool))
            .filter_map(|id| {
                let text = Text::of(self.surface.tool(id));
                let points = text.points(&query);
                (0 < points && text.has_all(required)).then_some((points, id))
            })
            .collect();
        // A tool's position is its key's, so it decides where points are equal.
        scored.sort_by_key(|(points, tool)| (std::cmp::Reverse(*points), *tool));
        scored.into_iter().map(|(_, tool)| tool).collect()
    }

    /// What a query by meaning runs over: what may be loaded, has the required words, and is not
    /// kept from the model.
    pub(super) fn searched(&self, required: &[String]) -> std::sync::Arc<View> {
        let view = self.surface.loadable();
        let excludes = |tool: &ToolId| {
            self.is_prefetched(*tool)
                || !required.is_empty() && !Text::of(self.surface.tool(*tool)).has_all(required)
        };
        if required.is_empty() && !view.permitted.iter().any(|tool| self.is_prefetched(tool)) {
            return std::sync::Arc::clone(view);
        }
        let permitted = view.permitted.narrow(|tool| !excludes(&tool));
        std::sync::Arc::new(View::new(&self.surface.index, permitted))
    }
}

fn push_new(tools: &mut Vec<ToolId>, tool: ToolId) {
    if !tools.contains(&tool) {
        tools.push(tool);
    }
}
