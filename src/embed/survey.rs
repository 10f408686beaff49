//! Which models there are, and whether they are what they should be.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files::{Expected, hash_file, read};
use super::manifest::{self, FileEntry, Manifest};
use super::open::{described, find, open};
use super::{Calibration, Embedder, Error, Options, Progress, Side, directories};

/// A model that can be opened by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The name [`open`](super::open()) takes.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Version of the model.
    pub version: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Language tags it was made for.
    pub languages: Vec<String>,
    /// SPDX expression.
    pub licence: String,
    /// Bytes on disk, as its manifest says.
    pub bytes: u64,
    /// Its files are there (always true for an endpoint; for an ensemble, those of its members).
    pub present: bool,
    /// The command that makes its files, where they are not part of the repository.
    pub build: Option<String>,
    /// Its folder.
    pub path: PathBuf,
    /// Measured figures, name and value.
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

/// Vectors of another implementation, to compare with.
#[derive(Deserialize)]
struct Reference {
    least_cosine: f32,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    side: String,
    text: String,
    vector: Vec<f32>,
}

/// Models of the models directory, by name.
///
/// # Errors
/// [`Error::File`] where the directory cannot be read, [`Error::Manifest`] where a manifest is
/// wrong.
pub fn list(options: &Options) -> Result<Vec<Listed>, Error> {
    let models = manifest::list(&directories::models(options)?)?;
    let listed = models
        .iter()
        .map(|(folder, manifest)| listed(folder, manifest, options));
    Ok(listed.collect())
}

fn listed(folder: &Path, manifest: &Manifest, options: &Options) -> Listed {
    let members = manifest
        .ensemble
        .iter()
        .map(|member| find(&member.model, options));
    let members: Vec<(PathBuf, Manifest)> = members
        .flatten()
        .filter_map(|(folder, manifest)| Some((folder, manifest?)))
        .collect();
    let whole = members.len() == manifest.ensemble.len();
    let build = &manifest.build;
    Listed {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        version: manifest.version.clone(),
        dimension: manifest.dimension,
        languages: manifest.languages.clone(),
        licence: manifest.licence.clone(),
        bytes: manifest.bytes()
            + members
                .iter()
                .map(|(_, member)| member.bytes())
                .sum::<u64>(),
        present: whole
            && has_files(folder, manifest)
            && members
                .iter()
                .all(|(folder, member)| has_files(folder, member)),
        build: (!build.committed && !build.command.is_empty()).then(|| build.command.clone()),
        path: folder.to_owned(),
        figures: manifest
            .figures
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect(),
    }
}

fn has_files(folder: &Path, manifest: &Manifest) -> bool {
    let elsewhere = manifest.endpoint.is_some() || !manifest.ensemble.is_empty();
    let mut entries = manifest.entries().peekable();
    (elsewhere || entries.peek().is_some())
        && entries.all(|(_, entry)| folder.join(&entry.path).is_file())
}

/// Fetches all that `name` needs, so that a later [`open`](super::open()) needs no network.
///
/// # Errors
/// As [`open`](super::open()).
pub fn pull(name: &str, options: &Options, progress: &dyn Fn(Progress<'_>)) -> Result<(), Error> {
    open(name, options, progress).map(drop)
}

/// Verifies the checksums of `name`, packed and unpacked, loads it, embeds probe texts and compares
/// them with reference vectors, where there are any: `reference.json` in its folder for what it
/// gives, `../convert/reference/NAME.json` for what it gives before means and heads.
///
/// # Errors
/// As [`open`](super::open()); [`Error::Model`] where vectors differ from the references.
pub fn check(
    name: &str,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Checked, Error> {
    let embedder = open(name, options, progress)?;
    let mut checked = Checked {
        model_id: embedder.model_id().to_owned(),
        dimension: embedder.dim(),
        calibration: embedder.calibration(),
        files: 0,
        references: 0,
        worst_cosine: 1.0,
    };
    let elsewhere = name == "hashed" || name.contains(':');
    let (folder, manifest) = if elsewhere {
        return Ok(checked);
    } else {
        find(name, options)?
    };
    let Some(manifest) = manifest else {
        return Ok(checked);
    };
    checked.files = verify_files(&folder, &manifest, progress)?;
    for member in &manifest.ensemble {
        let member = check(&member.model, options, progress)?;
        checked.files += member.files;
        checked.references += member.references;
        checked.worst_cosine = checked.worst_cosine.min(member.worst_cosine);
    }
    let given = folder.join("reference.json");
    checked.compare(name, embedder.as_ref(), &given)?;
    let before = folder
        .join("../convert/reference")
        .join(format!("{}.json", manifest.name));
    if manifest.postprocess.is_none() {
        checked.compare(name, embedder.as_ref(), &before)?;
    } else if before.is_file() {
        drop(embedder);
        let bare = Manifest {
            postprocess: None,
            ..manifest
        };
        let bare = described(&folder, &bare, options, progress)?;
        checked.compare(name, bare.as_ref(), &before)?;
    }
    Ok(checked)
}

/// Verifies every file of the manifest, packed and unpacked; gives their number.
fn verify_files(
    folder: &Path,
    manifest: &Manifest,
    progress: &dyn Fn(Progress<'_>),
) -> Result<usize, Error> {
    let total = manifest.bytes();
    let mut done = 0;
    let mut count = 0;
    for (_, entry) in manifest.entries() {
        verify_file(folder, entry)?;
        done += entry.bytes;
        count += 1;
        progress(Progress {
            step: "verifying files",
            done,
            total: Some(total),
        });
    }
    Ok(count)
}

fn verify_file(folder: &Path, entry: &FileEntry) -> Result<(), Error> {
    let path = folder.join(&entry.path);
    let found = hash_file(&path).map_err(|error| Error::File {
        path: path.clone(),
        reason: format!("cannot be read: {error}"),
    })?;
    if found != entry.sha256 {
        return Err(Error::File {
            path,
            reason: format!("has sha256 {found}, but its manifest says {}", entry.sha256),
        });
    }
    // The packed bytes are right, so now only what is in them.
    let unpacked = Expected {
        sha256: None,
        unpacked_bytes: entry.unpacked_bytes,
        unpacked_sha256: entry.unpacked_sha256.clone(),
    };
    read(&path, &unpacked).map(drop)
}

impl Checked {
    /// Compares with the reference in `path`, if there is one.
    fn compare(&mut self, name: &str, embedder: &dyn Embedder, path: &Path) -> Result<(), Error> {
        let Ok(text) = std::fs::read(path) else {
            return Ok(());
        };
        let reference: Reference = serde_json::from_slice(&text).map_err(|error| Error::File {
            path: path.to_owned(),
            reason: format!("holds no reference vectors: {error}"),
        })?;
        for case in &reference.cases {
            let side = match case.side.as_str() {
                "query" => Side::Query,
                _ => Side::Document,
            };
            let vectors = embedder.embed(side, std::slice::from_ref(&case.text))?;
            let cosine = cosine(vectors.row(0), &case.vector);
            self.references += 1;
            self.worst_cosine = self.worst_cosine.min(cosine);
            // Also true of what is not a number.
            if !matches!(cosine.partial_cmp(&reference.least_cosine), Some(order) if order.is_ge())
            {
                return Err(Error::Model {
                    model: name.to_owned(),
                    reason: format!(
                        "its vector of '{}' has cosine {cosine:.5} to the reference, at least {} is \
                         expected: files or ONNX Runtime are not the right ones",
                        case.text, reference.least_cosine
                    ),
                });
            }
        }
        Ok(())
    }
}

/// The cosine of two vectors; of unequal length, 0.
fn cosine(ours: &[f32], theirs: &[f32]) -> f32 {
    if ours.len() != theirs.len() {
        return 0.0;
    }
    let product = |x: &[f32], y: &[f32]| -> f64 {
        x.iter()
            .zip(y)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    let lengths = (product(ours, ours) * product(theirs, theirs)).sqrt();
    (product(ours, theirs) / lengths) as f32
}
