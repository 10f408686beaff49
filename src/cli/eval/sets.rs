//! The sets that an evaluation is over, and the model it is done with.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as Group;

use super::super::Context;
use super::super::args::ModelArgs;
use super::super::error::Error;
use super::super::output::Output;
use super::super::progress::Progress;
use super::super::source;
use crate::embed::{self, DEFAULT_MODEL, Embedder};
use crate::eval::bench::Bench;
use crate::eval::dataset::{Dataset, Options, Split};
use crate::eval::keep::Keeping;

/// What is measured.
#[derive(Debug, Clone, Group)]
pub struct SetArgs {
    /// Folder of a labelled set (repeatable)
    #[arg(long = "dataset", value_name = "DIR", num_args = 1..)]
    pub dataset: Vec<PathBuf>,
    /// Catalogue of the sets that have no tools of their own
    #[arg(long, value_name = "PATH")]
    pub catalog: Option<PathBuf>,
    /// At most so many queries of each set, spread over the file
    #[arg(long, value_name = "N")]
    pub limit_queries: Option<NonZeroUsize>,
    /// Read the training split: train_queries.jsonl and train_qrels.tsv
    #[arg(long)]
    pub train: bool,
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
}

impl SetArgs {
    /// The folders, of which there must be one.
    pub(super) fn folders(&self) -> Result<&[PathBuf], Error> {
        if self.dataset.is_empty() {
            let advice = "say what to measure: --dataset DIR (see 'toolscout eval --help')";
            return Err(Error::Usage(advice.to_owned()));
        }
        Ok(&self.dataset)
    }

    /// Opens the model that is named, else the default one. A folder that is not there is told
    /// before a model is fetched for it.
    pub(super) fn open_model(
        &self,
        context: &Context,
        progress: &Progress,
    ) -> Result<Arc<dyn Embedder>, Error> {
        for folder in self.folders()? {
            std::fs::read_dir(folder).map_err(|source| Error::System {
                what: format!("read the set {}", folder.display()),
                source,
            })?;
        }
        let name = context.settings.model_name(&self.model);
        let name = name.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        source::open_model(&name, &self.model, context, progress)
    }

    /// Where vectors are kept.
    pub(super) fn vectors(&self, context: &Context) -> Result<PathBuf, Error> {
        let options = context.settings.embed_options(&self.model.place);
        Ok(embed::cache_folder(&options)?.join("eval"))
    }

    /// Reads one set and makes it ready, telling what is wrong with its labels.
    pub(super) fn bench<'a>(
        &self,
        folder: &Path,
        keeping: &'a Keeping<'_>,
        progress: &Progress,
        output: &Output,
    ) -> Result<Bench<'a>, Error> {
        let options = Options {
            catalog: self.catalog.clone(),
            split: if self.train {
                Split::Train
            } else {
                Split::Test
            },
            limit: self.limit_queries.map(NonZeroUsize::get),
        };
        let set = Dataset::load(folder, &options)?;
        if let Some(first) = set.unknown.first() {
            output.remark(format_args!(
                "{}: {} labels of tools that the catalogue does not hold are left out, the first \
                 at {}:{}: '{}'",
                set.name,
                set.unknown.len(),
                first.file.display(),
                first.line,
                first.tool
            ));
        }
        if let Some(first) = set.unlabelled.first() {
            output.remark(format_args!(
                "{}: {} queries without a label are left out, the first is '{first}'",
                set.name,
                set.unlabelled.len()
            ));
        }
        let bench = Bench::new(set, keeping, &|reached| progress.measure(reached))?;
        progress.clear();
        Ok(bench)
    }

    /// All sets at once, in the order given.
    pub(super) fn benches<'a>(
        &self,
        keeping: &'a Keeping<'_>,
        progress: &Progress,
        output: &Output,
    ) -> Result<Vec<Bench<'a>>, Error> {
        let folders = self.folders()?.iter();
        folders
            .map(|folder| self.bench(folder, keeping, progress, output))
            .collect()
    }
}

/// The vector space, for the report.
pub(super) fn model_id(keeping: &Keeping<'_>) -> String {
    keeping.model_id().to_owned()
}
