//! Which way of giving tools to a model fits a catalogue.

use serde::{Deserialize, Serialize};

/// A way of giving tools to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Every definition is in the prompt.
    All,
    /// The names are in the prompt, definitions are fetched by name.
    Index,
    /// The best few for the request are put into the prompt before the model sees it.
    Prefilter,
    /// The model searches, step by step.
    Active,
}

impl Strategy {
    /// The word used in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Index => "index",
            Self::Prefilter => "prefilter",
            Self::Active => "active",
        }
    }
}

impl Strategy {
    /// What it is called in a sentence or a legend.
    pub fn title(self) -> &'static str {
        match self {
            Self::All => "all tools",
            Self::Index => "names only",
            Self::Prefilter => "one-shot prefilter",
            Self::Active => "active discovery",
        }
    }
}

/// Tools up to which all of them may stand in the prompt: models begin to confuse tools beyond about
/// twenty.
const ALL_TOOLS: usize = 20;
/// Tokens up to which they may: about what a long system prompt takes.
const ALL_TOKENS: usize = 8_000;
/// Tools up to which the names alone may stand in the prompt.
const INDEX_TOOLS: usize = 100;
/// Tools up to which one search before the model's turn is enough: the recall of the first ten stays
/// close to that of active discovery until about here (`toolscout eval strategies`).
const PREFILTER_TOOLS: usize = 1_000;

/// What to do with a catalogue, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// The strategy.
    pub strategy: Strategy,
    /// Why, in a sentence.
    pub reason: &'static str,
}

/// The strategy for a catalogue of `tools` tools whose definitions have `tokens` tokens together.
///
/// ```
/// use toolscout::eval::strategies::{Strategy, advice};
/// assert_eq!(advice(12, 2_500).strategy, Strategy::All);
/// assert_eq!(advice(12, 40_000).strategy, Strategy::Index);
/// assert_eq!(advice(60, 15_000).strategy, Strategy::Index);
/// assert_eq!(advice(400, 90_000).strategy, Strategy::Prefilter);
/// assert_eq!(advice(2_375, 500_000).strategy, Strategy::Active);
/// ```
pub fn advice(tools: usize, tokens: usize) -> Advice {
    let (strategy, reason) = if tools <= ALL_TOOLS && tokens <= ALL_TOKENS {
        (
            Strategy::All,
            "the catalogue is small: put every definition into the prompt",
        )
    } else if tools <= INDEX_TOOLS {
        (
            Strategy::Index,
            "the names fit into the prompt and the definitions need not: list the names, and load \
             definitions by `tool_search` with `select:`",
        )
    } else if tools <= PREFILTER_TOOLS {
        (
            Strategy::Prefilter,
            "too many to list: search once before the model's turn and put the best ten into the \
             prompt",
        )
    } else {
        (
            Strategy::Active,
            "too many for one search to be sure of every step: give the model `discover_tools` and \
             let it ask step by step",
        )
    };
    Advice { strategy, reason }
}
