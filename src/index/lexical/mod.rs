//! Words of the tools: which tools hold a term, in which fields, how often. BM25F over them.
//!
//! Every statistic that a score depends on (number of tools, frequency of a term, mean length of a
//! field) is taken over the permitted tools of the query at hand, never over the catalogue: a
//! hidden tool must not move a visible one. That is why postings hold plain counts and nothing
//! precomputed, and why no library with global statistics serves here.

mod build;
mod columns;
mod score;
mod statistics;
mod update;

use crate::tool::ToolId;
use columns::Entries;

pub(in crate::index) use columns::Columns;
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexical {
    columns: Columns,
}

impl Lexical {
    /// An index of columns read from a file.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(in crate::index) fn from_columns(columns: Columns) -> Result<Self, &'static str> {
        columns.audit()?;
        Ok(Self { columns })
    }

    /// The columns, to be written to a file.
    pub(in crate::index) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// How many tools there are.
    pub fn tools(&self) -> usize {
        self.columns.lengths.len()
    }

    /// How many distinct terms there are. Of the whole catalogue: never to be shown to a caller.
    pub fn terms(&self) -> usize {
        self.columns.terms()
    }

    /// Tokens in each field of `tool`, saturating at 65,535.
    pub fn lengths(&self, tool: ToolId) -> [u16; FIELDS] {
        self.columns.lengths[tool.index()]
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

    fn entries(&self, term: &str) -> Entries<'_> {
        let columns = &self.columns;
        let (mut low, mut high) = (0, columns.terms());
        while low < high {
            let middle = low + (high - low) / 2;
            if columns.term(middle) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == columns.terms() || columns.term(low) != term {
            return Entries::default();
        }
        columns.entries(low)
    }
}

#[cfg(test)]
mod tests;
