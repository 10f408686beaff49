//! Every question of a set, asked in every way that is to be compared.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::bench::Bench;
use super::dataset::{Labelled, Text};
use super::{Error, Progress};
use crate::score::{Score, Scored, top_k};
use crate::search::{Answer, Arm, Config, Request, View, Weights};
use crate::tool::ToolId;

/// Tools of a ranking that are looked at.
pub const DEPTH: usize = 100;
/// The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009); ranks count
/// from 1.
const RRF_K: f32 = 60.0;

/// A way to rank tools.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// The search as configured.
    Fused,
    /// The semantic arm alone.
    Semantic,
    /// The keyword arm alone.
    Keyword,
    /// The namespace arm alone.
    Namespace,
    /// The search with the weights of the preset `card`.
    Card,
    /// Rank fusion of the semantic and the keyword arm: what a search without calibrated arms does.
    Rrf60,
}

impl System {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::Fused,
        Self::Semantic,
        Self::Keyword,
        Self::Namespace,
        Self::Card,
        Self::Rrf60,
    ];

    /// The name used in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Semantic => "semantic",
            Self::Keyword => "keyword",
            Self::Namespace => "namespace",
            Self::Card => "card",
            Self::Rrf60 => "rrf60",
        }
    }

    /// The system of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.as_str() == name)
    }

    /// The one arm that it is, if it is one.
    fn arm(self) -> Option<Arm> {
        match self {
            Self::Semantic => Some(Arm::Semantic),
            Self::Keyword => Some(Arm::Keyword),
            Self::Namespace => Some(Arm::Namespace),
            Self::Fused | Self::Card | Self::Rrf60 => None,
        }
    }

    /// The configuration that makes `base` this system. Rank fusion has none of its own: it is made
    /// from the rankings of two others.
    fn config(self, base: &Config) -> Config {
        match (self.arm(), self) {
            (Some(arm), _) => alone(arm, base),
            (None, Self::Card) => Config {
                weights: Config::card().weights,
                ..base.clone()
            },
            (None, _) => base.clone(),
        }
    }
}

/// `base` with one arm's say only: no other weight, no bonus and no penalty.
fn alone(arm: Arm, base: &Config) -> Config {
    let mut config = base.clone();
    let weight = |of: Arm| if of == arm { 1.0 } else { 0.0 };
    config.weights = Weights {
        semantic: weight(Arm::Semantic),
        keyword: weight(Arm::Keyword),
        namespace: weight(Arm::Namespace),
        rule: weight(Arm::Rule),
    };
    config.parts.cover = 0.0;
    config.avoid.limit = 0.0;
    config
}

/// What is asked of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The ways to rank; [`System::Fused`] is always among what is run.
    pub systems: Vec<System>,
    /// Whether it is asked how sure the search is where nothing fits.
    pub abstention: Abstention,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            systems: System::ALL.to_vec(),
            abstention: Abstention::Measured,
        }
    }
}

/// Whether abstention is measured: it doubles the searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abstention {
    /// Negatives are asked, and each query again with its gold withheld.
    Measured,
    /// Rankings only.
    Skipped,
}

/// What the searches gave. All lists run beside the set's queries, but `negatives`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The ranking of each query, best first, at most [`DEPTH`] tools, by system.
    pub rankings: BTreeMap<System, Vec<Vec<ToolId>>>,
    /// The confidence in each query's best tool.
    pub confidence: Vec<f32>,
    /// The confidence with each query's acceptable tools, and their equivalents, forbidden; empty
    /// where abstention is not measured.
    pub withheld: Vec<f32>,
    /// The confidence in the best tool for each request that nothing serves.
    pub negatives: Vec<f32>,
}

/// Asks all of `plan`.
///
/// # Errors
/// [`Error::Search`] for the first search that fails.
pub fn run(
    bench: &Bench<'_>,
    config: &Config,
    plan: &Plan,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Run, Error> {
    let mut systems = vec![System::Fused];
    systems.extend(&plan.systems);
    if systems.contains(&System::Rrf60) {
        systems.extend([System::Semantic, System::Keyword]);
    }
    systems.sort_unstable();
    systems.dedup();

    let mut run = Run::default();
    for system in systems.iter().filter(|system| **system != System::Rrf60) {
        let step = format!("{}: {}", bench.dataset.name, system.as_str());
        let config = system.config(config);
        let asked = each(&bench.dataset.queries, (&step, progress), |labelled| {
            ask(bench, &labelled.query, &bench.view, &config)
        })?;
        let asked = asked.into_iter().map(|answer| {
            // An arm with nothing to say would rank by the order of keys.
            let silent = system.arm().is_some_and(|arm| !answer.arms.contains(&arm));
            let hits = answer.hits.iter().filter(|_| !silent).map(|hit| hit.tool);
            (hits.collect(), answer.confidence)
        });
        let (rankings, confidence): (Vec<_>, Vec<_>) = asked.unzip();
        run.rankings.insert(*system, rankings);
        if *system == System::Fused {
            run.confidence = confidence;
        }
    }
    if systems.contains(&System::Rrf60) {
        let arms = [System::Semantic, System::Keyword].map(|arm| &run.rankings[&arm]);
        let fused = (0..bench.dataset.queries.len())
            .map(|query| rank_fusion(&arms.map(|arm| arm[query].as_slice())))
            .collect();
        run.rankings.insert(System::Rrf60, fused);
    }
    run.rankings
        .retain(|system, _| *system == System::Fused || plan.systems.contains(system));
    if plan.abstention == Abstention::Measured {
        let step = format!("{}: gold withheld", bench.dataset.name);
        run.withheld = each(&bench.dataset.queries, (&step, progress), |labelled| {
            let view = without_gold(bench, labelled);
            ask(bench, &labelled.query, &view, config).map(|answer| answer.confidence)
        })?;
        let step = format!("{}: negatives", bench.dataset.name);
        run.negatives = each(&bench.dataset.negatives, (&step, progress), |query| {
            ask(bench, query, &bench.view, config).map(|answer| answer.confidence)
        })?;
    }
    Ok(run)
}

/// The set's view without anything that serves the query.
pub(super) fn without_gold(bench: &Bench<'_>, labelled: &Labelled) -> View {
    let gold: Vec<ToolId> = bench.dataset.relaxed(&labelled.needs).concat();
    let permitted = bench.view.permitted.narrow(|tool| !gold.contains(&tool));
    View::new(&bench.index, permitted)
}

/// Reciprocal rank fusion: each ranking gives a tool `1 / (60 + rank)`, ranks from 1.
///
/// ```
/// use toolscout::eval::run::rank_fusion;
/// use toolscout::tool::ToolId;
/// let (a, b) = ([1, 2, 3].map(ToolId), [3, 4].map(ToolId));
/// // Tool 3: 1/63 + 1/61; tool 1: 1/61; tools 2 and 4: 1/62, the lesser first.
/// assert_eq!(rank_fusion(&[&a, &b]), [3, 1, 2, 4].map(ToolId));
/// ```
pub fn rank_fusion(rankings: &[&[ToolId]]) -> Vec<ToolId> {
    let mut points: BTreeMap<ToolId, f32> = BTreeMap::new();
    for ranking in rankings {
        for (at, tool) in ranking.iter().enumerate() {
            *points.entry(*tool).or_insert(0.0) += 1.0 / (RRF_K + (at + 1) as f32);
        }
    }
    let scored = points.into_iter().map(|(tool, points)| Scored {
        tool,
        score: Score::new(points),
    });
    let best = top_k(scored.collect(), DEPTH);
    best.into_iter().map(|scored| scored.tool).collect()
}

fn ask(bench: &Bench<'_>, query: &Text, view: &View, config: &Config) -> Result<Answer, Error> {
    let request = Request::new(query.text.clone(), DEPTH);
    bench.ask((&query.id, request), view, config)
}

/// `ask` of every item, on all cores, with a sign of progress now and then.
pub(super) fn each<T: Sync, R: Send>(
    items: &[T],
    (step, progress): (&str, &(dyn Fn(Progress<'_>) + Sync)),
    ask: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    const EVERY: usize = 16;
    let (done, total) = (AtomicUsize::new(0), items.len());
    items
        .par_iter()
        .map(|item| {
            let asked = ask(item);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(EVERY) || done == total {
                progress(Progress { step, done, total });
            }
            asked
        })
        .collect()
}
