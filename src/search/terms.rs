//! The words of a request, and what each of them weighs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::config::WordWeights;
use super::parts;
use crate::access::Permitted;
use crate::index::analyze::{TokenKind, analyze, is_boilerplate};
use crate::index::lexical::{Lexical, QueryTerm};

/// Share of a request's bytes from which on its quotes are no arguments but the request itself.
const MAX_QUOTED_SHARE: f32 = 0.6;
/// Terms that one text gives at most, heaviest first: a page of text is not a query.
const MAX_TERMS: usize = 96;

static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)```.*?```|https?://\S+|www\.\S+|\S+@\S+\.\w+").expect("a constant pattern")
});

#[derive(Default)]
struct Seen {
    occurrences: f32,
    kind: Option<TokenKind>,
    /// It stands in quotes wherever it stands.
    quoted: bool,
}

/// The distinct terms of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Terms {
    /// With their weights, in ascending order of term.
    pub(super) query: Vec<QueryTerm>,
    /// What each is.
    pub(super) roles: Vec<Role>,
}

/// What a term is to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A word that says what is wanted.
    Content,
    /// A word of an argument, or one with which people ask for anything.
    Aside,
    /// A piece of a word, or words joined: a net under the words.
    Net,
}

/// The distinct terms of `text`.
///
/// Depends on the permitted tools only through [`Lexical::is_word`].
pub(super) fn terms(
    text: &str,
    lexical: &Lexical,
    permitted: &Permitted,
    weights: &WordWeights,
) -> Terms {
    let text = NOISE.replace_all(text, " ");
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for (piece, quoted) in pieces(&text) {
        for token in analyze(piece) {
            let entry = seen.entry(token.text).or_insert_with(|| Seen {
                quoted: true,
                ..Seen::default()
            });
            entry.occurrences += 1.0;
            entry.quoted &= quoted;
            // A term that comes as a word and as a joint is a word.
            entry.kind = Some(entry.kind.map_or(token.kind, |kind| kind.min(token.kind)));
        }
    }
    let mut terms: Vec<(QueryTerm, Role)> = seen
        .into_iter()
        .map(|(text, seen)| {
            let weight = weigh(&text, &seen, weights, || lexical.is_word(&text, permitted));
            let role = role(&text, &seen);
            (QueryTerm { text, weight }, role)
        })
        .filter(|(term, _)| 0.0 < term.weight)
        .collect();
    if MAX_TERMS < terms.len() {
        let heaviest_first = |a: &(QueryTerm, Role), b: &(QueryTerm, Role)| {
            b.0.weight
                .total_cmp(&a.0.weight)
                .then_with(|| a.0.text.cmp(&b.0.text))
        };
        terms.sort_by(heaviest_first);
        terms.truncate(MAX_TERMS);
        terms.sort_by(|a, b| a.0.text.cmp(&b.0.text));
    }
    let (query, roles) = terms.into_iter().unzip();
    Terms { query, roles }
}

fn role(text: &str, seen: &Seen) -> Role {
    match seen.kind {
        Some(TokenKind::Word | TokenKind::HanWord) if seen.quoted || is_boilerplate(text) => {
            Role::Aside
        }
        Some(TokenKind::Word | TokenKind::HanWord) => Role::Content,
        _ => Role::Net,
    }
}

fn weigh(text: &str, seen: &Seen, weights: &WordWeights, is_word: impl Fn() -> bool) -> f32 {
    let by_kind = match seen.kind {
        None | Some(TokenKind::Word | TokenKind::HanWord) => 1.0,
        Some(TokenKind::HanCharacter) => weights.han_character,
        Some(TokenKind::Bigram) => weights.bigram,
        Some(TokenKind::Compound | TokenKind::Joined) if is_word() => weights.joined_word,
        Some(TokenKind::Compound | TokenKind::Joined) => weights.joined,
    };
    let quoted = if seen.quoted { weights.quoted } else { 1.0 };
    let asking = if is_boilerplate(text) {
        weights.boilerplate
    } else {
        1.0
    };
    by_kind * quoted * asking * seen.occurrences.powf(weights.repeat_power)
}

/// The text in pieces, each with whether it stands in quotes.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    let quotes = parts::quoted(text);
    let inside: usize = quotes.iter().map(|range| range.len()).sum();
    if text.len() as f32 * MAX_QUOTED_SHARE < inside as f32 {
        return vec![(text, false)];
    }
    let mut pieces = Vec::with_capacity(2 * quotes.len() + 1);
    let mut start = 0;
    for quote in quotes {
        pieces.push((&text[start..quote.start], false));
        start = quote.end;
        pieces.push((&text[quote], true));
    }
    pieces.push((&text[start..], false));
    pieces
}
