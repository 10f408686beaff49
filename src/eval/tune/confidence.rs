//! The confidence calibrated: a logistic model over the features of the best tool, fitted so that
//! requests that something serves and requests that nothing serves come apart, and so that a
//! confidence of 0.7 is right seven times in ten.
//!
//! Each query is seen with its gold permitted and with it withheld, and the negatives of a set beside
//! them. Every catalogue weighs the same, and so do both classes in it. As with the weights, what is
//! shown of a catalogue was fitted on the others.

use std::collections::BTreeMap;

use super::logistic::{Sample, fit};
use crate::eval::bench::Bench;
use crate::eval::metric::{accepted, auc, separation};
use crate::eval::report::FALSE_ACCEPTS;
use crate::eval::report::sheet::{Sheet, cell};
use crate::eval::run::{each, without_gold};
use crate::eval::{Error, Progress};
use crate::search::confidence::{FEATURE_COUNT, Features, confidence};
use crate::search::config::ConfidenceModel;
use crate::search::{Config, Request, View};

/// Share of the answerable requests that the shipped threshold may turn away.
const TURNED_AWAY: f64 = 0.03;

/// The features of one set's answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// Name of the set.
    pub name: String,
    /// Sets of one catalogue have the same number.
    pub group: usize,
    /// With everything permitted.
    pub permitted: Vec<Features>,
    /// With the gold withheld.
    pub withheld: Vec<Features>,
    /// Of requests that nothing serves.
    pub negatives: Vec<Features>,
}

/// How one model does on one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// AUC against the set's negatives; none where it has none.
    pub negatives_auc: Option<f64>,
    /// AUC against the same queries without their gold.
    pub withheld_auc: f64,
    /// Share accepted where one in ten of those without gold is.
    pub accepted: f64,
}

/// What calibrating found.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// Name of each set, with the quality of the model given and of the one fitted without it.
    pub judged: Vec<(String, Quality, Quality)>,
    /// Fitted on all sets.
    pub model: ConfidenceModel,
    /// Confidence under which one answerable request in thirty lies: the threshold.
    pub threshold: f32,
}

/// Asks every query with and without its gold, and the negatives.
///
/// # Errors
/// [`Error::Search`] where a search fails.
pub fn ask(
    bench: &Bench<'_>,
    config: &Config,
    group: usize,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Answers, Error> {
    let name = &bench.dataset.name;
    let place = |what: &str| format!("{name}: {what}");
    let features = |(id, text): (&str, &str), view: &View| {
        // One hit: the features are those of the best tool.
        let answer = bench.ask((id, Request::new(text, 1)), view, config)?;
        Ok(answer.features)
    };
    let queries = &bench.dataset.queries;
    let permitted = each(queries, (&place("features"), progress), |labelled| {
        let query = &labelled.query;
        features((&query.id, &query.text), &bench.view)
    })?;
    let withheld = each(queries, (&place("gold withheld"), progress), |labelled| {
        let query = &labelled.query;
        features((&query.id, &query.text), &without_gold(bench, labelled))
    })?;
    let negatives = &bench.dataset.negatives;
    let negatives = each(negatives, (&place("negatives"), progress), |query| {
        features((&query.id, &query.text), &bench.view)
    })?;
    Ok(Answers {
        name: name.clone(),
        group,
        permitted,
        withheld,
        negatives,
    })
}

/// Fits and judges.
pub fn calibrate(answers: &[Answers], start: &ConfidenceModel) -> Calibrated {
    let judged = answers
        .iter()
        .map(|set| {
            let others: Vec<&Answers> = answers.iter().filter(|a| a.group != set.group).collect();
            let held_out = model(&others);
            (
                set.name.clone(),
                quality(set, start),
                quality(set, &held_out),
            )
        })
        .collect();
    let all: Vec<&Answers> = answers.iter().collect();
    let model = model(&all);
    let fitting: Vec<f32> = all
        .iter()
        .flat_map(|set| set.permitted.iter().map(|f| confidence(&model, f)))
        .collect();
    let kept = 1.0 - TURNED_AWAY;
    Calibrated {
        judged,
        threshold: separation::threshold(&fitting, kept).unwrap_or(0.0),
        model,
    }
}

/// How a model does on a set.
pub fn quality(set: &Answers, model: &ConfidenceModel) -> Quality {
    let sure = |features: &[Features]| -> Vec<f32> {
        features.iter().map(|one| confidence(model, one)).collect()
    };
    let permitted = sure(&set.permitted);
    let (withheld, negatives) = (sure(&set.withheld), sure(&set.negatives));
    Quality {
        negatives_auc: (!negatives.is_empty()).then(|| auc(&permitted, &negatives)),
        withheld_auc: auc(&permitted, &withheld),
        accepted: accepted(&permitted, &withheld, FALSE_ACCEPTS),
    }
}

/// The model of both halves: all features where the words are known, the meaning alone where they
/// are not, each fitted on the answers that it will speak of.
fn model(sets: &[&Answers]) -> ConfidenceModel {
    let all = fit(&samples(sets, |features| {
        let values = features.values.map(f64::from).to_vec();
        (values, f64::from(features.heard))
    }));
    let meaning = fit(&samples(sets, |features| {
        let values = vec![f64::from(features.values[0])];
        // Most requests are heard in full; the rest alone would be too few to fit on.
        (values, 1.1 - f64::from(features.heard))
    }));
    let mut weights = [0.0; FEATURE_COUNT];
    for (weight, fitted) in weights.iter_mut().zip(&all[1..]) {
        *weight = *fitted as f32;
    }
    ConfidenceModel {
        bias: all[0] as f32,
        weights,
        meaning_bias: meaning[0] as f32,
        meaning_weight: meaning.get(1).map_or(0.0, |weight| *weight as f32),
    }
}

/// The samples of some sets, with each catalogue weighing the same and each class half of it.
fn samples(sets: &[&Answers], of: impl Fn(&Features) -> (Vec<f64>, f64)) -> Vec<Sample> {
    let mut by_group: BTreeMap<(usize, bool), Vec<Sample>> = BTreeMap::new();
    for set in sets {
        let unfitting = set.withheld.iter().chain(&set.negatives);
        let classes = set
            .permitted
            .iter()
            .map(|features| (true, features))
            .chain(unfitting.map(|features| (false, features)));
        for (fits, features) in classes {
            let (features, weight) = of(features);
            by_group.entry((set.group, fits)).or_default().push(Sample {
                features,
                fits,
                weight,
            });
        }
    }
    for samples in by_group.values_mut() {
        let total: f64 = samples.iter().map(|sample| sample.weight).sum();
        for sample in samples.iter_mut() {
            sample.weight *= 1000.0 / total.max(f64::MIN_POSITIVE);
        }
    }
    by_group.into_values().flatten().collect()
}

/// The calibration as a table.
pub fn table(calibrated: &Calibrated) -> Sheet {
    let title = "Confidence: before, and fitted on the other catalogues (accepted: share of queries \
                 kept where one in ten without gold is)";
    let header = [
        "set",
        "withheld AUC",
        "held out",
        "negatives AUC",
        "held out",
        "accepted",
        "held out",
    ];
    let mut sheet = Sheet::new(title, &header, 1);
    for (name, before, after) in &calibrated.judged {
        sheet.rows.push(vec![
            name.clone(),
            cell(Some(before.withheld_auc)),
            cell(Some(after.withheld_auc)),
            cell(before.negatives_auc),
            cell(after.negatives_auc),
            cell(Some(before.accepted)),
            cell(Some(after.accepted)),
        ]);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(group: usize, shift: f32) -> Answers {
        let features = |value: f32| Features {
            values: [value; FEATURE_COUNT],
            heard: 1.0,
        };
        let spread = |from: f32| {
            (0..40)
                .map(|at| features(from + at as f32 / 100.0))
                .collect()
        };
        Answers {
            name: format!("set {group}"),
            group,
            permitted: spread(0.4 + shift),
            withheld: spread(0.2 + shift),
            negatives: vec![],
        }
    }

    #[test]
    fn a_fitted_model_is_right_as_often_as_it_says() {
        let sets = [answers(0, 0.0), answers(1, 0.05)];
        let start = ConfidenceModel {
            bias: 0.0,
            weights: [0.0; FEATURE_COUNT],
            meaning_bias: 0.0,
            meaning_weight: 0.0,
        };
        let calibrated = calibrate(&sets, &start);
        let (_, before, after) = &calibrated.judged[0];
        assert_eq!(before.withheld_auc, 0.5);
        assert!(0.8 < after.withheld_auc);
        let sure: Vec<f32> = sets[0]
            .permitted
            .iter()
            .chain(&sets[0].withheld)
            .map(|features| confidence(&calibrated.model, features))
            .collect();
        let mean = sure.iter().sum::<f32>() / sure.len() as f32;
        assert!((mean - 0.5).abs() < 0.1, "{mean}");
        let kept = sets[0].permitted.iter();
        let kept = kept.filter(|f| calibrated.threshold < confidence(&calibrated.model, f));
        assert!(35 < kept.count());
    }
}
