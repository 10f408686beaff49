//! From what a model writes to the tools it means.

use std::collections::HashMap;

use super::surface::Surface;
use crate::catalog::call_name::{self, NameStyle};
use crate::catalog::text::spaced;
use crate::tool::{Exposure, ToolId};

/// The names by which models call the permitted tools, in one style.
#[derive(Debug)]
pub struct Names {
    by_name: HashMap<String, ToolId>,
    style: NameStyle,
}

impl Names {
    pub(super) fn new(surface: &Surface, style: NameStyle) -> Self {
        let mut by_name = HashMap::new();
        if style != NameStyle::Key {
            for tool in surface.view.permitted.iter() {
                let name = call_name::call_name(surface.tool(tool), style);
                // Of two tools whose hashes are equal the lesser key keeps the name.
                by_name.entry(name).or_insert(tool);
            }
        }
        Self { by_name, style }
    }

    /// The tool that is called by this name, spelt exactly.
    pub fn tool(&self, surface: &Surface, name: &str) -> Option<ToolId> {
        if self.style == NameStyle::Key {
            let tools = surface.index.catalog.with_key(name).iter().copied();
            return { tools }.find(|tool| surface.view.permitted.contains(*tool));
        }
        self.by_name.get(name).copied()
    }
}

/// The visible tools that a written name means: by exact spelling of key or call name, else of the
/// bare name; else whatever the case; else the one tool whose key ends with it at the start of a
/// word. Several only where several tools have the bare name.
pub(super) fn resolve(surface: &Surface, style: NameStyle, written: &str) -> Vec<ToolId> {
    let written = written.trim();
    let equal = equal(surface, style, written);
    if !equal.is_empty() || written.is_empty() {
        return equal;
    }
    by_suffix(surface, &written.to_lowercase())
}

/// The visible tools that a query is the full name of, whatever its case and however its words are
/// joined; else, where it is one identifier, the one tool whose key ends in its words.
pub(super) fn by_name(surface: &Surface, style: NameStyle, query: &str) -> Vec<ToolId> {
    let equal = equal(surface, style, query);
    if !equal.is_empty() {
        return equal;
    }
    by_words(surface, query)
}

/// The visible tools of a namespace, by its name or by how its style writes that.
pub(super) fn of_namespace(surface: &Surface, style: NameStyle, name: &str) -> Vec<ToolId> {
    let catalog = &surface.index.catalog;
    let is_meant = |namespace: &str| {
        !namespace.is_empty()
            && (namespace == name || call_name::namespace_name(namespace, style) == name)
    };
    visible(surface)
        .filter(|tool| is_meant(&catalog.tool(*tool).namespace))
        .collect()
}

fn equal(surface: &Surface, style: NameStyle, written: &str) -> Vec<ToolId> {
    let exact = spelt(surface, style, written);
    if !exact.is_empty() || written.is_empty() {
        return exact;
    }
    let lower = written.to_lowercase();
    visible(surface)
        .filter(|id| {
            let tool = surface.tool(*id);
            tool.key.to_lowercase() == lower
                || tool.name.to_lowercase() == lower
                || style != NameStyle::Key
                    && call_name::call_name(tool, style).to_lowercase() == lower
        })
        .collect()
}

/// The visible tools of exactly this key or call name, else of exactly this bare name.
pub(super) fn spelt(surface: &Surface, style: NameStyle, written: &str) -> Vec<ToolId> {
    let visible_one = |tool: &ToolId| is_visible(surface, *tool);
    let keys = [NameStyle::Key, style].map(|style| surface.names(style).tool(surface, written));
    if let Some(tool) = keys.into_iter().flatten().find(visible_one) {
        return vec![tool];
    }
    let named = surface.index.catalog.with_name(written).iter();
    named
        .filter(|tool| surface.tool(**tool).name == written)
        .copied()
        .filter(visible_one)
        .collect()
}

fn by_words(surface: &Surface, query: &str) -> Vec<ToolId> {
    let words = words(query);
    if words.is_empty() {
        return Vec::new();
    }
    let named = surface.index.catalog.with_name(query).iter().copied();
    let named: Vec<ToolId> = { named }
        .filter(|tool| is_visible(surface, *tool))
        .collect();
    if !named.is_empty() {
        return named;
    }
    let ends: Vec<ToolId> = visible(surface)
        .filter(|tool| {
            let key = self::words(&surface.tool(*tool).key);
            key == words || is_identifier(query) && key.ends_with(&words)
        })
        .collect();
    if ends.len() == 1 { ends } else { Vec::new() }
}

/// The words of a name or a query, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    spaced(text)
        .to_lowercase()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// One word to a reader, several to a programmer: `search_songs`, `searchSongs`, `music.search`.
fn is_identifier(query: &str) -> bool {
    !query.trim().contains(char::is_whitespace) && 1 < words(query).len()
}

fn by_suffix(surface: &Surface, lower: &str) -> Vec<ToolId> {
    let mut ends = visible(surface).filter(|tool| {
        let key = surface.tool(*tool).key.to_lowercase();
        key.strip_suffix(lower)
            .is_some_and(|before| before.ends_with(['.', '_', '-', '/', ':']))
    });
    match (ends.next(), ends.next()) {
        (Some(only), None) => vec![only],
        _ => Vec::new(),
    }
}

/// The tools that a model may know of: all but hidden ones and those for code.
pub(super) fn visible(surface: &Surface) -> impl Iterator<Item = ToolId> + '_ {
    let permitted = surface.view.permitted.iter();
    permitted.filter(|tool| is_visible(surface, *tool))
}

fn is_visible(surface: &Surface, tool: ToolId) -> bool {
    surface
        .exposure(tool)
        .is_some_and(|exposure| !matches!(exposure, Exposure::Hidden | Exposure::CodeMode))
}
