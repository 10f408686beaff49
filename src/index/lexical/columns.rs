//! The postings as they lie in memory and on disk: plain columns.

use super::{FIELDS, Packed};
use crate::tool::ToolId;

/// Terms in ascending order, each with a range of entries; an entry is a tool and one field's
/// packed count, ascending by tool, then field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::index) struct Columns {
    /// All terms end to end, ascending.
    pub(in crate::index) text: String,
    /// End of each term in `text`.
    pub(in crate::index) text_ends: Vec<u32>,
    /// End of each term's entries.
    pub(in crate::index) entry_ends: Vec<u64>,
    /// Tool of each entry.
    pub(in crate::index) entry_tools: Vec<u32>,
    /// Field and count of each entry.
    pub(in crate::index) entry_counts: Vec<u16>,
    /// Tokens in each field of each tool, saturating.
    pub(in crate::index) lengths: Vec<[u16; FIELDS]>,
}

impl Columns {
    pub(super) fn terms(&self) -> usize {
        self.text_ends.len()
    }

    pub(super) fn term(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |at| self.text_ends[at]);
        &self.text[start as usize..self.text_ends[at] as usize]
    }

    pub(super) fn entries(&self, at: usize) -> Entries<'_> {
        let start = at.checked_sub(1).map_or(0, |at| self.entry_ends[at]) as usize;
        let end = self.entry_ends[at] as usize;
        Entries {
            tools: &self.entry_tools[start..end],
            counts: &self.entry_counts[start..end],
        }
    }

    /// That every look-up into these columns is sound: what was read from a file is not to be
    /// believed because its checksum holds.
    pub(super) fn audit(&self) -> Result<(), &'static str> {
        if self.text_ends.len() != self.entry_ends.len() {
            return Err("as many terms as ranges of entries are needed");
        }
        if !divide(
            self.text_ends.iter().map(|&end| end.into()),
            self.text.len(),
        ) || !self
            .text_ends
            .iter()
            .all(|&end| self.text.is_char_boundary(end as usize))
        {
            return Err("terms do not divide their text");
        }
        if (1..self.terms()).any(|at| self.term(at) <= self.term(at - 1)) {
            return Err("terms do not ascend");
        }
        if self.entry_tools.len() != self.entry_counts.len()
            || !divide(self.entry_ends.iter().copied(), self.entry_tools.len())
        {
            return Err("ranges do not divide the entries");
        }
        let tools = self.lengths.len() as u32;
        let sound = |entries: Entries<'_>| {
            let mut last = None;
            entries
                .tools
                .iter()
                .zip(entries.counts)
                .all(|(&tool, &packed)| {
                    let field = Packed(packed).field();
                    let ascends = last < Some((tool, field));
                    last = Some((tool, field));
                    ascends && tool < tools && field < FIELDS
                })
        };
        if !(0..self.terms()).all(|at| sound(self.entries(at))) {
            return Err("entries are no counts of tools in ascending order");
        }
        Ok(())
    }
}

/// Whether these ends of ranges ascend to `total`.
fn divide(mut ends: impl Iterator<Item = u64>, total: usize) -> bool {
    let mut last = 0;
    ends.all(|end| std::mem::replace(&mut last, end) <= end) && last == total as u64
}

/// The entries of one term: two columns of equal length.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entries<'a> {
    pub(super) tools: &'a [u32],
    pub(super) counts: &'a [u16],
}

impl<'a> Entries<'a> {
    /// The entries tool by tool, each with the tool's packed counts.
    pub(super) fn groups(self) -> impl Iterator<Item = (ToolId, &'a [u16])> {
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
