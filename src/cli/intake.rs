//! A catalogue of files into a registry.

use std::collections::BTreeMap;

use super::error::Error;
use crate::catalog::read::Reading;
use crate::registry::{
    Applied, Author, Batch, Change, Document, Effect, Mode, Refusal, Replacement, Revision, Store,
};

/// How files meet what is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// Of each namespace that the files hold, what they do not list is deleted.
    pub(super) replace: bool,
    /// Even where so much goes that it looks like a mistake.
    pub(super) force: bool,
    /// Says what would be done, and does nothing.
    pub(super) dry_run: bool,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) created: usize,
    pub(super) updated: usize,
    pub(super) unchanged: usize,
    pub(super) deleted: usize,
    /// Tools or namespaces whose change was turned down, and why.
    pub(super) refused: Vec<(String, Refusal)>,
    pub(super) revision: Revision,
}

/// Puts all tools and namespaces of a catalogue: in one transaction, or namespace by namespace where
/// they replace what is there.
pub(super) fn put(
    store: &dyn Store,
    reading: &Reading,
    author: &Author,
    how: How,
) -> Result<Made, Error> {
    let mut made = Made::default();
    let namespaces = reading.namespaces.iter().map(Document::of_namespace);
    let mut documents: Vec<Document> = namespaces.collect();
    let tools = reading.tools.iter().map(Document::of_tool);
    if how.replace {
        let mut listings: BTreeMap<(String, String), Vec<Document>> = BTreeMap::new();
        for tool in tools {
            let place = (tool.id.tenant.clone(), tool.namespace.clone());
            listings.entry(place).or_default().push(tool);
        }
        for ((tenant, namespace), tools) in listings {
            let replacement = Replacement {
                author: author.clone(),
                tenant,
                namespace,
                tools,
                force: how.force,
                dry_run: how.dry_run,
            };
            made.count(store.replace(replacement)?);
        }
    } else {
        documents.extend(tools);
    }
    let batch = Batch {
        author: author.clone(),
        mode: Mode::Atomic,
        dry_run: how.dry_run,
        changes: Box::new(documents.into_iter().map(Change::put)),
    };
    made.count(store.apply(batch)?);
    Ok(made)
}

impl Made {
    fn count(&mut self, applied: Applied) {
        self.revision = applied.revision;
        let refused = applied.refused() > 0;
        for (id, effect) in applied.effects {
            match effect {
                Effect::Refused(refusal) => self.refused.push((id.key, refusal)),
                // Nothing of a batch is made of which something was refused.
                _ if refused => {}
                Effect::Created(_) => self.created += 1,
                Effect::Updated(_) => self.updated += 1,
                Effect::Unchanged(_) => self.unchanged += 1,
                Effect::Deleted => self.deleted += 1,
            }
        }
    }
}
