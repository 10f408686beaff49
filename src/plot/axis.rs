//! From numbers to places along an axis, and the round numbers that label it.

use super::text::number;
use super::{Axis, Scale, Unit};

/// Labels that an axis has room for, about.
const LABELS: f64 = 6.0;

/// An axis whose ends are known.
pub(super) struct Ruler {
    scale: Scale,
    unit: Unit,
    least: f64,
    most: f64,
    /// The numbers that are labelled, ascending.
    pub(super) ticks: Vec<f64>,
}

impl Ruler {
    /// Ends and ticks of `axis` for `values`.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.filter(|value| holds(axis.scale, *value)) {
            let (low, high) = ends.unwrap_or((value, value));
            ends = Some((low.min(value), high.max(value)));
        }
        let fixed = |end: Option<f64>| end.filter(|end| holds(axis.scale, *end));
        let (low, high) = ends.unwrap_or(match axis.scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Logarithmic => (1.0, 10.0),
        });
        let (least, most, ticks) = match axis.scale {
            Scale::Linear => linear(
                fixed(axis.least).unwrap_or(low.min(0.0)),
                fixed(axis.most).unwrap_or(high),
                (fixed(axis.least).is_none(), fixed(axis.most).is_none()),
            ),
            Scale::Logarithmic => logarithmic(
                fixed(axis.least).unwrap_or(low),
                fixed(axis.most).unwrap_or(high),
            ),
        };
        Self {
            scale: axis.scale,
            unit: axis.unit,
            least,
            most,
            ticks,
        }
    }

    /// Where `value` is: 0 at the beginning, 1 at the end. None where it cannot be shown.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !holds(self.scale, value) {
            return None;
        }
        let (value, least, most) = match self.scale {
            Scale::Linear => (value, self.least, self.most),
            Scale::Logarithmic => (value.ln(), self.least.ln(), self.most.ln()),
        };
        Some(((value - least) / (most - least)).clamp(-0.02, 1.02))
    }

    /// The number as it is written beside the axis.
    pub(super) fn label(&self, value: f64) -> String {
        match self.unit {
            Unit::Count => number(value, self.most),
            Unit::Share => format!("{}%", number((value * 1000.0).round() / 10.0, 100.0)),
        }
    }
}

fn holds(scale: Scale, value: f64) -> bool {
    // Beyond this, differences and ratios of two ends overflow.
    const GREATEST: f64 = 1e100;
    match scale {
        Scale::Linear => value.abs() <= GREATEST,
        Scale::Logarithmic => (1.0 / GREATEST..=GREATEST).contains(&value),
    }
}

/// Ends moved out to round numbers where they are `free`, and the round numbers between them.
fn linear(mut least: f64, mut most: f64, free: (bool, bool)) -> (f64, f64, Vec<f64>) {
    if most <= least {
        most = least + least.abs().max(1.0);
    }
    let step = round_step((most - least) / (LABELS - 1.0));
    // A value on a round number needs no further step, whatever its last bit says.
    if free.0 {
        least = (least / step + 1e-9).floor() * step;
    }
    if free.1 {
        most = (most / step - 1e-9).ceil() * step;
    }
    let first = (least / step - 1e-9).ceil();
    let count = ((most / step + 1e-9).floor() - first).max(0.0) as usize;
    let ticks = (0..=count).map(|at| (first + at as f64) * step).collect();
    (least, most, ticks)
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is no less than `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let enough = steps.into_iter().find(|step| rough <= *step * (1.0 + 1e-9));
    enough.unwrap_or(10.0 * power)
}

/// Ends with a little air, and the numbers between them that start with 1, 2 or 5, or every power of
/// ten, or every other.
fn logarithmic(mut least: f64, mut most: f64) -> (f64, f64, Vec<f64>) {
    if most <= least {
        (least, most) = (least / 2.0, least * 2.0);
    }
    let decades = (most / least).log10();
    let air = 10f64.powf(decades * 0.04);
    (least, most) = (least / air, most * air);
    let (leads, every): (&[f64], usize) = if decades <= 2.2 {
        (&[1.0, 2.0, 5.0], 1)
    } else {
        (&[1.0], (decades / LABELS).ceil() as usize)
    };
    let first = least.log10().floor() as i32;
    let last = most.log10().ceil() as i32;
    let ticks = (first..=last)
        .step_by(every.max(1))
        .flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power)))
        .filter(|tick| (least..=most).contains(tick))
        .collect();
    (least, most, ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(axis: &Axis, values: &[f64]) -> (Vec<String>, f64, f64) {
        let ruler = Ruler::new(axis, values.iter().copied());
        let labels = ruler.ticks.iter().map(|tick| ruler.label(*tick));
        (labels.collect(), ruler.least, ruler.most)
    }

    #[test]
    fn quantities_begin_at_zero_and_end_on_a_round_number() {
        let (labels, least, most) = ruler(&Axis::count(""), &[7_000.0, 481_000.0]);
        assert_eq!(labels, ["0", "100k", "200k", "300k", "400k", "500k"]);
        assert_eq!((least, most), (0.0, 500_000.0));
        let (labels, ..) = ruler(&Axis::count(""), &[-3.0, 10.0]);
        assert_eq!(labels, ["-5", "0", "5", "10"]);
        let (labels, ..) = ruler(&Axis::count(""), &[0.3]);
        assert_eq!(labels.last().unwrap(), "0.3");
    }

    #[test]
    fn shares_are_written_in_per_cent() {
        let (labels, ..) = ruler(&Axis::share(""), &[0.5]);
        assert_eq!(labels, ["0%", "20%", "40%", "60%", "80%", "100%"]);
        let near = Axis {
            least: Some(0.7),
            ..Axis::share("")
        };
        let (labels, least, most) = ruler(&near, &[0.8]);
        assert!(labels.contains(&"75%".to_owned()) || labels.contains(&"80%".to_owned()));
        assert_eq!((least, most), (0.7, 1.0));
    }

    #[test]
    fn ratios_are_labelled_by_leading_digits() {
        let sizes = [35.0, 100.0, 2_375.0];
        let (labels, ..) = ruler(&Axis::logarithmic(""), &sizes);
        assert_eq!(labels, ["50", "100", "200", "500", "1000", "2000"]);
        let (labels, ..) = ruler(&Axis::logarithmic(""), &[1.0, 1e6]);
        assert!(
            labels.contains(&"100k".to_owned()) && labels.len() <= 8,
            "{labels:?}"
        );
        let ruler = Ruler::new(&Axis::logarithmic(""), sizes.into_iter());
        let middle = ruler.place((35f64 * 2_375.0).sqrt()).unwrap();
        assert!((middle - 0.5).abs() < 1e-9);
        assert_eq!(ruler.place(0.0), None);
        assert_eq!(ruler.place(f64::NAN), None);
    }

    #[test]
    fn any_ends_have_labels_in_reason() {
        let values = [
            0.0,
            1.0,
            -1.0,
            1e-9,
            1e99,
            -1e99,
            f64::NAN,
            f64::INFINITY,
            3e300,
        ];
        for axis in [Axis::count(""), Axis::logarithmic(""), Axis::share("")] {
            for a in values {
                for b in values {
                    let ruler = Ruler::new(&axis, [a, b].into_iter());
                    assert!(ruler.least < ruler.most, "{a} {b}");
                    assert!(ruler.ticks.len() <= 12, "{a} {b} {:?}", ruler.ticks);
                    for value in [a, b] {
                        assert!(ruler.place(value).is_none_or(f64::is_finite));
                    }
                }
            }
        }
    }
}
