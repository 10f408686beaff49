//! Text to tokens, the same for tools and for requests.
//!
//! Text is brought to NFKC and cut into runs of one script. Runs of spaced scripts become lower-case
//! words, identifiers split at changes of case (`_ - . /` separate anyway), English stemmed. Runs of
//! Chinese become dictionary words and all their pairs of characters; Japanese syllables, Hangul and
//! scripts written without spaces become pairs. Function words, lone letters and bare numbers say
//! nothing of a tool and are dropped.
//!
//! Words that belong together are written apart as often as not ("screen shot", `screen_shot`,
//! `screenShot`, "screenshot"), so neighbours are also given joined.
//!
//! The cost is linear in the text and bounded: see [`MAX_CHARACTERS`].

mod han;
mod run;
mod stop;

use unicode_normalization::UnicodeNormalization;

use run::{Run, Script};

pub use stop::is_boilerplate;

/// Changes whenever the same text may give other tokens: an index made by another version is not
/// read but built again.
pub const ANALYZER_VERSION: u32 = 1;

/// Characters (after NFKC) that are looked at; the rest of a longer text is ignored.
pub const MAX_CHARACTERS: usize = 1 << 16;

/// Characters kept of one word of a spaced script.
const MAX_WORD: usize = 64;

/// Characters that two joined words have at least: shorter ones join to words of their own
/// ("is"+"it").
const MIN_JOINED: usize = 5;

/// A token, as it is stored and looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The text: NFKC, lower case, stemmed where English.
    pub text: String,
    /// Where it comes from, by which a request may weight it.
    pub kind: TokenKind,
}

/// Where a token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// A word of a spaced script, or a part of an identifier.
    Word,
    /// A Chinese word of two or more characters.
    HanWord,
    /// A Chinese word of one character.
    HanCharacter,
    /// Two adjacent characters of a script written without spaces.
    Bigram,
    /// An identifier as a whole, where its case splits it: `github` of `GitHub`.
    Compound,
    /// Two adjacent words, joined.
    Joined,
}

/// The tokens of a text in the order of reading; equal tokens come as often as they occur.
///
/// ```
/// use toolscout::index::analyze::{analyze, TokenKind};
/// let words = |text| -> Vec<String> {
///     analyze(text)
///         .into_iter()
///         .filter(|token| token.kind == TokenKind::Word)
///         .map(|token| token.text)
///         .collect()
/// };
/// assert_eq!(words("getWeather_v2.byCity"), ["get", "weather", "v2", "citi"]);
/// assert_eq!(words("The user's 3D models"), ["user", "3d", "model"]);
/// ```
pub fn analyze(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut previous: Option<String> = None;
    let normal: Vec<char> = text.nfkc().take(MAX_CHARACTERS).collect();
    for Run {
        script,
        text,
        breaks,
    } in run::runs(&normal)
    {
        if breaks {
            previous = None;
        }
        match script {
            Script::Spaced => words(text, &mut previous, &mut tokens),
            Script::Han => han::tokens(text, &mut tokens),
            Script::Syllables => syllables(text, &mut tokens),
            Script::Unspaced => bigrams(text, &mut tokens),
        }
        if script != Script::Spaced {
            previous = None;
        }
    }
    tokens
}

/// The tokens of a run of a spaced script. `previous` is the word before it, whatever it was.
fn words(run: &[char], previous: &mut Option<String>, tokens: &mut Vec<Token>) {
    let parts = run::split_case(run);
    for part in &parts {
        let word: String = part
            .iter()
            .take(MAX_WORD)
            .flat_map(|c| c.to_lowercase())
            .collect();
        if let Some(before) = previous.take() {
            push_joined(&before, &word, tokens);
        }
        if !is_noise(&word) {
            push(tokens, stem(&word), TokenKind::Word);
        }
        *previous = Some(word);
    }
    if parts.len() > 1 {
        let whole: String = run
            .iter()
            .take(MAX_WORD)
            .flat_map(|c| c.to_lowercase())
            .collect();
        push(tokens, stem(&whole), TokenKind::Compound);
    }
}

fn push_joined(before: &str, word: &str, tokens: &mut Vec<Token>) {
    let joined = before.len() + word.len();
    if (MIN_JOINED..=MAX_WORD).contains(&joined)
        && before.is_ascii()
        && word.is_ascii()
        && !(stop::is_stop_word(before) && stop::is_stop_word(word))
    {
        push(tokens, stem(&format!("{before}{word}")), TokenKind::Joined);
    }
}

/// Hangul and kana: the run as a word (it often is one), and its pairs.
fn syllables(run: &[char], tokens: &mut Vec<Token>) {
    if (3..=MAX_WORD).contains(&run.len()) {
        push(tokens, run.iter().collect(), TokenKind::Word);
    }
    bigrams(run, tokens);
}

fn bigrams(run: &[char], tokens: &mut Vec<Token>) {
    for pair in run.windows(2) {
        push(tokens, pair.iter().collect(), TokenKind::Bigram);
    }
}

fn push(tokens: &mut Vec<Token>, text: String, kind: TokenKind) {
    tokens.push(Token { text, kind });
}

/// A function word, a lone letter or a bare number.
fn is_noise(word: &str) -> bool {
    let mut characters = word.chars();
    let lone = characters.next().is_none() || characters.next().is_none();
    lone || word.chars().all(char::is_numeric) || stop::is_stop_word(word)
}

/// English words by their stem; anything else as it is.
fn stem(word: &str) -> String {
    use std::sync::LazyLock;

    use rust_stemmers::{Algorithm, Stemmer};
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    if word.bytes().all(|b| b.is_ascii_alphabetic()) {
        ENGLISH.stem(word).into_owned()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests;
