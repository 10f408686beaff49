//! A deterministic embedder for unit tests: character n-grams hashed into a vector.
//!
//! It knows spelling, not meaning, and needs no model, no library and no network. Never for real
//! use: it is not in the list of models.

use super::{Calibration, Embedder, Error, Side, Vectors};

/// Shortest and longest run of characters that is a feature.
const GRAMS: std::ops::RangeInclusive<usize> = 1..=3;

/// Hashes character n-grams of the lower-cased text into `dim` signed buckets.
#[derive(Debug, Clone)]
pub struct Hashed {
    dim: usize,
    model_id: String,
}

impl Hashed {
    /// An embedder of `dim` numbers (at least 1).
    pub fn new(dim: usize) -> Self {
        let dim = dim.max(1);
        Self {
            dim,
            model_id: format!("hashed@1/{dim}"),
        }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dim];
        // A constant first feature, so that the empty text has a direction too.
        self.add(&mut vector, "", 0.1);
        for word in text.to_lowercase().split_whitespace() {
            let bounds: Vec<usize> = word
                .char_indices()
                .map(|(at, _)| at)
                .chain([word.len()])
                .collect();
            for size in GRAMS {
                for ends in bounds.windows(size + 1) {
                    self.add(&mut vector, &word[ends[0]..ends[size]], size as f32);
                }
            }
        }
        vector
    }

    fn add(&self, vector: &mut [f32], gram: &str, weight: f32) {
        let hash = blake3::hash(gram.as_bytes());
        let bytes = hash.as_bytes();
        let bucket = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        let sign = if bytes[4] & 1 == 0 { 1.0 } else { -1.0 };
        vector[bucket % self.dim] += sign * weight;
    }
}

impl Embedder for Hashed {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn calibration(&self) -> Calibration {
        Calibration {
            low: 0.0,
            high: 1.0,
        }
    }

    fn embed(&self, _side: Side, texts: &[String]) -> Result<Vectors, Error> {
        let data = texts.iter().flat_map(|text| self.vector(text)).collect();
        Vectors::new(self.dim, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let texts = [a.to_owned(), b.to_owned()];
        let vectors = Hashed::new(256).embed(Side::Query, &texts).unwrap();
        vectors
            .row(0)
            .iter()
            .zip(vectors.row(1))
            .map(|(x, y)| x * y)
            .sum()
    }

    #[test]
    fn like_spelling_is_near() {
        assert!(cosine("send an email", "send emails") > 0.7);
        assert!(cosine("send an email", "weather report") < 0.4);
        assert!((cosine("寄送邮件", "寄送邮件") - 1.0).abs() < 1e-5);
    }

    #[test]
    fn any_text_has_a_direction_even_in_one_dimension() {
        let texts = ["".to_owned(), " ".to_owned(), "é".to_owned()];
        for dim in [1, 2, 256] {
            assert_eq!(
                Hashed::new(dim)
                    .embed(Side::Document, &texts)
                    .unwrap()
                    .len(),
                3
            );
        }
    }
}
