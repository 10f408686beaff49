//! Runs of one script in a text, and the parts of an identifier. Nothing here knows words.

use unicode_normalization::char::is_combining_mark;

/// How words are told apart in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// By spaces: Latin, Cyrillic, Greek, Arabic, Devanagari and whatever else there is.
    Spaced,
    /// Chinese characters: by a dictionary.
    Han,
    /// Kana and Hangul, one character a syllable.
    Syllables,
    /// Thai, Lao, Khmer, Burmese: not at all.
    Unspaced,
}

/// Adjacent characters of one script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run<'a> {
    pub(super) script: Script,
    pub(super) text: &'a [char],
    /// A line break lies before it: it is no neighbour of the run before.
    pub(super) breaks: bool,
}

/// The runs of a text in order; what is neither letter nor digit separates and is left out.
pub(super) fn runs(text: &[char]) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut breaks = false;
    let mut at = 0;
    while at < text.len() {
        let Some(script) = script(text[at]) else {
            breaks |= text[at] == '\n';
            at += 1;
            continue;
        };
        let start = at;
        while at < text.len() && continues(script, text[at]) {
            at += 1;
        }
        runs.push(Run {
            script,
            text: &text[start..at],
            breaks,
        });
        breaks = false;
        at += possessive(script, &text[at..]);
    }
    runs
}

/// Length of an apostrophe and `s` (or the `t` of "don't") at the head of `rest` that ends a word
/// and says nothing.
fn possessive(script: Script, rest: &[char]) -> usize {
    let ends = |at: usize| rest.get(at).is_none_or(|c| !c.is_alphanumeric());
    match rest {
        ['\'' | '\u{2019}', 's' | 'S' | 't' | 'T', ..] if script == Script::Spaced && ends(2) => 2,
        _ => 0,
    }
}

fn continues(run: Script, c: char) -> bool {
    is_combining_mark(c) || script(c) == Some(run)
}

fn script(c: char) -> Option<Script> {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Some(Script::Spaced),
        '\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Some(Script::Han),
        '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => Some(Script::Han),
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}' => Some(Script::Syllables),
        '\u{ac00}'..='\u{d7af}' => Some(Script::Syllables),
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
            c.is_alphanumeric().then_some(Script::Unspaced)
        }
        _ => c.is_alphanumeric().then_some(Script::Spaced),
    }
}

/// The parts of an identifier: split where a small letter or digit meets a capital that starts a
/// word (`aB`, `2Be`), and before the last of several capitals (`HTTPServer`). Digits stay with
/// the letters before them, and `3D` stays whole.
pub(super) fn split_case(run: &[char]) -> Vec<&[char]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..run.len() {
        let (before, c) = (run[at - 1], run[at]);
        let next_is_small = run.get(at + 1).is_some_and(|c| c.is_lowercase());
        let starts = c.is_uppercase()
            && (before.is_lowercase()
                || ((before.is_uppercase() || before.is_numeric()) && next_is_small));
        if starts {
            parts.push(&run[start..at]);
            start = at;
        }
    }
    parts.push(&run[start..]);
    parts
}
