//! From texts to postings: tools are analysed on all cores, then their terms are sorted together.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{Columns, FIELDS, Field, Lexical, Packed};
use crate::catalog::{Catalog, text};
use crate::index::analyze::{TokenKind, analyze};
use crate::tool::ToolId;

/// Tools analysed at a time: bounds what is held as loose strings.
const CHUNK: usize = 4096;

impl Lexical {
    /// The words of all tools of a catalogue, as [`text::fields`] gives them.
    pub fn build(catalog: &Catalog) -> Self {
        let ids: Vec<ToolId> = (0..catalog.len() as u32).map(ToolId).collect();
        Self::of(catalog, &ids)
    }

    /// The words of some tools, which are numbered by their position in `ids`.
    pub(super) fn of(catalog: &Catalog, ids: &[ToolId]) -> Self {
        let mut builder = Builder::default();
        for chunk in ids.chunks(CHUNK) {
            let counted: Vec<Counted> = chunk
                .par_iter()
                .map(|&id| {
                    let namespace = catalog.namespace(catalog.namespace_of(id));
                    Counted::of(&text::fields(catalog.tool(id), namespace))
                })
                .collect();
            for tool in counted {
                builder.push(tool);
            }
        }
        builder.finish()
    }
}

/// One tool's terms, counted.
struct Counted {
    /// Ascending by term, then field.
    terms: Vec<(String, Packed)>,
    lengths: [u16; FIELDS],
}

impl Counted {
    fn of(fields: &[String; FIELDS - 1]) -> Self {
        let mut counts: HashMap<(String, Field), u32> = HashMap::new();
        let mut lengths = [0u16; FIELDS];
        for (field, text) in Field::ALL.into_iter().zip(fields) {
            for token in analyze(text) {
                let Some(field) = place(field, token.kind) else {
                    continue;
                };
                let length = &mut lengths[field.index()];
                *length = length.saturating_add(1);
                *counts.entry((token.text, field)).or_default() += 1;
            }
        }
        let mut terms: Vec<((String, Field), u32)> = counts.into_iter().collect();
        terms.sort_unstable();
        let terms = terms
            .into_iter()
            .map(|((term, field), count)| (term, Packed::new(field, count)))
            .collect();
        Self { terms, lengths }
    }
}

/// The field that a token of `field`'s text is counted in. Neighbours in running text are joined by
/// chance more often than by meaning, so only those of names count.
fn place(field: Field, kind: TokenKind) -> Option<Field> {
    match kind {
        TokenKind::Word | TokenKind::HanWord | TokenKind::HanCharacter | TokenKind::Bigram => {
            Some(field)
        }
        TokenKind::Compound => Some(Field::Joined),
        TokenKind::Joined => {
            matches!(field, Field::Name | Field::Namespace).then_some(Field::Joined)
        }
    }
}

#[derive(Default)]
struct Builder {
    ids: HashMap<String, u32>,
    /// Term, tool and packed count, in order of tool.
    entries: Vec<(u32, u32, u16)>,
    lengths: Vec<[u16; FIELDS]>,
}

impl Builder {
    fn push(&mut self, tool: Counted) {
        let id = self.lengths.len() as u32;
        self.lengths.push(tool.lengths);
        for (term, Packed(count)) in tool.terms {
            let next = self.ids.len() as u32;
            let term = *self.ids.entry(term).or_insert(next);
            self.entries.push((term, id, count));
        }
    }

    fn finish(self) -> Lexical {
        let mut terms: Vec<(String, u32)> = self.ids.into_iter().collect();
        terms.sort_unstable();
        let mut rank = vec![0usize; terms.len()];
        let mut text = String::new();
        let mut text_ends = Vec::with_capacity(terms.len());
        for (at, (term, id)) in terms.iter().enumerate() {
            rank[*id as usize] = at;
            text.push_str(term);
            text_ends.push(text.len() as u32);
        }

        // A counting sort by term keeps the order of tools within each.
        let mut entry_ends = vec![0u64; terms.len()];
        for (term, _, _) in &self.entries {
            entry_ends[rank[*term as usize]] += 1;
        }
        let mut total = 0;
        let mut next = vec![0usize; terms.len()];
        for (end, next) in entry_ends.iter_mut().zip(&mut next) {
            *next = total as usize;
            total += *end;
            *end = total;
        }
        let mut entry_tools = vec![0; self.entries.len()];
        let mut entry_counts = vec![0; self.entries.len()];
        for (term, tool, count) in self.entries {
            let place = &mut next[rank[term as usize]];
            entry_tools[*place] = tool;
            entry_counts[*place] = count;
            *place += 1;
        }
        Lexical {
            columns: Columns {
                text,
                text_ends,
                entry_ends,
                entry_tools,
                entry_counts,
                lengths: self.lengths,
            },
        }
    }
}
