//! A model's manifest: `manifest.toml` in its folder, read and validated.
//!
//! The schema is described in `models/README.md`. Everything that shapes vectors is part of
//! [`Manifest::fingerprint`], so that vectors made another way get another model id; titles,
//! figures and the calibration are not, since they can change without new vectors.

mod tables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Error;

pub use tables::{Build, EndpointEntry, FileEntry, Input, Member, Pooling, PostProcessing, Range};

/// The schema this program reads.
const SCHEMA: u32 = 1;

/// Members of an ensemble at most.
const MOST_MEMBERS: usize = 8;

/// Numbers in a vector at most.
const MOST_NUMBERS: usize = 65_536;

/// The name of a manifest in its model's folder.
pub const FILE_NAME: &str = "manifest.toml";

/// A model, as its manifest describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this description; 1.
    pub schema: u32,
    /// The model's name, that of its folder.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Version of the model.
    pub version: String,
    /// Numbers in a vector, 1 to 65,536.
    pub dimension: usize,
    /// Language codes it was made for.
    #[serde(default)]
    pub languages: Vec<String>,
    /// SPDX expression.
    pub licence: String,
    /// Where the weights come from; for people.
    #[serde(default)]
    pub source: BTreeMap<String, toml::Value>,
    /// How the files were made.
    #[serde(default)]
    pub build: Build,
    /// How token vectors become one vector.
    #[serde(default)]
    pub pooling: Pooling,
    /// The model's vectors are meant to be of unit length. Ours always are; kept for other readers.
    #[serde(default = "yes")]
    pub normalise: bool,
    /// A text's vector does not depend on the texts beside it.
    #[serde(default = "yes")]
    pub batch_invariant: bool,
    /// How texts are fed.
    #[serde(default)]
    pub input: Input,
    /// Where cosines lie.
    #[serde(default)]
    pub calibration: Range,
    /// Files by role: `model`, `tokenizer`, `config`, `tokenizer_config`, `special_tokens_map`.
    #[serde(default)]
    pub files: BTreeMap<String, FileEntry>,
    /// What is done to vectors afterwards.
    #[serde(default)]
    pub postprocess: Option<PostProcessing>,
    /// Where the model runs, for one that runs elsewhere; such a model has no files.
    #[serde(default)]
    pub endpoint: Option<EndpointEntry>,
    /// Models whose vectors are put side by side; such a model has no files of its own.
    #[serde(default)]
    pub ensemble: Vec<Member>,
    /// Measured figures, for people.
    #[serde(default)]
    pub figures: toml::Table,
}

fn yes() -> bool {
    true
}

impl Manifest {
    /// Reads and validates the manifest in `folder`.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Manifest`] naming the field where it says
    /// what cannot be.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE_NAME);
        let text = std::fs::read_to_string(&path).map_err(|error| Error::File {
            path: path.clone(),
            reason: format!("cannot be read: {error}"),
        })?;
        Self::parse(&text).map_err(|reason| Error::Manifest { path, reason })
    }

    /// A manifest from its text, or what is wrong with it.
    fn parse(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        manifest.validate()?;
        Ok(manifest)
    }

    fn validate(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!(
                "schema is {}, but this program reads {SCHEMA}; update one of them",
                self.schema
            ));
        }
        if self.name.is_empty() || self.name.contains(['/', '\\', ':', '#']) {
            return Err(format!(
                "name '{}' must be non-empty and without / \\ : #",
                self.name
            ));
        }
        within("dimension", self.dimension, 1..=MOST_NUMBERS)?;
        within("input.max_tokens", self.input.max_tokens, 8..=65_536)?;
        let Range {
            semantic_low: low,
            semantic_high: high,
        } = self.calibration;
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(format!(
                "calibration.semantic_low ({low}) must be below calibration.semantic_high ({high})"
            ));
        }
        self.validate_files()?;
        self.validate_ensemble()?;
        match &self.endpoint {
            Some(_) if !(self.files.is_empty() && self.ensemble.is_empty()) => {
                Err("an endpoint has neither files nor an ensemble".to_owned())
            }
            Some(entry)
                if !entry.url.starts_with("http://") && !entry.url.starts_with("https://") =>
            {
                Err(format!(
                    "endpoint.url '{}' is no http or https address",
                    entry.url
                ))
            }
            _ => Ok(()),
        }
    }

    fn validate_files(&self) -> Result<(), String> {
        let heads = self
            .postprocess
            .iter()
            .map(|post| ("postprocess.heads", &post.heads));
        let files = self.files.iter().map(|(role, file)| (role.as_str(), file));
        for (role, file) in files.chain(heads) {
            let inside = Path::new(&file.path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if file.path.is_empty() || !inside {
                return Err(format!(
                    "file '{role}': path '{}' leaves the folder",
                    file.path
                ));
            }
            for sha256 in std::iter::once(&file.sha256).chain(&file.unpacked_sha256) {
                let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                if sha256.len() != 64 || !sha256.chars().all(hex) {
                    return Err(format!(
                        "file '{role}': a sha256 is 64 lower-case hex digits"
                    ));
                }
            }
        }
        let whole = ["model", "tokenizer"]
            .iter()
            .all(|role| self.files.contains_key(*role));
        if !self.files.is_empty() && !whole {
            return Err("files must name both 'model' and 'tokenizer'".to_owned());
        }
        Ok(())
    }

    fn validate_ensemble(&self) -> Result<(), String> {
        if self.ensemble.is_empty() {
            return Ok(());
        }
        within(
            "number of ensemble members",
            self.ensemble.len(),
            2..=MOST_MEMBERS,
        )?;
        if !self.files.is_empty() || self.postprocess.is_some() {
            return Err("an ensemble has no files and no postprocess of its own".to_owned());
        }
        for Member { model, weight } in &self.ensemble {
            if !(weight.is_finite() && *weight > 0.0) {
                return Err(format!(
                    "ensemble member '{model}': weight {weight} must be above 0"
                ));
            }
            if *model == self.name {
                return Err("ensemble names itself".to_owned());
            }
        }
        Ok(())
    }

    /// A hash over all that shapes vectors, 16 hex digits.
    pub fn fingerprint(&self) -> String {
        let hashes: BTreeMap<&str, &str> = self
            .files
            .iter()
            .map(|(role, file)| {
                let hash = file.unpacked_sha256.as_ref().unwrap_or(&file.sha256);
                (role.as_str(), hash.as_str())
            })
            .collect();
        let heads = self.postprocess.as_ref().map(|post| &post.heads.sha256);
        let pooling = match self.pooling {
            Pooling::None => "none",
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
        };
        // Spelled out, so that renaming a field does not change the id of every model.
        let shape = format!(
            "dimension {} pooling {pooling} together {} query {:?} document {:?} tokens {} files \
             {hashes:?} heads {heads:?}",
            self.dimension,
            self.batch_invariant,
            self.input.query_prefix,
            self.input.document_prefix,
            self.input.max_tokens,
        );
        digest(shape.as_bytes())
    }

    /// Its files by role, that of means and heads included.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &FileEntry)> {
        let heads = self
            .postprocess
            .iter()
            .map(|post| ("postprocess.heads", &post.heads));
        let files = self.files.iter().map(|(role, file)| (role.as_str(), file));
        files.chain(heads)
    }

    /// Bytes of its files, as they lie in the folder.
    pub fn bytes(&self) -> u64 {
        self.entries().map(|(_, file)| file.bytes).sum()
    }
}

/// The first 16 hex digits of BLAKE3.
pub(super) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

fn within(field: &str, found: usize, range: std::ops::RangeInclusive<usize>) -> Result<(), String> {
    if range.contains(&found) {
        return Ok(());
    }
    Err(format!(
        "{field} is {found}, not {} to {}",
        range.start(),
        range.end()
    ))
}

/// Manifests of a folder of models, by name. A folder whose manifest is wrong is an error, so that
/// it is not silently missing.
///
/// # Errors
/// As [`Manifest::read`]; [`Error::File`] where the folder cannot be read.
pub fn list(models: &Path) -> Result<Vec<(PathBuf, Manifest)>, Error> {
    let entries = std::fs::read_dir(models).map_err(|error| Error::File {
        path: models.to_owned(),
        reason: format!("cannot be read: {error}"),
    })?;
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|folder| folder.join(FILE_NAME).is_file())
        .collect();
    folders.sort();
    folders
        .into_iter()
        .map(|folder| Manifest::read(&folder).map(|manifest| (folder, manifest)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(more: &str) -> String {
        format!(
            "schema = 1\nname = \"m\"\ntitle = \"M\"\nversion = \"1\"\ndimension = 4\nlicence = \"MIT\"\n{more}"
        )
    }

    fn file(role: &str, hash: &str) -> String {
        format!(
            "[files.{role}]\npath = \"{role}.bin\"\nsha256 = \"{}\"\n",
            hash.repeat(64)
        )
    }

    fn fault(text: &str) -> String {
        Manifest::parse(text).unwrap_err()
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let manifest = Manifest::parse(&text("")).unwrap();
        assert_eq!(manifest.pooling, Pooling::Mean);
        assert_eq!(manifest.input, Input::default());
        assert!(manifest.batch_invariant && manifest.ensemble.is_empty());
    }

    #[test]
    fn faults_name_the_field() {
        let cases = [
            (text("dimensions = 3\n"), "unknown field `dimensions`"),
            (text("").replace("schema = 1", "schema = 2"), "schema is 2"),
            (
                text("").replace("dimension = 4", "dimension = 0"),
                "dimension is 0, not 1 to",
            ),
            (text("pooling = \"max\"\n"), "unknown variant `max`"),
            (text("[input]\nmax_tokens = 1\n"), "input.max_tokens is 1"),
            (
                text("[calibration]\nsemantic_low = 0.5\nsemantic_high = 0.5\n"),
                "must be below",
            ),
            (text(&file("model", "a")), "both 'model' and 'tokenizer'"),
            (text(&file("model", "g")), "64 lower-case hex digits"),
            (
                text(&file("model", "a").replace("model.bin", "../x")),
                "'../x' leaves the folder",
            ),
            (
                text("[[ensemble]]\nmodel = \"a\"\nweight = 1.0\n"),
                "members is 1, not 2 to 8",
            ),
        ];
        for (text, expected) in cases {
            let found = fault(&text);
            assert!(found.contains(expected), "{expected} is not in {found}");
        }
    }

    #[test]
    fn a_fingerprint_changes_with_what_shapes_vectors_and_with_nothing_else() {
        let base = text("") + &file("model", "a") + &file("tokenizer", "b");
        let print = |text: &str| Manifest::parse(text).unwrap().fingerprint();
        assert_eq!(
            print(&base),
            print(&base.replace("title = \"M\"", "title = \"N\""))
        );
        assert_ne!(
            print(&base),
            print(&base.replace(&"a".repeat(64), &"c".repeat(64)))
        );
        let prefixed = base.clone() + "[input]\nquery_prefix = \"query: \"\n";
        assert_ne!(print(&base), print(&prefixed));
        assert_eq!(print(&base).len(), 16);
    }

    #[test]
    fn a_folder_lists_its_models_and_does_not_hide_a_broken_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a", "none"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in ["b", "a"] {
            let manifest = text("").replace("name = \"m\"", &format!("name = \"{name}\""));
            std::fs::write(folder.path().join(name).join(FILE_NAME), manifest).unwrap();
        }
        let names: Vec<String> = list(folder.path())
            .unwrap()
            .into_iter()
            .map(|(_, manifest)| manifest.name)
            .collect();
        assert_eq!(names, ["a", "b"]);
        std::fs::write(folder.path().join("none").join(FILE_NAME), "x").unwrap();
        let error = list(folder.path()).unwrap_err().to_string();
        assert!(error.contains("none/manifest.toml"), "{error}");
    }
}
