//! The tables of a tuning: before, after, and what was moved.

use std::collections::BTreeMap;

use super::parameter::{ARMS, FUSION};
use super::{Judged, Tuning, confidence};
use crate::eval::metric::Metric;
use crate::eval::report::sheet::{Sheet, cell, difference};
use crate::eval::run::System;
use crate::search::Config;

/// Ways of ranking that the tuned one must beat, with the words of the header.
const RIVALS: [(System, &str); 5] = [
    (System::Fused, "before"),
    (System::Card, "card"),
    (System::Rrf60, "rrf60"),
    (System::Semantic, "semantic"),
    (System::Keyword, "keyword"),
];

/// All tables: Recall@5, nDCG@10, the confidence, and the constants.
pub fn tables(tuning: &Tuning, start: &Config) -> Vec<Sheet> {
    vec![
        figures(tuning, Metric::Recall5),
        figures(tuning, Metric::Ndcg10),
        confidence::table(&tuning.confidence),
        constants(tuning, start),
    ]
}

fn figures(tuning: &Tuning, metric: Metric) -> Sheet {
    let title = format!(
        "{}: constants fitted on the other catalogues, measured on the one held out",
        metric.as_str()
    );
    let mut header = vec!["set", "held out"];
    header.extend(RIVALS.map(|(_, name)| name));
    header.push("gain on best");
    let mut sheet = Sheet::new(title, &header, 1);
    let row = |name: &str, after: f64, rivals: [Option<f64>; 5]| {
        let mut row = vec![name.to_owned(), cell(Some(after))];
        row.extend(rivals.map(cell));
        let best = rivals.into_iter().flatten().fold(0.0, f64::max);
        row.push(difference(after - best));
        row
    };
    for set in &tuning.judged {
        let rivals = RIVALS.map(|(system, _)| set.before.get(&system).map(|f| f.get(metric)));
        sheet
            .rows
            .push(row(&set.name, set.after.get(metric), rivals));
    }
    let after = macro_mean(tuning, |set| Some(set.after.get(metric)));
    let rivals = RIVALS.map(|(system, _)| {
        macro_mean(tuning, |set| set.before.get(&system).map(|f| f.get(metric)))
    });
    sheet
        .rows
        .push(row("mean over catalogues", after.unwrap_or(0.0), rivals));
    sheet
}

/// The mean over catalogues: sets of one catalogue count as one.
fn macro_mean(tuning: &Tuning, of: impl Fn(&Judged) -> Option<f64>) -> Option<f64> {
    let mut by_group: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for set in &tuning.judged {
        by_group.entry(set.group).or_default().extend(of(set));
    }
    by_group.retain(|_, values| !values.is_empty());
    let means = by_group
        .values()
        .map(|values| values.iter().sum::<f64>() / values.len() as f64);
    (!by_group.is_empty()).then(|| means.sum::<f64>() / by_group.len() as f64)
}

fn constants(tuning: &Tuning, start: &Config) -> Sheet {
    let title = "Constants that moved: before, fitted on all, and least and most over the folds";
    let header = ["constant", "before", "all", "least", "most"];
    let mut sheet = Sheet::new(title, &header, 1);
    for parameter in FUSION.iter().chain(ARMS) {
        let folds = tuning.judged.iter().map(|set| parameter.get(&set.config));
        let least = folds.clone().fold(f32::INFINITY, f32::min);
        let most = folds.fold(f32::NEG_INFINITY, f32::max);
        let (before, after) = (parameter.get(start), parameter.get(&tuning.config));
        if before == after && before == least && before == most {
            continue;
        }
        let mut row = vec![parameter.name.to_owned()];
        row.extend([before, after, least, most].map(|value| format!("{value:.4}")));
        sheet.rows.push(row);
    }
    sheet
}
