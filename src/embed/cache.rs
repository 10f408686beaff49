//! An embedder that remembers vectors.
//!
//! What is remembered depends on the text and its side alone, never on who asked, so it may be
//! shared between tenants. It shows in nothing but the time an answer takes.

use std::sync::Arc;

use moka::sync::Cache;

use super::{Calibration, Embedder, Error, Side, Vectors};

/// Bytes that an entry takes beside its numbers, roughly: key, links, counters.
const OVERHEAD: usize = 160;

type Key = [u8; 32];

/// `inner` with a memory bounded in bytes; what is asked for seldom leaves first.
pub struct Cached {
    inner: Box<dyn Embedder>,
    known: Cache<Key, Arc<[f32]>>,
}

impl Cached {
    /// A memory of at most `bytes` for `inner`.
    pub fn new(inner: Box<dyn Embedder>, bytes: u64) -> Self {
        let known = Cache::builder()
            .weigher(|_: &Key, vector: &Arc<[f32]>| {
                u32::try_from(size_of_val::<[f32]>(vector) + OVERHEAD).unwrap_or(u32::MAX)
            })
            .max_capacity(bytes)
            .build();
        Self { inner, known }
    }
}

fn key(side: Side, text: &str) -> Key {
    let side = match side {
        Side::Query => b'q',
        Side::Document => b'd',
    };
    *blake3::Hasher::new()
        .update(&[side])
        .update(text.as_bytes())
        .finalize()
        .as_bytes()
}

impl Embedder for Cached {
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
        let keys: Vec<Key> = texts.iter().map(|text| key(side, text)).collect();
        let rows: Vec<Option<Arc<[f32]>>> = keys.iter().map(|key| self.known.get(key)).collect();
        complete(&*self.inner, (side, texts), &rows, |missing, made| {
            for (at, row) in missing.iter().zip(made.rows()) {
                self.known.insert(keys[*at], row.into());
            }
        })
    }
}

/// The vectors of `texts`: those of `rows` that are known, and `inner`'s of the others, which `keep`
/// is given with their places.
///
/// # Errors
/// What `inner` says, and [`Vectors::from_unit`] of rows that are no vectors.
pub fn complete<R: AsRef<[f32]>>(
    inner: &dyn Embedder,
    (side, texts): (Side, &[String]),
    rows: &[Option<R>],
    keep: impl FnOnce(&[usize], &Vectors),
) -> Result<Vectors, Error> {
    let missing: Vec<usize> = (0..texts.len()).filter(|at| rows[*at].is_none()).collect();
    let made = if missing.is_empty() {
        None
    } else {
        let asked: Vec<String> = missing.iter().map(|at| texts[*at].clone()).collect();
        let made = inner.embed(side, &asked)?;
        keep(&missing, &made);
        Some(made)
    };
    let mut made = made.iter().flat_map(Vectors::rows);
    let mut data = Vec::with_capacity(texts.len() * inner.dim());
    for row in rows {
        let row = row.as_ref().map(AsRef::as_ref).or_else(|| made.next());
        data.extend_from_slice(row.unwrap_or_default());
    }
    // Kept bit for bit: a remembered vector is the one that was made.
    Vectors::from_unit(inner.dim(), data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::hashed::Hashed;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts the texts it is given.
    struct Counting(Hashed, Arc<AtomicUsize>);

    impl Embedder for Counting {
        fn model_id(&self) -> &str {
            self.0.model_id()
        }
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn calibration(&self) -> Calibration {
            self.0.calibration()
        }
        fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, Error> {
            self.1.fetch_add(texts.len(), Ordering::SeqCst);
            self.0.embed(side, texts)
        }
    }

    fn cached(bytes: u64) -> (Cached, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let inner = Counting(Hashed::new(64), Arc::clone(&count));
        (Cached::new(Box::new(inner), bytes), count)
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn only_what_is_new_is_embedded_and_the_order_is_kept() {
        let (cached, count) = cached(1 << 20);
        let all = texts(&["a", "b", "c"]);
        cached.embed(Side::Query, &texts(&["b"])).unwrap();
        let found = cached.embed(Side::Query, &all).unwrap();
        assert_eq!(found, Hashed::new(64).embed(Side::Query, &all).unwrap());
        assert_eq!(cached.embed(Side::Query, &all).unwrap(), found);
        assert_eq!(count.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn sides_are_apart() {
        let (cached, count) = cached(1 << 20);
        cached.embed(Side::Query, &texts(&["a"])).unwrap();
        cached.embed(Side::Document, &texts(&["a"])).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn the_memory_is_bounded() {
        let (cached, _) = cached(10_000);
        for number in 0..1000 {
            cached.embed(Side::Query, &[number.to_string()]).unwrap();
        }
        cached.known.run_pending_tasks();
        assert!(cached.known.weighted_size() <= 10_000);
    }

    #[test]
    fn nothing_gives_nothing() {
        let (cached, count) = cached(10_000);
        assert!(cached.embed(Side::Query, &[]).unwrap().is_empty());
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}
