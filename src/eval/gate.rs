//! The regression gate: a change may not cost a set more than chance explains.
//!
//! A baseline is a report that was accepted once. A figure is lost when it falls below the low end
//! of its own 95 % interval in the baseline: had other queries been drawn, the accepted state would
//! hardly ever have come out so low.

use super::metric::{Interval, Metric};
use super::report::{AbstentionReport, Report, SetReport};
use super::run::System;

/// Metrics of the fused ranking that must not fall.
const GUARDED: [Metric; 3] = [Metric::Hit1, Metric::Recall5, Metric::Ndcg10];

/// One figure against its baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Name of the set.
    pub set: String,
    /// What was measured: a metric, `negatives_auc` or `withheld_auc`.
    pub figure: &'static str,
    /// In the baseline.
    pub baseline: f64,
    /// The least that passes.
    pub floor: f64,
    /// Now; none where the set, or the figure, was not measured.
    pub now: Option<f64>,
}

impl Check {
    /// Whether the figure holds.
    pub fn passes(&self) -> bool {
        self.now.is_some_and(|now| self.floor <= now)
    }
}

/// Checks every guarded figure of `baseline`, in its order.
///
/// ```
/// use std::collections::BTreeMap;
/// use toolscout::eval::gate::check;
/// use toolscout::eval::report::Report;
/// let empty = Report { model: "m".into(), config: "default".into(), sets: vec![] };
/// assert!(check(&empty, &empty).is_empty());
/// ```
pub fn check(baseline: &Report, now: &Report) -> Vec<Check> {
    let mut checks = Vec::new();
    for set in &baseline.sets {
        let now = now.sets.iter().find(|other| other.name == set.name);
        for metric in GUARDED {
            let Some((value, interval)) = figure(set, metric) else {
                continue;
            };
            checks.push(Check {
                set: set.name.clone(),
                figure: metric.as_str(),
                baseline: value,
                floor: interval.low,
                now: now
                    .and_then(|now| figure(now, metric))
                    .map(|(value, _)| value),
            });
        }
        for (name, of) in SEPARATIONS {
            let Some((value, interval)) = of(&set.whole.abstention) else {
                continue;
            };
            checks.push(Check {
                set: set.name.clone(),
                figure: name,
                baseline: value,
                floor: interval.low,
                now: now
                    .and_then(|now| of(&now.whole.abstention))
                    .map(|(value, _)| value),
            });
        }
    }
    checks
}

type Separation = fn(&AbstentionReport) -> Option<(f64, Interval)>;

/// Figures of abstention that must not fall.
const SEPARATIONS: [(&str, Separation); 2] = [
    ("negatives_auc", |found| {
        found.negatives_auc.zip(found.negatives_interval)
    }),
    ("withheld_auc", |found| {
        found.withheld_auc.zip(found.withheld_interval)
    }),
];

fn figure(set: &SetReport, metric: Metric) -> Option<(f64, Interval)> {
    let fused = set.whole.arms.get(&System::Fused)?;
    let value = fused.figures.get(&metric).copied()?;
    Some((value, fused.interval.get(&metric).copied()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::eval::report::{Section, SystemReport};

    fn report(recall: f64, withheld: Option<f64>) -> Report {
        let interval = |value: f64| Interval {
            low: value - 0.05,
            high: value + 0.05,
        };
        let fused = SystemReport {
            figures: BTreeMap::from([(Metric::Recall5, recall)]),
            relaxed: BTreeMap::new(),
            interval: BTreeMap::from([(Metric::Recall5, interval(recall))]),
        };
        let whole = Section {
            queries: 10,
            arms: BTreeMap::from([(System::Fused, fused)]),
            abstention: AbstentionReport {
                withheld_auc: withheld,
                withheld_interval: withheld.map(interval),
                ..AbstentionReport::default()
            },
        };
        let set = SetReport {
            name: "demo".into(),
            tools: 3,
            namespaces: 1,
            negatives: 0,
            unknown_labels: 0,
            whole,
            levels: BTreeMap::new(),
            rows: vec![],
            worst: vec![],
        };
        Report {
            model: "m".into(),
            config: "default".into(),
            sets: vec![set],
        }
    }

    fn lost(now: &Report) -> Vec<&'static str> {
        let baseline = report(0.8, Some(0.7));
        let checks = check(&baseline, now);
        let lost = checks.iter().filter(|check| !check.passes());
        lost.map(|check| check.figure).collect()
    }

    #[test]
    fn a_loss_within_the_interval_passes_and_a_greater_one_does_not() {
        assert!(lost(&report(0.76, Some(0.66))).is_empty());
        assert_eq!(lost(&report(0.74, Some(0.7))), ["recall@5"]);
        assert_eq!(lost(&report(0.9, Some(0.6))), ["withheld_auc"]);
    }

    #[test]
    fn what_is_no_longer_measured_is_lost() {
        assert_eq!(lost(&report(0.8, None)), ["withheld_auc"]);
        let mut other = report(0.8, Some(0.7));
        other.sets[0].name = "another".into();
        assert_eq!(lost(&other), ["recall@5", "withheld_auc"]);
    }

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        let report = report(0.8, Some(0.7));
        let text = serde_json::to_string(&report).unwrap();
        assert!(
            text.contains(r#""arms":{"fused":{"recall@5":0.8,"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
