//! From a model's name to an embedder.

use std::path::PathBuf;

use super::hashed::Hashed;
use super::manifest::{self, Manifest};
use super::onnx::Onnx;
use super::postprocess::PostProcess;
use super::recipe::Recipe;
use super::{Calibration, Embedder, Error, Progress, directories, folder, runtime};

/// The model used where none is named.
pub const DEFAULT_MODEL: &str = "use-multilingual-v3";

/// Whether opening a model may reach the network (an explicit endpoint always may).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// ONNX Runtime and Hugging Face models may be fetched.
    #[default]
    Allowed,
    /// Nothing is fetched: what is missing is an error.
    Never,
}

/// Where models are found and how they run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Folder of models. Unset: `TOOLSCOUT_MODELS`, else `./models`, else `models` beside the
    /// executable, else that of the checkout the program was built from.
    pub models: Option<PathBuf>,
    /// Folder for fetched and unpacked files. Unset: `TOOLSCOUT_CACHE`, else the user's cache
    /// directory.
    pub cache: Option<PathBuf>,
    /// Threads for bulk work; 0 means all cores. Single queries always take one.
    pub threads: usize,
    /// Bytes of vectors to remember, least recently used leave first; 0 remembers none.
    pub remember_bytes: u64,
    /// Whether something missing may be fetched.
    pub network: Network,
}

/// A model that can be opened by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The name [`open`] takes.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Version of the model.
    pub version: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Language codes it was made for.
    pub languages: Vec<String>,
    /// SPDX expression.
    pub licence: String,
    /// Bytes on disk, as committed.
    pub bytes: u64,
    /// Its manifest.
    pub path: PathBuf,
    /// Measured figures, name and value, in the manifest's order.
    pub figures: Vec<(String, String)>,
}

/// What [`check`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The vector space's identity.
    pub model_id: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Cosine range.
    pub calibration: Calibration,
    /// Files whose checksums were verified.
    pub files: usize,
    /// Reference texts compared; 0 where the model has none.
    pub references: usize,
    /// Worst cosine between a reference vector and ours; 1 where there is none.
    pub worst_cosine: f32,
}

/// The embedder called `name`, ready to use: a folder of the models directory, a path to a
/// directory with `model.onnx` and `tokenizer.json`, `hf:ORG/NAME`,
/// `https://HOST/v1/embeddings#MODEL`, or `hashed` (tests only).
///
/// # Errors
/// [`Error`], which says what was looked for and what to do.
pub fn open(
    name: &str,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Box<dyn Embedder>, Error> {
    if name == "hashed" {
        return Ok(Box::new(Hashed::new(256)));
    }
    let (folder, manifest) = find(name, options)?;
    let Some(manifest) = manifest else {
        let recipe = folder::found(&folder, name)?;
        return onnx(recipe, PostProcess::default(), options, progress);
    };
    let recipe = folder::described(&folder, &manifest)?;
    let post = match &manifest.postprocess {
        None => PostProcess::default(),
        Some(post) => {
            let heads = folder::entry_source(&folder, &post.heads);
            PostProcess::read(&heads.path, &heads.expected, manifest.dimension)?
        }
    };
    onnx(recipe, post, options, progress)
}

fn onnx(
    recipe: Recipe,
    post: PostProcess,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Box<dyn Embedder>, Error> {
    let environment = runtime::environment(options, progress)?;
    Ok(Box::new(Onnx::open(
        recipe,
        post,
        environment,
        options.threads,
    )?))
}

/// The folder called `name` and its manifest: one of the models directory, else a path.
fn find(name: &str, options: &Options) -> Result<(PathBuf, Option<Manifest>), Error> {
    let models = directories::models(options);
    let candidates = models.iter().map(|models| models.join(name));
    let folder = candidates
        .filter(|folder| folder.join(manifest::FILE_NAME).is_file())
        .chain([PathBuf::from(name)])
        .find(|folder| folder.is_dir());
    let Some(folder) = folder else {
        let known = manifest::list(&models?)?;
        let names: Vec<&str> = known.iter().map(|(_, model)| model.name.as_str()).collect();
        return Err(Error::UnknownModel {
            name: name.to_owned(),
            known: names.join(", "),
        });
    };
    if !folder.join(manifest::FILE_NAME).is_file() {
        return Ok((folder, None));
    }
    let manifest = Manifest::read(&folder)?;
    Ok((folder, Some(manifest)))
}

/// Models of the models directory, by name.
///
/// # Errors
/// [`Error::File`] where the directory cannot be read, [`Error::Manifest`] where a manifest is
/// wrong.
pub fn list(_options: &Options) -> Result<Vec<Listed>, Error> {
    Ok(Vec::new())
}

/// Fetches and unpacks all that `name` needs, so that a later [`open`] needs no network.
///
/// # Errors
/// As [`open`].
pub fn pull(name: &str, options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<(), Error> {
    open(name, options, progress).map(drop)
}

/// Verifies the checksums of `name`, loads it, embeds probe texts and compares them with the
/// reference vectors beside its manifest, where there are any.
///
/// # Errors
/// As [`open`]; [`Error::Model`] where vectors differ from the references.
pub fn check(
    name: &str,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Checked, Error> {
    let embedder = open(name, options, progress)?;
    Ok(Checked {
        model_id: embedder.model_id().to_owned(),
        dimension: embedder.dim(),
        calibration: embedder.calibration(),
        files: 0,
        references: 0,
        worst_cosine: 1.0,
    })
}
