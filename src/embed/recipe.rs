//! All that is needed to run one ONNX model: its files and how to feed it.
//!
//! Made from a manifest, or from what lies in a directory that has none.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{Expected, read};
use super::{Calibration, Error, Side};

/// How token vectors become a text's vector. A graph that gives one vector a text passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Mean over tokens that are not padding.
    Mean,
    /// The first token's.
    Cls,
}

/// Whether texts may run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Batching {
    /// A text's vector does not depend on its company.
    Together,
    /// It does (dynamically quantised graphs), so each runs alone.
    OneByOne,
}

/// A file and what it must be.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) expected: Expected,
}

impl Source {
    /// A file of which nothing is known.
    pub(super) fn plain(path: PathBuf) -> Self {
        Self {
            path,
            expected: Expected::default(),
        }
    }
}

/// An ONNX model and how to feed it.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) model_id: String,
    /// Numbers in a vector, where known before the model has run.
    pub(super) dimension: Option<usize>,
    pub(super) calibration: Calibration,
    pub(super) graph: Source,
    /// Weights kept outside the graph, by the name the graph knows them by.
    pub(super) external: Vec<(String, Source)>,
    pub(super) tokenizer: Tokenizer,
    pub(super) pooling: Pooling,
    pub(super) batching: Batching,
    pub(super) query_prefix: String,
    pub(super) document_prefix: String,
    /// Tokens, special ones counted, after which a text is cut.
    pub(super) max_tokens: usize,
}

/// Bytes a token can stand for, generously: what lies beyond is cut before tokenizing, which
/// would take seconds on a text of megabytes only to throw nearly all of it away.
const BYTES_A_TOKEN: usize = 48;

impl Recipe {
    /// The text as the model wants it.
    pub(super) fn prepare(&self, side: Side, text: &str) -> String {
        let prefix = match side {
            Side::Query => &self.query_prefix,
            Side::Document => &self.document_prefix,
        };
        let end = text.floor_char_boundary(self.max_tokens.saturating_mul(BYTES_A_TOKEN));
        format!("{prefix}{}", &text[..end])
    }

    /// The model failed.
    pub(super) fn fault(&self, reason: String) -> Error {
        Error::Model {
            model: self.name.clone(),
            reason,
        }
    }
}

/// The tokenizer's file and those that may lie beside it.
#[derive(Debug, Clone)]
pub(super) struct Tokenizer {
    pub(super) file: Source,
    pub(super) config: Option<Source>,
    pub(super) tokenizer_config: Option<Source>,
    pub(super) special_tokens_map: Option<Source>,
    pub(super) max_tokens: usize,
}

/// The contents of the four files that fastembed asks for.
pub(super) struct TokenizerContents {
    pub(super) tokenizer: Vec<u8>,
    pub(super) config: Vec<u8>,
    pub(super) tokenizer_config: Vec<u8>,
    pub(super) special_tokens_map: Vec<u8>,
}

/// What tokenizer.json itself tells of padding; the rest is skipped unread.
#[derive(Deserialize)]
struct Told {
    padding: Option<Padding>,
    #[serde(default)]
    added_tokens: Vec<Added>,
}

#[derive(Deserialize)]
struct Padding {
    pad_id: u64,
    pad_token: String,
}

#[derive(Deserialize)]
struct Added {
    id: u64,
    content: String,
}

impl Tokenizer {
    /// The contents, with whatever is missing or unusable filled in: fastembed insists on all
    /// four files, a numeric `model_max_length` and a `pad_token`.
    pub(super) fn files(&self) -> Result<TokenizerContents, Error> {
        let tokenizer = read(&self.file.path, &self.file.expected)?;
        let mut config = object(self.config.as_ref())?;
        let mut tokenizer_config = object(self.tokenizer_config.as_ref())?;
        if !tokenizer_config["model_max_length"].is_number() {
            tokenizer_config["model_max_length"] = json!(self.max_tokens);
        }
        let token = &tokenizer_config["pad_token"];
        if !token.is_string() && !token["content"].is_string() {
            let (id, token) = padding(&tokenizer, &self.file.path)?;
            tokenizer_config["pad_token"] = json!(token);
            if !config["pad_token_id"].is_u64() {
                config["pad_token_id"] = json!(id);
            }
        }
        Ok(TokenizerContents {
            tokenizer,
            config: config.to_string().into_bytes(),
            tokenizer_config: tokenizer_config.to_string().into_bytes(),
            special_tokens_map: object(self.special_tokens_map.as_ref())?
                .to_string()
                .into_bytes(),
        })
    }
}

/// The JSON object in a file; an empty one where there is no file.
fn object(source: Option<&Source>) -> Result<Value, Error> {
    let Some(source) = source else {
        return Ok(json!({}));
    };
    let bytes = read(&source.path, &source.expected)?;
    serde_json::from_slice(&bytes)
        .ok()
        .filter(Value::is_object)
        .ok_or_else(|| Error::File {
            path: source.path.clone(),
            reason: "is no JSON object".to_owned(),
        })
}

/// The padding token. Any would do where the graph masks padding, as it must; the usual names are
/// tried so that a model that does not is not harmed.
fn padding(tokenizer: &[u8], path: &Path) -> Result<(u64, String), Error> {
    let told: Told = serde_json::from_slice(tokenizer).map_err(|error| Error::File {
        path: path.to_owned(),
        reason: format!("is no tokenizer in JSON: {error}"),
    })?;
    if let Some(padding) = told.padding {
        return Ok((padding.pad_id, padding.pad_token));
    }
    let usual = ["[PAD]", "<pad>", "<|endoftext|>", "</s>", "[SEP]"];
    let named = usual.iter().find_map(|usual| {
        told.added_tokens
            .iter()
            .find(|token| token.content == *usual)
    });
    Ok(named.map_or_else(
        || (0, "[PAD]".to_owned()),
        |token| (token.id, token.content.clone()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer(json: &str, config: Option<&str>) -> (tempfile::TempDir, Tokenizer) {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Source::plain(path)
        };
        let tokenizer = Tokenizer {
            file: file("tokenizer.json", json),
            config: None,
            tokenizer_config: config.map(|text| file("tokenizer_config.json", text)),
            special_tokens_map: None,
            max_tokens: 128,
        };
        (folder, tokenizer)
    }

    fn value(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn missing_files_are_filled_in_from_the_tokenizer() {
        let json =
            r#"{"padding": null, "added_tokens": [{"id": 5, "content": "<pad>"}], "model": {}}"#;
        let (_folder, tokenizer) = tokenizer(json, None);
        let files = tokenizer.files().unwrap();
        assert_eq!(value(&files.config)["pad_token_id"], 5);
        assert_eq!(value(&files.tokenizer_config)["pad_token"], "<pad>");
        assert_eq!(value(&files.tokenizer_config)["model_max_length"], 128);
        assert_eq!(value(&files.special_tokens_map), json!({}));
    }

    #[test]
    fn what_is_there_is_kept() {
        let config = r#"{"model_max_length": 64, "pad_token": {"content": "P"}}"#;
        let (_folder, tokenizer) = tokenizer("{}", Some(config));
        let files = tokenizer.files().unwrap();
        assert_eq!(value(&files.tokenizer_config), value(config.as_bytes()));
    }

    #[test]
    fn files_that_are_not_json_are_named() {
        let (_folder, bad) = tokenizer("no json", None);
        let error = bad.files().err().unwrap().to_string();
        assert!(
            error.contains("tokenizer.json: is no tokenizer in JSON"),
            "{error}"
        );
        let (_folder, bad) = tokenizer("{}", Some("[]"));
        let error = bad.files().err().unwrap().to_string();
        assert!(
            error.ends_with("tokenizer_config.json: is no JSON object"),
            "{error}"
        );
    }
}
