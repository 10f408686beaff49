//! Vectors at a byte a number, with a bound on the error: a scan reads a quarter of the memory and
//! still proves which rows it may pass over.
//!
//! A row `v` is held as `scale · codes + rest`, a query `q` likewise but at 14 bits. What the rests
//! could add to the inner product is at most their lengths, so `q · v` lies within a known distance
//! of the product of the codes, and a row whose upper bound is below the `k`-th best lower bound is
//! none of the `k` nearest. No rounding is left in the answer: what may be among them is scored
//! from the full vectors.

use rayon::prelude::*;

use crate::embed::Vectors;

/// Largest code of a row.
const ROW_LEVELS: f32 = 127.0;
/// Largest code of a query, where sums of products cannot overflow; see [`Query::new`].
const QUERY_LEVELS: i32 = 8191;
/// More than what rounding adds up to in the inner product of two unit vectors of single precision.
const ROUNDING: f32 = 1e-5;

/// All rows, coarsely.
#[derive(Debug)]
pub(super) struct Coarse {
    dim: usize,
    codes: Vec<i8>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    scale: f32,
    /// Length of what the codes leave out, rounded up.
    rest: f32,
}

impl Coarse {
    pub(super) fn new(vectors: &Vectors) -> Self {
        let dim = vectors.dim();
        let mut codes = vec![0i8; vectors.as_slice().len()];
        let mut rows = Vec::with_capacity(vectors.len());
        codes
            .par_chunks_mut(dim)
            .zip(vectors.as_slice().par_chunks(dim))
            .map(|(codes, vector)| {
                let (scale, rest) = encode(vector, ROW_LEVELS, |at, code| codes[at] = code as i8);
                Row { scale, rest }
            })
            .collect_into_vec(&mut rows);
        Self { dim, codes, rows }
    }

    /// Bounds of the inner product of a query and a row: `(low, high)`.
    #[inline]
    pub(super) fn bounds(&self, query: &Query, row: usize) -> (f32, f32) {
        let codes = &self.codes[row * self.dim..(row + 1) * self.dim];
        let Row { scale, rest } = self.rows[row];
        let near = scale * query.scale * product(codes, &query.codes) as f32;
        let far = query.length * rest + query.rest + ROUNDING;
        (near - far, near + far)
    }
}

/// A query, coarsely.
pub(super) struct Query {
    codes: Vec<i16>,
    scale: f32,
    /// Length of the codes times the scale, rounded up.
    length: f32,
    rest: f32,
}

impl Query {
    pub(super) fn new(vector: &[f32]) -> Self {
        // Every sum of products stays within 32 bits.
        let levels =
            (i32::MAX / (ROW_LEVELS as i32 * vector.len().max(1) as i32)).min(QUERY_LEVELS);
        let mut codes = vec![0i16; vector.len()];
        let (scale, rest) = encode(vector, levels as f32, |at, code| codes[at] = code as i16);
        let squares: f64 = codes.iter().map(|&code| f64::from(code).powi(2)).sum();
        Self {
            codes,
            scale,
            length: (squares.sqrt() * f64::from(scale) * 1.0001) as f32,
            rest,
        }
    }
}

/// Gives each number's code (the nearest multiple of the scale), and the scale and the length of
/// what is left.
fn encode(vector: &[f32], levels: f32, mut give: impl FnMut(usize, i32)) -> (f32, f32) {
    let largest = vector
        .iter()
        .fold(0.0f32, |largest, x| largest.max(x.abs()));
    let scale = (largest / levels).max(f32::MIN_POSITIVE);
    let mut rest = 0.0f64;
    for (at, &x) in vector.iter().enumerate() {
        let code = (x / scale).round().clamp(-levels, levels);
        rest += f64::from(x - scale * code).powi(2);
        give(at, code as i32);
    }
    (scale, (rest.sqrt() * 1.0001) as f32)
}

/// Sums over lanes that the compiler turns into multiply-and-add of 16-bit pairs.
#[inline]
fn product(row: &[i8], query: &[i16]) -> i32 {
    const LANES: usize = 32;
    let mut sums = [0i32; LANES];
    let (row_blocks, row_rest) = row.as_chunks::<LANES>();
    let (query_blocks, query_rest) = query.as_chunks::<LANES>();
    for (x, y) in row_blocks.iter().zip(query_blocks) {
        for lane in 0..LANES {
            sums[lane] += i32::from(x[lane]) * i32::from(y[lane]);
        }
    }
    let rest = row_rest.iter().zip(query_rest);
    let rest: i32 = rest.map(|(&x, &y)| i32::from(x) * i32::from(y)).sum();
    sums.iter().sum::<i32>() + rest
}
