//! Rows of unit vectors. Not a matrix library: rows go in, are brought to unit length, and are read.

use super::Error;

/// Vectors of equal dimension, row-major: `len() x dim`.
///
/// Every row is finite and of unit length to within `1e-4`; [`Vectors::new`] sees to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    dim: usize,
    data: Vec<f32>,
}

/// How far from 1 the squared length of a unit vector may be: `1e-4` of its length.
const UNIT_TOLERANCE: f32 = 2e-4;

impl Vectors {
    /// Rows of `dim` numbers, each brought to unit length.
    ///
    /// # Errors
    /// [`Error::Shape`] where `data` is not whole rows of `dim`, [`Error::NotFinite`] where a row
    /// holds NaN or infinity or has no length.
    pub fn new(dim: usize, mut data: Vec<f32>) -> Result<Self, Error> {
        if dim == 0 || !data.len().is_multiple_of(dim) {
            return Err(Error::Shape {
                dim,
                numbers: data.len(),
            });
        }
        for (row, vector) in data.chunks_exact_mut(dim).enumerate() {
            let length = vector
                .iter()
                .map(|x| f64::from(*x) * f64::from(*x))
                .sum::<f64>()
                .sqrt();
            if !length.is_finite() || length < 1e-12 {
                return Err(Error::NotFinite { row });
            }
            for x in vector {
                *x = (f64::from(*x) / length) as f32;
            }
        }
        Ok(Self { dim, data })
    }

    /// Rows that were unit vectors of this type before, kept bit for bit: what a snapshot loads.
    ///
    /// # Errors
    /// [`Error::Shape`] where `data` is not whole rows of `dim`, [`Error::NotFinite`] where a row is
    /// not finite and of unit length.
    pub fn from_unit(dim: usize, data: Vec<f32>) -> Result<Self, Error> {
        if dim == 0 || !data.len().is_multiple_of(dim) {
            return Err(Error::Shape {
                dim,
                numbers: data.len(),
            });
        }
        for (row, vector) in data.chunks_exact(dim).enumerate() {
            // Eight sums rather than one, so that the check runs at the speed of memory.
            let mut sums = [0.0f32; 8];
            for part in vector.chunks(8) {
                for (sum, x) in sums.iter_mut().zip(part) {
                    *sum += x * x;
                }
            }
            // NaN is near nothing.
            let near = (sums.iter().sum::<f32>() - 1.0).abs() <= UNIT_TOLERANCE;
            if !near {
                return Err(Error::NotFinite { row });
            }
        }
        Ok(Self { dim, data })
    }

    /// No rows.
    pub fn empty(dim: usize) -> Self {
        Self {
            dim,
            data: Vec::new(),
        }
    }

    /// Numbers in a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// There are no rows.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Row `at`.
    pub fn row(&self, at: usize) -> &[f32] {
        &self.data[at * self.dim..(at + 1) * self.dim]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.data.chunks_exact(self.dim)
    }

    /// All numbers, row-major.
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }
}
