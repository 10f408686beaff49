//! What is searched: an index on disk, or a catalogue that is indexed on the spot.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as Group;

use super::Context;
use super::args::ModelArgs;
use super::error::Error;
use super::problems;
use super::progress::Progress;
use crate::catalog::read::{self, Reading};
use crate::embed::{self, DEFAULT_MODEL, Embedder};
use crate::index::{self, Index, snapshot};

/// The model's name that means none: search by words alone.
pub const NO_MODEL: &str = "none";

/// What to search.
#[derive(Debug, Clone, Group)]
pub struct SourceArgs {
    /// Folder of an index, made by 'toolscout index' [env: TOOLSCOUT_INDEX]
    #[arg(long, value_name = "DIR", conflicts_with = "catalog")]
    pub index: Option<PathBuf>,
    /// File or folder of tools in JSON Lines, indexed on the spot [env: TOOLSCOUT_CATALOG]
    #[arg(long, value_name = "PATH")]
    pub catalog: Option<PathBuf>,
    /// Which model; of an index its own, and 'none' searches by words alone.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Ready to be searched.
pub struct Opened {
    /// The index.
    pub index: Arc<Index>,
    /// Its model; none where words alone are searched.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// Where a catalogue is.
pub(super) enum Place {
    /// In the index in this folder.
    Index(PathBuf),
    /// In this file or folder.
    Catalog(PathBuf),
}

/// What is typed wins over the environment, so that one can be set while the other is given.
///
/// # Errors
/// [`Error::Usage`] where neither is named.
pub(super) fn place(index: Option<&Path>, catalog: Option<&Path>) -> Result<Place, Error> {
    let variable = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = index {
        return Ok(Place::Index(folder.to_owned()));
    }
    if let Some(path) = catalog {
        return Ok(Place::Catalog(path.to_owned()));
    }
    if let Some(folder) = variable("TOOLSCOUT_INDEX") {
        return Ok(Place::Index(folder));
    }
    if let Some(path) = variable("TOOLSCOUT_CATALOG") {
        return Ok(Place::Catalog(path));
    }
    let advice = "say what to search: --index DIR (made by 'toolscout index') or --catalog PATH";
    Err(Error::Usage(advice.to_owned()))
}

impl SourceArgs {
    /// Reads or builds the index, and opens its model.
    ///
    /// # Errors
    /// [`Error::Usage`] where neither is named, and whatever reading, building and opening say.
    pub fn open(&self, context: &Context) -> Result<Opened, Error> {
        let progress = Progress::new(&context.output);
        match place(self.index.as_deref(), self.catalog.as_deref())? {
            Place::Index(folder) => self.load(&folder, context, &progress),
            Place::Catalog(path) => self.build(&path, context, &progress),
        }
    }

    fn load(&self, folder: &Path, context: &Context, progress: &Progress) -> Result<Opened, Error> {
        let index = snapshot::load(folder, None)?;
        let named = context.settings.model_name(&self.model);
        // A model's identity is its name, `@`, and what tells versions apart.
        let own = index.model_id.split('@').next().unwrap_or_default();
        let name = named.unwrap_or_else(|| own.to_owned());
        if name == NO_MODEL {
            return Ok(Opened {
                index: Arc::new(index),
                embedder: None,
            });
        }
        let embedder = open_model(&name, &self.model, context, progress)?;
        if embedder.model_id() != index.model_id {
            return Err(Error::ModelMismatch {
                path: folder.to_owned(),
                index: index.model_id,
                open: embedder.model_id().to_owned(),
            });
        }
        Ok(Opened {
            index: Arc::new(index),
            embedder: Some(embedder),
        })
    }

    fn build(&self, path: &Path, context: &Context, progress: &Progress) -> Result<Opened, Error> {
        let name = context.settings.model_name(&self.model);
        let name = name.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        if name == NO_MODEL {
            let advice =
                "--model none searches an index by words alone: build one by 'toolscout index'";
            return Err(Error::Usage(advice.to_owned()));
        }
        let reading = read_catalog(path)?;
        if let Some(summary) = problems::summary(&reading) {
            let where_to_look =
                format!("'toolscout doctor --catalog {}' lists them", path.display());
            context
                .output
                .remark(format_args!("{summary}: {where_to_look}"));
        }
        let embedder = open_model(&name, &self.model, context, progress)?;
        let catalog = Arc::new(reading.into_catalog());
        let index = index::build::build(catalog, &*embedder, &|reached| progress.build(reached))?;
        Ok(Opened {
            index: Arc::new(index),
            embedder: Some(embedder),
        })
    }
}

/// Reads a catalogue that must have a good tool.
///
/// # Errors
/// [`Error::Catalog`] where it cannot be read, [`Error::NoTools`] where nothing of it can be used.
pub(super) fn read_catalog(path: &Path) -> Result<Reading, Error> {
    let reading = read::read(path)?;
    if reading.tools.is_empty() {
        let first = reading.problems.first().map(ToString::to_string);
        return Err(Error::NoTools {
            path: path.to_owned(),
            problem: first.unwrap_or_else(|| "it is empty".to_owned()),
        });
    }
    Ok(reading)
}

/// Opens a model by name, with a bar; meanwhile the word lists are loaded that the first request
/// would otherwise wait for.
///
/// # Errors
/// [`Error::Embed`] where it cannot be had.
pub(super) fn open_model(
    name: &str,
    args: &ModelArgs,
    context: &Context,
    progress: &Progress,
) -> Result<Arc<dyn Embedder>, Error> {
    std::thread::spawn(|| drop(index::analyze::analyze("预热")));
    let options = context.settings.embed_options(&args.place);
    let embedder = embed::open(name, &options, &|reached| progress.model(reached))?;
    progress.clear();
    Ok(Arc::from(embedder))
}
