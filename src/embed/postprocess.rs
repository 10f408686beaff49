//! What moves a vector towards tools after the model: centring and a linear head.
//!
//! For a text's vector x of unit length, `x = unit(x - mean)` by side and script, then
//! `x = unit(x + x A)` by side. Means and matrices come from a file described in
//! `models/README.md`; a missing one is a step left out. Without a file nothing is done.

mod heads;

use std::path::Path;

use super::files::{Expected, read};
use super::{Error, Side};

use heads::Heads;
pub use heads::HeadsError;

/// The writing a text is in, as far as means differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Script {
    /// It has a Chinese character, so it is Chinese or Japanese.
    Han,
    /// It has none.
    Other,
}

impl Script {
    /// The script of `text`.
    ///
    /// ```
    /// use toolscout::embed::postprocess::Script;
    /// assert_eq!(Script::of("东西啥时候到 ASAP"), Script::Han);
    /// assert_eq!(Script::of("où est mon colis"), Script::Other);
    /// ```
    pub fn of(text: &str) -> Self {
        if text.chars().any(is_han) {
            Self::Han
        } else {
            Self::Other
        }
    }
}

/// Unified ideographs with extension A and the compatibility block, and the supplementary planes.
fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Means and heads; by default none.
#[derive(Debug, Clone, Default)]
pub struct PostProcess {
    heads: Option<Heads>,
}

impl PostProcess {
    /// Means and heads from a file, for vectors of `dimension` numbers.
    ///
    /// # Errors
    /// [`Error::File`] where the file is unreadable, damaged or for other vectors.
    pub(super) fn read(path: &Path, expected: &Expected, dimension: usize) -> Result<Self, Error> {
        let bytes = read(path, expected)?;
        let heads = Heads::parse(&bytes, dimension).map_err(|error| Error::File {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self { heads: Some(heads) })
    }

    /// `vector` moved, of unit length; `text` is without its prefix. A vector of no length stays
    /// what it is, for the caller to refuse.
    pub fn apply(&self, side: Side, text: &str, vector: Vec<f32>) -> Vec<f32> {
        match &self.heads {
            None => vector,
            Some(heads) => heads.apply(side, Script::of(text), unit(vector)),
        }
    }
}

/// The vector at unit length.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = square.sqrt();
    if length > 0.0 {
        for x in &mut vector {
            *x = (f64::from(*x) / length) as f32;
        }
    }
    vector
}
