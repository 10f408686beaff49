//! A catalogue that follows its servers: what is on disk, and what each server lists now, indexed
//! again whenever one of them lists something else.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::error::Error;
use super::servers::Servers;
use super::source::Opened;
use crate::catalog::Catalog;
use crate::catalog::read::Reading;
use crate::embed::Embedder;
use crate::index::{self, Index};
use crate::serve::App;
use crate::source::{Heard, Sources};

/// Time for the first listings before the server begins without those that are late.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time in which several changes are indexed as one.
const SETTLING: Duration = Duration::from_millis(300);

/// What the servers listed last, by name.
type Lists = Arc<Mutex<BTreeMap<String, Reading>>>;

/// Servers that are followed, over a catalogue that stays.
pub(super) struct Live {
    /// The servers.
    pub(super) sources: Sources,
    base: Arc<Catalog>,
    embedder: Arc<dyn Embedder>,
    lists: Lists,
    changed: Receiver<()>,
}

impl Live {
    /// Begins to follow the servers on `runtime`, over `opened`, and waits a while for each to be
    /// listed once. None where there are none to follow.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no model to index new tools with.
    pub(super) fn begin(
        servers: &Servers,
        opened: &Opened,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<Option<Self>, Error> {
        if servers.sources.is_empty() {
            return Ok(None);
        }
        let Some(embedder) = opened.embedder.clone() else {
            let advice =
                "[[source]] needs a model to index what servers list: leave --model none out";
            return Err(Error::Usage(advice.to_owned()));
        };
        let (told, changed) = channel();
        let lists = Lists::default();
        let heard = hear(Arc::clone(&lists), told);
        let inside = runtime.enter();
        let sources = Sources::follow(servers.sources.clone(), servers.bounds(), &heard);
        drop(inside);
        runtime.block_on(sources.tried(PATIENCE));
        Ok(Some(Self {
            sources,
            base: Arc::clone(&opened.index.catalog),
            embedder,
            lists,
            changed,
        }))
    }

    /// An index of everything as it is now.
    ///
    /// # Errors
    /// [`Error::Index`] where the model fails.
    pub(super) fn index(&self) -> Result<Arc<Index>, Error> {
        let catalog = Arc::new(self.catalog());
        let index = index::build::build(catalog, &*self.embedder, &|_| {})?;
        Ok(Arc::new(index))
    }

    /// Indexes again and publishes, change by change, on a thread of its own that ends with the
    /// program.
    ///
    /// # Errors
    /// [`Error::System`] where there is no thread to be had.
    pub(super) fn keep(self, app: App) -> Result<(), Error> {
        let keep = move || {
            while self.changed.recv().is_ok() {
                std::thread::sleep(SETTLING);
                while self.changed.try_recv().is_ok() {}
                match self.index() {
                    Ok(index) => {
                        let tools = index.catalog.len();
                        match app.publish_index(index) {
                            Ok(()) => tracing::info!(tools, "indexed again"),
                            Err(error) => tracing::error!(%error, "not indexed again"),
                        }
                    }
                    Err(error) => {
                        let reason = error.message();
                        tracing::error!(reason, "not indexed again: the old index stays");
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("index".to_owned());
        let started = thread.spawn(keep).map(drop);
        started.map_err(|source| Error::System {
            what: "start a thread that indexes".to_owned(),
            source,
        })
    }

    /// What is on disk, and what the servers list. A server's tools replace those on disk of their
    /// keys: it knows better.
    fn catalog(&self) -> Catalog {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools: Vec<_> = lists
            .values()
            .flat_map(|list| list.tools.iter().cloned())
            .collect();
        let mut namespaces = self.base.namespaces().to_vec();
        for list in lists.values() {
            for namespace in &list.namespaces {
                // What an operator wrote of a namespace stands.
                let known = namespaces.iter().any(|other| other.name == namespace.name);
                if !known {
                    namespaces.push(namespace.clone());
                }
            }
        }
        drop(lists);
        let listed: std::collections::HashSet<String> =
            tools.iter().map(|tool| tool.key.clone()).collect();
        let base = self.base.tools().iter();
        tools.extend(base.filter(|tool| !listed.contains(&tool.key)).cloned());
        Catalog::new(tools, namespaces)
    }
}

/// Keeps the tools of each list; a bad one is told and left out.
fn hear(lists: Lists, told: Sender<()>) -> Heard {
    let told = Mutex::new(told);
    Arc::new(move |name, listing| {
        let reading = listing.read(name);
        let rejected = reading.rejected();
        if rejected > 0 {
            let first = reading.problems.iter().map(ToString::to_string).next();
            let first = first.unwrap_or_default();
            tracing::warn!(
                source = name,
                rejected,
                first,
                "tools of a source are left out"
            );
        }
        let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(name.to_owned(), reading);
        drop(lists);
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens any more once the server is stopping.
        let _ = told.send(());
    })
}
