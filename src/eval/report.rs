//! What was measured, as plain data: a [`Report`] is what files hold and what tables show.
//!
//! In JSON a set is
//! `{"name", "queries", "arms": {"fused": {"recall@5", …, "relaxed": {…}, "interval": {…}}, …},
//! "abstention": {"negatives_auc", "withheld_auc", …}, "levels": {"L2": {the same}}, …}`.
//! Numbers have six decimals.

pub mod compare;
pub mod sheet;
pub mod tables;
pub mod worst;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::metric::{
    Figures, Interval, Metric, accepted, auc, bootstrap_auc, bootstrap_figures, ranking,
};
use super::run::{Run, System};
use super::{Error, dataset::Dataset};
use crate::tool::ToolId;

/// Share of unfitting answers that may be accepted where a threshold is judged.
pub const FALSE_ACCEPTS: f64 = 0.1;
/// Tools of each query's ranking that a report keeps.
const KEPT: usize = 5;

/// The figures of some sets under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The vector space that the semantic arm worked in.
    pub model: String,
    /// Where the constants came from: a preset or a file.
    pub config: String,
    /// One entry a set, in the order asked for.
    pub sets: Vec<SetReport>,
}

/// The figures of one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetReport {
    /// Name of the set.
    pub name: String,
    /// Tools of its catalogue that were searched.
    pub tools: usize,
    /// Namespaces they are in.
    pub namespaces: usize,
    /// Requests that nothing serves.
    pub negatives: usize,
    /// Labels that were left out because the catalogue does not hold their tool.
    pub unknown_labels: usize,
    /// All queries.
    #[serde(flatten)]
    pub whole: Section,
    /// The queries by level and by language.
    pub levels: BTreeMap<String, Section>,
    /// The queries one by one; left out where only figures are wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// The worst of them, explained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<worst::Failure>,
}

/// Figures over some queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// How many.
    pub queries: usize,
    /// What each way of ranking reached.
    pub arms: BTreeMap<System, SystemReport>,
    /// How well the confidence tells what fits from what does not.
    pub abstention: AbstentionReport,
}

/// What one way of ranking reached. A metric that means nothing for the set is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SystemReport {
    /// The figures.
    #[serde(flatten)]
    pub figures: BTreeMap<Metric, f64>,
    /// The figures when a near-duplicate counts as the tool itself.
    pub relaxed: BTreeMap<Metric, f64>,
    /// 95 % interval of each figure.
    pub interval: BTreeMap<Metric, Interval>,
}

/// How well the confidence tells what fits from what does not; absent where it was not measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AbstentionReport {
    /// AUC of answerable queries against the negatives.
    pub negatives_auc: Option<f64>,
    /// Its interval.
    pub negatives_interval: Option<Interval>,
    /// Share of queries accepted where one negative in ten is.
    pub negatives_accepted: Option<f64>,
    /// AUC of queries against the same queries with their gold withheld.
    pub withheld_auc: Option<f64>,
    /// Its interval.
    pub withheld_interval: Option<Interval>,
    /// Share of queries accepted where one in ten of those without gold is.
    pub withheld_accepted: Option<f64>,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// The rank of each need, from 1, by way of ranking.
    pub ranks: BTreeMap<System, Vec<Option<usize>>>,
    /// Confidence in its best tool.
    pub confidence: f64,
    /// The same with its gold withheld.
    pub withheld: Option<f64>,
    /// Keys of its best tools.
    pub top: Vec<String>,
}

impl Report {
    /// Reads a report written as JSON.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be read, [`Error::Report`] where it is no report.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|source| Error::Report {
            path: path.to_owned(),
            source,
        })
    }

    /// The report without its queries one by one.
    pub fn without_rows(&self) -> Self {
        let mut slim = self.clone();
        for set in &mut slim.sets {
            set.rows.clear();
        }
        slim
    }
}

impl SetReport {
    /// The figures of what `run` gave for the set.
    pub fn new(bench: &Bench<'_>, run: &Run) -> Self {
        let set = &bench.dataset;
        let judged = Judged::new(bench, run);
        let all: Vec<usize> = (0..set.queries.len()).collect();
        let levels = set.levels().into_iter();
        Self {
            name: set.name.clone(),
            tools: bench.view.permitted.len(),
            namespaces: bench.view.namespaces.len(),
            negatives: set.negatives.len(),
            unknown_labels: set.unknown.len(),
            whole: judged.section(&all),
            levels: levels
                .map(|(name, members)| (name, judged.section(&members)))
                .collect(),
            rows: all.iter().map(|query| row(set, run, *query)).collect(),
            worst: Vec::new(),
        }
    }
}

/// Every query's figures under every system.
struct Judged<'a> {
    run: &'a Run,
    /// Figures, and those with equivalents counted.
    figures: BTreeMap<System, (Vec<Figures>, Vec<Figures>)>,
    /// Metrics that say something of this set.
    metrics: Vec<Metric>,
}

impl<'a> Judged<'a> {
    fn new(bench: &Bench<'_>, run: &'a Run) -> Self {
        let set = &bench.dataset;
        let namespace = |tool: ToolId| set.catalog.namespace_of(tool);
        let of = |ranking: &[ToolId], needs: &[Vec<ToolId>]| {
            Figures::of(ranking, needs, |a, b| namespace(a) == namespace(b))
        };
        let figures = |rankings: &Vec<Vec<ToolId>>| {
            let judged = rankings
                .iter()
                .zip(&set.queries)
                .map(|(ranking, labelled)| {
                    let relaxed = set.relaxed(&labelled.needs);
                    (of(ranking, &labelled.needs), of(ranking, &relaxed))
                });
            judged.unzip()
        };
        let mut metrics = Metric::ALL.to_vec();
        if bench.view.namespaces.len() < 2 {
            metrics.retain(|metric| *metric != Metric::Namespace1);
        }
        Self {
            run,
            figures: run
                .rankings
                .iter()
                .map(|(system, rankings)| (*system, figures(rankings)))
                .collect(),
            metrics,
        }
    }

    fn section(&self, members: &[usize]) -> Section {
        let arms = self.figures.iter().map(|(system, (figures, relaxed))| {
            let figures: Vec<Figures> = members.iter().map(|at| figures[*at]).collect();
            let relaxed = Figures::mean(members.iter().map(|at| &relaxed[*at]));
            let intervals = bootstrap_figures(&figures);
            let mean = Figures::mean(&figures);
            let values = |of: Figures| {
                let metrics = self.metrics.iter();
                metrics
                    .map(move |metric| (*metric, round(of.get(*metric))))
                    .collect()
            };
            let report = SystemReport {
                figures: values(mean),
                relaxed: values(relaxed),
                interval: self
                    .metrics
                    .iter()
                    .map(|metric| (*metric, rounded(intervals[*metric as usize])))
                    .collect(),
            };
            (*system, report)
        });
        Section {
            queries: members.len(),
            arms: arms.collect(),
            abstention: abstention(self.run, members),
        }
    }
}

fn abstention(run: &Run, members: &[usize]) -> AbstentionReport {
    let fitting: Vec<f32> = members.iter().map(|at| run.confidence[*at]).collect();
    let withheld: Vec<f32> = members
        .iter()
        .filter_map(|at| run.withheld.get(*at).copied())
        .collect();
    let against = |unfitting: &[f32]| {
        (!unfitting.is_empty()).then(|| {
            (
                round(auc(&fitting, unfitting)),
                rounded(bootstrap_auc(&fitting, unfitting)),
                round(accepted(&fitting, unfitting, FALSE_ACCEPTS)),
            )
        })
    };
    let (negatives, withheld) = (against(&run.negatives), against(&withheld));
    AbstentionReport {
        negatives_auc: negatives.map(|found| found.0),
        negatives_interval: negatives.map(|found| found.1),
        negatives_accepted: negatives.map(|found| found.2),
        withheld_auc: withheld.map(|found| found.0),
        withheld_interval: withheld.map(|found| found.1),
        withheld_accepted: withheld.map(|found| found.2),
    }
}

fn row(set: &Dataset, run: &Run, query: usize) -> Row {
    let labelled = &set.queries[query];
    let ranks = run.rankings.iter().map(|(system, rankings)| {
        let ranks = ranking::ranks(&rankings[query], &labelled.needs);
        (*system, ranks)
    });
    let top = run.rankings.get(&System::Fused).into_iter();
    let top = top.flat_map(|rankings| rankings[query].iter().take(KEPT));
    Row {
        id: labelled.query.id.clone(),
        ranks: ranks.collect(),
        confidence: round(f64::from(run.confidence[query])),
        withheld: run
            .withheld
            .get(query)
            .map(|value| round(f64::from(*value))),
        top: top
            .map(|tool| set.catalog.tool(*tool).key.clone())
            .collect(),
    }
}

/// Six decimals: more would be noise in a file that people compare.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn rounded(interval: Interval) -> Interval {
    Interval {
        low: round(interval.low),
        high: round(interval.high),
    }
}
