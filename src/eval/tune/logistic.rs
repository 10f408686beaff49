//! Logistic regression: weighted, lightly ridged, by Newton's method. A handful of features and some
//! ten thousand samples take milliseconds, so no library is needed.

/// Keeps weights finite where a feature separates the classes outright.
const RIDGE: f64 = 1e-3;
/// Newton's method has converged long before.
const STEPS: usize = 50;
/// A step this small changes nothing that is printed.
const SETTLED: f64 = 1e-8;

/// One sample: features, whether it is of the positive class, and what it weighs.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The features.
    pub features: Vec<f64>,
    /// The class.
    pub fits: bool,
    /// Its weight in the sum, `0.0` or more.
    pub weight: f64,
}

/// The bias, then a weight for each feature, that make the classes likeliest.
///
/// ```
/// use toolscout::eval::tune::logistic::{Sample, fit};
/// let sample = |x, fits| Sample { features: vec![x], fits, weight: 1.0 };
/// // At 0 one of four fits, at 1 three of four: odds 1/3 and 3, so bias ln(1/3) and weight ln(9).
/// let samples: Vec<Sample> = [(0.0, 1), (1.0, 3)]
///     .iter()
///     .flat_map(|(x, fitting)| (0..4).map(|at| sample(*x, at < *fitting)))
///     .collect();
/// let model = fit(&samples);
/// assert!((model[0] + 3.0f64.ln()).abs() < 0.01);
/// assert!((model[1] - 9.0f64.ln()).abs() < 0.01);
/// ```
pub fn fit(samples: &[Sample]) -> Vec<f64> {
    let size = 1 + samples.first().map_or(0, |sample| sample.features.len());
    let mut model = vec![0.0; size];
    for _ in 0..STEPS {
        let (gradient, curvature) = slopes(samples, &model);
        let step = solve(curvature, gradient);
        for (weight, change) in model.iter_mut().zip(&step) {
            *weight += change.clamp(-5.0, 5.0);
        }
        if step.iter().all(|change| change.abs() < SETTLED) {
            break;
        }
    }
    model
}

/// The chance that a sample fits, `0.0..=1.0`, under a model of [`fit`].
pub fn chance(model: &[f64], features: &[f64]) -> f64 {
    let sum: f64 = model
        .iter()
        .zip(std::iter::once(&1.0).chain(features))
        .map(|(weight, feature)| weight * feature)
        .sum();
    1.0 / (1.0 + (-sum).exp())
}

/// Gradient and negative curvature of the log likelihood.
fn slopes(samples: &[Sample], model: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = model.len();
    let mut gradient: Vec<f64> = model.iter().map(|weight| -RIDGE * weight).collect();
    let mut curvature = vec![vec![0.0; size]; size];
    for (at, row) in curvature.iter_mut().enumerate() {
        row[at] = RIDGE;
    }
    for sample in samples {
        let chance = chance(model, &sample.features);
        let off = f64::from(u8::from(sample.fits)) - chance;
        let bend = sample.weight * chance * (1.0 - chance);
        let features: Vec<f64> = std::iter::once(1.0)
            .chain(sample.features.iter().copied())
            .collect();
        for (a, row) in features.iter().zip(curvature.iter_mut()) {
            for (b, cell) in features.iter().zip(row) {
                *cell += bend * a * b;
            }
        }
        for (slope, feature) in gradient.iter_mut().zip(&features) {
            *slope += sample.weight * off * feature;
        }
    }
    (gradient, curvature)
}

/// The solution of `matrix x = right` by elimination; the ridge keeps the pivots above 0.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for at in 0..size {
        let pivot = (at..size)
            .max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs()))
            .unwrap_or(at);
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        for below in at + 1..size {
            let factor = matrix[below][at] / matrix[at][at];
            let (above, rest) = matrix.split_at_mut(below);
            for (cell, from) in rest[0][at..].iter_mut().zip(&above[at][at..]) {
                *cell -= factor * from;
            }
            right[below] -= factor * right[at];
        }
    }
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size)
            .map(|later| matrix[at][later] * right[later])
            .sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_separate_outright_give_finite_weights() {
        let samples: Vec<Sample> = (0..10)
            .map(|at| Sample {
                features: vec![f64::from(at), 1.0],
                fits: 4 < at,
                weight: 1.0,
            })
            .collect();
        let model = fit(&samples);
        assert!(model.iter().all(|weight| weight.is_finite()), "{model:?}");
        assert!(chance(&model, &[9.0, 1.0]) > 0.95);
        assert!(chance(&model, &[0.0, 1.0]) < 0.05);
    }

    #[test]
    fn weight_zero_counts_for_nothing() {
        let sample = |x: f64, fits, weight| Sample {
            features: vec![x],
            fits,
            weight,
        };
        let few = [
            sample(0.0, false, 1.0),
            sample(1.0, true, 1.0),
            sample(0.5, true, 1.0),
        ];
        let mut more = few.to_vec();
        more.push(sample(9.0, false, 0.0));
        assert_eq!(fit(&few), fit(&more));
    }
}
