//! From a model's name to an embedder.

use std::path::{Path, PathBuf};

use super::cache::Cached;
use super::ensemble::Ensemble;
use super::hashed::Hashed;
use super::http::{Address, Feed, Http};
use super::manifest::{self, EndpointEntry, Manifest};
use super::onnx::Onnx;
use super::postprocess::PostProcess;
use super::recipe::Recipe;
use super::{Calibration, Embedder, Error, Progress, directories, folder, hub, runtime};

/// The model used where none is named.
pub const DEFAULT_MODEL: &str = "multilingual-duo";

/// Tokens that endpoints commonly take.
const ENDPOINT_TOKENS: usize = 8192;

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
    /// Folder for fetched files. Unset: `TOOLSCOUT_CACHE`, else the user's cache directory.
    pub cache: Option<PathBuf>,
    /// Cores to use for bulk work; 0 means all. A single request takes one.
    pub threads: usize,
    /// Bytes of vectors to remember, seldom used ones leave first; 0 remembers none.
    pub remember_bytes: u64,
    /// Whether something missing may be fetched.
    pub network: Network,
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
    let embedder = plain(name, options, progress)?;
    Ok(match options.remember_bytes {
        0 => embedder,
        bytes => Box::new(Cached::new(embedder, bytes)),
    })
}

/// The embedder without a memory.
fn plain(
    name: &str,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Box<dyn Embedder>, Error> {
    if name == "hashed" {
        return Ok(Box::new(Hashed::new(256)));
    }
    if name.starts_with("http://") || name.starts_with("https://") {
        return endpoint(name);
    }
    if let Some(repository) = name.strip_prefix("hf:") {
        let folder = hub::fetch(repository, options, progress)?;
        let recipe = folder::found(&folder, name)?;
        return onnx(recipe, PostProcess::default(), options, progress);
    }
    let (folder, manifest) = find(name, options)?;
    match manifest {
        None => {
            let recipe = folder::found(&folder, name)?;
            onnx(recipe, PostProcess::default(), options, progress)
        }
        Some(manifest) => described(&folder, &manifest, options, progress),
    }
}

/// The embedder that a manifest in `folder` describes.
pub(super) fn described(
    folder: &Path,
    manifest: &Manifest,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Box<dyn Embedder>, Error> {
    if let Some(entry) = &manifest.endpoint {
        return described_endpoint(manifest, entry);
    }
    if !manifest.ensemble.is_empty() {
        return ensemble(folder, manifest, options, progress);
    }
    let recipe = folder::described(folder, manifest)?;
    let post = match &manifest.postprocess {
        None => PostProcess::default(),
        Some(post) => {
            let heads = folder::entry_source(folder, &post.heads);
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
    let onnx = Onnx::open(recipe, post, environment, options.threads)?;
    Ok(Box::new(onnx))
}

fn ensemble(
    folder: &Path,
    manifest: &Manifest,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Box<dyn Embedder>, Error> {
    let fault = |reason: String| Error::Manifest {
        path: folder.join(manifest::FILE_NAME),
        reason,
    };
    let mut members = Vec::with_capacity(manifest.ensemble.len());
    for member in &manifest.ensemble {
        let (folder, described_by) = find(&member.model, options)?;
        let own = described_by.ok_or_else(|| {
            fault(format!(
                "ensemble member '{}' has no manifest",
                member.model
            ))
        })?;
        if !own.ensemble.is_empty() {
            return Err(fault(format!(
                "ensemble member '{}' is an ensemble",
                member.model
            )));
        }
        let embedder = described(&folder, &own, options, progress)?;
        members.push((embedder, member.weight));
    }
    let name = format!("{}@{}", manifest.name, manifest.version);
    let ensemble = Ensemble::new(&name, members, folder::calibration(manifest));
    if ensemble.dim() == manifest.dimension {
        return Ok(Box::new(ensemble));
    }
    Err(Error::Dimension {
        model: manifest.name.clone(),
        expected: manifest.dimension,
        found: ensemble.dim(),
    })
}

fn endpoint(name: &str) -> Result<Box<dyn Embedder>, Error> {
    let address = Address::parse(name)?;
    let feed = Feed {
        name: address.model().to_owned(),
        version: "remote".to_owned(),
        dimension: None,
        calibration: Calibration {
            low: 0.0,
            high: 1.0,
        },
        query_prefix: String::new(),
        document_prefix: String::new(),
        max_tokens: ENDPOINT_TOKENS,
    };
    Ok(Box::new(Http::open(address, feed)?))
}

fn described_endpoint(
    manifest: &Manifest,
    entry: &EndpointEntry,
) -> Result<Box<dyn Embedder>, Error> {
    let address = Address::new(&entry.url, &entry.model, entry.key_variable.as_deref())?;
    let feed = Feed {
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        dimension: Some(manifest.dimension),
        calibration: folder::calibration(manifest),
        query_prefix: manifest.input.query_prefix.clone(),
        document_prefix: manifest.input.document_prefix.clone(),
        max_tokens: manifest.input.max_tokens,
    };
    Ok(Box::new(Http::open(address, feed)?))
}

/// The folder called `name` and its manifest: one of the models directory, else a path.
pub(super) fn find(name: &str, options: &Options) -> Result<(PathBuf, Option<Manifest>), Error> {
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
