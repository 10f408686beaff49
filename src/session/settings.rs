//! What a session is opened with: the server's settings, and what the harness says of this request.

use super::exposure::ExposureRule;

/// Settings of all sessions; a session keeps those it was opened with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether tools are deferred at all. Without it every tool is exposed from the start.
    pub enabled: bool,
    /// Names or keys of tools that are exposed from the start; those that do not exist are skipped.
    pub always_loaded: Vec<String>,
    /// Tools that one search may load, at least 1.
    pub max_results: usize,
    /// What the model is told of the deferred tools.
    pub directory: Directory,
    /// How words are looked for.
    pub mode: Mode,
    /// Exposure by rule; the first that covers a tool decides, and its own exposure otherwise.
    pub rules: Vec<ExposureRule>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: false,
            always_loaded: ["send_message", "end"].map(str::to_owned).to_vec(),
            max_results: 5,
            directory: Directory::Names,
            mode: Mode::Hybrid,
            rules: Vec::new(),
        }
    }
}

/// How words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By meaning, words, namespaces and rules: [`crate::search`].
    #[default]
    Hybrid,
    /// By points for words in names, parameters and descriptions.
    Keyword,
}

/// What the model is told of the deferred tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Directory {
    /// Their names.
    #[default]
    Names,
    /// Their names, each with the first sentence of its description as far as the budget goes.
    Lines {
        /// Tokens of the whole directory.
        budget: usize,
    },
    /// Their namespaces with descriptions: level 0.
    Namespaces,
    /// Their names under what they are for: search, read, parse, query, act.
    Kinds,
}

/// What the harness says of this request.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// More tools that are exposed from the start, by name or key.
    pub always_loaded: Vec<String>,
    /// Tools that earlier requests of the conversation have loaded, by name or key, in the order of
    /// loading: callable from the first turn.
    pub already_loaded: Vec<String>,
    /// Tools that the harness has called before it asks the model.
    pub prefetched: Vec<Prefetched>,
    /// Whether a tool that was prefetched well is kept from the model, which has its result.
    pub hide_prefetched: bool,
}

/// A tool that the harness has called before it asks the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefetched {
    /// Name or key.
    pub tool: String,
    /// How it went.
    pub outcome: Outcome,
}

/// How a prefetch went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It gave something.
    Success,
    /// It gave nothing.
    Empty,
    /// It failed.
    Failed,
}
