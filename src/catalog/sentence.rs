//! The first sentence of a description: what a list has room for.

/// Characters of a first sentence; a longer one is clipped.
const MAX_SENTENCE: usize = 300;

/// Short forms whose full stop ends no sentence.
const SHORT_FORMS: [&str; 5] = ["e.g", "i.e", "etc", "vs", "cf"];

/// The text up to its first full stop or line end; clipped where it has neither.
pub fn first_sentence(text: &str) -> &str {
    let text = text.trim_start();
    let mut end = text.len();
    for (count, (at, c)) in text.char_indices().enumerate() {
        if count == MAX_SENTENCE || c == '\n' || c == '\r' {
            end = at;
            break;
        }
        let next = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                text[next..].starts_with(char::is_whitespace) && !is_short_form(&text[..at])
            }
            _ => false,
        };
        if ends {
            end = next;
            break;
        }
    }
    text[..end].trim_end()
}

fn is_short_form(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next();
    word.is_some_and(|word| {
        SHORT_FORMS
            .iter()
            .any(|short| word.eq_ignore_ascii_case(short))
    })
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_where_a_reader_would_end_it() {
        for (text, sentence) in [
            ("", ""),
            ("Finds tools", "Finds tools"),
            ("Finds tools. Then more.", "Finds tools."),
            ("Uses v1.2 of it. More", "Uses v1.2 of it."),
            ("Files (e.g. PDF) in. More", "Files (e.g. PDF) in."),
            ("查询物流。更多说明", "查询物流。"),
            ("One line\nanother", "One line"),
            ("\n  Indented! Yes", "Indented!"),
        ] {
            assert_eq!(first_sentence(text), sentence, "{text:?}");
        }
        assert_eq!(first_sentence(&"字".repeat(900)).chars().count(), 300);
    }
}
