//! What is done to a vector after the model.

use super::Side;

/// Nothing yet.
#[derive(Debug, Clone, Default)]
pub struct PostProcess;

impl PostProcess {
    /// The vector after it.
    pub fn apply(&self, _side: Side, _text: &str, row: Vec<f32>) -> Vec<f32> {
        row
    }
}
