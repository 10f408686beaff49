//! A long request, cut into what it asks for.
//!
//! "Book a table for two and then text Anna the address" is two requests in one text, and neither
//! half is near the whole. Each part is searched beside the whole. Cutting is by sentences, list
//! items and clauses, in English and Chinese, and by rule: no model is asked.

mod clause;
mod sentence;
mod values;

pub(in crate::search) use values::quoted;
pub use values::without_values;

/// Parts that one text is cut into at most; the shortest neighbours are joined beyond that.
pub const MAX_PARTS: usize = 8;
/// Words that a clause needs to stand alone, two Han characters counting as a word.
const MIN_CLAUSE: f32 = 3.0;
/// Words that any part needs.
const MIN_PART: f32 = 2.0;

/// The parts of `text` in order, at most [`MAX_PARTS`]; none where it asks for one thing only.
///
/// Values that are arguments rather than wishes (URLs, code, JSON, quoted text, long numbers) are
/// left out of the parts.
///
/// ```
/// use toolscout::search::parts::parts;
/// assert_eq!(
///     parts("Find a flight to Rome, and then book a hotel near the station."),
///     ["Find a flight to Rome", "book a hotel near the station."]
/// );
/// assert_eq!(parts("查一下明天的天气，然后提醒我出门带伞"), ["查一下明天的天气", "提醒我出门带伞"]);
/// assert!(parts("where is my parcel").is_empty());
/// ```
pub fn parts(text: &str) -> Vec<String> {
    let text = without_values(text);
    let mut parts: Vec<String> = Vec::new();
    for sentence in sentence::sentences(&text) {
        gather(&clause::clauses(sentence), &mut parts);
    }
    parts.retain(|part| MIN_PART <= words(part));
    while MAX_PARTS < parts.len() {
        join_shortest(&mut parts);
    }
    if parts.len() < 2 {
        parts.clear();
    }
    parts
}

/// Adds the clauses of one sentence, joining those too short to stand alone to what follows, or at
/// the end to what precedes.
fn gather(clauses: &[&str], parts: &mut Vec<String>) {
    let mut buffer = String::new();
    let before = parts.len();
    for clause in clauses {
        if !buffer.is_empty() {
            buffer.push(' ');
        }
        buffer.push_str(clause);
        if MIN_CLAUSE <= words(&buffer) {
            parts.push(std::mem::take(&mut buffer));
        }
    }
    if buffer.is_empty() {
        return;
    }
    let can_join = before < parts.len() || 1 < clauses.len();
    match parts.last_mut().filter(|_| can_join) {
        Some(last) => {
            last.push(' ');
            last.push_str(&buffer);
        }
        None => parts.push(buffer),
    }
}

fn join_shortest(parts: &mut Vec<String>) {
    let length = |at: usize, parts: &[String]| parts[at].len() + parts[at + 1].len();
    let Some(at) = (0..parts.len() - 1).min_by_key(|at| length(*at, parts)) else {
        return;
    };
    let next = parts.remove(at + 1);
    parts[at].push(' ');
    parts[at].push_str(&next);
}

/// How many words a text has; two Han characters count as one, since Chinese has no spaces.
fn words(text: &str) -> f32 {
    let mut words = 0.0;
    let mut inside = false;
    for c in text.chars() {
        if is_han(c) {
            words += 0.5;
            inside = false;
        } else if c.is_alphanumeric() {
            if !inside {
                words += 1.0;
            }
            inside = true;
        } else {
            inside = false;
        }
    }
    words
}

/// Whether a character is a Han ideograph (Unicode blocks Extension A, Unified, Compatibility).
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_of_several_needs_are_cut() {
        for (text, expected) in [
            (
                "Please check the order status. Also cancel the newsletter!",
                vec![
                    "Please check the order status.",
                    "Also cancel the newsletter!",
                ],
            ),
            (
                "1. list open issues 2. close the stale ones",
                vec!["list open issues", "close the stale ones"],
            ),
            (
                "Translate the report and send it to the whole team",
                vec!["Translate the report", "send it to the whole team"],
            ),
            (
                "帮我订一张去上海的票。顺便看看那边的天气怎么样？",
                vec!["帮我订一张去上海的票", "顺便看看那边的天气怎么样"],
            ),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn dots_inside_names_and_numbers_do_not_cut() {
        for text in [
            "open report.v2.pdf in version 3.5",
            "ping 10.0.0.1 every 2.5 seconds",
        ] {
            assert!(parts(text).is_empty(), "{:?}", parts(text));
        }
    }

    #[test]
    fn many_sentences_are_bounded() {
        let text = "Tell me the time in Rome. ".repeat(500);
        assert_eq!(parts(&text).len(), MAX_PARTS);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_a_fault(text in "\\PC{0,300}") {
            let parts = parts(&text);
            prop_assert!(parts.len() <= MAX_PARTS && parts.len() != 1);
        }
    }
}
