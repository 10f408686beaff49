//! The request of `POST /v1/discover`.

use serde::Deserialize;
use utoipa::ToSchema;

use super::{ContextRequest, DenseWord, Detail, Invalid, KindWord, SideEffectWord};
use crate::rules::{Context, Ruling};
use crate::search::request::{MAX_LIMIT, MAX_NEEDS, MAX_QUERY};
use crate::search::{self, Config, Filters, Hints, Query, Request};

/// Hits of a request that does not say how many: what a model reads without losing its way.
const DEFAULT_LIMIT: usize = 5;
/// Entries of one list of filters. Each is compared with every permitted tool, so the time of a
/// request is bounded by it.
pub(super) const MAX_FILTERS: usize = 64;

/// What to look for, and how. One of `query`, `queries` and `hints` must be given.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscoverRequest {
    /// The request in the user's own words, in any language. `select:KEY` asks for a tool by key.
    #[schema(example = "where is my parcel")]
    pub query: Option<String>,
    /// Several needs at once, each of them served by the answer.
    #[serde(default)]
    pub queries: Vec<String>,
    /// Hits wanted, 1 to 100; 5 where absent.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
    /// What the caller thinks it knows of the tool.
    #[serde(default)]
    pub hints: HintsRequest,
    /// Which tools count at all.
    #[serde(default)]
    pub filters: FiltersRequest,
    /// The moment, for business rules: phase, language, what happened last.
    #[serde(default)]
    pub context: ContextRequest,
    /// Confidence, 0 to 1, under which the answer is "nothing fits"; 0 never says so.
    #[schema(minimum = 0, maximum = 1)]
    pub threshold: Option<f64>,
    /// How much of each tool the answer holds; `full` where absent.
    pub detail: Option<Detail>,
    /// Whether each hit says how it got its score.
    pub explain: Option<bool>,
    /// Which way the nearest vectors are found; `auto` where absent.
    pub dense: Option<DenseWord>,
    /// Weights by name, `default` or `card`; the server's own where absent.
    #[schema(example = "card")]
    pub preset: Option<String>,
}

/// What the caller thinks it knows of the tool: descriptions, not names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HintsRequest {
    /// Of the namespace or server.
    pub namespace: Option<String>,
    /// Of the tool.
    pub tool: Option<String>,
}

/// Which tools count. An empty or absent list puts no condition on its field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiltersRequest {
    /// Namespaces by name; the root namespace is the empty name.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Tags: any one of them is enough.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Kinds.
    #[serde(default)]
    pub kinds: Vec<KindWord>,
    /// Side effects.
    #[serde(default)]
    pub side_effects: Vec<SideEffectWord>,
}

/// A request that passed its checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What to search for; what the rules say of it is for whoever has them to fill in.
    pub request: Request,
    /// The moment.
    pub context: Context,
    /// How to render the answer.
    pub detail: Detail,
    /// Weights and constants, where they are not the server's own.
    pub preset: Option<Config>,
}

impl DiscoverRequest {
    /// The request in the core's words.
    ///
    /// # Errors
    /// [`Invalid`] naming the first field that cannot be served.
    pub fn check(self) -> Result<Asked, Invalid> {
        let limit = self.limit.map_or(DEFAULT_LIMIT, |limit| limit as usize);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let reason = format!("{limit} is not within 1..={MAX_LIMIT}");
            return Err(Invalid::new("limit", reason));
        }
        if let Some(threshold) = self.threshold
            && !(0.0..=1.0).contains(&threshold)
        {
            let reason = format!("{threshold} is not within 0..=1");
            return Err(Invalid::new("threshold", reason));
        }
        let request = Request {
            query: query(self.query, self.queries, self.hints)?,
            limit,
            threshold: self.threshold.map(|threshold| threshold as f32),
            filters: self.filters.check()?,
            dense: self.dense.unwrap_or_default().into(),
            ruling: Ruling::default(),
            detail: if self.explain == Some(true) {
                search::Detail::Explained
            } else {
                search::Detail::Scores
            },
        };
        Ok(Asked {
            request,
            context: self.context.check()?,
            detail: self.detail.unwrap_or_default(),
            preset: self.preset.as_deref().map(preset).transpose()?,
        })
    }
}

impl FiltersRequest {
    pub(super) fn check(self) -> Result<Filters, Invalid> {
        let lengths = [
            ("filters.namespaces", self.namespaces.len()),
            ("filters.tags", self.tags.len()),
            ("filters.kinds", self.kinds.len()),
            ("filters.side_effects", self.side_effects.len()),
        ];
        for (field, length) in lengths {
            if length > MAX_FILTERS {
                let reason = format!("{length} entries, at most {MAX_FILTERS}");
                return Err(Invalid::new(field, reason));
            }
        }
        Ok(Filters {
            namespaces: self.namespaces,
            tags: self.tags,
            kinds: self.kinds.into_iter().map(Into::into).collect(),
            side_effects: self.side_effects.into_iter().map(Into::into).collect(),
        })
    }
}

fn preset(name: &str) -> Result<Config, Invalid> {
    Config::preset(name).ok_or_else(|| {
        let reason = format!("'{name}' is not one of default, card");
        Invalid::new("preset", reason)
    })
}

fn query(text: Option<String>, needs: Vec<String>, hints: HintsRequest) -> Result<Query, Invalid> {
    if needs.len() > MAX_NEEDS {
        let reason = format!("{} needs, at most {MAX_NEEDS}", needs.len());
        return Err(Invalid::new("queries", reason));
    }
    for (at, need) in needs.iter().enumerate() {
        readable(&format!("queries[{at}]"), need)?;
    }
    for (field, hint) in [
        ("hints.namespace", &hints.namespace),
        ("hints.tool", &hints.tool),
    ] {
        if let Some(hint) = hint {
            readable(field, hint)?;
        }
    }
    let only_text = needs.is_empty() && hints == HintsRequest::default();
    match &text {
        Some(text) => readable("query", text)?,
        None if only_text => {
            let reason = "is missing: say in a sentence what the tool should do";
            return Err(Invalid::new("query", reason));
        }
        None => {}
    }
    Ok(Query {
        text: text.unwrap_or_default(),
        needs,
        hints: Hints {
            namespace: hints.namespace,
            tool: hints.tool,
        },
    })
}

/// A text that is there and is not too long. The core would read the first part of a longer one; a
/// caller that sends more should know that the rest is not read.
fn readable(field: &str, text: &str) -> Result<(), Invalid> {
    if text.trim().is_empty() {
        let reason = "is empty: say in a sentence what the tool should do, or leave it out";
        return Err(Invalid::new(field, reason));
    }
    let length = text.chars().count();
    if length > MAX_QUERY {
        let reason = format!(
            "{length} characters, at most {MAX_QUERY}: send the request, not the conversation"
        );
        return Err(Invalid::new(field, reason));
    }
    Ok(())
}

/// The number as answers show it: to six decimals, so that the last bits of a sum, which may differ
/// between processors, do not show. What is not finite is 0.
///
/// ```
/// use toolscout::serve::wire::discover::rounded;
/// assert_eq!(rounded(0.123_456_78), 0.123457);
/// assert_eq!(rounded(-0.0).to_string(), "0");
/// ```
pub fn rounded(value: f32) -> f64 {
    if value.is_finite() {
        (f64::from(value) * 1e6).round() / 1e6 + 0.0
    } else {
        0.0
    }
}
