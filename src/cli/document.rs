//! A settings file in TOML, read key by key, so that every fault is told with its line and a key that
//! nobody reads is a fault.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Error;
use super::output::one_line;

/// A settings file.
#[derive(Debug)]
pub(super) struct Document {
    what: &'static str,
    path: PathBuf,
    text: String,
}

impl Document {
    /// Reads the file; `what` is how messages call it.
    pub(super) fn read(what: &'static str, path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
            what,
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            what,
            path: path.to_owned(),
            text,
        })
    }

    /// The whole file as a section.
    pub(super) fn root(&self) -> Result<Section<'_>, Error> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.fault(at, error.message())
        })?;
        Ok(Section {
            document: self,
            name: String::new(),
            at: 0,
            table: table.into_inner(),
            known: Vec::new(),
        })
    }

    /// The line of a place in the text, from 1.
    fn line(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or(&self.text);
        before.matches('\n').count() + 1
    }

    fn fault(&self, at: usize, reason: impl AsRef<str>) -> Error {
        Error::Setting {
            what: self.what,
            path: self.path.clone(),
            line: self.line(at),
            reason: one_line(reason.as_ref()),
        }
    }
}

/// A table of the file, of which keys are taken one after the other.
#[derive(Debug)]
pub(super) struct Section<'a> {
    document: &'a Document,
    name: String,
    at: usize,
    table: DeTable<'a>,
    known: Vec<String>,
}

impl<'a> Section<'a> {
    /// Something is wrong with the section as a whole.
    pub(super) fn fault(&self, reason: impl AsRef<str>) -> Error {
        self.document.fault(self.at, reason)
    }

    /// The line that the section begins on, from 1.
    pub(super) fn line(&self) -> usize {
        self.document.line(self.at)
    }

    /// A section that the file does not have, as if it were there and empty.
    pub(super) fn empty(&self, name: &str) -> Self {
        Self {
            document: self.document,
            name: name.to_owned(),
            at: self.at,
            table: DeTable::new(),
            known: Vec::new(),
        }
    }

    /// A text.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.with(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// A text that must be one of some words; the value that belongs to it.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Error> {
        let expected = format!("one of {}", quoted(words));
        self.with(key, &expected, |value| meant(value, words))
    }

    /// A list of texts; empty where the key is not there.
    pub(super) fn texts(&mut self, key: &str) -> Result<Vec<String>, Error> {
        let list = self.with(key, "a list of texts", |value| {
            let texts = value.as_array()?.iter();
            texts
                .map(|item| item.get_ref().as_str().map(str::to_owned))
                .collect()
        })?;
        Ok(list.unwrap_or_default())
    }

    /// A list of texts that must each be one of some words; the values that belong to them.
    pub(super) fn words<T: Copy>(
        &mut self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Vec<T>, Error> {
        let expected = format!("a list of {}", quoted(words));
        let list = self.with(key, &expected, |value| {
            let items = value.as_array()?.iter();
            items.map(|item| meant(item.get_ref(), words)).collect()
        })?;
        Ok(list.unwrap_or_default())
    }

    /// Refuses a list that is there and empty, where a list says whom or what a rule is for: read as
    /// "nobody" it surprises, read as "everybody" it lets in.
    pub(super) fn not_empty(&self, key: &str) -> Result<(), Error> {
        let empty = self.table.iter().find(|(name, value)| {
            name.get_ref() == key
                && value
                    .get_ref()
                    .as_array()
                    .is_some_and(|list| list.is_empty())
        });
        let Some((_, value)) = empty else {
            return Ok(());
        };
        let reason = format!(
            "'{}' is an empty list: leave it out where it is to put no condition",
            self.inner(key)
        );
        Err(self.document.fault(value.span().start, reason))
    }

    /// All that is left, as lists of texts under names that the file chooses.
    pub(super) fn lists(mut self) -> Result<Vec<(String, Vec<String>)>, Error> {
        let names: Vec<String> = self
            .table
            .keys()
            .map(|key| key.get_ref().to_string())
            .collect();
        let list = |name: String| Ok((name.clone(), self.texts(&name)?));
        names.into_iter().map(list).collect()
    }

    /// A text, or a list of them.
    pub(super) fn one_or_more(&mut self, key: &str) -> Result<Option<Vec<String>>, Error> {
        self.with(key, "a text or a list of texts", |value| match value {
            DeValue::String(text) => Some(vec![text.to_string()]),
            _ => {
                let texts = value.as_array()?.iter();
                texts
                    .map(|item| item.get_ref().as_str().map(str::to_owned))
                    .collect()
            }
        })
    }

    /// A number within limits.
    pub(super) fn number(
        &mut self,
        key: &str,
        (low, high): (f64, f64),
    ) -> Result<Option<f64>, Error> {
        let expected = if high.is_finite() {
            format!("a number from {low} to {high}")
        } else {
            format!("a number of at least {low}")
        };
        self.with(key, &expected, |value| {
            let number: f64 = match value {
                DeValue::Integer(digits) => {
                    i64::from_str_radix(digits.as_str(), digits.radix()).ok()? as f64
                }
                DeValue::Float(digits) => digits.as_str().parse().ok()?,
                DeValue::String(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_)
                | DeValue::Array(_)
                | DeValue::Table(_) => return None,
            };
            (number.is_finite() && low <= number && number <= high).then_some(number)
        })
    }

    /// A whole number within limits.
    pub(super) fn whole(
        &mut self,
        key: &str,
        (low, high): (usize, usize),
    ) -> Result<Option<usize>, Error> {
        self.with(
            key,
            &format!("a whole number from {low} to {high}"),
            |value| {
                let digits = value.as_integer()?;
                let number = usize::from_str_radix(digits.as_str(), digits.radix()).ok()?;
                (low <= number && number <= high).then_some(number)
            },
        )
    }

    /// A table inside.
    pub(super) fn section(&mut self, key: &str) -> Result<Option<Section<'a>>, Error> {
        let (document, name) = (self.document, self.inner(key));
        match self.take(key) {
            None => Ok(None),
            Some((at, DeValue::Table(table))) => Ok(Some(Section {
                document,
                name,
                at,
                table,
                known: Vec::new(),
            })),
            Some((at, _)) => Err(document.fault(at, format!("expected a section [{name}]"))),
        }
    }

    /// A list of tables, `[[key]]`; empty where the key is not there.
    pub(super) fn sections(&mut self, key: &str) -> Result<Vec<Section<'a>>, Error> {
        let (document, name) = (self.document, self.inner(key));
        let items = match self.take(key) {
            None => return Ok(Vec::new()),
            Some((_, DeValue::Array(items))) => items,
            Some((at, _)) => {
                return Err(document.fault(at, format!("expected sections [[{name}]]")));
            }
        };
        let section = |item: Spanned<DeValue<'a>>| {
            let at = item.span().start;
            match item.into_inner() {
                DeValue::Table(table) => Ok(Section {
                    document,
                    name: name.clone(),
                    at,
                    table,
                    known: Vec::new(),
                }),
                _ => Err(document.fault(at, format!("expected sections [[{name}]]"))),
            }
        };
        items.into_iter().map(section).collect()
    }

    /// A table inside, or a list of them; empty where the key is not there.
    pub(super) fn tables(&mut self, key: &str) -> Result<Vec<Section<'a>>, Error> {
        let (document, name) = (self.document, self.inner(key));
        let expected = format!("'{name}' must be a condition or a list of them");
        let section = |at, value| match value {
            DeValue::Table(table) => Ok(Section {
                document,
                name: name.clone(),
                at,
                table,
                known: Vec::new(),
            }),
            _ => Err(document.fault(at, &expected)),
        };
        match self.take(key) {
            None => Ok(Vec::new()),
            Some((_, DeValue::Array(items))) => items
                .into_iter()
                .map(|item| section(item.span().start, item.into_inner()))
                .collect(),
            Some((at, value)) => Ok(vec![section(at, value)?]),
        }
    }

    /// Nothing more is read: a key that is left is one that does not exist.
    pub(super) fn end(&self) -> Result<(), Error> {
        let Some((key, _)) = self.table.iter().next() else {
            return Ok(());
        };
        let place = if self.name.is_empty() {
            "here".to_owned()
        } else {
            format!("in [{}]", self.name)
        };
        let reason = format!(
            "unknown key '{}'; known {place} are: {}",
            key.get_ref(),
            self.known.join(", ")
        );
        Err(self.document.fault(key.span().start, reason))
    }

    fn with<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&DeValue<'a>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some((at, value)) = self.take(key) else {
            return Ok(None);
        };
        let wrong = || {
            self.document
                .fault(at, format!("'{}' must be {expected}", self.inner(key)))
        };
        read(&value).map(Some).ok_or_else(wrong)
    }

    fn take(&mut self, key: &str) -> Option<(usize, DeValue<'a>)> {
        self.known.push(key.to_owned());
        let value = self.table.remove(key)?;
        Some((value.span().start, value.into_inner()))
    }

    fn inner(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }
}

/// Words as a message lists them.
fn quoted<T>(words: &[(&str, T)]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    words.join(", ")
}

/// What a text stands for, where it is one of `words`.
fn meant<T: Copy>(value: &DeValue<'_>, words: &[(&str, T)]) -> Option<T> {
    let text = value.as_str()?;
    let word = words.iter().find(|(word, _)| *word == text)?;
    Some(word.1)
}

/// The TOML example in the docs of a module, given the module's source.
#[cfg(test)]
pub(super) fn example_of(source: &str) -> String {
    source
        .lines()
        .skip_while(|line| *line != "//! ```toml")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| format!("{}\n", line.trim_start_matches("//!").trim()))
        .collect()
}
