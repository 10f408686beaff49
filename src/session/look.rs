//! Looking without loading, for code that a model writes: `search_tools` and `describe_tool`.

use super::find::Engine;
use super::state::Session;
use crate::catalog::call_name::NameStyle;
use crate::search::{Answer, Error, Filters, Query, Request, search};
use crate::tool::{Exposure, ToolId};

/// How `search_tools` looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// Hits wanted, `1..=`[`MAX_LIMIT`](crate::search::request::MAX_LIMIT).
    pub limit: usize,
    /// Which tools count.
    pub filters: Filters,
}

impl Session {
    /// Searches what code may call, and loads nothing.
    ///
    /// # Errors
    /// What [`search()`] says.
    pub fn search_tools(
        &self,
        query: &str,
        options: &SearchOptions,
        engine: Engine<'_>,
    ) -> Result<Answer, Error> {
        let request = Request {
            query: Query::text(query),
            filters: options.filters.clone(),
            ..Request::new("", options.limit)
        };
        let (surface, view) = (&self.surface, self.surface.callable());
        search(
            &surface.index,
            engine.embedder,
            view,
            &request,
            engine.config,
        )
    }

    /// The tools that a name means to code: by key or call name, else all of the bare name.
    pub fn describe_tool(&self, name: &str) -> Vec<ToolId> {
        let surface = &self.surface;
        let is_shown = |tool: &ToolId| {
            surface
                .exposure(*tool)
                .is_some_and(|exposure| exposure != Exposure::Hidden)
        };
        let keys = [NameStyle::Key, self.style];
        let keys = keys.map(|style| surface.names(style).tool(surface, name));
        if let Some(tool) = keys.into_iter().flatten().find(is_shown) {
            return vec![tool];
        }
        let named = surface.index.catalog.with_name(name).iter().copied();
        named
            .filter(|tool| surface.tool(*tool).name == name)
            .filter(is_shown)
            .collect()
    }
}
