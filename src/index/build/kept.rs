//! What of an index before holds for the next catalogue.

use rayon::prelude::*;

use crate::catalog::{Catalog, definition};
use crate::index::Index;
use crate::tool::{NamespaceId, Tool, ToolId};

/// For each tool and namespace of a catalogue, its place in the index before, where it is the same
/// there. Ascending, since both catalogues are in order of key.
pub(super) struct Kept<'a> {
    pub(super) previous: Option<&'a Index>,
    /// Tools whose definition and rows hold.
    pub(super) rows: Vec<Option<ToolId>>,
    /// Tools whose words hold: not where their namespace says something else of itself.
    pub(super) words: Vec<Option<ToolId>>,
    pub(super) namespaces: Vec<Option<NamespaceId>>,
}

impl<'a> Kept<'a> {
    /// Where there is no index before.
    pub(super) fn nothing(catalog: &Catalog) -> Self {
        Self {
            previous: None,
            rows: vec![None; catalog.len()],
            words: vec![None; catalog.len()],
            namespaces: vec![None; catalog.namespaces().len()],
        }
    }

    /// What of `previous` holds for `catalog`: not the rows of a wanted tool that has no vector.
    pub(super) fn of(
        previous: &'a Index,
        catalog: &Catalog,
        wanted: &dyn Fn(&Tool) -> bool,
    ) -> Self {
        let before = &previous.catalog;
        let namespaces: Vec<Option<NamespaceId>> = catalog
            .namespaces()
            .iter()
            .map(|namespace| {
                let names = before.namespaces();
                let at = names.binary_search_by(|other| other.name.cmp(&namespace.name));
                let at = at.ok().filter(|&at| names[at] == *namespace)?;
                let id = NamespaceId(at as u32);
                // One without a vector costs little to try again.
                previous.namespace_vector(id).map(|_| id)
            })
            .collect();
        let same: Vec<Option<ToolId>> = catalog
            .tools()
            .par_iter()
            .map(|tool| {
                let mut ids = before.with_key(&tool.key).iter().copied();
                ids.find(|id| before.tool(*id) == tool)
            })
            .collect();
        let words = (0..)
            .map(ToolId)
            .zip(&same)
            .map(|(id, same)| {
                let namespace = catalog.namespace(catalog.namespace_of(id));
                same.filter(|old| *before.namespace(before.namespace_of(*old)) == *namespace)
            })
            .collect();
        let holds = |id: &ToolId| {
            previous.unembedded.binary_search(id).is_err() || !wanted(before.tool(*id))
        };
        Self {
            previous: Some(previous),
            rows: same.into_iter().map(|id| id.filter(holds)).collect(),
            words,
            namespaces,
        }
    }

    /// Rows of the tools that are kept.
    pub(super) fn count_rows(&self) -> usize {
        let Some(previous) = self.previous else {
            return 0;
        };
        let kept = self.rows.iter().flatten();
        kept.map(|id| previous.dense.rows_of(*id).len()).sum()
    }

    /// Hash of each tool's definition.
    pub(super) fn definition_hashes(&self, catalog: &Catalog) -> Vec<[u8; 32]> {
        catalog
            .tools()
            .par_iter()
            .zip(&self.rows)
            .map(|(tool, old)| match old.zip(self.previous) {
                Some((old, previous)) => previous.definition_hashes[old.index()],
                None => definition::definition_hash(tool),
            })
            .collect()
    }
}
