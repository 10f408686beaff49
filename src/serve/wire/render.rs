//! A tool's definition in as much detail as the caller wants.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::Detail;
use crate::catalog::definition::definition;
use crate::tool::Tool;

/// Characters of a first sentence; a longer one is clipped.
const MAX_SENTENCE: usize = 300;

/// Short forms whose full stop ends no sentence.
const SHORT_FORMS: [&str; 5] = ["e.g", "i.e", "etc", "vs", "cf"];

/// A tool's definition.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Definition {
    /// All that a model needs to choose and call the tool: canonical JSON, byte for byte what the
    /// catalogue's hash was taken over.
    Full(Box<RawValue>),
    /// As much as a model needs to choose it.
    Compact(CompactDefinition),
}

/// As much of a definition as a model needs to choose the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CompactDefinition {
    /// The name the model calls.
    pub name: String,
    /// First sentence of the description.
    pub description: String,
    /// Names of the parameters, without those nested in others.
    pub parameters: Vec<String>,
}

/// The definition of `tool`; none where the key alone is wanted.
pub fn render(tool: &Tool, detail: Detail) -> Option<Definition> {
    match detail {
        Detail::Name => None,
        Detail::Compact => Some(Definition::Compact(compact(tool))),
        Detail::Full => {
            let text = definition(tool).as_str().to_owned();
            // Canonical JSON is JSON.
            let raw = RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
            Some(Definition::Full(raw))
        }
    }
}

fn compact(tool: &Tool) -> CompactDefinition {
    let parameters = tool
        .inputs
        .iter()
        .filter(|input| !input.path.contains(['.', '[']))
        .map(|input| input.path.clone())
        .collect();
    CompactDefinition {
        name: tool.name.clone(),
        description: first_sentence(&tool.description).to_owned(),
        parameters,
    }
}

/// The text up to its first full stop or line end.
pub(in crate::serve) fn first_sentence(text: &str) -> &str {
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
