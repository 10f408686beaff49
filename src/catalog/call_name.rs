//! The name that a model calls a tool by, within what its provider takes for a name.
//!
//! A name depends on the tool alone, never on what else is there or came first, so it stays the same
//! whatever else connects. Readable where that can be read back (`logistics/get_eta` is
//! `logistics__get_eta`), else cut and marked with a hash of the key. Two keys never share a name, but
//! for a chance of 2^-48 a pair, and [`collisions`] finds those.

use std::collections::HashMap;

use crate::tool::{Tool, ToolId};

/// Hexadecimal digits of a hash in a name.
const DIGITS: usize = 12;
/// What stands before the hash.
const MARK: &str = "_h";

/// What a provider takes for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NameStyle {
    /// Whatever the key is.
    #[default]
    Key,
    /// `^[a-zA-Z0-9_-]{1,64}$`: functions of OpenAI.
    OpenAi,
    /// `^[a-zA-Z0-9_-]{1,128}$`: tools of Anthropic.
    Anthropic,
    /// `^[a-zA-Z0-9_.-]{1,128}$`: tools of MCP, as its revision 2025-11-25 advises.
    Mcp,
}

impl NameStyle {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Key, Self::OpenAi, Self::Anthropic, Self::Mcp];

    /// Characters of a name at most.
    pub fn max_len(self) -> usize {
        match self {
            Self::Key => usize::MAX,
            Self::OpenAi => 64,
            Self::Anthropic | Self::Mcp => 128,
        }
    }

    fn takes(self, c: char) -> bool {
        match self {
            Self::Key => true,
            Self::OpenAi | Self::Anthropic => c.is_ascii_alphanumeric() || c == '_' || c == '-',
            Self::Mcp => c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
        }
    }
}

/// The name that a model calls `tool` by.
pub fn call_name(tool: &Tool, style: NameStyle) -> String {
    // An opaque identity says nothing to a model; one that holds the name does.
    if tool.key.ends_with(&tool.name) {
        encode(&tool.key, &tool.key, style)
    } else {
        let path = format!("{}/{}", tool.namespace, tool.name);
        hashed(path.trim_start_matches('/'), &tool.key, style)
    }
}

/// The name of `tool` where its namespace is named beside it.
pub fn name_in_namespace(tool: &Tool, style: NameStyle) -> String {
    let is_usual = tool.key == tool.name || tool.key == format!("{}/{}", tool.namespace, tool.name);
    if is_usual {
        encode(&tool.name, &tool.key, style)
    } else {
        hashed(&tool.name, &tool.key, style)
    }
}

/// The name of a group of tools.
pub fn namespace_name(namespace: &str, style: NameStyle) -> String {
    encode(namespace, namespace, style)
}

/// Tools that would share a name, each with the one that keeps it: the lesser key.
pub fn collisions<'a>(
    tools: impl Iterator<Item = (ToolId, &'a Tool)>,
    style: NameStyle,
) -> Vec<(ToolId, ToolId)> {
    let mut taken: HashMap<String, ToolId> = HashMap::new();
    let mut found = Vec::new();
    for (id, tool) in tools {
        let first = *taken.entry(call_name(tool, style)).or_insert(id);
        if first != id {
            found.push((id, first));
        }
    }
    found
}

/// `text` as a name: readable where it can be read back, else with a hash of `identity`.
fn encode(text: &str, identity: &str, style: NameStyle) -> String {
    if style == NameStyle::Key {
        return text.to_owned();
    }
    readable(text, style).unwrap_or_else(|| hashed(text, identity, style))
}

fn readable(text: &str, style: NameStyle) -> Option<String> {
    let mut name = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        match c {
            '/' => name.push_str("__"),
            _ if style.takes(c) => name.push(c),
            '.' => name.push_str("--"),
            _ => return None,
        }
    }
    let is_good = !name.is_empty()
        && name.len() <= style.max_len()
        && !is_hashed(&name)
        && read_back(&name, style) == text;
    is_good.then_some(name)
}

/// The text that a readable name stands for.
///
/// ```
/// use toolscout::catalog::call_name::{NameStyle, read_back};
/// assert_eq!(read_back("crm__orders--list", NameStyle::OpenAi), "crm/orders.list");
/// assert_eq!(read_back("crm__orders.list", NameStyle::Mcp), "crm/orders.list");
/// ```
pub fn read_back(name: &str, style: NameStyle) -> String {
    if style == NameStyle::Key {
        return name.to_owned();
    }
    let text = name.replace("__", "/");
    if style.takes('.') {
        text
    } else {
        text.replace("--", ".")
    }
}

/// Whether the name ends in a hash, and so must be looked for instead of read back.
pub fn is_hashed(name: &str) -> bool {
    name.len()
        .checked_sub(DIGITS + MARK.len())
        .and_then(|at| name.get(at..))
        .and_then(|end| end.strip_prefix(MARK))
        .is_some_and(|digits| {
            let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            digits.bytes().all(is_digit)
        })
}

fn hashed(text: &str, identity: &str, style: NameStyle) -> String {
    if style == NameStyle::Key {
        return identity.to_owned();
    }
    let room = style.max_len() - DIGITS - MARK.len();
    let mut name = String::with_capacity(room);
    for c in text.chars() {
        let c = if style.takes(c) { c } else { '_' };
        // What a name cannot hold is a gap, and one gap says as much as many.
        if name.len() < room && !(c == '_' && name.ends_with('_')) {
            name.push(c);
        }
    }
    let hash = blake3::hash(identity.as_bytes()).to_hex();
    format!("{}{MARK}{}", name.trim_matches('_'), &hash[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;
    use proptest::prelude::*;

    fn named(key: &str) -> Tool {
        let mut tool = fixture::tool("", key);
        tool.key = key.to_owned();
        tool
    }

    #[test]
    fn names_fit_and_say_what_they_can() {
        for (key, style, name) in [
            ("ping", NameStyle::OpenAi, "ping"),
            ("logistics/get_eta", NameStyle::OpenAi, "logistics__get_eta"),
            (
                "music.search_songs",
                NameStyle::OpenAi,
                "music--search_songs",
            ),
            ("music.search_songs", NameStyle::Mcp, "music.search_songs"),
            ("music.search_songs", NameStyle::Key, "music.search_songs"),
        ] {
            assert_eq!(call_name(&named(key), style), name);
        }
        let chinese = call_name(&named("物流/查询"), NameStyle::OpenAi);
        assert!(is_hashed(&chinese) && chinese.is_ascii(), "{chinese}");
        let long = call_name(&named(&"n".repeat(300)), NameStyle::OpenAi);
        assert!(long.len() == 64 && long.starts_with("nnnn"), "{long}");
    }

    #[test]
    fn an_opaque_identity_is_named_by_what_the_tool_is() {
        let mut tool = fixture::tool("crm", "find_customer");
        tool.key = "018f-7c".to_owned();
        let name = call_name(&tool, NameStyle::Anthropic);
        assert!(name.starts_with("crm_find_customer_h"), "{name}");
        let inside = name_in_namespace(&tool, NameStyle::OpenAi);
        assert!(inside.starts_with("find_customer_h"), "{inside}");
    }

    #[test]
    fn a_name_that_looks_hashed_is_hashed_itself() {
        let forged = call_name(&named("物流"), NameStyle::OpenAi);
        assert_ne!(call_name(&named(&forged), NameStyle::OpenAi), forged);
    }

    #[test]
    fn twins_are_found() {
        let tool = named("a");
        let twins = [(ToolId(0), &tool), (ToolId(1), &tool)];
        let found = collisions(twins.into_iter(), NameStyle::Mcp);
        assert_eq!(found, [(ToolId(1), ToolId(0))]);
    }

    proptest! {
        #[test]
        fn keys_that_differ_have_names_that_differ(
            a in "[a-cA-C_./:字-]{1,6}", b in "[a-cA-C_./:字-]{1,6}"
        ) {
            for style in NameStyle::ALL {
                let [x, y] = [&a, &b].map(|key| call_name(&named(key), style));
                prop_assert_eq!(a == b, x == y);
                prop_assert!(x.chars().all(|c| style.takes(c)) && x.len() <= style.max_len());
                if style != NameStyle::Key && !is_hashed(&x) {
                    prop_assert_eq!(read_back(&x, style), a.clone());
                }
            }
        }
    }
}
