//! A query, read: what it asks, what it names, what it hints at.

use std::sync::LazyLock;

use regex::Regex;

use super::request::{Hints, MAX_NEEDS, MAX_QUERY, Query};
use super::view::View;
use crate::index::Index;
use crate::tool::ToolId;

/// `<tool_request>server: …; tool: …</tool_request>`, the form in which MCP-Zero (arXiv:2506.01056)
/// has models ask; LiveMCPBench calls it `tool_assistant`.
static TOOL_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?is)<(?:tool_request|tool_assistant)>(.*?)(?:</(?:tool_request|tool_assistant)>|$)",
    )
    .expect("a constant pattern")
});
static HINT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?is)(server|namespace|tool)\s*[:：]\s*(.*?)\s*(?:[;；\n]|$)")
        .expect("a constant pattern")
});
/// What may be the name of a tool inside a sentence: words joined as no ordinary word is.
static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9]+(?:[_./-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+")
        .expect("a constant pattern")
});
/// Identifiers looked up in one query.
const MAX_IDENTIFIERS: usize = 16;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Each thing asked for, in the caller's order; one where `needs` were not given.
    pub(super) questions: Vec<String>,
    /// What the caller thinks it knows.
    pub(super) hints: Hints,
    /// Tools that are named, in the order of naming; they come first whatever the scores say.
    pub(super) named: Vec<ToolId>,
    /// Only the named tools are wanted: the query was `select:a,b`.
    pub(super) select: bool,
}

/// Reads `query`. Only permitted tools can be named.
pub(super) fn parse(query: &Query, index: &Index, view: &View) -> Parsed {
    let text = clip(&query.text).trim();
    if let Some(names) = text.strip_prefix("select:") {
        let mut named = Vec::new();
        for name in names.split([',', '，']) {
            if let Some(tool) = resolve(name.trim(), index, view).first() {
                push_new(&mut named, *tool);
            }
        }
        return Parsed {
            questions: Vec::new(),
            hints: Hints::default(),
            named,
            select: true,
        };
    }
    let (text, hints) = with_hints(text, &query.hints);
    let mut named = Vec::new();
    for text in std::iter::once(text.as_str()).chain(query.needs.iter().map(String::as_str)) {
        for tool in mentioned(text, index, view) {
            push_new(&mut named, tool);
        }
    }
    let mut questions: Vec<String> = query
        .needs
        .iter()
        .take(MAX_NEEDS)
        .map(|need| clip(need).trim().to_owned())
        .collect();
    if query.needs.is_empty() || !text.is_empty() {
        questions.insert(0, text);
    }
    questions.retain(|question| !question.is_empty());
    Parsed {
        questions,
        hints,
        named,
        select: false,
    }
}

/// The text without its `<tool_request>` block, and the hints of both. A query that is a block and
/// nothing else asks for what it says of the tool.
fn with_hints(text: &str, given: &Hints) -> (String, Hints) {
    let mut hints = given.clone();
    let Some(block) = TOOL_REQUEST.captures(text) else {
        let text = match (&hints.tool, text.is_empty()) {
            (Some(tool), true) => tool.clone(),
            _ => text.to_owned(),
        };
        return (text, hints);
    };
    for hint in HINT.captures_iter(&block[1]) {
        let value = Some(hint[2].trim().to_owned()).filter(|value| !value.is_empty());
        match hint[1].to_ascii_lowercase().as_str() {
            "tool" => hints.tool = hints.tool.or(value),
            _ => hints.namespace = hints.namespace.or(value),
        }
    }
    let around = TOOL_REQUEST.replace(text, " ").trim().to_owned();
    let text = if around.is_empty() {
        [&hints.namespace, &hints.tool]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join(". ")
    } else {
        around
    };
    (text, hints)
}

/// The permitted tools that `text` is the name of, or that it names by an identifier inside.
fn mentioned(text: &str, index: &Index, view: &View) -> Vec<ToolId> {
    let whole = text
        .trim_matches(|c: char| c.is_whitespace() || "`'\"“”".contains(c))
        .trim_end_matches("()");
    let mut tools = exact(whole, index, view);
    for identifier in IDENTIFIER.find_iter(text).take(MAX_IDENTIFIERS) {
        tools.extend(exact(identifier.as_str(), index, view));
    }
    tools
}

/// The permitted tools of this key or name, as it is spelt; else of this name in whatever spelling.
fn exact(name: &str, index: &Index, view: &View) -> Vec<ToolId> {
    let permitted = |tools: &[ToolId]| -> Vec<ToolId> {
        let seen = tools.iter().copied();
        seen.filter(|tool| view.permitted.contains(*tool)).collect()
    };
    let by_key = permitted(index.catalog.with_key(name));
    if !by_key.is_empty() {
        return by_key;
    }
    let by_name = permitted(index.catalog.with_name(name));
    let spelt: Vec<ToolId> = by_name
        .iter()
        .copied()
        .filter(|tool| index.catalog.tool(*tool).name == name)
        .collect();
    if spelt.is_empty() { by_name } else { spelt }
}

/// The tools that a name of `select:` means: by key or name, else the one tool whose key ends so.
fn resolve(name: &str, index: &Index, view: &View) -> Vec<ToolId> {
    let tools = exact(name, index, view);
    if !tools.is_empty() || name.is_empty() {
        return tools;
    }
    let wanted = name.to_lowercase();
    let mut ends = view.permitted.iter().filter(|tool| {
        index
            .catalog
            .tool(*tool)
            .key
            .to_lowercase()
            .ends_with(&wanted)
    });
    match (ends.next(), ends.next()) {
        (Some(only), None) => vec![only],
        _ => Vec::new(),
    }
}

fn push_new(tools: &mut Vec<ToolId>, tool: ToolId) {
    if !tools.contains(&tool) {
        tools.push(tool);
    }
}

/// The first [`MAX_QUERY`] characters.
fn clip(text: &str) -> &str {
    match text.char_indices().nth(MAX_QUERY) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
