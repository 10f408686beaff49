//! Made-up vectors, catalogues and permissions for tests of the index.

use crate::access::{Permitted, Policy, Principal};
use crate::catalog::fixture;
use crate::embed::Vectors;
use crate::tool::{Tool, ToolId};

/// Repeatable noise: splitmix64.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// `-1.0..1.0`, gathered around 0.
    pub(crate) fn wave(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            sum += (self.number() >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
        }
        sum / 2.0
    }

    pub(crate) fn vector(&mut self, dim: usize) -> Vec<f32> {
        (0..dim).map(|_| self.wave()).collect()
    }

    /// A vector at about `distance` (as a share of its length) from `centre`.
    pub(crate) fn near(&mut self, centre: &[f32], distance: f32) -> Vec<f32> {
        let noise = self.vector(centre.len());
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        let scale = distance * length(centre) / length(&noise).max(1e-9);
        centre
            .iter()
            .zip(&noise)
            .map(|(c, n)| c + scale * n)
            .collect()
    }
}

/// Vectors as real tools have them: servers, within them topics, within them variants of one tool,
/// some equal and some nearly so; in the order of arrival.
pub(crate) fn clustered(rows: usize, dim: usize, noise: &mut Noise) -> Vectors {
    let mut data = Vec::with_capacity(rows * dim);
    let mut count = 0;
    while count < rows {
        let server = noise.vector(dim);
        for _ in 0..12 {
            let topic = noise.near(&server, 0.8);
            let variants = 1 + noise.below(12);
            for _ in 0..variants {
                let distance = [0.5, 0.3, 0.01, 0.0][noise.below(4)];
                data.extend(noise.near(&topic, distance));
                count += 1;
            }
        }
    }
    data.truncate(rows * dim);
    Vectors::new(dim, data).unwrap()
}

/// A bare tool for each position.
pub(crate) fn tools(count: usize) -> Vec<Tool> {
    (0..count)
        .map(|at| fixture::tool("n", &format!("t{at:06}")))
        .collect()
}

/// The tools of a catalogue of `count` tools for which `keep` holds.
pub(crate) fn permitted(count: usize, keep: impl FnMut(ToolId) -> bool) -> Permitted {
    Policy::open("a test")
        .permit(&Principal::of_tenant("t"), &tools(count))
        .narrow(keep)
}
