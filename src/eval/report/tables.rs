//! The tables of a report.

use std::fmt::Write;

use super::sheet::{Sheet, cell};
use super::{AbstentionReport, Report, Section, SetReport};
use crate::eval::metric::{Interval, Metric};
use crate::eval::run::System;

/// Metrics in the order of the main table, with the words of its header.
const COLUMNS: [(Metric, &str); 10] = [
    (Metric::Recall1, "R@1"),
    (Metric::Recall3, "R@3"),
    (Metric::Recall5, "R@5"),
    (Metric::Recall10, "R@10"),
    (Metric::Recall20, "R@20"),
    (Metric::Hit1, "Hit@1"),
    (Metric::Complete10, "Compl@10"),
    (Metric::Ndcg10, "nDCG@10"),
    (Metric::Mrr, "MRR"),
    (Metric::Namespace1, "ns@1"),
];

/// All tables of the report, in the order of reading.
pub fn tables(report: &Report) -> Vec<Sheet> {
    let mut sheets = vec![arms(report)];
    if 1 < report.sets.len() {
        sheets.push(macro_average(report));
    }
    sheets.push(abstention(report));
    if report.sets.iter().any(|set| !set.levels.is_empty()) {
        sheets.push(levels(report));
    }
    if report.sets.iter().any(|set| differs(&set.whole)) {
        sheets.push(relaxed(report));
    }
    sheets
}

/// The report in Markdown: its tables, and the worst queries of each set.
pub fn markdown(report: &Report) -> String {
    let mut text = format!(
        "# Retrieval on {} {}\n\nModel `{}`, configuration `{}`. Intervals are 95 %, by \
         bootstrap over queries.\n\n",
        report.sets.len(),
        if report.sets.len() == 1 {
            "set"
        } else {
            "sets"
        },
        report.model,
        report.config
    );
    for sheet in tables(report) {
        let _ = writeln!(text, "{}", sheet.markdown());
    }
    for set in report.sets.iter().filter(|set| !set.worst.is_empty()) {
        let _ = writeln!(text, "## Worst queries of {}\n\n```text", set.name);
        for failure in &set.worst {
            let _ = writeln!(text, "{failure}");
        }
        text.push_str("```\n\n");
    }
    text
}

fn arms(report: &Report) -> Sheet {
    let mut header = vec!["set", "arm", "queries"];
    header.extend(COLUMNS.map(|(_, name)| name));
    header.extend(["R@5 95 %", "nDCG 95 %"]);
    let mut sheet = Sheet::new("Every way of ranking, set by set", &header, 2);
    for set in &report.sets {
        for (at, (system, figures)) in set.whole.arms.iter().enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            let mut row = vec![
                first(set.name.clone()),
                system.as_str().to_owned(),
                first(set.whole.queries.to_string()),
            ];
            row.extend(COLUMNS.map(|(metric, _)| cell(figures.figures.get(&metric).copied())));
            for metric in [Metric::Recall5, Metric::Ndcg10] {
                row.push(span(figures.interval.get(&metric).copied()));
            }
            sheet.rows.push(row);
        }
    }
    sheet
}

fn macro_average(report: &Report) -> Sheet {
    let mut header = vec!["arm"];
    header.extend(COLUMNS.map(|(_, name)| name));
    let title = format!(
        "Mean over the {} sets, each counting the same",
        report.sets.len()
    );
    let mut sheet = Sheet::new(title, &header, 1);
    for system in System::ALL {
        let mut row = vec![system.as_str().to_owned()];
        let mean = |metric| mean(report, |set| value(&set.whole, system, metric));
        if mean(Metric::Recall5).is_none() {
            continue;
        }
        row.extend(COLUMNS.map(|(metric, _)| cell(mean(metric))));
        sheet.rows.push(row);
    }
    sheet
}

fn abstention(report: &Report) -> Sheet {
    let title = "Nothing fits: does the confidence tell? (accepted: share of answerable queries \
                 kept where one unanswerable in ten is)";
    let header = [
        "set",
        "negatives",
        "AUC",
        "95 %",
        "accepted",
        "gold withheld",
        "AUC",
        "95 %",
        "accepted",
    ];
    let mut sheet = Sheet::new(title, &header, 1);
    for set in &report.sets {
        let mut row = vec![set.name.clone()];
        row.extend(abstention_cells(set));
        sheet.rows.push(row);
    }
    sheet
}

fn abstention_cells(set: &SetReport) -> Vec<String> {
    let found: &AbstentionReport = &set.whole.abstention;
    vec![
        set.negatives.to_string(),
        cell(found.negatives_auc),
        span(found.negatives_interval),
        cell(found.negatives_accepted),
        set.whole.queries.to_string(),
        cell(found.withheld_auc),
        span(found.withheld_interval),
        cell(found.withheld_accepted),
    ]
}

fn levels(report: &Report) -> Sheet {
    let header = [
        "set",
        "level",
        "queries",
        "R@1",
        "R@5",
        "R@10",
        "nDCG@10",
        "best arm R@5",
        "withheld AUC",
    ];
    let mut sheet = Sheet::new("By level and language (fused)", &header, 2);
    for set in &report.sets {
        for (name, section) in &set.levels {
            let fused = |metric| cell(value(section, System::Fused, metric));
            let arms = [System::Semantic, System::Keyword, System::Namespace];
            let best = arms
                .into_iter()
                .filter_map(|arm| value(section, arm, Metric::Recall5))
                .max_by(f64::total_cmp);
            sheet.rows.push(vec![
                set.name.clone(),
                name.clone(),
                section.queries.to_string(),
                fused(Metric::Recall1),
                fused(Metric::Recall5),
                fused(Metric::Recall10),
                fused(Metric::Ndcg10),
                cell(best),
                cell(section.abstention.withheld_auc),
            ]);
        }
    }
    sheet
}

fn relaxed(report: &Report) -> Sheet {
    let header = [
        "set", "R@1", "relaxed", "R@5", "relaxed", "R@10", "relaxed", "nDCG@10", "relaxed",
    ];
    let mut sheet = Sheet::new(
        "When a near-duplicate counts as the tool itself (fused)",
        &header,
        1,
    );
    for set in &report.sets {
        let Some(fused) = set.whole.arms.get(&System::Fused) else {
            continue;
        };
        let mut row = vec![set.name.clone()];
        for metric in [
            Metric::Recall1,
            Metric::Recall5,
            Metric::Recall10,
            Metric::Ndcg10,
        ] {
            row.push(cell(fused.figures.get(&metric).copied()));
            row.push(cell(fused.relaxed.get(&metric).copied()));
        }
        sheet.rows.push(row);
    }
    sheet
}

fn differs(section: &Section) -> bool {
    let mut systems = section.arms.values();
    systems.any(|system| system.figures != system.relaxed)
}

fn value(section: &Section, system: System, metric: Metric) -> Option<f64> {
    section.arms.get(&system)?.figures.get(&metric).copied()
}

/// The mean over the sets that have the value; none where no set has.
pub(in crate::eval) fn mean(
    report: &Report,
    of: impl Fn(&SetReport) -> Option<f64>,
) -> Option<f64> {
    let values: Vec<f64> = report.sets.iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn span(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "-".to_owned(),
        |interval| format!("{}–{}", cell(Some(interval.low)), cell(Some(interval.high))),
    )
}
