//! Coordinate search with random restarts: few constants, flat optima, a goal that jumps, so neither
//! a gradient nor a library of optimisers earns its place. The seed is fixed.

use super::parameter::Parameter;
use crate::eval::Error;
use crate::eval::random::Random;
use crate::search::Config;

/// Gains below this are noise: the constant stays where it was.
const WORTH: f64 = 1e-5;
const SEED: u64 = 42;

/// What is to be made great.
pub type Goal<'a> = dyn FnMut(&Config) -> Result<f64, Error> + 'a;

/// Moves one constant at a time, coarse moves first, as long as it helps.
///
/// # Errors
/// Those of the goal.
pub fn climb(
    start: &Config,
    parameters: &[Parameter],
    goal: &mut Goal<'_>,
) -> Result<(Config, f64), Error> {
    let (mut best, mut reached) = (start.clone(), goal(start)?);
    for size in 0..Parameter::sizes() {
        let mut improved = true;
        while improved {
            improved = false;
            for parameter in parameters {
                for moved in parameter.moves(&best, size) {
                    let value = goal(&moved)?;
                    if reached + WORTH < value {
                        (best, reached, improved) = (moved, value, true);
                    }
                }
            }
        }
    }
    Ok((best, reached))
}

/// [`climb`] from the start and from the best of `draws` random places around where that ended.
///
/// # Errors
/// Those of the goal.
pub fn search(
    start: &Config,
    parameters: &[Parameter],
    draws: usize,
    goal: &mut Goal<'_>,
) -> Result<(Config, f64), Error> {
    let (first, reached) = climb(start, parameters, goal)?;
    let mut random = Random::new(SEED);
    let mut best_draw: Option<(Config, f64)> = None;
    for _ in 0..draws {
        let mut drawn = first.clone();
        for parameter in parameters {
            drawn = parameter.drawn(&drawn, random.unit() as f32);
        }
        let value = goal(&drawn)?;
        if best_draw.as_ref().is_none_or(|(_, best)| *best < value) {
            best_draw = Some((drawn, value));
        }
    }
    let Some((drawn, _)) = best_draw else {
        return Ok((first, reached));
    };
    let (second, value) = climb(&drawn, parameters, goal)?;
    // The place near what was shipped is kept unless the other one is clearly better.
    if reached + WORTH < value {
        Ok((second, value))
    } else {
        Ok((first, reached))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameter::FUSION;
    use super::*;

    #[test]
    fn it_climbs_to_the_top_of_a_hill() {
        let start = Config::shipped();
        let mut hill = |config: &Config| {
            let off = (config.weights.semantic.ln() - 4.0f32.ln()).powi(2)
                + (config.keyword_scale.ln() - 90.0f32.ln()).powi(2);
            Ok(-f64::from(off))
        };
        let (best, reached) = search(&start, &FUSION[..3], 20, &mut hill).unwrap();
        assert!(-0.02 < reached, "{reached}");
        assert!((best.weights.semantic - 4.0).abs() < 0.5);
        assert_eq!(best.parts.cover, start.parts.cover);
    }

    #[test]
    fn a_plain_stays_where_it_was() {
        let start = Config::shipped();
        let (best, _) = search(&start, FUSION, 5, &mut |_| Ok(0.5)).unwrap();
        assert_eq!(best, start);
    }
}
