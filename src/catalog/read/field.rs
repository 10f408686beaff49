//! One field of a record: its type, its bounds, and what is said when it has neither.

use serde_json::{Map, Value};

/// Characters of a text; longer ones are clipped with a warning.
pub(super) const MAX_TEXT: usize = 20_000;
/// Items of a list; more are dropped with a warning.
pub(super) const MAX_ITEMS: usize = 200;

/// Takes fields out of a JSON object and remembers what it had to mend.
pub(super) struct Fields {
    map: Map<String, Value>,
    /// Field and what was done about it.
    pub(super) warnings: Vec<(String, String)>,
}

/// A field of the wrong type: its name and what was expected.
pub(super) struct WrongType {
    pub(super) field: String,
    pub(super) reason: String,
}

impl Fields {
    pub(super) fn new(map: Map<String, Value>) -> Self {
        Self {
            map,
            warnings: Vec::new(),
        }
    }

    pub(super) fn warn(&mut self, field: &str, reason: impl Into<String>) {
        self.warnings.push((field.to_owned(), reason.into()));
    }

    /// The raw value under the first of `names` that is there and not null.
    pub(super) fn value(&mut self, names: &[&str]) -> Option<Value> {
        let mut found = None;
        for name in names {
            let value = self.map.remove(*name).filter(|value| !value.is_null());
            found = found.or(value);
        }
        found
    }

    /// A text; `None` where it is absent or null.
    pub(super) fn text(&mut self, field: &str) -> Result<Option<String>, WrongType> {
        match self.value(&[field]) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(self.clean(field, text))),
            Some(other) => Err(wrong(field, "a text", &other)),
        }
    }

    /// A list of texts; a single text is a list of one, and empty ones are dropped.
    pub(super) fn texts(&mut self, field: &str) -> Result<Vec<String>, WrongType> {
        let items = match self.value(&[field]) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => vec![Value::String(text)],
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(field, "a list of texts", &other)),
        };
        if items.len() > MAX_ITEMS {
            self.warn(
                field,
                format!("{} items; the first {MAX_ITEMS} are kept", items.len()),
            );
        }
        let mut texts = Vec::with_capacity(items.len().min(MAX_ITEMS));
        for item in items.into_iter().take(MAX_ITEMS) {
            let Value::String(text) = item else {
                return Err(wrong(field, "a list of texts", &item));
            };
            let text = self.clean(field, text);
            if !text.trim().is_empty() {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    /// One of a closed set of words, in any case.
    pub(super) fn word<T: Copy>(
        &mut self,
        field: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, WrongType> {
        let Some(text) = self.text(field)? else {
            return Ok(None);
        };
        let asked = text.trim().to_lowercase().replace('-', "_");
        match words.iter().find(|(word, _)| *word == asked) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(WrongType {
                    field: field.to_owned(),
                    reason: format!("'{text}' is none of {}", known.join(", ")),
                })
            }
        }
    }

    /// Names of fields that nobody took.
    pub(super) fn rest(&self) -> Vec<String> {
        self.map.keys().cloned().collect()
    }

    /// Control characters become spaces, so that no NUL reaches a terminal, a database or a model.
    fn clean(&mut self, field: &str, text: String) -> String {
        let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        let text = if text.contains(harmful) {
            self.warn(
                field,
                "control characters (such as NUL) were replaced by spaces",
            );
            text.replace(harmful, " ")
        } else {
            text
        };
        match text.char_indices().nth(MAX_TEXT) {
            None => text,
            Some((end, _)) => {
                self.warn(field, format!("clipped to {MAX_TEXT} characters"));
                text[..end].to_owned()
            }
        }
    }
}

pub(super) fn wrong(field: &str, expected: &str, found: &Value) -> WrongType {
    let kind = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    WrongType {
        field: field.to_owned(),
        reason: format!("expected {expected}, found {kind}"),
    }
}
