//! Words of the tools: which tools hold a term, in which fields, how often. BM25F over them.
//!
//! Every statistic that a score depends on (number of tools, frequency of a term, mean length of a
//! field) is taken over the permitted tools of the query at hand, never over the catalogue: a
//! hidden tool must not move a visible one. That is why postings hold plain counts and nothing
//! precomputed, and why no library with global statistics serves here.

mod build;
mod score;
mod statistics;
#[cfg(test)]
mod tests;

use crate::tool::ToolId;

pub use score::{Bm25f, Matches, QueryTerm, TermMatches};
pub use statistics::Statistics;

/// How many fields there are.
pub const FIELDS: usize = 9;

/// A part of a tool that words are counted in. The order is that of
/// [`text::fields`](crate::catalog::text::fields), with [`Field::Joined`] after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Name and aliases.
    Name,
    /// The namespace's name and what it says of itself.
    Namespace,
    /// The description.
    Description,
    /// Names of parameters.
    Parameters,
    /// What parameters and results say of themselves.
    ParameterText,
    /// Enumerated values.
    Values,
    /// Tags.
    Tags,
    /// Use-when lines and example requests.
    Usage,
    /// Not a text of its own: neighbouring words of name and namespace, joined, and identifiers
    /// of any field as a whole.
    Joined,
}

impl Field {
    /// All fields in order.
    pub const ALL: [Self; FIELDS] = [
        Self::Name,
        Self::Namespace,
        Self::Description,
        Self::Parameters,
        Self::ParameterText,
        Self::Values,
        Self::Tags,
        Self::Usage,
        Self::Joined,
    ];

    /// Position in arrays over fields.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Counts of one term in one tool, by field, saturating at [`MAX_COUNT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The tool.
    pub tool: ToolId,
    /// Occurrences in each field.
    pub counts: [u16; FIELDS],
}

/// Occurrences of one term in one field of one tool that are told apart.
pub const MAX_COUNT: u16 = (1 << COUNT_BITS) - 1;

const COUNT_BITS: u32 = 12;

/// One field's count packed into 16 bits: the field above, the count below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed(u16);

impl Packed {
    fn new(field: Field, count: u32) -> Self {
        let count = count.min(u32::from(MAX_COUNT)) as u16;
        Self((field.index() as u16) << COUNT_BITS | count)
    }

    fn field(self) -> usize {
        usize::from(self.0 >> COUNT_BITS)
    }

    fn count(self) -> u16 {
        self.0 & MAX_COUNT
    }
}

/// An inverted index over the fields of all tools. Immutable.
///
/// Three columns: terms in ascending order, each with a range of entries; an entry is a tool and
/// one field's count, ascending by tool, then field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexical {
    /// All terms end to end, ascending.
    text: String,
    /// End of each term in `text`.
    text_ends: Vec<u32>,
    /// End of each term's entries.
    entry_ends: Vec<u64>,
    entry_tools: Vec<u32>,
    entry_counts: Vec<u16>,
    /// Tokens in each field of each tool, saturating.
    lengths: Vec<[u16; FIELDS]>,
}

impl Lexical {
    /// How many tools there are.
    pub fn tools(&self) -> usize {
        self.lengths.len()
    }

    /// How many distinct terms there are. Of the whole catalogue: never to be shown to a caller.
    pub fn terms(&self) -> usize {
        self.text_ends.len()
    }

    /// Tokens in each field of `tool`, saturating at 65,535.
    pub fn lengths(&self, tool: ToolId) -> [u16; FIELDS] {
        self.lengths[tool.index()]
    }

    /// The tools that hold `term`, ascending; nothing for an unknown term.
    pub fn postings(&self, term: &str) -> impl Iterator<Item = Posting> + '_ {
        let entries = self.entries(term);
        entries.groups().map(|(tool, counts)| {
            let mut posting = Posting {
                tool,
                counts: [0; FIELDS],
            };
            for &packed in counts {
                posting.counts[Packed(packed).field()] = Packed(packed).count();
            }
            posting
        })
    }

    fn term(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |at| self.text_ends[at]);
        &self.text[start as usize..self.text_ends[at] as usize]
    }

    fn entries(&self, term: &str) -> Entries<'_> {
        let (mut low, mut high) = (0, self.text_ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == self.text_ends.len() || self.term(low) != term {
            return Entries::default();
        }
        let start = low.checked_sub(1).map_or(0, |at| self.entry_ends[at]) as usize;
        let end = self.entry_ends[low] as usize;
        Entries {
            tools: &self.entry_tools[start..end],
            counts: &self.entry_counts[start..end],
        }
    }
}

/// The entries of one term: two columns of equal length.
#[derive(Debug, Clone, Copy, Default)]
struct Entries<'a> {
    tools: &'a [u32],
    counts: &'a [u16],
}

impl<'a> Entries<'a> {
    /// The entries tool by tool, each with the tool's packed counts.
    fn groups(self) -> impl Iterator<Item = (ToolId, &'a [u16])> {
        let Self { tools, counts } = self;
        let mut at = 0;
        std::iter::from_fn(move || {
            let tool = *tools.get(at)?;
            let start = at;
            while tools.get(at) == Some(&tool) {
                at += 1;
            }
            Some((ToolId(tool), &counts[start..at]))
        })
    }
}
