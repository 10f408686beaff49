//! Texts to unit vectors. Knows models, not tools.
//!
//! [`Embedder`] is an open set: ONNX models on the CPU ([`onnx`]), an OpenAI-compatible endpoint
//! ([`http`]), and a deterministic hash for unit tests ([`hashed`]).

pub mod cache;
pub mod hashed;
pub mod http;
pub mod manifest;
pub mod onnx;
pub mod postprocess;
pub mod runtime;

use std::path::PathBuf;

/// Which side of a search a text is on: some models want a different prefix or head for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// What somebody asks.
    Query,
    /// What a tool says of itself.
    Document,
}

/// Vectors of equal dimension, row-major: `len() x dim`.
///
/// Every row is finite and of unit length to within `1e-4`; [`Vectors::new`] sees to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    dim: usize,
    data: Vec<f32>,
}

impl Vectors {
    /// Rows of `dim` numbers, each brought to unit length.
    ///
    /// # Errors
    /// [`Error::Shape`] where `data` is not whole rows of `dim`, [`Error::NotFinite`] where a row
    /// holds NaN or infinity or has no length.
    pub fn new(dim: usize, mut data: Vec<f32>) -> Result<Self, Error> {
        if dim == 0 || data.len() % dim != 0 {
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

/// Turns texts into unit vectors.
///
/// The same text on the same side gives the same vector, to within the last bits of a float where
/// a batch's make-up changes the order of sums.
pub trait Embedder: Send + Sync {
    /// Identity of the vector space: name and version of the model and a hash of all that shapes
    /// its vectors. Vectors of different identities must never meet.
    fn model_id(&self) -> &str;

    /// Numbers in a vector.
    fn dim(&self) -> usize;

    /// Range of cosines that means "unrelated" to "the same thing" in this space, by which the
    /// semantic arm is calibrated: `(low, high)`, `low < high`.
    fn calibration(&self) -> Calibration;

    /// A vector for each text, in order.
    ///
    /// # Errors
    /// [`Error`] where the model cannot be run or gives something that is not a vector.
    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, Error>;
}

/// Where cosines of a model lie. Measured on labelled pairs; see the model's manifest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Cosine of a request and a tool that has nothing to do with it: maps to 0.
    pub low: f32,
    /// Cosine of a request and the tool made for it: maps to 1.
    pub high: f32,
}

impl Calibration {
    /// The cosine as a number in `0.0..=1.0`.
    ///
    /// ```
    /// use toolscout::embed::Calibration;
    /// let calibration = Calibration { low: 0.1, high: 0.6 };
    /// assert_eq!(calibration.apply(0.35), 0.5);
    /// assert_eq!(calibration.apply(0.9), 1.0);
    /// ```
    pub fn apply(self, cosine: f32) -> f32 {
        ((cosine - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model gave something that is not whole rows.
    #[error("the model gave {numbers} numbers, which are not rows of {dim}: check 'dimension' in its manifest")]
    Shape {
        /// Numbers expected in a row.
        dim: usize,
        /// Numbers given.
        numbers: usize,
    },
    /// A model gave a row that has no direction.
    #[error("the model gave a vector that is not finite or has no length (row {row})")]
    NotFinite {
        /// Which row.
        row: usize,
    },
    /// A file of the model is missing, unreadable or not what its manifest says.
    #[error("model file {path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A manifest says something that cannot be.
    #[error("manifest {path}: {reason}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// No model of that name.
    #[error("no model named '{name}'; known are: {known}")]
    UnknownModel {
        /// The name asked for.
        name: String,
        /// Names found, comma separated.
        known: String,
    },
    /// ONNX Runtime cannot be had.
    #[error("ONNX Runtime: {reason}")]
    Runtime {
        /// What was tried and what to do.
        reason: String,
    },
    /// The model failed while running.
    #[error("model '{model}' failed: {reason}")]
    Model {
        /// The model.
        model: String,
        /// What it said.
        reason: String,
    },
    /// A remote endpoint failed.
    #[error("embedding endpoint {url}: {reason}")]
    Endpoint {
        /// Where.
        url: String,
        /// What happened.
        reason: String,
    },
}
