//! Conditions: tests of fields, joined by all, any and not.

use globset::{Glob, GlobMatcher};

use super::Context;
use super::field::{About, Comparison, Field, Sort, Subject, place};
use super::rule::Error;
use crate::access::Principal;
use crate::tool::Tool;

/// Conditions inside conditions.
pub const MAX_NESTING: usize = 8;
/// Tests of one rule.
pub const MAX_TESTS: usize = 128;
/// Texts that one test compares with.
pub const MAX_TEXTS: usize = 256;
/// Characters of one of them.
pub const MAX_TEXT: usize = 256;

/// Something that holds for a tool, or for a moment, or does not.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Every one of them holds; with none it always does.
    All(Vec<Condition>),
    /// Some of them holds; with none it never does.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// A test of one field.
    Test(Test),
}

/// A test of one field, checked to make sense.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    pub(super) field: Field,
    pub(super) wanted: Wanted,
}

/// What a test wants of its field. A field of several values passes where one of them does.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// It is one of these texts, as they are spelt.
    In(Vec<String>),
    /// One of these globs matches it. `*` and `?` match `/` too.
    Glob(Vec<Pattern>),
    /// It is this number, or the word at this place.
    Is(u64),
    /// It lies so to this number, or to the word at this place.
    Compare(Comparison, u64),
    /// It has a value at all.
    Present,
    /// It has no value.
    Absent,
}

/// A glob.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

// Two patterns of the same text match the same.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Reads a glob.
    ///
    /// # Errors
    /// [`Error::Glob`] where it does not parse, [`Error::TooLong`] where it is too long.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        bounded(&text)?;
        match Glob::new(&text) {
            Ok(glob) => Ok(Self {
                matcher: glob.compile_matcher(),
                text,
            }),
            Err(source) => Err(Error::Glob { glob: text, source }),
        }
    }
}

impl Test {
    /// A test of `field` for texts or words.
    ///
    /// # Errors
    /// [`Error`] where the field has no such values, or there are none or too many.
    pub fn is_in(field: Field, texts: Vec<String>) -> Result<Self, Error> {
        counted(texts.len())?;
        for text in &texts {
            bounded(text)?;
            match field.sort() {
                Sort::Text => {}
                Sort::Word(words) | Sort::Ordered(words) => {
                    if !words.contains(&text.as_str()) {
                        return Err(unknown(field, text, words));
                    }
                }
                Sort::Number => return Err(Error::Unfit { field, test: "in" }),
            }
        }
        let wanted = Wanted::In(texts);
        Ok(Self { field, wanted })
    }

    /// A test of `field` by globs.
    ///
    /// # Errors
    /// [`Error`] where the field is not a text, or a glob does not parse.
    pub fn matches(field: Field, globs: Vec<String>) -> Result<Self, Error> {
        counted(globs.len())?;
        if field.sort() != Sort::Text {
            return Err(Error::Unfit {
                field,
                test: "glob",
            });
        }
        let patterns: Result<Vec<Pattern>, Error> = globs.into_iter().map(Pattern::new).collect();
        let wanted = Wanted::Glob(patterns?);
        Ok(Self { field, wanted })
    }

    /// A test of a number.
    ///
    /// # Errors
    /// [`Error::Unfit`] where the field is no number.
    pub fn number(field: Field, comparison: Option<Comparison>, bound: u64) -> Result<Self, Error> {
        if field.sort() != Sort::Number {
            let test = "a number";
            return Err(Error::Unfit { field, test });
        }
        let wanted = comparison.map_or(Wanted::Is(bound), |how| Wanted::Compare(how, bound));
        Ok(Self { field, wanted })
    }

    /// A test of how a word lies to another.
    ///
    /// # Errors
    /// [`Error`] where the field's words have no order, or `word` is none of them.
    pub fn order(field: Field, comparison: Comparison, word: &str) -> Result<Self, Error> {
        let Sort::Ordered(words) = field.sort() else {
            let test = "a comparison";
            return Err(Error::Unfit { field, test });
        };
        let bound = place(words, word).ok_or_else(|| unknown(field, word, words))?;
        let wanted = Wanted::Compare(comparison, bound);
        Ok(Self { field, wanted })
    }

    /// A test of whether there is any value.
    pub fn presence(field: Field, present: bool) -> Self {
        let wanted = if present {
            Wanted::Present
        } else {
            Wanted::Absent
        };
        Self { field, wanted }
    }

    fn holds(&self, subject: &Subject<'_>) -> bool {
        let field = self.field;
        match &self.wanted {
            Wanted::In(texts) => subject.any_text(field, |text| texts.iter().any(|t| t == text)),
            Wanted::Glob(patterns) => subject.any_text(field, |text| {
                patterns
                    .iter()
                    .any(|pattern| pattern.matcher.is_match(text))
            }),
            Wanted::Is(wanted) => subject.number(field) == Some(*wanted),
            Wanted::Compare(how, bound) => subject
                .number(field)
                .is_some_and(|value| how.holds(value, *bound)),
            Wanted::Present => subject.has(field),
            Wanted::Absent => !subject.has(field),
        }
    }
}

impl Condition {
    /// The condition that always holds.
    pub fn always() -> Self {
        Self::All(Vec::new())
    }

    /// It always holds, as far as can be seen.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::All(inner) if inner.iter().all(Self::is_always))
    }

    /// Whether it holds for a tool; tests of the moment fail.
    pub fn holds_for(&self, tool: &Tool) -> bool {
        self.holds(&Subject::Tool(tool))
    }

    /// Whether it holds for who asks, and when; tests of tools fail.
    pub fn holds_in(&self, principal: &Principal, context: &Context) -> bool {
        self.holds(&Subject::Moment(principal, context))
    }

    fn holds(&self, subject: &Subject<'_>) -> bool {
        match self {
            Self::All(inner) => inner.iter().all(|condition| condition.holds(subject)),
            Self::Any(inner) => inner.iter().any(|condition| condition.holds(subject)),
            Self::Not(inner) => !inner.holds(subject),
            Self::Test(test) => test.holds(subject),
        }
    }

    /// How deep it is, and how many tests it has.
    pub(super) fn size(&self) -> (usize, usize) {
        match self {
            Self::All(inner) | Self::Any(inner) => inner
                .iter()
                .map(Self::size)
                .fold((1, 0), |sum, size| (sum.0.max(1 + size.0), sum.1 + size.1)),
            Self::Not(inner) => {
                let (depth, tests) = inner.size();
                (1 + depth, tests)
            }
            Self::Test(_) => (1, 1),
        }
    }

    /// The first field that does not belong to `about`.
    pub(super) fn stranger(&self, about: About) -> Option<Field> {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                inner.iter().find_map(|condition| condition.stranger(about))
            }
            Self::Not(inner) => inner.stranger(about),
            Self::Test(test) => (test.field.about() != about).then_some(test.field),
        }
    }
}

fn unknown(field: Field, word: &str, words: &'static [&'static str]) -> Error {
    Error::Word {
        field,
        word: word.to_owned(),
        words,
    }
}

fn counted(count: usize) -> Result<(), Error> {
    match count {
        0 => Err(Error::Nothing),
        _ if MAX_TEXTS < count => Err(Error::TooMany {
            what: "texts in a test",
            count,
            limit: MAX_TEXTS,
        }),
        _ => Ok(()),
    }
}

fn bounded(text: &str) -> Result<(), Error> {
    let length = text.chars().count();
    if MAX_TEXT < length {
        return Err(Error::TooLong {
            length,
            limit: MAX_TEXT,
        });
    }
    Ok(())
}
