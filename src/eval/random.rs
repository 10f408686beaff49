//! Random numbers that are the same on every machine and in every version: SplitMix64 (Steele, Lea
//! and Flood, 2014). For resampling and search, not for secrets.

/// A stream of numbers fixed by its seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..end`; 0 where `end` is 0.
    ///
    /// ```
    /// use toolscout::eval::random::Random;
    /// let mut random = Random::new(7);
    /// assert!((0..1000).all(|_| random.below(10) < 10));
    /// ```
    pub fn below(&mut self, end: usize) -> usize {
        // The high half of a 128-bit product: without the bias of a remainder at such sizes.
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
