//! The request and the answer of `POST /v1/route`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{NoMatchResponse, no_match};
use super::discover::rounded;
use super::render::{Definition, render};
use super::{Asked, ContextRequest, Detail, DiscoverRequest, Invalid};
use crate::index::Index;
use crate::rules::Ruling;
use crate::search::Answer;
use crate::search::route::{Because, Route};

/// Names of tools that are always there.
const MAX_ALWAYS: usize = 64;
/// Characters of such a name.
const MAX_NAME: usize = 512;
/// Tools that a phase brings along where the request does not say how many.
const DEFAULT_PHASE_LIMIT: u32 = 5;
/// Tools that a phase may bring along.
const MAX_PHASE_LIMIT: u32 = 100;

/// Which tools this turn needs.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteRequest {
    /// The request in the user's own words; where absent, nothing is searched for.
    #[schema(example = "fix the failing checkout test")]
    pub query: Option<String>,
    /// Several needs at once.
    #[serde(default)]
    pub queries: Vec<String>,
    /// The moment: phase, language, what happened last.
    #[serde(default)]
    pub context: ContextRequest,
    /// Keys, or names that only one tool has, of tools that are always there; at most 64. Those that
    /// the caller cannot see are skipped.
    #[serde(default)]
    pub always: Vec<String>,
    /// Tools that the request may bring along, 1 to 100; 5 where absent.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
    /// Tools that the phase may bring along, 0 to 100; 5 where absent.
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 100)]
    pub phase_limit: Option<u32>,
    /// Tokens (o200k) that all definitions together may take; no bound where absent.
    pub token_budget: Option<u32>,
    /// Confidence, 0 to 1, under which the request brings nothing along.
    #[schema(minimum = 0, maximum = 1)]
    pub threshold: Option<f64>,
    /// How much of each tool the answer holds; `full` where absent. Tokens are counted in full.
    pub detail: Option<Detail>,
}

/// A request for a route that passed its checks.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteAsked {
    /// What to search for, with the moment and the detail.
    pub asked: Asked,
    /// Whether there is anything to search for.
    pub searches: bool,
    /// Tools that are always there.
    pub always: Vec<String>,
    /// Tools that the phase may bring along.
    pub phase_limit: usize,
    /// Tokens of all definitions.
    pub token_budget: Option<usize>,
}

impl RouteRequest {
    /// The request in the core's words.
    ///
    /// # Errors
    /// [`Invalid`] naming the first field that cannot be served.
    pub fn check(self) -> Result<RouteAsked, Invalid> {
        if MAX_ALWAYS < self.always.len() {
            let reason = format!("{} names, at most {MAX_ALWAYS}", self.always.len());
            return Err(Invalid::new("always", reason));
        }
        for (at, name) in self.always.iter().enumerate() {
            if name.is_empty() || MAX_NAME < name.chars().count() {
                let reason = format!("must have 1 to {MAX_NAME} characters");
                return Err(Invalid::new(format!("always[{at}]"), reason));
            }
        }
        let phase_limit = self.phase_limit.unwrap_or(DEFAULT_PHASE_LIMIT);
        if MAX_PHASE_LIMIT < phase_limit {
            let reason = format!("{phase_limit} is not within 0..={MAX_PHASE_LIMIT}");
            return Err(Invalid::new("phase_limit", reason));
        }
        let searches = self.query.is_some() || !self.queries.is_empty();
        let discover = DiscoverRequest {
            // Something to be checked; it is not searched for.
            query: self.query.or_else(|| (!searches).then(|| "-".to_owned())),
            queries: self.queries,
            context: self.context,
            limit: self.limit,
            threshold: self.threshold,
            detail: self.detail,
            ..DiscoverRequest::default()
        };
        Ok(RouteAsked {
            asked: discover.check()?,
            searches,
            always: self.always,
            phase_limit: phase_limit as usize,
            token_budget: self.token_budget.map(|budget| budget as usize),
        })
    }
}

/// The tools of this turn. Equal requests on an unchanged catalogue get equal bytes.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RouteResponse {
    /// Changes when and only when a definition changes that the caller may see.
    pub catalog_etag: String,
    /// The tools: what stays from turn to turn first, each group in ascending order of key.
    pub tools: Vec<ActiveResponse>,
    /// Tokens (o200k) of their full definitions.
    pub tokens: usize,
    /// A limit or the budget left something out.
    pub truncated: bool,
    /// Names of `always` that are no tool the caller may see; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// How sure it is that the request's best tool fits, 0 to 1; null where nothing was asked.
    pub confidence: Option<f64>,
    /// Why the request brought nothing along; null where it did, or nothing was asked.
    pub no_match: Option<NoMatchResponse>,
}

/// A tool of this turn.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ActiveResponse {
    /// Its key.
    #[schema(example = "code/search_code")]
    pub tool: String,
    /// `always`, `rule`, `direct`, `phase` or `retrieval`.
    #[schema(value_type = String, example = "retrieval")]
    pub reason: &'static str,
    /// The rule that never defers it; absent with other reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Its score, 0 to 1, where the request found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Tokens of its full definition.
    pub tokens: usize,
    /// The definition; absent with `detail: "name"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub definition: Option<Definition>,
}

/// The route for the caller whose etag is `etag`.
pub fn route_response(
    (index, etag): (&Index, &str),
    route: &Route,
    found: Option<&Answer>,
    ruling: &Ruling,
    detail: Detail,
) -> RouteResponse {
    let tools = route.tools.iter().map(|active| {
        let tool = index.catalog.tool(active.tool);
        let rule = ruling
            .never_defers(active.tool)
            .filter(|_| active.because == Because::Rule);
        ActiveResponse {
            tool: tool.key.clone(),
            reason: active.because.as_str(),
            rule: rule.map(|rule| rule.name.to_string()),
            score: active.score.map(rounded),
            tokens: active.tokens,
            definition: render(tool, detail),
        }
    });
    RouteResponse {
        catalog_etag: etag.to_owned(),
        tools: tools.collect(),
        tokens: route.tokens,
        truncated: route.truncated,
        skipped: route.skipped.clone(),
        confidence: found.map(|found| rounded(found.confidence)),
        no_match: found
            .and_then(|found| found.no_match.as_ref())
            .map(|why| no_match(index, why)),
    }
}
