//! The shipped constants, and where each was found.

use super::config::{
    Avoid, ConfidenceModel, Config, Hearing, NamespaceShares, PartShares, Weights, WordWeights,
};
use crate::index::lexical::Bm25f;

impl Config {
    /// The default for every catalogue.
    ///
    /// Found by coordinate search on seven public tool-retrieval sets, each judged while it was
    /// left out; most optima are flat. `b` and `k1` are BM25's usual ones.
    pub fn shipped() -> Self {
        Self {
            weights: Weights {
                semantic: 5.0,
                keyword: 6.0,
                namespace: 0.3,
                rule: 0.5,
            },
            bm25f: Bm25f {
                k1: 1.2,
                b: [0.75; 9],
                // Name, namespace, description, parameters, parameter text, values, tags, usage,
                // joined words.
                weight: [1.8, 1.8, 1.0, 0.8, 0.3, 0.5, 0.3, 1.0, 1.0],
            },
            words: WordWeights {
                han_character: 0.3,
                bigram: 0.5,
                joined: 0.5,
                joined_word: 1.0,
                quoted: 0.5,
                boilerplate: 0.3,
                repeat_power: 0.25,
            },
            keyword_scale: 45.0,
            hearing: Hearing {
                floor: 0.4,
                full: 0.8,
            },
            parts: PartShares {
                clean: 0.4,
                semantic: 0.5,
                keyword: 0.3,
                cover: 0.3 / 9.3,
                cover_from: 1.0 / 9.3,
                cover_full: 2.0 / 9.3,
            },
            namespace: NamespaceShares {
                members: 0.5,
                mention: 0.5,
                meaning: 0.0,
                mention_scale: 6.0,
            },
            avoid: Avoid {
                margin: 0.05,
                slope: 0.5,
                limit: 0.1,
            },
            candidates: 120,
            part_candidates: 40,
            // Fitted on nine sets by `toolscout eval tune`, each judged while it was left out.
            confidence: ConfidenceModel {
                bias: -4.481,
                weights: [6.736, 1.882, 2.354, -0.189],
                meaning_bias: -2.881,
                meaning_weight: 6.368,
            },
            // One answerable request in thirty-three lies below it.
            threshold: 0.2,
            variant_cosine: 0.95,
        }
    }

    /// The preset `card`: the weights of the project's first design, everything else as shipped.
    pub fn card() -> Self {
        Self {
            weights: Weights {
                semantic: 0.55,
                keyword: 0.25,
                namespace: 0.10,
                rule: 0.10,
            },
            ..Self::shipped()
        }
    }

    /// The preset of this name: `default` or `card`.
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::shipped()),
            "card" => Some(Self::card()),
            _ => None,
        }
    }
}
