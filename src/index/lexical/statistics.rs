//! What a score needs to know of all permitted tools together.

use super::{FIELDS, Lexical};
use crate::access::Permitted;

/// Numbers over the permitted tools of one index. Depends on nothing else, so it may be cached by
/// [`Permitted::fingerprint`] and the index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// How many tools are permitted.
    pub tools: usize,
    /// Mean number of tokens in each field, over the permitted tools where the field is not empty;
    /// 0 where it is empty in all of them.
    pub mean_lengths: [f32; FIELDS],
}

impl Statistics {
    /// How much a term says that `frequency` of the permitted tools hold:
    /// `ln(1 + (n - df + 0.5) / (df + 0.5))`, from Lucene's BM25; never negative.
    pub fn idf(&self, frequency: usize) -> f32 {
        let (n, df) = (self.tools as f64, frequency as f64);
        (1.0 + (n - df + 0.5) / (df + 0.5)).ln().max(0.0) as f32
    }
}

impl Lexical {
    /// The statistics over `permitted`. Takes about a nanosecond a permitted tool and field.
    pub fn statistics(&self, permitted: &Permitted) -> Statistics {
        let mut sums = [0u64; FIELDS];
        let mut tools = [0u64; FIELDS];
        for tool in permitted.iter() {
            for (field, &length) in self.lengths(tool).iter().enumerate() {
                sums[field] += u64::from(length);
                tools[field] += u64::from(length != 0);
            }
        }
        let mut mean_lengths = [0.0; FIELDS];
        for (mean, (sum, tools)) in mean_lengths.iter_mut().zip(sums.iter().zip(tools)) {
            if tools != 0 {
                *mean = (*sum as f64 / tools as f64) as f32;
            }
        }
        Statistics {
            tools: permitted.len(),
            mean_lengths,
        }
    }

    /// How many permitted tools hold `term`, in whatever field.
    pub fn frequency(&self, term: &str, permitted: &Permitted) -> usize {
        let entries = self.entries(term);
        entries
            .groups()
            .filter(|(tool, _)| permitted.contains(*tool))
            .count()
    }

    /// Whether some permitted tool holds `term` as a word of its own, not just as words joined
    /// (see [`Field::Joined`](super::Field::Joined)).
    pub fn is_word(&self, term: &str, permitted: &Permitted) -> bool {
        let joined = super::Field::Joined.index();
        self.entries(term).groups().any(|(tool, counts)| {
            permitted.contains(tool)
                && counts
                    .iter()
                    .any(|&packed| super::Packed(packed).field() != joined)
        })
    }
}
