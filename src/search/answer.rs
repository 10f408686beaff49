//! The answer: plain data, ready to be rendered.

use std::sync::Arc;

use super::confidence::Features;
use crate::tool::ToolId;

/// One of the four sources of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arm {
    /// Nearness in meaning.
    Semantic,
    /// Shared words.
    Keyword,
    /// The group the request speaks of.
    Namespace,
    /// What rules say of the tool in this moment.
    Rule,
}

impl Arm {
    /// All four, in the order of their weights.
    pub const ALL: [Self; 4] = [Self::Semantic, Self::Keyword, Self::Namespace, Self::Rule];

    /// The word used in answers and configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Keyword => "keyword",
            Self::Namespace => "namespace",
            Self::Rule => "rule",
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The hits, best first; with several needs, in the order that serves each need early.
    pub hits: Vec<Hit>,
    /// Why there are no hits, where there are none.
    pub no_match: Option<NoMatch>,
    /// How sure it is that the best hit fits, `0.0..=1.0`. Comparable between queries and
    /// catalogues, which scores are not.
    pub confidence: f32,
    /// What the confidence was computed from; of several needs, those of the surest.
    pub features: Features,
    /// Tools that matched and were left out by the limit alone.
    pub truncated: bool,
    /// Positions of the needs that nothing fits, where the request gave several.
    pub unserved: Vec<usize>,
    /// Arms that had something to say; the others' weights were given to these.
    pub arms: Vec<Arm>,
    /// Whether the graph was walked, rather than every permitted vector compared.
    pub used_graph: bool,
    /// Why the semantic arm is silent where the model failed on the request: for a log, not for
    /// callers, whom [`Answer::arms`] tells enough.
    pub model_fault: Option<String>,
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The tool.
    pub tool: ToolId,
    /// Fused score, `0.0..=1.0`.
    pub score: f32,
    /// Which of the request's needs it serves, by position; empty for a request of one need.
    pub needs: Vec<usize>,
    /// Near-duplicates of this tool that were folded into it, best first.
    pub variants: Vec<ToolId>,
    /// How it got its score, where that was asked for.
    pub explanation: Option<Explanation>,
}

/// How a hit got its score: the contributions and `covered`, less `avoided`, are `total`, held to
/// `0.0..=1.0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// One entry for each arm that had something to say.
    pub arms: Vec<ArmScore>,
    /// What is added for being among the best tools for a part of the request.
    pub covered: f32,
    /// What is taken off where an avoid-when line matches better than the tool's own text.
    pub avoided: f32,
    /// The name was given exactly, which places a tool first whatever the arms say.
    pub exact_name: bool,
    /// Words of the request found in the tool, heaviest first.
    pub terms: Vec<TermMatch>,
    /// The part of the request that the tool fits best, where the request was cut into parts.
    pub part: Option<String>,
    /// The rules that speak of the tool, in the order of their file.
    pub rules: Vec<RuleNote>,
    /// The fused score.
    pub total: f32,
}

/// One arm's part in a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmScore {
    /// The arm.
    pub arm: Arm,
    /// The arm's own measure: cosine, BM25F points, and so on.
    pub raw: f32,
    /// The calibrated value, `0.0..=1.0`.
    pub value: f32,
    /// Share of the arm in the score; the shares of a hit add up to one.
    pub weight: f32,
    /// `value x weight`.
    pub contribution: f32,
}

/// A business rule that speaks of a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleNote {
    /// Its name.
    pub name: Arc<str>,
    /// What it does: `boost`, `suppress`, `require`, `pin`, `never_defer`, or `leave_out` where it
    /// is in shadow and would remove the tool.
    pub effect: &'static str,
    /// How strongly it boosts or suppresses.
    pub strength: Option<f32>,
    /// It does not count, and only says what it would do.
    pub shadow: bool,
}

/// A word of the request found in a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct TermMatch {
    /// The word, as it was indexed.
    pub term: String,
    /// Fields it was found in.
    pub fields: Vec<&'static str>,
    /// Its part in the raw keyword score.
    pub points: f32,
}

/// Nothing fits, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct NoMatch {
    /// Why.
    pub reason: Reason,
    /// What the caller can do about it.
    pub advice: &'static str,
    /// The nearest tools that are permitted, best first: not recommended, only near.
    pub near: Vec<ToolId>,
}

/// Why nothing fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing to look for in the request.
    EmptyQuery,
    /// No tool is permitted, or none passes the filters.
    NothingPermitted,
    /// Tools are permitted, and the rules leave none of them in this moment.
    RuledOut,
    /// The best tool is not likely enough to fit.
    BelowThreshold,
}

impl Reason {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyQuery => "empty_query",
            Self::NothingPermitted => "nothing_permitted",
            Self::RuledOut => "ruled_out",
            Self::BelowThreshold => "below_threshold",
        }
    }
}
