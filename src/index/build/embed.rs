//! Embeds many texts: in like-sized slices, some at a time, so that the model never waits.
//!
//! An [`Embedder`] makes its own batches and uses its own threads; what is done here is to feed it,
//! to report, and to find the texts it refuses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use super::Progress;
use crate::embed::{Embedder, Side, Vectors};
use crate::index::Error;

/// Texts handed over at once: enough for the embedder to count it as bulk work, few enough for a
/// bar to move.
const SLICE: usize = 256;

/// Slices in the embedder's hands at a time: while the last batches of one are run, those of the
/// next are waiting.
const FEEDERS: usize = 2;

/// Vectors of texts, without those refused.
pub(super) struct Embedded {
    dim: usize,
    data: Vec<f32>,
    /// By text; whether it has a vector.
    has: Vec<bool>,
}

impl Embedded {
    /// No vector of any of `texts` texts.
    pub(super) fn nothing(dim: usize, texts: usize) -> Self {
        Self {
            dim,
            data: Vec::new(),
            has: vec![false; texts],
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// The vector of a text; none where the model refused it.
    pub(super) fn vector(&self, text: usize) -> Option<&[f32]> {
        self.has[text].then(|| &self.data[text * self.dim..(text + 1) * self.dim])
    }

    fn place(&mut self, texts: &[usize], vectors: &[Option<Vectors>]) {
        let rows = vectors.iter().flat_map(|part| match part {
            Some(part) => part.rows().map(Some).collect(),
            None => vec![None],
        });
        for (&text, row) in texts.iter().zip(rows) {
            if let Some(row) = row {
                self.has[text] = true;
                self.data[text * self.dim..(text + 1) * self.dim].copy_from_slice(row);
            }
        }
    }
}

/// Embeds each of `texts`.
pub(super) fn each(
    embedder: &dyn Embedder,
    texts: &[String],
    progress: &dyn Fn(Progress),
) -> Result<Embedded, Error> {
    let dim = embedder.dim().max(1);
    let total = texts.len();
    let mut embedded = Embedded {
        dim,
        data: vec![0.0; total * dim],
        has: vec![false; total],
    };
    let mut order: Vec<usize> = (0..total).collect();
    order.sort_by_key(|&text| (texts[text].len(), text));
    let slices: Vec<&[usize]> = order.chunks(SLICE).collect();

    let mut done = 0;
    progress(Progress { done, total });
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(FEEDERS);
        for _ in 0..FEEDERS.min(slices.len()) {
            let (sender, slices, next) = (sender.clone(), &slices, &next);
            scope.spawn(move || {
                while let Some(slice) = slices.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let texts: Vec<String> = slice.iter().map(|&at| texts[at].clone()).collect();
                    // Nobody listens any more where another slice has failed.
                    if sender.send((*slice, part(embedder, &texts))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (slice, vectors) in receiver {
            embedded.place(slice, &vectors?);
            done += slice.len();
            progress(Progress { done, total });
        }
        Ok(embedded)
    })
}

/// The vectors of `texts` in order, in parts of any size; a text that is refused is a part of its
/// own without vectors.
fn part(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Option<Vectors>>, Error> {
    match whole(embedder, texts) {
        Ok(vectors) => Ok(vec![Some(vectors)]),
        // A model that cannot embed a plain word is broken, whatever the text.
        Err(Error::Embed(fault)) if !works(embedder) => Err(fault.into()),
        Err(Error::Embed(_)) => {
            let mut parts = Vec::new();
            divide(embedder, texts, &mut parts)?;
            Ok(parts)
        }
        Err(other) => Err(other),
    }
}

/// Halves refused texts until those at fault stand alone.
fn divide(
    embedder: &dyn Embedder,
    texts: &[String],
    parts: &mut Vec<Option<Vectors>>,
) -> Result<(), Error> {
    if texts.len() <= 1 {
        parts.push(None);
        return Ok(());
    }
    let (left, right) = texts.split_at(texts.len() / 2);
    for half in [left, right] {
        match whole(embedder, half) {
            Ok(vectors) => parts.push(Some(vectors)),
            Err(Error::Embed(_)) => divide(embedder, half, parts)?,
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

fn whole(embedder: &dyn Embedder, texts: &[String]) -> Result<Vectors, Error> {
    let vectors = embedder.embed(Side::Document, texts)?;
    if vectors.len() != texts.len() {
        return Err(Error::VectorCount {
            model: embedder.model_id().to_owned(),
            expected: texts.len(),
            found: vectors.len(),
        });
    }
    if vectors.dim() != embedder.dim() {
        return Err(Error::Dimension {
            expected: embedder.dim(),
            found: vectors.dim(),
        });
    }
    Ok(vectors)
}

fn works(embedder: &dyn Embedder) -> bool {
    whole(embedder, &["tool".to_owned()]).is_ok()
}
