//! The constants that tuning may move, and how.

use crate::search::Config;

/// A constant of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name, as in a configuration file.
    pub name: &'static str,
    place: fn(&mut Config) -> &mut f32,
    range: (f32, f32),
    step: Step,
}

/// How a constant is moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// By a factor: sizes without a natural end. From 0 it goes to the least of the range that is
    /// more.
    Factor,
    /// By an amount: shares.
    Amount,
}

/// Moves of a coordinate search, coarse to fine: of a factor, and of an amount.
const MOVES: [(f32, f32); 3] = [(2.0, 0.2), (1.4, 0.1), (1.15, 0.05)];

const fn by_factor(
    name: &'static str,
    place: fn(&mut Config) -> &mut f32,
    range: (f32, f32),
) -> Parameter {
    Parameter {
        name,
        place,
        range,
        step: Step::Factor,
    }
}

const fn share(name: &'static str, place: fn(&mut Config) -> &mut f32) -> Parameter {
    Parameter {
        name,
        place,
        range: (0.0, 1.0),
        step: Step::Amount,
    }
}

/// What the sum of the arms depends on. The keyword arm's weight stays: only ratios count.
pub const FUSION: &[Parameter] = &[
    by_factor(
        "weights.semantic",
        |c| &mut c.weights.semantic,
        (0.25, 50.0),
    ),
    by_factor(
        "weights.namespace",
        |c| &mut c.weights.namespace,
        (0.05, 10.0),
    ),
    by_factor("keyword.scale", |c| &mut c.keyword_scale, (5.0, 200.0)),
    by_factor("parts.cover", |c| &mut c.parts.cover, (0.005, 0.2)),
];

/// What the arms themselves are made of: each change means searching again.
pub const ARMS: &[Parameter] = &[
    share("parts.clean", |c| &mut c.parts.clean),
    share("parts.semantic", |c| &mut c.parts.semantic),
    share("parts.keyword", |c| &mut c.parts.keyword),
    share("words.bigram", |c| &mut c.words.bigram),
    share("words.han_character", |c| &mut c.words.han_character),
    share("words.joined", |c| &mut c.words.joined),
    share("words.quoted", |c| &mut c.words.quoted),
    share("words.boilerplate", |c| &mut c.words.boilerplate),
    share("words.repeat_power", |c| &mut c.words.repeat_power),
    by_factor("keyword.k1", |c| &mut c.bm25f.k1, (0.3, 4.0)),
    by_factor(
        "keyword.weight_name",
        |c| &mut c.bm25f.weight[0],
        (0.2, 6.0),
    ),
    by_factor(
        "keyword.weight_namespace",
        |c| &mut c.bm25f.weight[1],
        (0.2, 6.0),
    ),
    by_factor(
        "keyword.weight_parameters",
        |c| &mut c.bm25f.weight[3],
        (0.1, 6.0),
    ),
    by_factor(
        "keyword.weight_parameter_text",
        |c| &mut c.bm25f.weight[4],
        (0.05, 6.0),
    ),
    by_factor(
        "keyword.weight_values",
        |c| &mut c.bm25f.weight[5],
        (0.05, 6.0),
    ),
    by_factor(
        "keyword.weight_tags",
        |c| &mut c.bm25f.weight[6],
        (0.05, 6.0),
    ),
    by_factor(
        "keyword.weight_usage",
        |c| &mut c.bm25f.weight[7],
        (0.1, 6.0),
    ),
    by_factor(
        "keyword.weight_joined",
        |c| &mut c.bm25f.weight[8],
        (0.1, 6.0),
    ),
];

impl Parameter {
    /// Its value.
    pub fn get(&self, config: &Config) -> f32 {
        *(self.place)(&mut config.clone())
    }

    /// `config` with another value, held to the range.
    pub fn with(&self, config: &Config, value: f32) -> Config {
        let mut config = config.clone();
        *(self.place)(&mut config) = value.clamp(self.range.0, self.range.1);
        config
    }

    /// How many sizes of move there are, coarse to fine.
    pub fn sizes() -> usize {
        MOVES.len()
    }

    /// `config` moved down and up by a move of the given size; fewer where the range ends.
    pub fn moves(&self, config: &Config, size: usize) -> Vec<Config> {
        let (factor, amount) = MOVES[size.min(MOVES.len() - 1)];
        let now = self.get(config);
        let targets = match self.step {
            Step::Amount => [now - amount, now + amount],
            Step::Factor if now <= 0.0 => [now, self.range.0 * factor],
            Step::Factor => [now / factor, now * factor],
        };
        let moved = targets.map(|target| self.with(config, target));
        moved.into_iter().filter(|to| self.get(to) != now).collect()
    }

    /// `config` with a value drawn near its own: `unit` in `0.0..1.0`.
    pub fn drawn(&self, config: &Config, unit: f32) -> Config {
        let (factor, amount) = MOVES[0];
        let now = self.get(config);
        let value = match self.step {
            Step::Amount => now + amount * (2.0 * unit - 1.0),
            Step::Factor => now.max(self.range.0) * factor.powf(2.0 * unit - 1.0),
        };
        self.with(config, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_stay_in_range_and_change_one_constant() {
        let config = Config::shipped();
        for parameter in FUSION.iter().chain(ARMS) {
            for size in 0..Parameter::sizes() {
                let moves = parameter.moves(&config, size);
                assert!(!moves.is_empty(), "{}", parameter.name);
                for moved in moves {
                    let value = parameter.get(&moved);
                    assert!(parameter.range.0 <= value && value <= parameter.range.1);
                    assert_eq!(parameter.with(&moved, parameter.get(&config)), config);
                }
            }
        }
    }
}
