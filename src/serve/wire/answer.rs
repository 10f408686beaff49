//! The answer of `POST /v1/discover` and of `toolscout search --json`.

use serde::Serialize;
use utoipa::ToSchema;

use super::Detail;
use super::discover::rounded;
use super::render::{Definition, render};
use crate::index::Index;
use crate::search::shadow::Shadow;
use crate::search::{Answer, Explanation, Hit, NoMatch, RuleNote, View};
use crate::tool::ToolId;

/// What was found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DiscoverResponse {
    /// Changes when and only when a definition changes that the caller may see.
    pub catalog_etag: String,
    /// The tools that fit, best first.
    pub hits: Vec<HitResponse>,
    /// Why there are no hits; null where there are some.
    pub no_match: Option<NoMatchResponse>,
    /// How sure it is that the best hit fits, 0 to 1; comparable between requests, which scores are
    /// not.
    pub confidence: f64,
    /// More tools fit than the limit let through.
    pub truncated: bool,
    /// Servers that hold tools the caller may see and that cannot be called now, in ascending order;
    /// absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
    /// Positions in `queries` of the needs that nothing fits; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unserved: Vec<usize>,
    /// Arms that had something to say; their weights add up to one.
    #[schema(value_type = Vec<String>, example = json!(["semantic", "keyword", "namespace"]))]
    pub arms: Vec<&'static str>,
    /// What rules in shadow would change; absent unless `explain` asks and one speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ShadowResponse>,
}

/// A tool that fits.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HitResponse {
    /// Key of the tool.
    #[schema(example = "logistics/get_shipping_eta")]
    pub tool: String,
    /// Fused score, 0 to 1.
    pub score: f64,
    /// The definition; absent with `detail: "name"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub definition: Option<Definition>,
    /// Positions in `queries` of the needs that the tool serves; absent with a single need.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<usize>,
    /// Keys of near-duplicates that this tool stands for, best first; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// How the tool got its score; absent unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<ExplanationResponse>,
}

/// How a tool got its score: the contributions and `covered`, less `avoided`, are the total, held
/// to 0..=1, to within the rounding.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ExplanationResponse {
    /// Each arm that had something to say.
    pub arms: Vec<ArmResponse>,
    /// Added for being among the best tools for a part of the request.
    pub covered: f64,
    /// Taken off because an avoid-when line matches better than the tool's own text.
    pub avoided: f64,
    /// The name was given exactly, which places a tool first whatever the arms say.
    pub exact_name: bool,
    /// Words of the request found in the tool, heaviest first.
    pub terms: Vec<TermResponse>,
    /// The part of the request that the tool fits best; null where it was not cut into parts.
    pub part: Option<String>,
    /// Business rules that speak of the tool; absent where none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleNoteResponse>,
    /// The fused score.
    pub total: f64,
}

/// One arm's part in a score.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ArmResponse {
    /// `semantic`, `keyword`, `namespace` or `rule`.
    #[schema(value_type = String, example = "semantic")]
    pub arm: &'static str,
    /// The arm's own measure: cosine, BM25F points, and so on.
    pub raw: f64,
    /// The calibrated value, 0 to 1.
    pub value: f64,
    /// Share of the arm in the score.
    pub weight: f64,
    /// Value times weight.
    pub contribution: f64,
}

/// A business rule that speaks of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RuleNoteResponse {
    /// Its name.
    pub name: String,
    /// `boost`, `suppress`, `require`, `pin`, `never_defer`, or `leave_out` of a rule in shadow that
    /// would remove the tool.
    #[schema(value_type = String, example = "boost")]
    pub effect: &'static str,
    /// How strongly it boosts or suppresses; absent with other effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// It does not count yet, and only says what it would do.
    pub shadow: bool,
}

/// What rules in shadow would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ShadowResponse {
    /// The rules in shadow that speak in this moment.
    pub rules: Vec<String>,
    /// Keys of the hits there would be, best first.
    pub hits: Vec<String>,
    /// Keys of the hits that would be gone.
    pub gone: Vec<String>,
}

/// A word of the request found in a tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TermResponse {
    /// The word, as it was indexed.
    pub term: String,
    /// Fields it was found in.
    #[schema(value_type = Vec<String>)]
    pub fields: Vec<&'static str>,
    /// Its part in the keyword arm's raw measure.
    pub points: f64,
}

/// Nothing fits, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NoMatchResponse {
    /// `empty_query`, `nothing_permitted`, `ruled_out` or `below_threshold`.
    #[schema(value_type = String, example = "below_threshold")]
    pub reason: &'static str,
    /// What the caller can do about it.
    #[schema(value_type = String)]
    pub advice: &'static str,
    /// Keys of the nearest tools: not recommended, only near.
    pub near: Vec<String>,
}

/// The answer as it is shown to the caller of `view`.
///
/// `view` is the caller's whole view, not one narrowed by filters: the etag is over all of it.
pub fn discover_response(
    index: &Index,
    view: &View,
    answer: &Answer,
    detail: Detail,
) -> DiscoverResponse {
    discover_response_tagged(index, &index.etag(&view.permitted), answer, detail)
}

/// [`discover_response`] for a caller that keeps the etag of the view.
pub fn discover_response_tagged(
    index: &Index,
    etag: &str,
    answer: &Answer,
    detail: Detail,
) -> DiscoverResponse {
    DiscoverResponse {
        catalog_etag: etag.to_owned(),
        hits: answer
            .hits
            .iter()
            .map(|found| hit(index, found, detail))
            .collect(),
        no_match: answer.no_match.as_ref().map(|why| no_match(index, why)),
        confidence: rounded(answer.confidence),
        truncated: answer.truncated,
        unavailable: Vec::new(),
        unserved: answer.unserved.clone(),
        arms: answer.arms.iter().map(|arm| arm.as_str()).collect(),
        shadow: None,
    }
}

/// What rules in shadow would change.
pub fn shadow_response(index: &Index, shadow: &Shadow) -> ShadowResponse {
    ShadowResponse {
        rules: shadow.rules.iter().map(ToString::to_string).collect(),
        hits: keys(index, &shadow.hits),
        gone: keys(index, &shadow.gone),
    }
}

fn hit(index: &Index, hit: &Hit, detail: Detail) -> HitResponse {
    let tool = index.catalog.tool(hit.tool);
    HitResponse {
        tool: tool.key.clone(),
        score: rounded(hit.score),
        definition: render(tool, detail),
        needs: hit.needs.clone(),
        variants: keys(index, &hit.variants),
        explanation: hit.explanation.as_ref().map(explanation),
    }
}

fn explanation(explanation: &Explanation) -> ExplanationResponse {
    let arms = explanation.arms.iter().map(|score| ArmResponse {
        arm: score.arm.as_str(),
        raw: rounded(score.raw),
        value: rounded(score.value),
        weight: rounded(score.weight),
        contribution: rounded(score.contribution),
    });
    let terms = explanation.terms.iter().map(|matched| TermResponse {
        term: matched.term.clone(),
        fields: matched.fields.clone(),
        points: rounded(matched.points),
    });
    ExplanationResponse {
        arms: arms.collect(),
        covered: rounded(explanation.covered),
        avoided: rounded(explanation.avoided),
        exact_name: explanation.exact_name,
        terms: terms.collect(),
        part: explanation.part.clone(),
        rules: explanation.rules.iter().map(rule).collect(),
        total: rounded(explanation.total),
    }
}

fn rule(note: &RuleNote) -> RuleNoteResponse {
    RuleNoteResponse {
        name: note.name.to_string(),
        effect: note.effect,
        strength: note.strength.map(rounded),
        shadow: note.shadow,
    }
}

pub(super) fn no_match(index: &Index, why: &NoMatch) -> NoMatchResponse {
    NoMatchResponse {
        reason: why.reason.as_str(),
        advice: why.advice,
        near: keys(index, &why.near),
    }
}

fn keys(index: &Index, tools: &[ToolId]) -> Vec<String> {
    tools
        .iter()
        .map(|tool| index.catalog.tool(*tool).key.clone())
        .collect()
}
