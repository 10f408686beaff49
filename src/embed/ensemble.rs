//! Several embedders as one: their vectors side by side.
//!
//! Each part is scaled by the square root of its share, so that the dot product of two joined
//! vectors is the weighted mean of the parts' cosines, and nobody else need know.

use super::manifest::digest;
use super::{Calibration, Embedder, Error, Side, Vectors};

/// From this many texts on, members take turns: each has threads for all cores by itself. Fewer
/// texts take one core a member, so members run beside each other.
const TURNS: usize = 32;

/// Embedders whose vectors are joined.
pub struct Ensemble {
    members: Vec<(Box<dyn Embedder>, f32)>,
    model_id: String,
    dim: usize,
    calibration: Calibration,
}

impl Ensemble {
    /// `members` with their weights, which must be above 0 and need not add up to one; `name` goes
    /// before the hash in the model id.
    pub fn new(
        name: &str,
        members: Vec<(Box<dyn Embedder>, f32)>,
        calibration: Calibration,
    ) -> Self {
        let total: f32 = members.iter().map(|(_, weight)| weight).sum();
        let members: Vec<(Box<dyn Embedder>, f32)> = members
            .into_iter()
            .map(|(member, weight)| (member, weight / total))
            .collect();
        let parts: Vec<String> = members
            .iter()
            .map(|(member, share)| format!("{} {:08x}", member.model_id(), share.to_bits()))
            .collect();
        let hash = digest(parts.join("\n").as_bytes());
        Self {
            model_id: format!("{name}-{hash}"),
            dim: members.iter().map(|(member, _)| member.dim()).sum(),
            members,
            calibration,
        }
    }

    /// Each member's vectors, in the order of members.
    fn parts(&self, side: Side, texts: &[String]) -> Result<Vec<Vectors>, Error> {
        if texts.len() >= TURNS {
            return self
                .members
                .iter()
                .map(|(member, _)| member.embed(side, texts))
                .collect();
        }
        std::thread::scope(|scope| {
            let running: Vec<_> = self
                .members
                .iter()
                .skip(1)
                .map(|(member, _)| scope.spawn(move || member.embed(side, texts)))
                .collect();
            let first = self
                .members
                .first()
                .map(|(member, _)| member.embed(side, texts));
            let others = running.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    Err(Error::Model {
                        model: self.model_id.clone(),
                        reason: "a member panicked".to_owned(),
                    })
                })
            });
            first.into_iter().chain(others).collect()
        })
    }
}

impl Embedder for Ensemble {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn calibration(&self) -> Calibration {
        self.calibration
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, Error> {
        let parts = self.parts(side, texts)?;
        let mut data = Vec::with_capacity(texts.len() * self.dim);
        for at in 0..texts.len() {
            for (part, (_, share)) in parts.iter().zip(&self.members) {
                let scale = share.sqrt();
                data.extend(part.row(at).iter().map(|x| x * scale));
            }
        }
        Vectors::new(self.dim, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::hashed::Hashed;

    const RANGE: Calibration = Calibration {
        low: 0.0,
        high: 1.0,
    };

    fn pair(one: f32, two: f32) -> Ensemble {
        let members: Vec<(Box<dyn Embedder>, f32)> = vec![
            (Box::new(Hashed::new(32)), one),
            (Box::new(Hashed::new(64)), two),
        ];
        Ensemble::new("pair@1", members, RANGE)
    }

    fn cosine(embedder: &dyn Embedder, texts: &[String]) -> f32 {
        let vectors = embedder.embed(Side::Query, texts).unwrap();
        vectors
            .row(0)
            .iter()
            .zip(vectors.row(1))
            .map(|(x, y)| x * y)
            .sum()
    }

    #[test]
    fn the_cosine_is_the_weighted_mean_of_the_members() {
        let texts = ["send an email".to_owned(), "email somebody".to_owned()];
        let both = cosine(&pair(1.0, 3.0), &texts);
        let one = cosine(&Hashed::new(32), &texts);
        let two = cosine(&Hashed::new(64), &texts);
        assert!((both - (one + 3.0 * two) / 4.0).abs() < 1e-5);
    }

    #[test]
    fn many_texts_and_few_give_the_same_rows() {
        let texts: Vec<String> = (0..100).map(|number| format!("text {number}")).collect();
        let ensemble = pair(1.0, 1.0);
        let many = ensemble.embed(Side::Document, &texts).unwrap();
        let one = ensemble.embed(Side::Document, &texts[70..71]).unwrap();
        assert_eq!((many.dim(), many.row(70)), (96, one.row(0)));
    }

    #[test]
    fn the_identity_follows_members_and_shares() {
        assert_eq!(pair(1.0, 3.0).model_id(), pair(2.0, 6.0).model_id());
        assert_ne!(pair(1.0, 3.0).model_id(), pair(3.0, 1.0).model_id());
        assert!(pair(1.0, 3.0).model_id().starts_with("pair@1-"));
    }
}
