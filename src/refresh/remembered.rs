//! An embedder that spares its model what was embedded before, by this process or another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::embed::cache::complete;
use crate::embed::{Calibration, Embedder, Error, Side, Vectors};
use crate::registry::{VectorKey, VectorStore};

/// A model with a store of the vectors it has made for documents. A vector depends on the model and
/// the text alone, so it is shared by revisions and tenants.
///
/// A store that fails costs time, not answers: it is told in the log.
pub struct Remembered {
    inner: Arc<dyn Embedder>,
    store: Arc<dyn VectorStore>,
    made: AtomicU64,
}

impl Remembered {
    /// `inner`, which is asked for what `store` does not have.
    pub fn new(inner: Arc<dyn Embedder>, store: Arc<dyn VectorStore>) -> Self {
        Self {
            inner,
            store,
            made: AtomicU64::new(0),
        }
    }

    /// Documents that the model was asked for.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    fn key(&self, text: &str) -> VectorKey {
        let model = self.model_id().as_bytes();
        *blake3::Hasher::new()
            .update(&(model.len() as u64).to_le_bytes())
            .update(model)
            .update(text.as_bytes())
            .finalize()
            .as_bytes()
    }

    /// Rows that the store has; none of a row that is no vector, whatever the store says.
    fn find(&self, keys: &[VectorKey]) -> Vec<Option<Vec<f32>>> {
        let dim = self.dim();
        match self.store.find(keys, dim) {
            Ok(rows) => rows
                .into_iter()
                .map(|row| row.filter(|row| Vectors::from_unit(dim, row.clone()).is_ok()))
                .collect(),
            Err(error) => {
                tracing::warn!(%error, "vectors cannot be looked up: they are made again");
                vec![None; keys.len()]
            }
        }
    }
}

impl Embedder for Remembered {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn calibration(&self) -> Calibration {
        self.inner.calibration()
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, Error> {
        if side == Side::Query {
            return self.inner.embed(side, texts);
        }
        let keys: Vec<VectorKey> = texts.iter().map(|text| self.key(text)).collect();
        complete(
            &*self.inner,
            (side, texts),
            &self.find(&keys),
            |missing, made| {
                self.made.fetch_add(missing.len() as u64, Ordering::Relaxed);
                let new: Vec<VectorKey> = missing.iter().map(|at| keys[*at]).collect();
                let parts: Vec<&[f32]> = made.rows().collect();
                if let Err(error) = self.store.keep(&new, &parts) {
                    tracing::warn!(%error, "vectors cannot be kept: they will be made again");
                }
            },
        )
    }
}
