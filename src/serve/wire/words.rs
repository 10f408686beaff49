//! The words of requests, each a closed set, so that a wrong one is refused with the right ones.

use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use utoipa::ToSchema;

use super::Invalid;
use crate::index::dense::DensePath;
use crate::tool::{Kind, SideEffect};

/// How much of each tool an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The whole definition, as a model needs it to call the tool.
    #[default]
    Full,
    /// Name, first sentence of the description, and names of the parameters.
    Compact,
    /// The key alone.
    Name,
}

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindWord {
    /// Finds things.
    Search,
    /// Fetches one known thing.
    Read,
    /// Turns one form into another.
    Parse,
    /// Asks a structured question of a store.
    Query,
    /// Changes something.
    Act,
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Search => Self::Search,
            KindWord::Read => Self::Read,
            KindWord::Parse => Self::Parse,
            KindWord::Query => Self::Query,
            KindWord::Act => Self::Act,
        }
    }
}

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideEffectWord {
    /// The source does not say.
    Unknown,
    /// Nothing.
    None,
    /// Nothing, but it reads state outside the tool.
    Read,
    /// State that can be changed back.
    Write,
    /// State that cannot be changed back.
    Destructive,
}

impl From<SideEffectWord> for SideEffect {
    fn from(word: SideEffectWord) -> Self {
        match word {
            SideEffectWord::Unknown => Self::Unknown,
            SideEffectWord::None => Self::None,
            SideEffectWord::Read => Self::Read,
            SideEffectWord::Write => Self::Write,
            SideEffectWord::Destructive => Self::Destructive,
        }
    }
}

/// Which way the nearest vectors are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DenseWord {
    /// Whichever is faster for the number of permitted tools.
    #[default]
    Auto,
    /// Every permitted vector is compared.
    Exact,
    /// The graph is walked.
    Hnsw,
}

impl From<DenseWord> for DensePath {
    fn from(word: DenseWord) -> Self {
        match word {
            DenseWord::Auto => Self::Auto,
            DenseWord::Exact => Self::Exact,
            DenseWord::Hnsw => Self::Hnsw,
        }
    }
}

/// The word of a query string, by the same table as in JSON.
pub(super) fn word<T: DeserializeOwned>(field: &str, text: &str) -> Result<T, Invalid> {
    let text: StrDeserializer<'_, WordError> = text.into_deserializer();
    T::deserialize(text).map_err(|error| Invalid::new(field, error.to_string()))
}
