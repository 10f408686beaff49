//! Texts to unit vectors. Knows models, not tools.
//!
//! [`open()`] gives an [`Embedder`] by name. Embedders are an open set: ONNX models on the CPU
//! ([`onnx`]), an OpenAI-compatible endpoint ([`http`]), several of them as one ([`ensemble`]),
//! and a deterministic hash for unit tests ([`hashed`]).
//!
//! Nothing here prints, and nothing here is asynchronous: an embedding takes a millisecond of one
//! core, so callers that may not block move the call to a thread of their own. What takes longer
//! (fetching ONNX Runtime, unpacking a model) reports to a callback ([`Progress`]).

mod batch;
pub mod cache;
mod directories;
pub mod ensemble;
mod error;
mod files;
mod folder;
pub mod hashed;
pub mod http;
mod hub;
pub mod manifest;
pub mod onnx;
mod open;
pub mod postprocess;
mod queue;
mod recipe;
pub mod runtime;
mod scratch;
mod survey;
mod vectors;
mod worker;

pub use directories::cache as cache_folder;
pub use error::Error;
pub use open::{DEFAULT_MODEL, Network, Options, open};
pub use survey::{Checked, Listed, check, list, pull};
pub use vectors::Vectors;

/// How far a long step has come. Sent often; cheap to ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done, as a reader would want to see it beside a bar.
    pub step: &'a str,
    /// Bytes done so far.
    pub done: u64,
    /// Bytes in all, where known. The step is over when `done` equals it.
    pub total: Option<u64>,
}

/// Which side of a search a text is on: some models want a different prefix or head for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// What somebody asks.
    Query,
    /// What a tool says of itself.
    Document,
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
