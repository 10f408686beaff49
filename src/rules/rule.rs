//! Rules, and what they do.

use std::collections::HashSet;
use std::sync::Arc;

use super::condition::{Condition, MAX_NESTING, MAX_TESTS};
use super::field::{About, Field};

/// Rules of one file.
pub const MAX_RULES: usize = 256;
/// Characters of a rule's name.
pub const MAX_NAME: usize = 80;

/// What a rule does to the tools it speaks of. Strengths lie in `0.0..=1.0`, above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// They rank higher, by the weight of the rule arm.
    Boost(f32),
    /// They rank lower.
    Suppress(f32),
    /// All others are left out.
    Require,
    /// They come first, whatever their score, after tools that the request itself names.
    Pin,
    /// They are in the prompt from the start, not searched for.
    NeverDefer,
}

impl Effect {
    /// The word used in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Boost(_) => "boost",
            Self::Suppress(_) => "suppress",
            Self::Require => "require",
            Self::Pin => "pin",
            Self::NeverDefer => "never_defer",
        }
    }
}

/// Whether a rule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It does.
    Enforce,
    /// It does not, and explanations say what it would change.
    Shadow,
    /// It is not looked at.
    Off,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What explanations call it; unique in a file.
    pub name: Arc<str>,
    /// Whether it counts.
    pub mode: Mode,
    /// When it speaks: a condition on who asks, and when.
    pub when: Condition,
    /// Of which tools.
    pub tools: Condition,
    /// What it does to them.
    pub effect: Effect,
}

/// Why rules could not be made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A glob that does not parse.
    #[error("'{glob}' is not a glob: {source}")]
    Glob {
        /// The text given.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// A test that the field has no values for.
    #[error("'{}' cannot be tested by {test}", field.as_str())]
    Unfit {
        /// The field.
        field: Field,
        /// The test.
        test: &'static str,
    },
    /// A word that the field never has.
    #[error("'{}' is never '{word}': it is one of {}", field.as_str(), words.join(", "))]
    Word {
        /// The field.
        field: Field,
        /// The word given.
        word: String,
        /// The words it may have.
        words: &'static [&'static str],
    },
    /// A field of a tool where the moment is meant, or the other way round.
    #[error("'{}' does not belong into '{place}': {advice}", field.as_str())]
    Place {
        /// The field.
        field: Field,
        /// The condition it stands in.
        place: &'static str,
        /// Where it belongs.
        advice: &'static str,
    },
    /// A test that compares with nothing.
    #[error("a test needs something to compare with, and the list is empty")]
    Nothing,
    /// A text that is too long.
    #[error("a text of {length} characters, at most {limit}")]
    TooLong {
        /// Characters given.
        length: usize,
        /// Characters that are accepted.
        limit: usize,
    },
    /// Too many of something.
    #[error("{count} {what}, at most {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many were given.
        count: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// A strength that is none.
    #[error("a strength lies above 0 and is at most 1, not {0}")]
    Strength(f32),
    /// A rule without a name.
    #[error("a rule needs a name that explanations can call it by")]
    Nameless,
    /// Two rules of one name.
    #[error("two rules are called '{0}'")]
    SameName(Arc<str>),
}

impl Rule {
    /// Whether the rule makes sense by itself.
    ///
    /// # Errors
    /// [`Error`], the first thing that is wrong.
    pub fn validate(&self) -> Result<(), Error> {
        if self.name.trim().is_empty() {
            return Err(Error::Nameless);
        }
        let length = self.name.chars().count();
        if MAX_NAME < length {
            let limit = MAX_NAME;
            return Err(Error::TooLong { length, limit });
        }
        if let Effect::Boost(strength) | Effect::Suppress(strength) = self.effect
            && !(0.0 < strength && strength <= 1.0)
        {
            return Err(Error::Strength(strength));
        }
        for (place, condition, about, advice) in [
            (
                "when",
                &self.when,
                About::Moment,
                "it says of a tool, so put it into 'tools'",
            ),
            (
                "tools",
                &self.tools,
                About::Tool,
                "it says who asks or when, so put it into 'when'",
            ),
        ] {
            let (depth, tests) = condition.size();
            let over = |what, count, limit| Err(Error::TooMany { what, count, limit });
            if MAX_NESTING < depth {
                return over("conditions inside each other", depth, MAX_NESTING);
            }
            if MAX_TESTS < tests {
                return over("tests in a condition", tests, MAX_TESTS);
            }
            if let Some(field) = condition.stranger(about) {
                return Err(Error::Place {
                    field,
                    place,
                    advice,
                });
            }
        }
        Ok(())
    }
}

/// Rules that make sense, in the order of their file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// These rules.
    ///
    /// # Errors
    /// [`Error`], the first thing that is wrong.
    pub fn new(rules: Vec<Rule>) -> Result<Self, Error> {
        if MAX_RULES < rules.len() {
            return Err(Error::TooMany {
                what: "rules",
                count: rules.len(),
                limit: MAX_RULES,
            });
        }
        let mut names = HashSet::new();
        for rule in &rules {
            rule.validate()?;
            if !names.insert(&*rule.name) {
                return Err(Error::SameName(Arc::clone(&rule.name)));
            }
        }
        Ok(Self(rules))
    }

    /// The rules.
    pub fn as_slice(&self) -> &[Rule] {
        &self.0
    }
}
