//! A session: what was exposed when it opened, and what has been loaded since.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::SEARCH_NAME;
use super::names;
use super::settings::{Opening, Outcome, Settings};
use super::surface::Surface;
use crate::catalog::call_name::NameStyle;
use crate::tool::{Exposure, ToolId};

/// Why a session exposes everything from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// Searching for tools is switched off.
    Disabled,
    /// No tool is deferred.
    NothingDeferred,
    /// A permitted tool already has the name of the search tool.
    NameTaken,
}

impl Fallback {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NothingDeferred => "nothing_deferred",
            Self::NameTaken => "name_taken",
        }
    }
}

/// Where a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// The model's own call, or one recovered from its text.
    Model,
    /// Code that the model wrote.
    Code,
}

/// Whether a call may run this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// It may.
    Now(ToolId),
    /// It is the search tool.
    Search,
    /// It was loaded this turn and may run from the next one on.
    NextTurn(ToolId),
    /// It must be searched for first.
    NotLoaded(ToolId),
    /// It is shown, and not to be called.
    DeclarationOnly(ToolId),
    /// Several tools have this name.
    Ambiguous,
    /// There is none of this name that may be called this way. One answer for what does not exist,
    /// what is forbidden, and what is hidden.
    Unknown,
}

/// One request of one user.
#[derive(Debug, Clone)]
pub struct Session {
    /// What it was opened over.
    pub surface: Arc<Surface>,
    /// What it was opened with.
    pub settings: Arc<Settings>,
    /// How its model names tools.
    pub style: NameStyle,
    /// Why everything is exposed, where it is.
    pub fallback: Option<Fallback>,
    /// Exposed from the start though deferred by exposure, ascending.
    promoted: BTreeSet<ToolId>,
    /// Kept from the model, which has its result.
    prefetched: BTreeSet<ToolId>,
    /// In the order of loading, each with the turn in which it was loaded.
    loaded: Vec<(ToolId, u64)>,
    turn: u64,
    deferred: usize,
}

impl Session {
    /// Opens a session over `surface`. Names of `opening` that do not exist are skipped.
    pub fn open(
        surface: Arc<Surface>,
        settings: Arc<Settings>,
        style: NameStyle,
        opening: &Opening,
    ) -> Self {
        let mut session = Self {
            surface,
            settings,
            style,
            fallback: None,
            promoted: BTreeSet::new(),
            prefetched: BTreeSet::new(),
            loaded: Vec::new(),
            turn: 1,
            deferred: 0,
        };
        session.prefetch(opening);
        let always = session.settings.always_loaded.iter();
        let always: Vec<ToolId> = always
            .chain(&opening.always_loaded)
            .flat_map(|name| names::spelt(&session.surface, style, name))
            .collect();
        session.promote(&always);
        session.fallback = session.reason_to_expose_all();
        if session.fallback.is_some() {
            let all: Vec<ToolId> = session.deferred_now().collect();
            session.promote(&all);
        }
        session.deferred = session.deferred_now().count();
        for name in &opening.already_loaded {
            for tool in names::spelt(&session.surface, style, name) {
                if session.is_deferred(tool) && !session.is_loaded(tool) {
                    session.loaded.push((tool, 0));
                }
            }
        }
        session
    }

    /// Hides what was prefetched well, and exposes the rest of what was prefetched.
    fn prefetch(&mut self, opening: &Opening) {
        for prefetched in &opening.prefetched {
            let tools = names::spelt(&self.surface, self.style, &prefetched.tool);
            if opening.hide_prefetched && prefetched.outcome == Outcome::Success {
                self.prefetched.extend(tools);
            } else {
                self.promote(&tools);
            }
        }
    }

    fn promote(&mut self, tools: &[ToolId]) {
        for tool in tools {
            if self.surface.exposure(*tool) == Some(Exposure::Deferred) {
                self.promoted.insert(*tool);
            }
        }
    }

    fn reason_to_expose_all(&self) -> Option<Fallback> {
        let has_the_name = |tool: ToolId| self.surface.tool(tool).name == SEARCH_NAME;
        if !self.settings.enabled {
            Some(Fallback::Disabled)
        } else if self.surface.view.permitted.iter().any(has_the_name) {
            Some(Fallback::NameTaken)
        } else if self.deferred_now().next().is_none() {
            Some(Fallback::NothingDeferred)
        } else {
            None
        }
    }

    /// The turn, from 1: what was loaded in it may be called from the next one on.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// Begins the next turn of the model.
    pub fn next_turn(&mut self) {
        self.turn += 1;
    }

    /// How many tools were deferred when the session opened.
    pub fn total_deferred(&self) -> usize {
        self.deferred
    }

    /// The tools that were deferred when the session opened, in ascending order of key.
    pub fn deferred(&self) -> impl Iterator<Item = ToolId> + '_ {
        self.deferred_now()
    }

    // Loading does not touch `promoted`, so this stays what it was at the opening.
    fn deferred_now(&self) -> impl Iterator<Item = ToolId> + '_ {
        let deferred = self.surface.exposed_as(Exposure::Deferred);
        deferred.filter(|tool| self.is_deferred(*tool))
    }

    /// The tool was deferred when the session opened.
    pub fn is_deferred(&self, tool: ToolId) -> bool {
        self.surface.exposure(tool) == Some(Exposure::Deferred)
            && !self.promoted.contains(&tool)
            && !self.prefetched.contains(&tool)
    }

    /// The tool was loaded, in this turn or before.
    pub fn is_loaded(&self, tool: ToolId) -> bool {
        self.loaded.iter().any(|(loaded, _)| *loaded == tool)
    }

    /// Its result was fetched before the model was asked, so the model does not see it.
    pub fn is_prefetched(&self, tool: ToolId) -> bool {
        self.prefetched.contains(&tool)
    }

    /// The tool is exposed from the start, or loaded.
    pub fn is_active(&self, tool: ToolId) -> bool {
        self.is_exposed(tool) || self.is_loaded(tool)
    }

    fn is_exposed(&self, tool: ToolId) -> bool {
        match self.surface.exposure(tool) {
            Some(Exposure::Direct | Exposure::DeclarationOnly) => !self.is_prefetched(tool),
            Some(Exposure::Deferred) => self.promoted.contains(&tool) && !self.is_prefetched(tool),
            Some(Exposure::CodeMode | Exposure::Hidden) | None => false,
        }
    }

    /// The tools that are exposed from the start, in ascending order of key: the same for as long as
    /// the session lives.
    pub fn exposed(&self) -> impl Iterator<Item = ToolId> + '_ {
        let permitted = self.surface.view.permitted.iter();
        permitted.filter(|tool| self.is_exposed(*tool))
    }

    /// The loaded tools in the order of loading. Only ever appended to.
    pub fn loaded(&self) -> impl Iterator<Item = ToolId> + '_ {
        self.loaded.iter().map(|(tool, _)| *tool)
    }

    /// Loads tools: those among `tools` that are deferred and not loaded yet.
    pub fn load(&mut self, tools: &[ToolId]) {
        for tool in tools {
            if self.is_deferred(*tool) && !self.is_loaded(*tool) {
                self.loaded.push((*tool, self.turn));
            }
        }
    }

    /// Whether a call by this name may run this turn. For a call that was recovered from text the
    /// same holds as for any other.
    pub fn allowed(&self, name: &str, via: Via) -> Allowed {
        if name == SEARCH_NAME && self.fallback.is_none() {
            return Allowed::Search;
        }
        let tools = match via {
            Via::Model => names::spelt(&self.surface, self.style, name),
            Via::Code => self.named_for_code(name),
        };
        let states: Vec<Allowed> = tools.iter().map(|tool| self.state(*tool, via)).collect();
        let mut now = states
            .iter()
            .filter(|state| matches!(state, Allowed::Now(_)));
        match (now.next(), now.next(), states.as_slice()) {
            (Some(only), None, _) | (None, _, [only]) => *only,
            (None, _, []) => Allowed::Unknown,
            _ => Allowed::Ambiguous,
        }
    }

    fn named_for_code(&self, name: &str) -> Vec<ToolId> {
        let surface = &self.surface;
        let permitted = |tool: &ToolId| surface.view.permitted.contains(*tool);
        let keys = [NameStyle::Key, self.style];
        let keys = keys.map(|style| surface.names(style).tool(surface, name));
        if let Some(tool) = keys.into_iter().flatten().next() {
            return vec![tool];
        }
        let named = surface.index.catalog.with_name(name).iter().copied();
        let named = named.filter(|tool| surface.tool(*tool).name == name);
        named.filter(permitted).collect()
    }

    fn state(&self, tool: ToolId, via: Via) -> Allowed {
        let exposure = self.surface.exposure(tool);
        if self.is_prefetched(tool) {
            return Allowed::Unknown;
        }
        match (exposure, via) {
            (None | Some(Exposure::Hidden), _) => Allowed::Unknown,
            (Some(Exposure::DeclarationOnly), _) => Allowed::DeclarationOnly(tool),
            (Some(_), Via::Code) => Allowed::Now(tool),
            (Some(Exposure::CodeMode), Via::Model) => Allowed::Unknown,
            (Some(Exposure::Direct), Via::Model) => Allowed::Now(tool),
            (Some(Exposure::Deferred), Via::Model) => self.deferred_state(tool),
        }
    }

    fn deferred_state(&self, tool: ToolId) -> Allowed {
        let loaded = self.loaded.iter().find(|(loaded, _)| *loaded == tool);
        match loaded {
            _ if self.promoted.contains(&tool) => Allowed::Now(tool),
            Some((_, turn)) if *turn < self.turn => Allowed::Now(tool),
            Some(_) => Allowed::NextTurn(tool),
            None => Allowed::NotLoaded(tool),
        }
    }
}
