//! The inner product, in an order of additions that does not depend on the machine.

/// Independent sums: enough for the widest vector registers to be kept busy, and the order of
/// additions is the same whatever registers there are, so a score is the same everywhere.
const LANES: usize = 32;

/// The inner product of two vectors of equal length; the cosine, where both are of unit length.
///
/// ```
/// use toolscout::index::dense::dot;
/// assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, 0.5, -1.0]), 2.0);
/// ```
#[inline]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len(), "vectors of one space");
    let mut sums = [0.0f32; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    for (lane, (x, y)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[lane] += x * y;
    }
    let mut width = LANES / 2;
    while 0 < width {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}
