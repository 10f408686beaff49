//! Better constants, found on some catalogues and judged on others.
//!
//! Sets over one catalogue form a group. For each group the constants are fitted on all other groups
//! and then measured on it by searching: what the table shows as "held out" was never fitted on. The
//! configuration that is written is fitted on all of them.
//!
//! The goal is the mean over groups of Recall@5 and nDCG@10, less what a set falls behind the better
//! of its arms alone: a fusion that loses to one of its parts on some catalogue is no default.
//!
//! [`confidence`] is calibrated last, over the answers of the configuration that was found.

pub mod climb;
pub mod confidence;
pub mod evidence;
pub mod logistic;
pub mod parameter;
pub mod table;

use std::collections::{BTreeMap, HashMap};

use super::bench::Bench;
use super::metric::{Figures, Metric};
use super::run::{Abstention, Plan, System, run};
use super::{Error, Progress};
use crate::search::Config;

use climb::search;
use confidence::{Calibrated, ask, calibrate};
use evidence::Evidence;
use parameter::{ARMS, FUSION};

/// Random places tried around the first optimum.
const DRAWS: usize = 60;

/// What may be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The weights of the arms and what belongs to their sum: seconds.
    Fusion,
    /// The arms' own constants too, by searching again for each trial: minutes to hours.
    Arms,
}

/// What tuning found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// One entry a set, in the order given.
    pub judged: Vec<Judged>,
    /// How well the confidence tells what fits.
    pub confidence: Calibrated,
    /// Fitted on all sets, confidence and threshold included.
    pub config: Config,
}

/// One set, measured under constants that were fitted without it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Name of the set.
    pub name: String,
    /// Sets of one catalogue have the same number.
    pub group: usize,
    /// What it was measured under.
    pub config: Config,
    /// Each system under the constants given, and what the held-out constants make of the fused one.
    pub before: BTreeMap<System, Figures>,
    /// Fused, under the held-out constants.
    pub after: Figures,
}

/// Fits and judges.
///
/// # Errors
/// [`Error::TooFewSets`] unless there are two catalogues, [`Error::Search`] where a search fails.
pub fn tune(
    benches: &[Bench<'_>],
    start: &Config,
    depth: Depth,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Tuning, Error> {
    let groups = catalogues(benches);
    let folds = groups.iter().max().map_or(0, |last| last + 1);
    if folds < 2 {
        return Err(Error::TooFewSets { found: folds });
    }
    let before = benches
        .iter()
        .map(|bench| measure(bench, start, &System::ALL, progress))
        .collect::<Result<Vec<_>, _>>()?;
    let mut ground = Ground::gather(benches, start, progress)?;
    ground.arms = before.iter().map(best_arm).collect();

    let mut fitted = Vec::with_capacity(folds + 1);
    for fold in 0..=folds {
        progress(Progress {
            step: "fitting",
            done: fold,
            total: folds + 1,
        });
        let members: Vec<usize> = (0..benches.len())
            .filter(|set| groups[*set] != fold)
            .collect();
        fitted.push(ground.fit(start, depth, (&groups, &members))?);
    }
    let mut config = fitted.pop().unwrap_or_else(|| start.clone());
    let answers = benches
        .iter()
        .zip(&groups)
        .map(|(bench, group)| ask(bench, &config, *group, progress))
        .collect::<Result<Vec<_>, _>>()?;
    let confidence = calibrate(&answers, &start.confidence);
    config.confidence = confidence.model;
    config.threshold = confidence.threshold;
    let judged = benches
        .iter()
        .zip(groups)
        .zip(before)
        .map(|((bench, group), before)| {
            let config = fitted[group].clone();
            let after = measure(bench, &config, &[System::Fused], progress)?;
            Ok(Judged {
                name: bench.dataset.name.clone(),
                group,
                after: after[&System::Fused],
                config,
                before,
            })
        })
        .collect::<Result<_, Error>>()?;
    Ok(Tuning {
        judged,
        confidence,
        config,
    })
}

/// Numbers the catalogues: sets of equal tools get the same number.
fn catalogues(benches: &[Bench<'_>]) -> Vec<usize> {
    let mut seen: Vec<String> = Vec::new();
    let number = |bench: &Bench<'_>| {
        let etag = bench.index.etag(&bench.view.permitted);
        seen.iter()
            .position(|other| *other == etag)
            .unwrap_or_else(|| {
                seen.push(etag);
                seen.len() - 1
            })
    };
    benches.iter().map(number).collect()
}

fn measure(
    bench: &Bench<'_>,
    config: &Config,
    systems: &[System],
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<BTreeMap<System, Figures>, Error> {
    let plan = Plan {
        systems: systems.to_vec(),
        abstention: Abstention::Skipped,
    };
    let run = run(bench, config, &plan, progress)?;
    Ok(run
        .rankings
        .iter()
        .map(|(system, rankings)| {
            let figures: Vec<Figures> = rankings
                .iter()
                .zip(&bench.dataset.queries)
                .map(|(ranking, labelled)| Figures::of(ranking, &labelled.needs, |a, b| a == b))
                .collect();
            (*system, Figures::mean(&figures))
        })
        .collect())
}

fn best_arm(before: &BTreeMap<System, Figures>) -> (f64, f64) {
    let best = |metric| {
        let arms = [System::Semantic, System::Keyword];
        let values = arms.iter().filter_map(|arm| before.get(arm));
        values
            .map(|figures| figures.get(metric))
            .fold(0.0, f64::max)
    };
    (best(Metric::Recall5), best(Metric::Ndcg10))
}

/// What trials are judged on.
struct Ground<'a> {
    benches: &'a [Bench<'a>],
    evidence: Vec<Evidence>,
    /// Recall@5 and nDCG@10 of each set's best arm.
    arms: Vec<(f64, f64)>,
    /// Figures of trials that were searched, by set.
    known: HashMap<(usize, String), (f64, f64)>,
}

impl<'a> Ground<'a> {
    fn gather(
        benches: &'a [Bench<'a>],
        config: &Config,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Self, Error> {
        let gather = |bench| Evidence::gather(bench, config, progress);
        Ok(Self {
            benches,
            evidence: benches.iter().map(gather).collect::<Result<_, _>>()?,
            arms: Vec::new(),
            known: HashMap::new(),
        })
    }

    /// The best constants for some of the sets.
    fn fit(
        &mut self,
        start: &Config,
        depth: Depth,
        (groups, members): (&[usize], &[usize]),
    ) -> Result<Config, Error> {
        let arms = self.arms.clone();
        let value = |figures: &dyn Fn(usize) -> (f64, f64)| {
            let mut by_group: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            for set in members {
                let worth = worth(figures(*set), arms[*set]);
                by_group.entry(groups[*set]).or_default().push(worth);
            }
            let means = by_group
                .values()
                .map(|worths| worths.iter().sum::<f64>() / worths.len() as f64);
            means.sum::<f64>() / by_group.len().max(1) as f64
        };
        let evidence = &self.evidence;
        let mut by_evidence = |config: &Config| Ok(value(&|set| evidence[set].figures(config)));
        let (mut config, _) = search(start, FUSION, DRAWS, &mut by_evidence)?;
        if depth == Depth::Arms {
            let mut by_search = |config: &Config| {
                for set in members {
                    self.search(*set, config)?;
                }
                let name = format!("{config:?}");
                Ok(value(&|set| self.known[&(set, name.clone())]))
            };
            let all: Vec<_> = FUSION.iter().chain(ARMS).copied().collect();
            (config, _) = search(&config, &all, 0, &mut by_search)?;
        }
        Ok(config)
    }

    /// Sees to it that a trial's figures on a set are known: folds ask for the same ones.
    fn search(&mut self, set: usize, config: &Config) -> Result<(), Error> {
        let key = (set, format!("{config:?}"));
        if !self.known.contains_key(&key) {
            let bench = &self.benches[set];
            let found = measure(bench, config, &[System::Fused], &|_| ())?[&System::Fused];
            let figures = (found.get(Metric::Recall5), found.get(Metric::Ndcg10));
            self.known.insert(key, figures);
        }
        Ok(())
    }
}

/// Half of each figure, less what it is behind the best arm.
fn worth(fused: (f64, f64), arm: (f64, f64)) -> f64 {
    let behind = (arm.0 - fused.0).max(0.0) + (arm.1 - fused.1).max(0.0);
    (fused.0 + fused.1) / 2.0 - behind
}
