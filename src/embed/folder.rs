//! A model's folder: with a manifest, or with the files that Hugging Face repositories have.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::{Expected, hash_file};
use super::manifest::{self, FileEntry, Manifest};
use super::recipe::{Batching, Pooling, Recipe, Source, Tokenizer};
use super::{Calibration, Error};

/// Where graphs lie in folders without a manifest, the first that is there wins.
pub(super) const GRAPHS: [&str; 6] = [
    "model.onnx",
    "model.onnx.zst",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
];

/// Longest text that a model without a manifest is fed.
const USUAL_TOKENS: usize = 512;

/// The recipe that a manifest in `folder` describes.
///
/// # Errors
/// [`Error::File`] where it has no files, telling how to make them.
pub(super) fn described(folder: &Path, manifest: &Manifest) -> Result<Recipe, Error> {
    let source = |role: &str| {
        manifest
            .files
            .get(role)
            .map(|entry| entry_source(folder, entry))
    };
    let (Some(graph), Some(file)) = (source("model"), source("tokenizer")) else {
        return Err(Error::File {
            path: folder.join("model.onnx.zst"),
            reason: if manifest.build.command.is_empty() {
                "is not there, and the manifest does not tell how to make it".to_owned()
            } else {
                format!("is not there; make it with: {}", manifest.build.command)
            },
        });
    };
    Ok(Recipe {
        name: manifest.name.clone(),
        model_id: identity(manifest, &manifest.fingerprint()),
        dimension: Some(manifest.dimension),
        calibration: calibration(manifest),
        graph,
        external: Vec::new(),
        tokenizer: Tokenizer {
            file,
            config: source("config"),
            tokenizer_config: source("tokenizer_config"),
            special_tokens_map: source("special_tokens_map"),
            max_tokens: manifest.input.max_tokens,
        },
        pooling: match manifest.pooling {
            manifest::Pooling::Cls => Pooling::Cls,
            // One vector a text passes through pooling by mean.
            manifest::Pooling::Mean | manifest::Pooling::None => Pooling::Mean,
        },
        batching: if manifest.batch_invariant {
            Batching::Together
        } else {
            Batching::OneByOne
        },
        query_prefix: manifest.input.query_prefix.clone(),
        document_prefix: manifest.input.document_prefix.clone(),
        max_tokens: manifest.input.max_tokens,
    })
}

/// The calibration that a manifest states.
pub(super) fn calibration(manifest: &Manifest) -> Calibration {
    Calibration {
        low: manifest.calibration.semantic_low,
        high: manifest.calibration.semantic_high,
    }
}

/// `NAME@VERSION-HASH`.
pub(super) fn identity(manifest: &Manifest, hash: &str) -> String {
    format!("{}@{}-{hash}", manifest.name, manifest.version)
}

/// A file of a manifest, and what it must be.
pub(super) fn entry_source(folder: &Path, entry: &FileEntry) -> Source {
    Source {
        path: folder.join(&entry.path),
        expected: Expected {
            sha256: Some(entry.sha256.clone()),
            unpacked_bytes: entry.unpacked_bytes,
            unpacked_sha256: entry.unpacked_sha256.clone(),
        },
    }
}

/// The recipe for a folder without a manifest, by what lies in it. `name` is what it was asked by.
///
/// # Errors
/// [`Error::File`] where graph or tokenizer are missing or unreadable.
pub(super) fn found(folder: &Path, name: &str) -> Result<Recipe, Error> {
    let first = |names: &[&str]| {
        let paths = names.iter().map(|name| folder.join(name));
        paths.into_iter().find(|path| path.is_file())
    };
    let missing = |file: &str| Error::File {
        path: folder.join(file),
        reason: "is missing: a model's folder holds model.onnx and tokenizer.json".to_owned(),
    };
    let graph = first(&GRAPHS).ok_or_else(|| missing("model.onnx"))?;
    let tokenizer = first(&["tokenizer.json", "tokenizer.json.zst"])
        .ok_or_else(|| missing("tokenizer.json"))?;
    let external = external(&graph);
    let optional = |name: &str| first(&[name]).map(Source::plain);
    let prefix = |kinds: &[&str]| prompt(folder, kinds);
    let quantised = graph
        .file_name()
        .is_some_and(|name| name.to_string_lossy().contains("quantized"));
    let mut recipe = Recipe {
        name: name.to_owned(),
        model_id: String::new(),
        dimension: None,
        calibration: Calibration {
            low: 0.0,
            high: 1.0,
        },
        graph: Source::plain(graph),
        external,
        tokenizer: Tokenizer {
            file: Source::plain(tokenizer),
            config: optional("config.json"),
            tokenizer_config: optional("tokenizer_config.json"),
            special_tokens_map: optional("special_tokens_map.json"),
            max_tokens: USUAL_TOKENS,
        },
        pooling: pooling(folder),
        batching: if quantised {
            Batching::OneByOne
        } else {
            Batching::Together
        },
        query_prefix: prefix(&["query"]),
        document_prefix: prefix(&["document", "passage"]),
        max_tokens: USUAL_TOKENS,
    };
    recipe.model_id = content_identity(&recipe)?;
    Ok(recipe)
}

/// Weights beside the graph, under the names that exporters give them.
fn external(graph: &Path) -> Vec<(String, Source)> {
    let Some(name) = graph.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    [format!("{name}_data"), format!("{name}.data")]
        .into_iter()
        .map(|name| (graph.with_file_name(&name), name))
        .filter(|(path, _)| path.is_file())
        .map(|(path, name)| (name, Source::plain(path)))
        .collect()
}

/// Without a manifest the files themselves tell vector spaces apart.
fn content_identity(recipe: &Recipe) -> Result<String, Error> {
    let tokenizer = &recipe.tokenizer;
    let small = [
        &tokenizer.config,
        &tokenizer.tokenizer_config,
        &tokenizer.special_tokens_map,
    ];
    let mut hashes = format!(
        "{:?} {:?} {:?}",
        recipe.pooling, recipe.query_prefix, recipe.document_prefix
    );
    let sources = [&recipe.graph, &tokenizer.file].into_iter();
    let external = recipe.external.iter().map(|(_, source)| source);
    for source in sources.chain(external).chain(small.into_iter().flatten()) {
        hashes += &hash_file(&source.path).map_err(|error| Error::File {
            path: source.path.clone(),
            reason: format!("cannot be read: {error}"),
        })?;
    }
    let hash = manifest::digest(hashes.as_bytes());
    Ok(format!("{}@local-{hash}", recipe.name))
}

/// The JSON in a file, where there is such a file and it is JSON.
fn json(path: PathBuf) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Pooling as sentence-transformers notes it; by mean where it does not.
fn pooling(folder: &Path) -> Pooling {
    let config = json(folder.join("1_Pooling/config.json"));
    if config.is_some_and(|config| config["pooling_mode_cls_token"] == true) {
        Pooling::Cls
    } else {
        Pooling::Mean
    }
}

/// The prefix as sentence-transformers notes it; none where it does not.
fn prompt(folder: &Path, kinds: &[&str]) -> String {
    let config = json(folder.join("config_sentence_transformers.json")).unwrap_or_default();
    let found = kinds
        .iter()
        .find_map(|kind| config["prompts"][kind].as_str());
    found.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_repository_as_published_is_understood() {
        let folder = folder(&[
            ("onnx/model.onnx", "graph"),
            ("onnx/model.onnx_data", "weights"),
            ("tokenizer.json", "{}"),
            (
                "1_Pooling/config.json",
                r#"{"pooling_mode_cls_token": true}"#,
            ),
            (
                "config_sentence_transformers.json",
                r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#,
            ),
        ]);
        let recipe = found(folder.path(), "mine").unwrap();
        assert_eq!(recipe.pooling, Pooling::Cls);
        assert_eq!(recipe.batching, Batching::Together);
        assert_eq!(recipe.external[0].0, "model.onnx_data");
        assert_eq!(
            (
                recipe.query_prefix.as_str(),
                recipe.document_prefix.as_str()
            ),
            ("query: ", "passage: ")
        );
        assert!(recipe.model_id.starts_with("mine@local-"));
        std::fs::write(folder.path().join("tokenizer.json"), "{ }").unwrap();
        assert_ne!(
            found(folder.path(), "mine").unwrap().model_id,
            recipe.model_id
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = found(folder(&[]).path(), "m").unwrap_err().to_string();
        assert!(error.contains("model.onnx: is missing"), "{error}");
        let error = found(folder(&[("model_quantized.onnx", "")]).path(), "m").unwrap_err();
        assert!(
            error.to_string().contains("tokenizer.json: is missing"),
            "{error}"
        );
    }

    #[test]
    fn quantised_graphs_run_one_by_one() {
        let folder = folder(&[("model_quantized.onnx", ""), ("tokenizer.json", "{}")]);
        assert_eq!(
            found(folder.path(), "m").unwrap().batching,
            Batching::OneByOne
        );
    }
}
