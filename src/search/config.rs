//! Weights and constants of a search. Plain values, passed in whole: reading them from a file is
//! the command line's work, fitting them that of [`crate::eval`].
//!
//! [`Config::shipped`] is the one default, for every catalogue; how each group of constants was
//! found stands beside it.

use crate::index::lexical::Bm25f;

/// Everything that a search can be tuned by.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Share of each arm in the score.
    pub weights: Weights,
    /// Word scores of the keyword arm.
    pub bm25f: Bm25f,
    /// What a word of the request weighs, by where it stands.
    pub words: WordWeights,
    /// Points of BM25F at which the keyword arm reaches `1 - 1/e`; above 0.
    pub keyword_scale: f32,
    /// How far the keyword arm is trusted on a request that the tools hardly know the words of.
    pub hearing: Hearing,
    /// How much the parts of a long request count beside the whole.
    pub parts: PartShares,
    /// What the namespace arm is made of.
    pub namespace: NamespaceShares,
    /// Penalty of a tool whose avoid-when line is nearer to the request than its own text is.
    pub avoid: Avoid,
    /// Tools that each arm may put up for scoring, for the request as a whole.
    pub candidates: usize,
    /// Tools that each arm may put up for scoring, for each part of the request.
    pub part_candidates: usize,
    /// What the confidence is computed from.
    pub confidence: ConfidenceModel,
    /// Confidence under which the answer is "nothing fits", `0.0..=1.0`.
    pub threshold: f32,
    /// Cosine of two tools' documents from which they are variants of one another.
    pub variant_cosine: f32,
}

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

/// What a word of the request weighs. An ordinary word weighs 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordWeights {
    /// A Chinese word of one character.
    pub han_character: f32,
    /// Two adjacent characters of a script without spaces.
    pub bigram: f32,
    /// Two adjacent words, joined, that no permitted tool has as one word.
    pub joined: f32,
    /// Two adjacent words, joined, that some permitted tool has as one word.
    pub joined_word: f32,
    /// Factor for what stands in quotes: more likely an argument than a wish.
    pub quoted: f32,
    /// Factor for words with which people ask for anything.
    pub boilerplate: f32,
    /// Power of a word's occurrences in the request.
    pub repeat_power: f32,
}

/// How far the keyword arm is trusted, by the share of the request's content words that some
/// permitted tool holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hearing {
    /// Factor on the arm where no word is known, `0.0..=1.0`.
    pub floor: f32,
    /// Share of known words from which on the arm counts in full; above 0.
    pub full: f32,
}

/// How much the parts of a long request count beside the whole. Shares lie in `0.0..=1.0`: 0 counts
/// the whole alone, 1 the best part alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartShares {
    /// Share of the request without its arguments (URLs, quotes, numbers) in the whole's meaning.
    pub clean: f32,
    /// Share of the best part in the semantic arm.
    pub semantic: f32,
    /// Share of the best part in the keyword arm, in points.
    pub keyword: f32,
    /// Added to the score of a part's best tool, to its second half of that, to its third a third:
    /// each part of a request is to be served. On the scale of the score, and in full only where
    /// the part's best tool scores [`cover_full`](Self::cover_full) or more.
    pub cover: f32,
    /// Score of a part's best tool under which the part is idle talk and adds nothing.
    pub cover_from: f32,
    /// Score of a part's best tool from which on it adds in full.
    pub cover_full: f32,
}

/// What the namespace arm is made of. The shares are brought to a sum of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamespaceShares {
    /// How well the best of its tools match by words.
    pub members: f32,
    /// How much of the namespace's name the request mentions.
    pub mention: f32,
    /// How near the namespace's own text is to the request.
    pub meaning: f32,
    /// Weight of mentioned words at which a mention reaches `1 - 1/e`; above 0.
    pub mention_scale: f32,
}

/// Penalty of a tool whose avoid-when line is nearer to the request than its own text is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Avoid {
    /// How much nearer it must be, as a cosine.
    pub margin: f32,
    /// What is taken off the score per unit of cosine beyond the margin.
    pub slope: f32,
    /// The most that is taken off.
    pub limit: f32,
}

/// How the confidence is computed: see [`confidence`](super::confidence::confidence).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceModel {
    /// Constant term of the model over all features.
    pub bias: f32,
    /// A weight for each of [`FEATURES`](super::confidence::FEATURES), in that order.
    pub weights: [f32; super::confidence::FEATURE_COUNT],
    /// Constant term of the model over the meaning alone, for requests whose words are not known.
    pub meaning_bias: f32,
    /// Weight of the cosine in it.
    pub meaning_weight: f32,
}
