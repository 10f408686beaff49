//! Bootstrap intervals: how far a figure would move had other queries been drawn.

use super::{Figures, Metric, auc};
use crate::eval::random::Random;

/// Resamples drawn; the ends of a 95 % interval then rest on 25 of them each.
const RESAMPLES: usize = 1000;
/// The same draw every time, so that equal runs give equal reports.
const SEED: u64 = 0x746f_6f6c_7363_6f75;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Interval {
    /// 2.5th percentile.
    pub low: f64,
    /// 97.5th percentile.
    pub high: f64,
}

impl From<[f64; 2]> for Interval {
    fn from([low, high]: [f64; 2]) -> Self {
        Self { low, high }
    }
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high]
    }
}

/// The percentile bootstrap interval of the mean of `values`, resampled with a fixed seed.
///
/// ```
/// use toolscout::eval::metric::bootstrap;
/// let certain = bootstrap(&[1.0; 50]);
/// assert_eq!((certain.low, certain.high), (1.0, 1.0));
/// // A fair coin, 100 throws: half, give or take two standard errors of 0.05.
/// let coin: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
/// let interval = bootstrap(&coin);
/// assert!((interval.low - 0.4).abs() < 0.02 && (interval.high - 0.6).abs() < 0.02);
/// ```
pub fn bootstrap(values: &[f64]) -> Interval {
    let mut random = Random::new(SEED);
    percentiles(|| {
        let sum: f64 = (0..values.len())
            .map(|_| values[random.below(values.len())])
            .sum();
        sum / values.len().max(1) as f64
    })
}

/// The interval of each metric's mean, all over the same draws of queries.
///
/// ```
/// use toolscout::eval::metric::{Figures, Metric, bootstrap_figures};
/// let intervals = bootstrap_figures(&[Figures::ZERO; 3]);
/// assert_eq!(intervals[Metric::Mrr as usize].high, 0.0);
/// ```
pub fn bootstrap_figures(figures: &[Figures]) -> Vec<Interval> {
    let mut random = Random::new(SEED);
    let draws = || Figures::mean((0..figures.len()).map(|_| &figures[random.below(figures.len())]));
    let means: Vec<Figures> = std::iter::repeat_with(draws).take(RESAMPLES).collect();
    Metric::ALL
        .into_iter()
        .map(|metric| {
            let mut values = means.iter().map(|mean| mean.get(metric));
            percentiles(|| values.next().unwrap_or(0.0))
        })
        .collect()
}

/// The interval of the mean of `after - before`, query by query: much narrower than that of either,
/// since queries that are hard for one are hard for the other.
///
/// ```
/// use toolscout::eval::metric::bootstrap_difference;
/// let (before, after) = ([0.0, 1.0, 0.0, 1.0], [0.5, 1.5, 0.5, 1.5]);
/// let interval = bootstrap_difference(&before, &after);
/// assert_eq!((interval.low, interval.high), (0.5, 0.5));
/// ```
pub fn bootstrap_difference(before: &[f64], after: &[f64]) -> Interval {
    let differences: Vec<f64> = before.iter().zip(after).map(|(b, a)| a - b).collect();
    bootstrap(&differences)
}

/// The interval of [`auc`], each side resampled on its own.
///
/// ```
/// use toolscout::eval::metric::bootstrap_auc;
/// let interval = bootstrap_auc(&[0.9, 0.8], &[0.1, 0.2]);
/// assert_eq!((interval.low, interval.high), (1.0, 1.0));
/// ```
pub fn bootstrap_auc(fitting: &[f32], unfitting: &[f32]) -> Interval {
    let mut random = Random::new(SEED);
    let mut draw = |values: &[f32]| -> Vec<f32> {
        (0..values.len())
            .map(|_| values[random.below(values.len())])
            .collect()
    };
    percentiles(|| auc(&draw(fitting), &draw(unfitting)))
}

fn percentiles(resample: impl FnMut() -> f64) -> Interval {
    let mut means: Vec<f64> = std::iter::repeat_with(resample).take(RESAMPLES).collect();
    means.sort_unstable_by(f64::total_cmp);
    Interval {
        low: means[RESAMPLES / 40],
        high: means[RESAMPLES - 1 - RESAMPLES / 40],
    }
}
