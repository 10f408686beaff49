//! How well a confidence tells what fits from what does not.

/// Area under the ROC curve: the chance that a random one of `fitting` has more confidence than a
/// random one of `unfitting`, ties counting half. 0.5 is a coin; also where either side is empty.
///
/// ```
/// use toolscout::eval::metric::auc;
/// // Of the six pairs, .9 beats both (2), .5 beats .2 and ties with .5 (1.5), .1 beats none.
/// assert_eq!(auc(&[0.9, 0.5, 0.1], &[0.5, 0.2]), 3.5 / 6.0);
/// assert_eq!(auc(&[], &[0.5]), 0.5);
/// ```
pub fn auc(fitting: &[f32], unfitting: &[f32]) -> f64 {
    if fitting.is_empty() || unfitting.is_empty() {
        return 0.5;
    }
    let below = sorted(unfitting);
    let wins: f64 = fitting
        .iter()
        .map(|value| {
            let lower = below.partition_point(|other| other < value);
            let not_higher = below.partition_point(|other| other <= value);
            lower as f64 + (not_higher - lower) as f64 / 2.0
        })
        .sum();
    wins / (fitting.len() as f64 * unfitting.len() as f64)
}

/// The share of `fitting` that is accepted at the lowest threshold which accepts at most the share
/// `false_accepts` of `unfitting`. A confidence is accepted when it is at least the threshold.
///
/// ```
/// use toolscout::eval::metric::accepted;
/// let unfitting = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/// // One in ten may pass: .95 does, so the threshold lies just above .9.
/// assert_eq!(accepted(&[0.99, 0.92, 0.9, 0.3], &unfitting, 0.1), 0.5);
/// // None may pass: just above .95.
/// assert_eq!(accepted(&[0.99, 0.92, 0.9, 0.3], &unfitting, 0.0), 0.25);
/// ```
pub fn accepted(fitting: &[f32], unfitting: &[f32], false_accepts: f64) -> f64 {
    if fitting.is_empty() {
        return 0.0;
    }
    let above = threshold(unfitting, false_accepts);
    let accepted = fitting
        .iter()
        .filter(|value| above.is_none_or(|above| **value > above));
    accepted.count() as f64 / fitting.len() as f64
}

/// The confidence that must be exceeded so that at most the share `false_accepts` of `unfitting` is
/// accepted; none where everything may be.
///
/// ```
/// use toolscout::eval::metric::separation::threshold;
/// assert_eq!(threshold(&[0.3, 0.1, 0.2], 0.34), Some(0.2));
/// assert_eq!(threshold(&[0.3], 1.0), None);
/// ```
pub fn threshold(unfitting: &[f32], false_accepts: f64) -> Option<f32> {
    let ascending = sorted(unfitting);
    // A little more than the product, so that 0.1 x 10 lets one pass whatever the rounding.
    let may_pass = (false_accepts * ascending.len() as f64 + 1e-9).floor() as usize;
    let first_refused = ascending.len().checked_sub(may_pass + 1)?;
    Some(ascending[first_refused])
}

fn sorted(values: &[f32]) -> Vec<f32> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f32::total_cmp);
    values
}
