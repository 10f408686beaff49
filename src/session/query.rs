//! The query of `tool_search`: `select:a,b`, words, `+required` words.

use super::names::words;
use crate::search::request::MAX_QUERY;

/// Names that one `select:` may hold; the rest is left out.
pub const MAX_SELECTED: usize = 64;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Query {
    /// Exactly these, by name; `more` where there were too many.
    Select { names: Vec<String>, more: bool },
    /// What these words mean.
    Words {
        /// The text without the marks of required words.
        text: String,
        /// Words that a tool must have in its name, parameters or description.
        required: Vec<String>,
    },
}

/// Reads a query; what is beyond [`MAX_QUERY`] characters is not read.
pub(super) fn parse(text: &str) -> Query {
    let text = match text.char_indices().nth(MAX_QUERY) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    let text = text.trim();
    if let Some(list) = selected(text) {
        return select(list.split([',', '，']));
    }
    let mut required = Vec::new();
    let mut plain = Vec::new();
    for word in text.split_whitespace() {
        let marked = word
            .strip_prefix(['+', '＋'])
            .filter(|rest| !rest.is_empty());
        required.extend(marked.map(words).unwrap_or_default());
        plain.push(marked.unwrap_or(word));
    }
    // White space within means something to a reader of the text, so it stays where nothing is marked.
    let text = if required.is_empty() {
        text.to_owned()
    } else {
        plain.join(" ")
    };
    Query::Words { text, required }
}

/// The distinct names of a list, in its order.
pub(super) fn select<'a>(list: impl Iterator<Item = &'a str>) -> Query {
    let mut names: Vec<String> = Vec::new();
    let mut more = false;
    for name in list.map(str::trim).filter(|name| !name.is_empty()) {
        if names.iter().any(|known| known == name) {
            continue;
        }
        if names.len() == MAX_SELECTED {
            more = true;
            break;
        }
        names.push(name.to_owned());
    }
    Query::Select { names, more }
}

fn selected(text: &str) -> Option<&str> {
    let (word, list) = text.split_once([':', '：'])?;
    word.trim_end()
        .eq_ignore_ascii_case("select")
        .then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_whole_syntax() {
        for (text, names) in [
            ("select:a,b", &["a", "b"][..]),
            (" Select: a , b ,, a", &["a", "b"]),
            ("select：甲，乙", &["甲", "乙"]),
            ("select:", &[]),
        ] {
            let names = some(names);
            assert_eq!(parse(text), Query::Select { names, more: false }, "{text}");
        }
        for (text, plain, required) in [
            ("member avatar", "member avatar", &[][..]),
            ("member +user_id", "member user_id", &["user", "id"]),
            ("c++ +", "c++ +", &[]),
            ("+用户 头像", "用户 头像", &["用户"]),
            ("selected: a", "selected: a", &[]),
            ("", "", &[]),
        ] {
            let (text_read, required) = (plain.to_owned(), some(required));
            let expected = Query::Words {
                text: text_read,
                required,
            };
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let list: Vec<String> = (0..100).map(|at| format!("t{at}")).collect();
        match parse(&format!("select:{}", list.join(","))) {
            Query::Select { names, more } => assert!(more && names.len() == MAX_SELECTED),
            Query::Words { text, .. } => assert_eq!(text, "a list"),
        }
    }
}
