//! Weights and constants of a search. Plain values, passed in whole; reading them from a file is
//! the command line's work, fitting them is [`crate::eval`]'s.

use crate::index::lexical::Bm25f;

/// Share of each arm in the score. Only ratios count: the weights of the arms that speak are
/// brought to a sum of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Nearness in meaning.
    pub semantic: f32,
    /// Shared words.
    pub keyword: f32,
    /// The group the request speaks of.
    pub namespace: f32,
    /// Business rules.
    pub rule: f32,
}

impl Weights {
    /// The preset `card`: the weights of the project's first design.
    pub const CARD: Self = Self {
        semantic: 0.55,
        keyword: 0.25,
        namespace: 0.10,
        rule: 0.10,
    };
}
