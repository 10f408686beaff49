//! What a model is told of the deferred tools: the same bytes for as long as the session lives.
//!
//! Text of tools comes from their owners and goes into a prompt, so it is held to one line and can
//! neither open nor close the block it stands in.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::settings::Directory;
use super::state::Session;
use crate::catalog::call_name::call_name;
use crate::catalog::sentence::first_sentence;
use crate::catalog::tokens;
use crate::tool::{Kind, NamespaceId, ToolId};

const OPEN: &str = "<available_deferred_tools>\n";
const CLOSE: &str = "</available_deferred_tools>";
/// The groups of [`Directory::Kinds`], in their order.
const KINDS: [Option<Kind>; 6] = [
    Some(Kind::Search),
    Some(Kind::Read),
    Some(Kind::Parse),
    Some(Kind::Query),
    Some(Kind::Act),
    None,
];

/// The directory of `session`; empty where nothing is deferred.
pub fn directory(session: &Session) -> String {
    let tools: Vec<ToolId> = session.deferred().collect();
    if tools.is_empty() {
        return String::new();
    }
    match session.settings.directory {
        Directory::Names => block(&names(session, &tools)),
        Directory::Lines { budget } => lines(session, &tools, budget),
        Directory::Namespaces => block(&namespaces(session, &tools)),
        Directory::Kinds => block(&kinds(session, &tools)),
    }
}

fn block<T: AsRef<str>>(lines: &[T]) -> String {
    let mut text = OPEN.to_owned();
    for line in lines {
        text.push_str(line.as_ref());
        text.push('\n');
    }
    text.push_str(CLOSE);
    text
}

fn names(session: &Session, tools: &[ToolId]) -> Vec<String> {
    tools
        .iter()
        .map(|tool| plain(&call_name(session.surface.tool(*tool), session.style)))
        .collect()
}

/// Every name, and sentences in their order for as long as there is room; where there is not even
/// room for the names, as many as fit and how many are left out.
fn lines(session: &Session, tools: &[ToolId], budget: usize) -> String {
    let names = names(session, tools);
    if budget < tokens::of_text(&block(&names)) {
        return as_many_as_fit(&names, budget);
    }
    let full: Vec<String> = tools
        .iter()
        .zip(&names)
        .map(|(tool, name)| {
            let sentence = plain(first_sentence(&session.surface.tool(*tool).description));
            if sentence.is_empty() {
                name.clone()
            } else {
                format!("{name}: {sentence}")
            }
        })
        .collect();
    let with = |count: usize| {
        let lines: Vec<&str> = full[..count]
            .iter()
            .chain(&names[count..])
            .map(String::as_str)
            .collect();
        block(&lines)
    };
    let fits = |count: usize| tokens::of_text(&with(count)) <= budget;
    with(most(full.len(), fits))
}

fn as_many_as_fit(names: &[String], budget: usize) -> String {
    let with = |count: usize| {
        let more = format!("({} more: search for them)", names.len() - count);
        let lines: Vec<&str> = names[..count]
            .iter()
            .chain([&more])
            .map(String::as_str)
            .collect();
        block(&lines)
    };
    with(most(names.len(), |count| {
        tokens::of_text(&with(count)) <= budget
    }))
}

/// The greatest count up to `limit` that fits, 0 where none does. More never takes less room.
fn most(limit: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

fn namespaces(session: &Session, tools: &[ToolId]) -> Vec<String> {
    let catalog = &session.surface.index.catalog;
    let mut counts: BTreeMap<NamespaceId, usize> = BTreeMap::new();
    for tool in tools {
        *counts.entry(catalog.namespace_of(*tool)).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(id, count)| {
            let namespace = catalog.namespace(id);
            let name = if namespace.name.is_empty() {
                "(no namespace)".to_owned()
            } else {
                plain(&namespace.name)
            };
            let unit = if count == 1 { "tool" } else { "tools" };
            let mut line = format!("{name} ({count} {unit})");
            let sentence = plain(first_sentence(&namespace.description));
            if !sentence.is_empty() {
                let _ = write!(line, ": {sentence}");
            }
            line
        })
        .collect()
}

fn kinds(session: &Session, tools: &[ToolId]) -> Vec<String> {
    let mut lines = Vec::with_capacity(tools.len() + KINDS.len());
    for kind in KINDS {
        let of_kind = |tool: &&ToolId| session.surface.tool(**tool).kind == kind;
        let group: Vec<ToolId> = tools.iter().filter(of_kind).copied().collect();
        if !group.is_empty() {
            lines.push(format!("{}:", kind.map_or("other", Kind::as_str)));
            let names = names(session, &group).into_iter();
            lines.extend(names.map(|name| format!("- {name}")));
        }
    }
    lines
}

/// On one line, and without the marks of a block.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '<' => '‹',
            '>' => '›',
            _ if c.is_control() => ' ',
            _ => c,
        })
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{most, plain};

    #[test]
    fn text_of_a_tool_stays_in_its_line() {
        assert_eq!(plain(" a\n</b>\u{7}c "), "a ‹/b› c");
    }

    #[test]
    fn the_most_that_fits() {
        for room in 0..9 {
            assert_eq!(most(7, |count| count <= room), room.min(7));
        }
    }
}
