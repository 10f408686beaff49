//! A request to an answer: the order of the steps.

use std::borrow::Cow;
use std::collections::HashMap;

use super::answer::{Answer, Arm, Explanation, Hit, NoMatch, Reason};
use super::confidence::{Features, confidence, features};
use super::config::Config;
use super::cover::cover;
use super::evidence::{Evidence, Question};
use super::parse::{Parsed, parse};
use super::rank::{List, Ranked, Ranking};
use super::request::{Detail, MAX_LIMIT, Request};
use super::view::View;
use super::{Error, group, keyword, rule};
use crate::embed::Embedder;
use crate::index::Index;
use crate::tool::ToolId;

/// Near tools that are named where nothing fits.
const NEAR: usize = 3;
/// Ranked tools looked at for variants, as a multiple of the limit.
const FOLD_DEPTH: usize = 4;

/// Answers `request` over what `view` shows of `index`.
///
/// Without an embedder, for an index without vectors, or where the model fails on the request, the
/// semantic arm does not speak, and [`Answer::arms`] says so.
///
/// # Errors
/// [`Error::Model`] where the model is not the index's own, [`Error::Index`] where its vectors do
/// not fit.
pub fn search(
    index: &Index,
    embedder: Option<&dyn Embedder>,
    view: &View,
    request: &Request,
    config: &Config,
) -> Result<Answer, Error> {
    let view = if request.filters.is_empty() {
        Cow::Borrowed(view)
    } else {
        Cow::Owned(view.narrow(index, &request.filters))
    };
    let mut parsed = parse(&request.query, index, &view);
    parsed.named.retain(|tool| request.ruling.keeps(*tool));
    if let Some(answer) = without_search(&parsed, &view, request) {
        return Ok(answer);
    }
    let evidence = Evidence::gather(&parsed, (index, &view), embedder, request, config)?;
    let ruling = &request.ruling;
    let pinned = ruling.pinned(MAX_LIMIT, |tool| view.permitted.contains(tool));
    let ranking = Ranking {
        evidence: &evidence,
        index,
        view: &view,
        config,
        ruling,
        pinned: &pinned,
    };
    let rated: Vec<Rated> = evidence
        .questions
        .iter()
        .map(|question| Rated::new(&ranking, question, &parsed.named))
        .collect();
    Ok(answer(&ranking, &parsed, rated, request))
}

/// The answer where there is nothing to search: no tool, no words, or names and nothing else.
fn without_search(parsed: &Parsed, view: &View, request: &Request) -> Option<Answer> {
    let empty = |reason, advice| Answer {
        hits: Vec::new(),
        no_match: Some(NoMatch {
            reason,
            advice,
            near: Vec::new(),
        }),
        confidence: 0.0,
        features: Features::default(),
        truncated: false,
        unserved: Vec::new(),
        arms: Vec::new(),
        used_graph: false,
        model_fault: None,
    };
    if view.permitted.is_empty() {
        let advice = "no tool is visible here: ask for access, or loosen the filters";
        return Some(empty(Reason::NothingPermitted, advice));
    }
    let ruling = &request.ruling;
    if ruling.removes() && !view.permitted.iter().any(|tool| ruling.keeps(tool)) {
        let advice = "the rules leave no visible tool in this moment: go on to another phase";
        return Some(empty(Reason::RuledOut, advice));
    }
    if parsed.select && parsed.named.is_empty() {
        let advice = "none of the selected names is known here: search by what the tool should do";
        return Some(empty(Reason::BelowThreshold, advice));
    }
    if parsed.select {
        let hits = parsed.named.iter().take(request.limit).map(|tool| Hit {
            tool: *tool,
            score: 1.0,
            needs: Vec::new(),
            variants: Vec::new(),
            explanation: None,
        });
        return Some(Answer {
            hits: hits.collect(),
            no_match: None,
            confidence: 1.0,
            truncated: request.limit < parsed.named.len(),
            ..empty(Reason::EmptyQuery, "")
        });
    }
    let wordless = |text: &String| !text.chars().any(char::is_alphanumeric);
    if parsed.questions.iter().all(wordless) {
        let advice = "say in a sentence what the tool should do";
        return Some(empty(Reason::EmptyQuery, advice));
    }
    None
}

/// A ranked list, and how sure it is that its first tool fits.
struct Rated {
    question: Question,
    list: List,
    confidence: f32,
    features: Features,
}

impl Rated {
    fn new(ranking: &Ranking<'_>, question: &Question, named: &[ToolId]) -> Self {
        let mut list = ranking.rank(question, named);
        let features = features(ranking, question, &list);
        let sure = confidence(&ranking.config.confidence, &features);
        // A tool that was asked for by name comes first, whatever the arms say; then what a rule
        // wants first.
        let first: Vec<ToolId> = named.iter().chain(ranking.pinned).copied().collect();
        let place = |ranked: &Ranked| {
            let at = first.iter().position(|tool| *tool == ranked.tool);
            at.unwrap_or(usize::MAX)
        };
        list.ranked.sort_by_key(place);
        Self {
            question: question.clone(),
            list,
            confidence: if named.is_empty() { sure } else { 1.0 },
            features,
        }
    }
}

fn answer(ranking: &Ranking<'_>, parsed: &Parsed, rated: Vec<Rated>, request: &Request) -> Answer {
    let threshold = request.threshold.unwrap_or(ranking.config.threshold);
    let several = 1 < rated.len();
    let unserved: Vec<usize> = (0..rated.len())
        .filter(|need| rated[*need].confidence < threshold || rated[*need].list.ranked.is_empty())
        .collect();
    let surest = rated
        .iter()
        .max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let mut answer = Answer {
        hits: Vec::new(),
        no_match: None,
        confidence: surest.map_or(0.0, |rated| rated.confidence),
        features: surest.map_or_else(Features::default, |rated| rated.features),
        truncated: false,
        unserved: if several {
            unserved.clone()
        } else {
            Vec::new()
        },
        arms: Arm::ALL
            .into_iter()
            .filter(|arm| rated.iter().any(|rated| rated.list.speaking.contains(arm)))
            .collect(),
        used_graph: ranking.evidence.used_graph(),
        model_fault: ranking.evidence.model_fault.clone(),
    };
    if unserved.len() == rated.len() {
        answer.no_match = Some(no_match(&rated));
        return answer;
    }
    let served: Vec<(usize, Rated)> = rated
        .into_iter()
        .enumerate()
        .filter(|(need, _)| !unserved.contains(need))
        .collect();
    let matched: usize = served
        .iter()
        .map(|(_, rated)| rated.list.ranked.len())
        .max()
        .unwrap_or(0);
    answer.hits = if several {
        covering(ranking, parsed, &served, request)
    } else {
        single(ranking, parsed, served, request)
    };
    answer.truncated = answer.hits.len() == request.limit && request.limit < matched;
    answer
}

fn no_match(rated: &[Rated]) -> NoMatch {
    let mut near = Vec::new();
    for rank in 0..NEAR {
        for rated in rated {
            if let Some(ranked) = rated.list.ranked.get(rank)
                && !near.contains(&ranked.tool)
            {
                near.push(ranked.tool);
            }
        }
    }
    near.truncate(NEAR);
    NoMatch {
        reason: Reason::BelowThreshold,
        advice: "no visible tool is likely to fit: say it in other words, or do without a tool",
        near,
    }
}

/// The hits of one question.
fn single(
    ranking: &Ranking<'_>,
    parsed: &Parsed,
    served: Vec<(usize, Rated)>,
    request: &Request,
) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(request.limit);
    for (_, Rated { question, list, .. }) in served {
        let depth = request.limit.saturating_mul(FOLD_DEPTH);
        let tools = list.ranked.iter().take(depth).map(|ranked| ranked.tool);
        let groups = fold(ranking, tools).into_iter();
        for group in groups.take(request.limit) {
            let mut ranked = list.ranked.iter();
            let Some(ranked) = ranked.find(|ranked| ranked.tool == group.tool) else {
                continue;
            };
            hits.push(Hit {
                tool: group.tool,
                score: ranked.score,
                needs: Vec::new(),
                variants: group.variants,
                explanation: explain(ranking, parsed, &question, ranked, request.detail),
            });
        }
    }
    hits
}

/// The hits of several questions, each served in turn. A tool stands for its variants whichever
/// need they were found for.
fn covering(
    ranking: &Ranking<'_>,
    parsed: &Parsed,
    served: &[(usize, Rated)],
    request: &Request,
) -> Vec<Hit> {
    let mut lists: Vec<Vec<ToolId>> = served
        .iter()
        .map(|(_, rated)| rated.list.ranked.iter().map(|ranked| ranked.tool))
        .map(|tools| {
            tools
                .take(request.limit.saturating_mul(FOLD_DEPTH))
                .collect()
        })
        .collect();
    let in_turn = cover(&lists, usize::MAX);
    let groups = fold(ranking, in_turn.iter().map(|chosen| chosen.tool));
    let mut leader: HashMap<ToolId, ToolId> = HashMap::new();
    for group in &groups {
        leader.extend(group.variants.iter().map(|variant| (*variant, group.tool)));
    }
    for tool in lists.iter_mut().flatten() {
        *tool = leader.get(tool).copied().unwrap_or(*tool);
    }
    let mut hits = Vec::with_capacity(request.limit);
    for chosen in cover(&lists, request.limit) {
        let best = chosen
            .needs
            .iter()
            .filter_map(|at| served.get(*at))
            .filter_map(|(_, rated)| {
                let mut ranked = rated.list.ranked.iter();
                let own = ranked.find(|ranked| ranked.tool == chosen.tool)?;
                Some((own, &rated.question))
            })
            .max_by(|a, b| a.0.score.total_cmp(&b.0.score));
        let Some((ranked, question)) = best else {
            continue;
        };
        let own = groups.iter().find(|group| group.tool == chosen.tool);
        hits.push(Hit {
            tool: chosen.tool,
            score: ranked.score,
            needs: chosen.needs.iter().map(|at| served[*at].0).collect(),
            variants: own.map_or_else(Vec::new, |group| group.variants.clone()),
            explanation: explain(ranking, parsed, question, ranked, request.detail),
        });
    }
    hits
}

fn fold(ranking: &Ranking<'_>, tools: impl Iterator<Item = ToolId>) -> Vec<group::Group> {
    group::fold(tools, ranking.index, ranking.config.variant_cosine)
}

fn explain(
    ranking: &Ranking<'_>,
    parsed: &Parsed,
    question: &Question,
    ranked: &Ranked,
    detail: Detail,
) -> Option<Explanation> {
    if detail == Detail::Scores {
        return None;
    }
    let (evidence, index) = (ranking.evidence, ranking.index);
    let points = |unit: usize| {
        let cosine = evidence.cosine(index, unit, ranked.tool).unwrap_or(0.0);
        cosine + evidence.matches[unit].raw(ranked.tool)
    };
    let part = question
        .parts
        .clone()
        .max_by(|a, b| points(*a).total_cmp(&points(*b)))
        .map(|unit| evidence.texts[unit].clone());
    Some(Explanation {
        arms: ranked.arms.clone(),
        covered: ranked.covered,
        avoided: ranked.avoided,
        exact_name: parsed.named.contains(&ranked.tool),
        terms: keyword::matched(evidence, index, question, ranked.tool),
        part,
        rules: rule::notes(ranking.ruling, ranked.tool),
        total: ranked.score,
    })
}
