//! The tables of a manifest, each as it is written.

use serde::Deserialize;

/// How a model's files were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Build {
    /// The command that makes them.
    #[serde(default)]
    pub command: String,
    /// They are part of the repository.
    #[serde(default)]
    pub committed: bool,
}

/// How token vectors become one vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The graph gives one vector a text.
    None,
    /// The mean over tokens.
    #[default]
    Mean,
    /// The first token's vector.
    Cls,
}

/// How texts are fed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Put before what somebody asks.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before what a tool says of itself.
    #[serde(default)]
    pub document_prefix: String,
    /// Tokens after which a text is cut, 8 to 65,536.
    #[serde(default = "usual_tokens")]
    pub max_tokens: usize,
}

fn usual_tokens() -> usize {
    512
}

impl Default for Input {
    fn default() -> Self {
        Self {
            query_prefix: String::new(),
            document_prefix: String::new(),
            max_tokens: usual_tokens(),
        }
    }
}

/// The range of cosines between "unrelated" and "the same".
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Cosine that counts as 0.
    pub semantic_low: f32,
    /// Cosine that counts as 1.
    pub semantic_high: f32,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            semantic_low: 0.0,
            semantic_high: 1.0,
        }
    }
}

/// A file of the model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Within the model's folder; packed where it ends in `.zst`.
    pub path: String,
    /// Lower-case hex SHA-256 as it lies there.
    pub sha256: String,
    /// Bytes as it lies there.
    #[serde(default)]
    pub bytes: u64,
    /// Lower-case hex SHA-256 of the content, unpacked.
    #[serde(default)]
    pub unpacked_sha256: Option<String>,
    /// Bytes of the content, unpacked.
    #[serde(default)]
    pub unpacked_bytes: Option<u64>,
}

/// What is done to vectors afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostProcessing {
    /// The file with means and heads.
    pub heads: FileEntry,
}

/// An OpenAI-compatible `/v1/embeddings` endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointEntry {
    /// Where requests are posted.
    pub url: String,
    /// The model asked for.
    pub model: String,
    /// The environment variable that holds the key.
    #[serde(default)]
    pub key_variable: Option<String>,
}

/// One model of an ensemble.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its name.
    pub model: String,
    /// Its share of the cosine; shares need not add up to one.
    pub weight: f32,
}
