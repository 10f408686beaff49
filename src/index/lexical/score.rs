//! BM25F: one number a tool from a request's terms, with what each term gave.

use std::cell::RefCell;

use super::{FIELDS, Lexical, Packed, Statistics};
use crate::access::Permitted;
use crate::score::{Score, Scored, top_k};
use crate::tool::ToolId;

/// Parameters of BM25F. Nothing here is a default: see the search configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25f {
    /// How slowly repetition saturates; above 0.
    pub k1: f32,
    /// How much a field's length counts, `0.0..=1.0`, by [`Field`](super::Field).
    pub b: [f32; FIELDS],
    /// Weight of a field, by [`Field`](super::Field); at least 0.
    pub weight: [f32; FIELDS],
}

/// A term of a request. Equal terms are to be merged by whoever makes them.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// A token's text.
    pub text: String,
    /// How much the request wants it; 1 for an ordinary word.
    pub weight: f32,
}

/// What one term of a request gave.
#[derive(Debug, Clone, PartialEq)]
pub struct TermMatches {
    /// How many permitted tools hold it.
    pub frequency: usize,
    /// See [`Statistics::idf`]; 0 where no permitted tool holds the term.
    pub idf: f32,
    /// The most that the term can give a tool: its weight times `idf`.
    pub ceiling: f32,
    tools: Vec<ToolId>,
    shares: Vec<f32>,
}

impl TermMatches {
    /// What the term gave `tool`, `0.0..=ceiling`; 0 where the tool does not hold it.
    pub fn share(&self, tool: ToolId) -> f32 {
        match self.tools.binary_search(&tool) {
            Ok(at) => self.shares[at],
            Err(_) => 0.0,
        }
    }
}

/// The permitted tools that hold some term of a request, and what each term gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Matches {
    tools: Vec<ToolId>,
    raw: Vec<f32>,
    terms: Vec<TermMatches>,
}

impl Matches {
    /// The matched tools, ascending, each with the sum of what the terms gave it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ToolId, f32)> + '_ {
        self.tools.iter().copied().zip(self.raw.iter().copied())
    }

    /// How many tools matched.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// No permitted tool holds any of the terms.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The sum of what the terms gave `tool`; 0 where it holds none of them.
    pub fn raw(&self, tool: ToolId) -> f32 {
        match self.tools.binary_search(&tool) {
            Ok(at) => self.raw[at],
            Err(_) => 0.0,
        }
    }

    /// What each of the request's terms gave, in the request's order.
    pub fn terms(&self) -> &[TermMatches] {
        &self.terms
    }

    /// The `k` tools with the greatest sums, best first.
    pub fn top(&self, k: usize) -> Vec<Scored> {
        self.top_of(k, |_| true)
    }

    /// The `k` tools with the greatest sums of those that `counts` holds for, best first.
    pub fn top_of(&self, k: usize, counts: impl Fn(ToolId) -> bool) -> Vec<Scored> {
        let counted = self.iter().filter(|(tool, _)| counts(*tool));
        let scored = counted.map(|(tool, raw)| Scored {
            tool,
            score: Score::new(raw),
        });
        top_k(scored.collect(), k)
    }
}

impl Lexical {
    /// BM25F of every permitted tool that holds a term of `terms`.
    ///
    /// A term gives `weight · idf · a / (k1 + a)`, where `a` sums over fields
    /// `field weight · count / (1 - b + b · length / mean length)`. `statistics` must be those of
    /// the same `permitted`.
    pub fn score(
        &self,
        terms: &[QueryTerm],
        statistics: &Statistics,
        permitted: &Permitted,
        config: &Bm25f,
    ) -> Matches {
        let norms = Norms::new(statistics, config);
        let mut sums = Sums::take(self.tools());
        let mut found = Vec::with_capacity(terms.len());
        for term in terms {
            let mut matches = self.saturate(&term.text, permitted, &norms);
            matches.frequency = matches.tools.len();
            if matches.frequency != 0 {
                matches.idf = statistics.idf(matches.frequency);
            }
            matches.ceiling = term.weight * matches.idf;
            for (tool, share) in matches.tools.iter().zip(&mut matches.shares) {
                *share *= matches.ceiling;
                sums.add(*tool, *share);
            }
            found.push(matches);
        }
        let (tools, raw) = sums.drain();
        Matches {
            tools,
            raw,
            terms: found,
        }
    }

    /// The saturated counts of one term, before its weight.
    fn saturate(&self, term: &str, permitted: &Permitted, norms: &Norms) -> TermMatches {
        let (mut tools, mut shares) = (Vec::new(), Vec::new());
        for (tool, counts) in self.entries(term).groups() {
            if !permitted.contains(tool) {
                continue;
            }
            let lengths = &self.columns.lengths[tool.index()];
            let sum: f32 = counts
                .iter()
                .map(|&packed| {
                    let packed = Packed(packed);
                    let field = packed.field();
                    norms.of(field, lengths[field]) * f32::from(packed.count())
                })
                .sum();
            tools.push(tool);
            shares.push(sum / (norms.k1 + sum));
        }
        TermMatches {
            frequency: 0,
            idf: 0.0,
            ceiling: 0.0,
            tools,
            shares,
        }
    }
}

/// Field weight over length norm: `weight / (1 - b + b · length / mean)`, as `weight / (flat +
/// slope · length)`.
struct Norms {
    k1: f32,
    weight: [f32; FIELDS],
    flat: [f32; FIELDS],
    slope: [f32; FIELDS],
}

impl Norms {
    fn new(statistics: &Statistics, config: &Bm25f) -> Self {
        let mut norms = Self {
            k1: config.k1,
            weight: config.weight,
            flat: [1.0; FIELDS],
            slope: [0.0; FIELDS],
        };
        for field in 0..FIELDS {
            let mean = statistics.mean_lengths[field];
            if 0.0 < mean {
                norms.flat[field] = 1.0 - config.b[field];
                norms.slope[field] = config.b[field] / mean;
            }
        }
        norms
    }

    #[inline]
    fn of(&self, field: usize, length: u16) -> f32 {
        self.weight[field] / (self.flat[field] + self.slope[field] * f32::from(length))
    }
}

thread_local! {
    static SUMS: RefCell<Sums> = const { RefCell::new(Sums { sums: Vec::new(), touched: Vec::new() }) };
}

/// A sum a tool and a bit a tool that has one. Kept from query to query on each thread, always all
/// zero between them.
#[derive(Default)]
struct Sums {
    sums: Vec<f32>,
    touched: Vec<u64>,
}

impl Sums {
    fn take(tools: usize) -> Self {
        let mut sums = SUMS.take();
        if sums.sums.len() < tools {
            sums.sums.resize(tools, 0.0);
            sums.touched.resize(tools.div_ceil(64), 0);
        }
        sums
    }

    #[inline]
    fn add(&mut self, tool: ToolId, share: f32) {
        let at = tool.index();
        self.sums[at] += share;
        self.touched[at / 64] |= 1 << (at % 64);
    }

    /// The touched tools, ascending, with their sums.
    fn drain(mut self) -> (Vec<ToolId>, Vec<f32>) {
        let count = self.touched.iter().map(|w| w.count_ones() as usize).sum();
        let (mut tools, mut raw) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (at, word) in self.touched.iter_mut().enumerate() {
            while *word != 0 {
                let tool = at * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                tools.push(ToolId(tool as u32));
                raw.push(std::mem::take(&mut self.sums[tool]));
            }
        }
        SUMS.replace(self);
        (tools, raw)
    }
}
