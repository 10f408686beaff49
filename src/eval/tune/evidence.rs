//! What the arms say of every candidate of every query, kept so that other weights can be tried
//! without searching again: milliseconds instead of minutes.
//!
//! Exact in the weights; near enough in the rest. The bonus for parts is scaled, not chosen anew,
//! and near-duplicates are not folded. So what is found here is measured by searching before it is
//! believed.

use rayon::prelude::*;

use crate::eval::bench::Bench;
use crate::eval::metric::ranking;
use crate::eval::run::each;
use crate::eval::{Error, Progress};
use crate::search::{Arm, Config, Detail, Explanation, Hit, Request};
use crate::tool::ToolId;

/// Candidates kept of each query.
const CANDIDATES: usize = 400;
/// Ranks that figures look at.
const DEPTH: usize = 10;
/// Scores closer than this are a tie, as in the search.
const TIE: f64 = 1e-5;

/// The evidence of one set.
pub struct Evidence {
    cases: Vec<Case>,
    /// What it was gathered with.
    base: Config,
}

struct Case {
    needs: Vec<Vec<ToolId>>,
    speaking: Vec<Arm>,
    /// In the order of the search, which decides ties.
    candidates: Vec<Candidate>,
}

#[derive(Clone, Copy)]
struct Candidate {
    tool: ToolId,
    /// Values of the arms, in the order of [`Arm::ALL`].
    values: [f32; Arm::ALL.len()],
    /// Points of the keyword arm, and what its value is beside their saturation.
    points: f32,
    factor: f32,
    /// Bonus less penalty.
    covered: f32,
    avoided: f32,
    named: bool,
}

impl Evidence {
    /// Searches the set once, with every candidate explained.
    ///
    /// # Errors
    /// [`Error::Search`] where a search fails.
    pub fn gather(
        bench: &Bench<'_>,
        config: &Config,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Self, Error> {
        let mut base = config.clone();
        // Nothing is that near: every candidate is a hit of its own.
        base.variant_cosine = 2.0;
        let step = format!("{}: evidence", bench.dataset.name);
        let cases = each(&bench.dataset.queries, (&step, progress), |labelled| {
            let mut request = Request::new(labelled.query.text.clone(), CANDIDATES);
            request.detail = Detail::Explained;
            let answer = bench.ask((&labelled.query.id, request), &bench.view, &base)?;
            let candidates = answer.hits.iter().filter_map(|hit| candidate(hit, &base));
            Ok(Case {
                needs: labelled.needs.clone(),
                candidates: candidates.collect(),
                speaking: answer.arms,
            })
        })?;
        Ok(Self { cases, base })
    }

    /// Recall@5 and nDCG@10 under `config`, means over the queries.
    pub fn figures(&self, config: &Config) -> (f64, f64) {
        let sums = self
            .cases
            .par_iter()
            .map(|case| {
                let best = case.best(&self.base, config);
                let ranks = ranking::ranks(&best, &case.needs);
                (ranking::recall(&ranks, 5), ranking::ndcg(&ranks, DEPTH))
            })
            .collect::<Vec<_>>();
        let count = sums.len().max(1) as f64;
        let (recall, ndcg) = sums
            .iter()
            .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (recall / count, ndcg / count)
    }
}

impl Case {
    fn best(&self, base: &Config, config: &Config) -> Vec<ToolId> {
        let total: f32 = self
            .speaking
            .iter()
            .map(|arm| config.weights.of(*arm))
            .sum();
        let cover = match base.parts.cover {
            0.0 => 0.0,
            at => config.parts.cover / at,
        };
        let key = |candidate: &Candidate| {
            let sum: f32 = self
                .speaking
                .iter()
                .map(|arm| config.weights.of(*arm) * candidate.value(*arm, config))
                .sum();
            let score =
                sum / total.max(f32::MIN_POSITIVE) + cover * candidate.covered - candidate.avoided;
            let ticks = (f64::from(score.clamp(0.0, 1.0)) / TIE).round() as i64;
            (candidate.named, ticks)
        };
        let mut ranked: Vec<_> = self.candidates.iter().map(|c| (key(c), c.tool)).collect();
        // Stable, so ties keep the order of the search.
        ranked.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        ranked.iter().take(DEPTH).map(|(_, tool)| *tool).collect()
    }
}

impl Candidate {
    fn value(&self, arm: Arm, config: &Config) -> f32 {
        match arm {
            Arm::Keyword => self.factor * saturated(self.points, config.keyword_scale),
            Arm::Semantic => self.values[0],
            Arm::Namespace => self.values[2],
            Arm::Rule => self.values[3],
        }
    }
}

fn candidate(hit: &Hit, base: &Config) -> Option<Candidate> {
    let explanation: &Explanation = hit.explanation.as_ref()?;
    let said = |arm: Arm| explanation.arms.iter().find(|said| said.arm == arm);
    let value = |arm| said(arm).map_or(0.0, |said| said.value);
    let points = said(Arm::Keyword).map_or(0.0, |said| said.raw);
    let saturation = saturated(points, base.keyword_scale);
    Some(Candidate {
        tool: hit.tool,
        values: Arm::ALL.map(value),
        points,
        factor: if saturation <= 0.0 {
            0.0
        } else {
            value(Arm::Keyword) / saturation
        },
        covered: explanation.covered,
        avoided: explanation.avoided,
        named: explanation.exact_name,
    })
}

fn saturated(points: f32, scale: f32) -> f32 {
    1.0 - (-points / scale).exp()
}
