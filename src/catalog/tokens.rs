//! What definitions cost in a prompt: tokens of o200k, the tokenizer of the GPT-4o and GPT-5 models;
//! others differ by some percent, by more in Chinese.

use rayon::prelude::*;

use super::definition::definition;
use crate::tool::{Tool, ToolId};

/// The tokens of each tool's definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens(Vec<usize>);

impl Tokens {
    /// Counts the definitions of `tools`.
    pub fn count(tools: &[Tool]) -> Self {
        let count = |tool: &Tool| of_text(definition(tool).as_str());
        Self(tools.par_iter().map(count).collect())
    }

    /// The tokens of some of the tools together.
    pub fn of(&self, tools: &[ToolId]) -> usize {
        tools.iter().map(|tool| self.0[tool.index()]).sum()
    }

    /// The tokens of all tools together.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
}

/// The tokens of a text.
///
/// ```
/// use toolscout::catalog::tokens::of_text;
/// assert_eq!(of_text("hello world"), 2);
/// assert_eq!(of_text(""), 0);
/// ```
pub fn of_text(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}
