//! From the words of one catalogue to those of the next: what did not change is moved, not analysed
//! again.

use super::columns::Entries;
use super::{Columns, Lexical};
use crate::catalog::Catalog;
use crate::tool::ToolId;

impl Lexical {
    /// The words of `catalog`, most of whose tools have the words of a tool here: `kept` says which,
    /// for each tool of the catalogue, ascending. Equal to building them anew.
    pub(in crate::index) fn updated(&self, catalog: &Catalog, kept: &[Option<ToolId>]) -> Self {
        let mut moved = vec![None; self.tools()];
        let mut fresh = Vec::new();
        for (at, old) in (0..).zip(kept) {
            match old {
                Some(old) => moved[old.index()] = Some(at),
                None => fresh.push(ToolId(at)),
            }
        }
        let added = Self::of(catalog, &fresh);
        let mut merged = Merged::with_room(&self.columns, &added.columns);
        merged.lengths(self, &added, kept);
        let (old, new) = (&self.columns, &added.columns);
        let (mut a, mut b) = (0, 0);
        while a < old.terms() || b < new.terms() {
            let in_old = a < old.terms() && (b == new.terms() || old.term(a) <= new.term(b));
            let in_new = b < new.terms() && (a == old.terms() || new.term(b) <= old.term(a));
            let term = if in_old { old.term(a) } else { new.term(b) };
            let stayed = if in_old {
                old.entries(a)
            } else {
                Entries::default()
            };
            let came = if in_new {
                new.entries(b)
            } else {
                Entries::default()
            };
            merged.term(term, (stayed, &moved), (came, &fresh));
            a += usize::from(in_old);
            b += usize::from(in_new);
        }
        Self {
            columns: merged.columns,
        }
    }
}

struct Merged {
    columns: Columns,
}

impl Merged {
    fn with_room(old: &Columns, new: &Columns) -> Self {
        let entries = old.entry_tools.len() + new.entry_tools.len();
        let terms = old.terms() + new.terms();
        Self {
            columns: Columns {
                text: String::with_capacity(old.text.len() + new.text.len()),
                text_ends: Vec::with_capacity(terms),
                entry_ends: Vec::with_capacity(terms),
                entry_tools: Vec::with_capacity(entries),
                entry_counts: Vec::with_capacity(entries),
                lengths: Vec::new(),
            },
        }
    }

    fn lengths(&mut self, old: &Lexical, new: &Lexical, kept: &[Option<ToolId>]) {
        let mut next = 0;
        self.columns.lengths = kept
            .iter()
            .map(|tool| match tool {
                Some(tool) => old.lengths(*tool),
                None => {
                    next += 1;
                    new.lengths(ToolId(next - 1))
                }
            })
            .collect();
    }

    /// One term's entries: of the tools that stayed and of those that came, in order of tool.
    fn term(
        &mut self,
        term: &str,
        (stayed, moved): (Entries<'_>, &[Option<u32>]),
        (came, fresh): (Entries<'_>, &[ToolId]),
    ) {
        let columns = &mut self.columns;
        let start = columns.entry_tools.len();
        let mut came = came
            .tools
            .iter()
            .map(|&tool| fresh[tool as usize].0)
            .zip(came.counts)
            .peekable();
        let stayed = stayed
            .tools
            .iter()
            .zip(stayed.counts)
            .filter_map(|(&tool, count)| Some((moved[tool as usize]?, count)));
        for (tool, count) in stayed {
            while let Some((earlier, count)) = came.next_if(|(other, _)| *other < tool) {
                columns.entry_tools.push(earlier);
                columns.entry_counts.push(*count);
            }
            columns.entry_tools.push(tool);
            columns.entry_counts.push(*count);
        }
        for (tool, count) in came {
            columns.entry_tools.push(tool);
            columns.entry_counts.push(*count);
        }
        if start < columns.entry_tools.len() {
            columns.text.push_str(term);
            columns.text_ends.push(columns.text.len() as u32);
            columns.entry_ends.push(columns.entry_tools.len() as u64);
        }
    }
}
