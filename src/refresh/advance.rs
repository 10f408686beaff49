//! From an index of one revision to that of a later one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::saved::{self, Found};
use super::{Error, Source};
use crate::catalog::read::Rejected;
use crate::catalog::{Catalog, document};
use crate::embed::{self, Embedder};
use crate::index::build::{Means, Progress, build, update};
use crate::index::{self, Index};
use crate::registry::{Entry, Id, Kind, Revision};
use crate::tool::{Json, Namespace, Tool};

/// Records or changes read at a time.
const PAGE: usize = 1000;
/// Tools that get their vectors in one round. A round takes up all changes that there are, so that
/// no batch is ever served by half; what more there is to embed is found by words until its turn,
/// so that the next change does not wait for it.
const ROUND: usize = 2000;

/// An index, and the revision it is of.
#[derive(Debug, Clone)]
pub struct Followed {
    /// The index.
    pub index: Arc<Index>,
    /// The last change that is in it.
    pub revision: Revision,
    /// All namespaces that the registry describes, with tools or without.
    pub(super) namespaces: BTreeMap<String, Namespace>,
    /// Documents that could not be read, each with the reason.
    pub(super) problems: BTreeMap<Id, String>,
    /// Tools whose vectors are still to be made.
    pub(super) due: BTreeSet<Id>,
    /// The revision of the snapshot it began from, or 0.
    pub(super) saved: Revision,
}

/// What has changed since an index was built.
#[derive(Debug, Default)]
pub(super) struct Changes {
    tools: BTreeMap<Id, Option<Tool>>,
    namespaces: BTreeMap<Id, Option<Namespace>>,
    problems: BTreeMap<Id, String>,
    /// How many changes there were.
    pub(super) count: usize,
    pub(super) revision: Revision,
}

impl Changes {
    fn take(&mut self, entry: Entry) {
        self.count += 1;
        self.revision = self.revision.max(entry.revision);
        let put = entry.put.map(|(_, json)| json);
        self.put(entry.id, put.as_ref());
    }

    /// What is there under an id from now on. What cannot be read is not served: an older version
    /// of it would be wrong.
    fn put(&mut self, id: Id, json: Option<&Json>) {
        self.problems.remove(&id);
        let text = json.map(Json::as_str);
        match id.kind {
            Kind::Tool => {
                let read = text.map(document::to_tool).transpose();
                let tool = self.readable(&id, read).map(|one| one.tool);
                self.tools.insert(id, tool);
            }
            Kind::Namespace => {
                let read = text.map(document::to_namespace).transpose();
                let namespace = self.readable(&id, read);
                self.namespaces.insert(id, namespace);
            }
        }
    }

    fn readable<T>(&mut self, id: &Id, read: Result<Option<T>, Rejected>) -> Option<T> {
        read.unwrap_or_else(|fault| {
            tracing::error!(key = id.key, %fault, "a document of the registry is not served");
            let text = format!("'{}' cannot be read: {fault}", id.key);
            self.problems.insert(id.clone(), text);
            None
        })
    }
}

/// The index of a registry as it is now: the last good snapshot brought up to date, or one that is
/// built anew. Of many tools that changed since, some may be found by words alone until
/// [`follow`](super::follow) has embedded them.
///
/// `progress` is called while texts are embedded.
///
/// # Errors
/// [`Error`] where the registry cannot be read or the index cannot be built.
pub fn open(source: &Source, progress: &dyn Fn(Progress)) -> Result<Followed, Error> {
    let head = source.store.head()?;
    let found = source.snapshots.as_ref().and_then(|folder| {
        let model = source.embedder.model_id();
        saved::newest(folder, source.store.identity(), head, model)
    });
    let (before, changes) = match found {
        Some(found) => from_snapshot(source, found)?,
        None => (nothing(source)?, all(source)?),
    };
    if changes.count == 0 && changes.revision == before.revision {
        return Ok(before);
    }
    let round = advance(Some(&*source.embedder), &before, changes, progress)?;
    if let Some(fault) = round.fault {
        tracing::error!(%fault, "tools that changed are found by words alone for now");
    }
    Ok(round.followed)
}

/// The index of no tools.
fn nothing(source: &Source) -> Result<Followed, Error> {
    let catalog = Arc::new(Catalog::default());
    Ok(Followed {
        index: Arc::new(build(catalog, &*source.embedder, &|_| {})?),
        revision: Revision(0),
        namespaces: BTreeMap::new(),
        problems: BTreeMap::new(),
        due: BTreeSet::new(),
        saved: Revision(0),
    })
}

/// Only the namespaces are read whole, since the snapshot has but those that had tools. They may be
/// of a later revision, and the log then changes them to what they are.
fn from_snapshot(source: &Source, found: Found) -> Result<(Followed, Changes), Error> {
    let mut state = Changes::default();
    let root = Id::namespace("");
    if let Some(record) = source.store.record(&root)? {
        state.put(root.clone(), Some(&record.document.json));
    }
    read(source, Some(root), &mut state)?;
    let index = Arc::new(found.index);
    // Whether the model refused them or was not asked yet, the snapshot does not say.
    let due = index
        .unembedded
        .iter()
        .map(|id| Id::of(index.catalog.tool(*id)));
    let followed = Followed {
        due: due.collect(),
        index,
        revision: found.revision,
        namespaces: laid_over(BTreeMap::new(), state.namespaces),
        problems: state.problems,
        saved: found.revision,
    };
    let changes = since(source, followed.revision)?;
    Ok((followed, changes))
}

/// All that is there, as changes. Pages are read while others write; the changes since the head of
/// the beginning make all of it one revision.
fn all(source: &Source) -> Result<Changes, Error> {
    let mut state = Changes {
        revision: source.store.head()?,
        ..Changes::default()
    };
    read(source, None, &mut state)?;
    let later = since(source, state.revision)?;
    state.tools.extend(later.tools);
    state.namespaces.extend(later.namespaces);
    state.problems.extend(later.problems);
    state.revision = later.revision;
    Ok(state)
}

fn read(source: &Source, mut after: Option<Id>, state: &mut Changes) -> Result<(), Error> {
    loop {
        let page = source.store.page(after.as_ref(), PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(last.document.id.clone());
        for record in page {
            state.count += 1;
            state.put(record.document.id, Some(&record.document.json));
        }
    }
}

/// The changes after a revision, as far as there are any now.
pub(super) fn since(source: &Source, revision: Revision) -> Result<Changes, Error> {
    let mut changes = Changes {
        revision,
        ..Changes::default()
    };
    loop {
        let page = source.store.entries(changes.revision, PAGE)?;
        let is_last = page.len() < PAGE;
        for entry in page {
            changes.take(entry);
        }
        if is_last {
            return Ok(changes);
        }
    }
}

/// Builds the index of all that is there with all of its vectors, and nothing taken from an index
/// before.
pub(super) fn anew(source: &Source, progress: &dyn Fn(Progress)) -> Result<Followed, Error> {
    let state = all(source)?;
    let namespaces = laid_over(BTreeMap::new(), state.namespaces);
    let tools = state.tools.into_values().flatten().collect();
    let catalog = Arc::new(Catalog::new(tools, namespaces.values().cloned().collect()));
    Ok(Followed {
        index: Arc::new(build(catalog, &*source.embedder, progress)?),
        revision: state.revision,
        namespaces,
        problems: state.problems,
        due: BTreeSet::new(),
        saved: Revision(0),
    })
}

/// A step forward.
pub(super) struct Round {
    pub(super) followed: Followed,
    /// Why the model could not be asked; the vectors are due then.
    pub(super) fault: Option<embed::Error>,
}

/// The index with all changes in it, and the vectors of some more tools that are due. Where the
/// model cannot be asked, the changes are made without.
pub(super) fn advance(
    embedder: Option<&dyn Embedder>,
    before: &Followed,
    changes: Changes,
    progress: &dyn Fn(Progress),
) -> Result<Round, Error> {
    let changed: BTreeSet<Id> = changes
        .tools
        .iter()
        .filter(|(_, tool)| tool.is_some())
        .map(|(id, _)| id.clone())
        .collect();
    let gone = |id: &Id| changes.tools.contains_key(id) && !changed.contains(id);
    let older = before
        .due
        .iter()
        .filter(|id| !changed.contains(*id) && !gone(id));
    let mut due: BTreeSet<Id> = older.clone().cloned().collect();
    let now: BTreeSet<Id> = changed.iter().chain(older).take(ROUND).cloned().collect();
    due.extend(changed);

    let mut next = before.clone();
    next.revision = changes.revision.max(before.revision);
    next.namespaces = laid_over(next.namespaces, changes.namespaces.clone());
    let touched = changes.tools.keys().chain(changes.namespaces.keys());
    touched.for_each(|id| drop(next.problems.remove(id)));
    next.problems.extend(changes.problems);
    let catalog = catalog(&before.index, changes.tools, &next.namespaces);
    let wanted = |tool: &Tool| now.contains(&Id::of(tool));
    let update = |embedder: Option<&dyn Embedder>| {
        let means = Means {
            embedder,
            wanted: &wanted,
        };
        update(&before.index, Arc::clone(&catalog), means, progress)
    };
    let (index, fault) = match update(embedder) {
        Ok(index) => {
            due.retain(|id| embedder.is_none() || !now.contains(id));
            (index, None)
        }
        Err(index::Error::Embed(fault)) => (update(None)?, Some(fault)),
        Err(other) => return Err(other.into()),
    };
    next.index = Arc::new(index);
    next.due = due;
    Ok(Round {
        followed: next,
        fault,
    })
}

fn catalog(
    before: &Index,
    changed: BTreeMap<Id, Option<Tool>>,
    namespaces: &BTreeMap<String, Namespace>,
) -> Arc<Catalog> {
    let tools = before.catalog.tools().iter();
    let mut tools: Vec<Tool> = if changed.is_empty() {
        tools.cloned().collect()
    } else {
        let stays = |tool: &&Tool| !changed.contains_key(&Id::of(tool));
        tools.filter(stays).cloned().collect()
    };
    tools.extend(changed.into_values().flatten());
    Arc::new(Catalog::new(tools, namespaces.values().cloned().collect()))
}

fn laid_over(
    mut known: BTreeMap<String, Namespace>,
    changes: BTreeMap<Id, Option<Namespace>>,
) -> BTreeMap<String, Namespace> {
    for (id, namespace) in changes {
        match namespace {
            Some(namespace) => known.insert(id.key, namespace),
            None => known.remove(&id.key),
        };
    }
    known
}
