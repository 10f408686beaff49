//! A registry that is served: its files, its first index, and the folder that feeds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as Group;

use super::args::ModelArgs;
use super::error::Error;
use super::intake::{self, How};
use super::progress::Progress;
use super::source::{NO_MODEL, Opened, open_model};
use super::watch::Watched;
use super::{Context, output::say};
use crate::catalog::read;
use crate::embed::{DEFAULT_MODEL, Embedder};
use crate::refresh::{self, Followed, Following, Pace, Remembered, Source, follow};
use crate::registry::Author;
use crate::serve::{App, Registry};
use crate::store::sqlite::{Limits, Sqlite};
use crate::store::vectors::Vectors;

/// Bytes of vectors that are kept beside a registry: half a million of them.
const VECTOR_BYTES: u64 = 1 << 30;

/// Where tools change while they are served.
#[derive(Debug, Clone, Group)]
pub struct RegistryArgs {
    /// File of a registry, made if there is none: its tools may change while they are served
    #[arg(long, value_name = "FILE", conflicts_with_all = ["index", "catalog"], help_heading = "Registry")]
    pub registry: Option<PathBuf>,
    /// With --open: every program on this machine may change tools, too
    #[arg(
        long,
        requires = "registry",
        requires = "open",
        help_heading = "Registry"
    )]
    pub writable: bool,
    /// File or folder of tools in JSON Lines that the registry follows, namespace by namespace
    #[arg(
        long,
        value_name = "PATH",
        requires = "registry",
        help_heading = "Registry"
    )]
    pub watch: Option<PathBuf>,
}

/// A registry with its first index.
pub(super) struct Registered {
    source: Source,
    first: Followed,
    embedder: Arc<dyn Embedder>,
    spool: PathBuf,
    writable: bool,
}

/// A registry that is being followed.
pub(super) struct Served {
    pub(super) source: Source,
    pub(super) following: Arc<Following>,
}

impl RegistryArgs {
    /// Opens the registry, if there is to be one, and makes its first index.
    pub(super) fn open(
        &self,
        model: &ModelArgs,
        context: &Context,
    ) -> Result<Option<Registered>, Error> {
        let Some(path) = &self.registry else {
            return Ok(None);
        };
        let name = context.settings.model_name(model);
        let name = name.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        if name == NO_MODEL {
            let advice = "--model none goes with an index: a registry needs a model";
            return Err(Error::Usage(advice.to_owned()));
        }
        let store = Sqlite::open(path, Limits::default())?;
        if let Some(folder) = &self.watch {
            feed(&store, folder)?;
        }
        let vectors = Vectors::open(&beside(path, "-vectors"), VECTOR_BYTES)?;
        let progress = Progress::new(&context.output);
        let embedder = open_model(&name, model, context, &progress)?;
        let source = Source {
            store: Arc::new(store),
            embedder: Arc::new(Remembered::new(Arc::clone(&embedder), Arc::new(vectors))),
            snapshots: Some(beside(path, "-index")),
            pace: Pace::default(),
        };
        let first = refresh::open(&source, &|reached| progress.build(reached))?;
        progress.clear();
        Ok(Some(Registered {
            source,
            first,
            embedder,
            spool: folder_of(path),
            writable: self.writable,
        }))
    }

    /// The folder that feeds a registry, to be looked at.
    pub(super) fn watched(&self, served: &Served) -> Option<Watched> {
        let folder = self.watch.as_ref()?;
        let (store, following) = (
            Arc::clone(&served.source.store),
            Arc::clone(&served.following),
        );
        Some(Watched::new("catalogue", folder).then(move |path| {
            let fed = feed(&*store, path);
            following.wake();
            fed
        }))
    }
}

impl Registered {
    /// What is served at first.
    pub(super) fn opened(&self) -> Opened {
        Opened {
            index: Arc::clone(&self.first.index),
            embedder: Some(Arc::clone(&self.embedder)),
        }
    }

    /// Keeps what a server serves up to date, and lets it take changes.
    pub(super) fn serve(self, app: &App) -> Result<Served, Error> {
        let following = follow(self.source.clone(), self.first, app.publisher());
        let following = Arc::new(following.map_err(|source| Error::System {
            what: "start a thread that follows the registry".to_owned(),
            source,
        })?);
        app.set_registry(Registry::new(
            Arc::clone(&self.source.store),
            Arc::clone(&following),
            self.spool,
            self.writable,
        ));
        Ok(Served {
            source: self.source,
            following,
        })
    }
}

/// Puts what a folder holds into a registry. Lines that cannot be read are left out, as everywhere;
/// that something changed by halves is told in the log.
fn feed(store: &dyn crate::registry::Store, path: &Path) -> Result<(), Error> {
    let reading = read::read(path)?;
    let rejected = reading.rejected();
    if rejected > 0 {
        tracing::warn!(path = %path.display(), rejected, "lines of the catalogue are left out");
    }
    let author = Author {
        name: format!("watch:{}", path.display()),
        reason: None,
    };
    let how = How {
        replace: true,
        force: false,
        dry_run: false,
    };
    let made = intake::put(store, &reading, &author, how)?;
    let mut refused = made.refused.into_iter();
    match refused.next() {
        None => Ok(()),
        Some((what, refusal)) => {
            for (what, refusal) in refused {
                say(format_args!("error: {what}: {refusal}"));
            }
            Err(Error::Refused { what, refusal })
        }
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
