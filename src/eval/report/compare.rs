//! Two reports side by side: what changed, whether chance explains it, and for which queries.

use std::collections::BTreeMap;

use serde::Serialize;

use super::sheet::{Sheet, cell, difference};
use super::{Report, Row, SetReport};
use crate::eval::Error;
use crate::eval::metric::{Interval, Metric, bootstrap_difference, ranking};
use crate::eval::run::System;

/// Metrics that are compared.
const COMPARED: [Metric; 4] = [
    Metric::Recall1,
    Metric::Recall5,
    Metric::Recall10,
    Metric::Ndcg10,
];

/// What changed on one set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetChange {
    /// Name of the set.
    pub name: String,
    /// Queries that both reports have.
    pub queries: usize,
    /// Each metric compared.
    pub changes: Vec<Change>,
    /// Queries whose nDCG@10 changed, best gain first.
    pub moved: Vec<Moved>,
}

/// What changed in one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The metric.
    pub metric: Metric,
    /// Mean over the common queries in the first report.
    pub before: f64,
    /// In the second.
    pub after: f64,
    /// 95 % interval of the difference, query by query: chance does not explain it where both ends
    /// have the same sign.
    pub interval: Interval,
    /// Queries that got better.
    pub wins: usize,
    /// Queries that got worse.
    pub losses: usize,
}

/// A query that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// Its id.
    pub id: String,
    /// Ranks of its needs in the first report.
    pub before: Vec<Option<usize>>,
    /// In the second.
    pub after: Vec<Option<usize>>,
    /// Difference in nDCG@10.
    pub gain: f64,
    /// The best tools in the second report.
    pub top: Vec<String>,
}

/// Compares two reports, set by set, on the queries that both have.
///
/// # Errors
/// [`Error::NothingInCommon`] where they have no set in common, or keep no queries.
pub fn compare(before: &Report, after: &Report, system: System) -> Result<Vec<SetChange>, Error> {
    let changes: Vec<SetChange> = before
        .sets
        .iter()
        .filter_map(|old| {
            let new = after.sets.iter().find(|new| new.name == old.name)?;
            change(old, new, system)
        })
        .collect();
    if changes.is_empty() {
        let names = |report: &Report| {
            let names: Vec<&str> = report.sets.iter().map(|set| set.name.as_str()).collect();
            names.join(", ")
        };
        return Err(Error::NothingInCommon {
            left: names(before),
            right: names(after),
        });
    }
    Ok(changes)
}

fn change(old: &SetReport, new: &SetReport, system: System) -> Option<SetChange> {
    let by_id: BTreeMap<&str, &Row> = new.rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let pairs: Vec<(&Row, &Row)> = old
        .rows
        .iter()
        .filter_map(|row| Some((row, *by_id.get(row.id.as_str())?)))
        .filter(|(a, b)| a.ranks.contains_key(&system) && b.ranks.contains_key(&system))
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let changes = COMPARED.map(|metric| {
        let before: Vec<f64> = pairs
            .iter()
            .map(|(a, _)| value(metric, &a.ranks[&system]))
            .collect();
        let after: Vec<f64> = pairs
            .iter()
            .map(|(_, b)| value(metric, &b.ranks[&system]))
            .collect();
        let both = || before.iter().zip(&after);
        Change {
            metric,
            before: mean(&before),
            after: mean(&after),
            interval: bootstrap_difference(&before, &after),
            wins: both().filter(|(b, a)| b < a).count(),
            losses: both().filter(|(b, a)| a < b).count(),
        }
    });
    let mut moved: Vec<Moved> = pairs
        .iter()
        .map(|(a, b)| {
            let (before, after) = (a.ranks[&system].clone(), b.ranks[&system].clone());
            Moved {
                id: a.id.clone(),
                gain: value(Metric::Ndcg10, &after) - value(Metric::Ndcg10, &before),
                before,
                after,
                top: b.top.clone(),
            }
        })
        .filter(|moved| moved.gain != 0.0)
        .collect();
    moved.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.id.cmp(&b.id)));
    Some(SetChange {
        name: old.name.clone(),
        queries: pairs.len(),
        changes: changes.to_vec(),
        moved,
    })
}

fn value(metric: Metric, ranks: &[Option<usize>]) -> f64 {
    match metric {
        Metric::Recall1 => ranking::recall(ranks, 1),
        Metric::Recall3 => ranking::recall(ranks, 3),
        Metric::Recall5 => ranking::recall(ranks, 5),
        Metric::Recall10 => ranking::recall(ranks, 10),
        Metric::Recall20 => ranking::recall(ranks, 20),
        Metric::Hit1 | Metric::Namespace1 => ranking::hit(ranks, 1),
        Metric::Complete10 => ranking::complete(ranks, 10),
        Metric::Ndcg10 => ranking::ndcg(ranks, 10),
        Metric::Mrr => ranking::reciprocal_rank(ranks),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The comparison as tables: the metrics of each set, then the `count` greatest wins and losses.
pub fn tables(changes: &[SetChange], count: usize) -> Vec<Sheet> {
    let header = [
        "set", "metric", "queries", "before", "after", "change", "from", "to", "wins", "losses", "",
    ];
    let mut sheet = Sheet::new("Before and after, on the same queries", &header, 2);
    for set in changes {
        for change in &set.changes {
            let clear = 0.0 < change.interval.low * change.interval.high;
            sheet.rows.push(vec![
                set.name.clone(),
                change.metric.as_str().to_owned(),
                set.queries.to_string(),
                cell(Some(change.before)),
                cell(Some(change.after)),
                difference(change.after - change.before),
                difference(change.interval.low),
                difference(change.interval.high),
                change.wins.to_string(),
                change.losses.to_string(),
                if clear { "clear" } else { "" }.to_owned(),
            ]);
        }
    }
    let mut sheets = vec![sheet];
    for set in changes.iter().filter(|set| !set.moved.is_empty()) {
        sheets.push(moved(set, count));
    }
    sheets
}

fn moved(set: &SetChange, count: usize) -> Sheet {
    let title = format!(
        "{}: greatest wins and losses (ranks of the needs)",
        set.name
    );
    let header = ["query", "before", "after", "first now", "nDCG@10"];
    let mut sheet = Sheet::new(title, &header, 4);
    let wins = set
        .moved
        .iter()
        .filter(|moved| 0.0 < moved.gain)
        .take(count);
    let losses = set
        .moved
        .iter()
        .rev()
        .filter(|moved| moved.gain < 0.0)
        .take(count);
    for moved in wins.chain(losses) {
        sheet.rows.push(vec![
            moved.id.clone(),
            ranks(&moved.before),
            ranks(&moved.after),
            moved.top.first().cloned().unwrap_or_default(),
            difference(moved.gain),
        ]);
    }
    sheet
}

fn ranks(ranks: &[Option<usize>]) -> String {
    let rank = |rank: &Option<usize>| rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
    ranks.iter().map(rank).collect::<Vec<_>>().join(" ")
}
