//! An embedder that keeps every vector it made in a file, so that measuring a second time embeds
//! nothing.
//!
//! One file a vector space. It is a cache: a broken record is dropped and made again, and the file
//! may be deleted at any time. Records are appended whole, so that runs side by side do not harm
//! each other.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use super::Error;
use crate::embed::{self, Calibration, Embedder, Side, Vectors};

/// First bytes of the file: name and version of the format.
const MAGIC: &[u8; 8] = b"tsvec\x00\x00\x01";
/// Bytes of a text's hash that tell it from others.
const KEY: usize = 16;
/// Bytes of a record's checksum.
const CHECK: usize = 4;
/// Texts embedded before they are written: what an interrupted run loses at most.
const BATCH: usize = 512;

type Key = [u8; KEY];

/// An embedder with a memory on disk.
pub struct Keeping<'a> {
    inner: &'a dyn Embedder,
    path: PathBuf,
    known: RwLock<HashMap<Key, Box<[f32]>>>,
}

impl<'a> Keeping<'a> {
    /// `inner` with the memory kept in `folder`, which is made where it does not exist.
    ///
    /// # Errors
    /// [`Error::Io`] where the folder or the file in it cannot be read or written.
    pub fn new(inner: &'a dyn Embedder, folder: &Path) -> Result<Self, Error> {
        let name = blake3::hash(inner.model_id().as_bytes()).to_hex();
        let path = folder.join(format!("{}.vectors", &name[..16]));
        let io = |source| Error::Io {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(folder).map_err(io)?;
        let known = if path.exists() {
            let bytes = fs::read(&path).map_err(io)?;
            let (known, whole) = parse(&bytes, inner.dim());
            if !whole {
                rewrite(&path, &known).map_err(io)?;
            }
            known
        } else {
            rewrite(&path, &HashMap::new()).map_err(io)?;
            HashMap::new()
        };
        Ok(Self {
            inner,
            path,
            known: RwLock::new(known),
        })
    }

    /// How many of `texts` have no vector yet.
    pub fn missing(&self, side: Side, texts: &[String]) -> usize {
        let known = self
            .known
            .read()
            .unwrap_or_else(|broken| broken.into_inner());
        let missing = texts
            .iter()
            .filter(|text| !known.contains_key(&key(side, text)));
        missing.count()
    }

    fn learn(&self, side: Side, texts: &[String]) -> Result<(), embed::Error> {
        let vectors = self.inner.embed(side, texts)?;
        let mut bytes = Vec::new();
        let mut known = self
            .known
            .write()
            .unwrap_or_else(|broken| broken.into_inner());
        for (text, row) in texts.iter().zip(vectors.rows()) {
            let key = key(side, text);
            if known.insert(key, row.into()).is_none() {
                append(&mut bytes, &key, row);
            }
        }
        // A full disk costs the memory, not the measurement.
        let written = OpenOptions::new().append(true).open(&self.path);
        if let Err(error) = written.and_then(|mut file| file.write_all(&bytes)) {
            tracing::warn!(path = %self.path.display(), %error, "vectors are not kept");
        }
        Ok(())
    }
}

impl Embedder for Keeping<'_> {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn calibration(&self) -> Calibration {
        self.inner.calibration()
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
        let missing: Vec<String> = {
            let known = self
                .known
                .read()
                .unwrap_or_else(|broken| broken.into_inner());
            let missing = texts
                .iter()
                .filter(|text| !known.contains_key(&key(side, text)));
            missing.cloned().collect()
        };
        for batch in missing.chunks(BATCH) {
            self.learn(side, batch)?;
        }
        let known = self
            .known
            .read()
            .unwrap_or_else(|broken| broken.into_inner());
        let mut data = Vec::with_capacity(texts.len() * self.dim());
        for text in texts {
            if let Some(row) = known.get(&key(side, text)) {
                data.extend_from_slice(row);
            }
        }
        // Kept or fresh, every vector takes this one way, so that both runs see the same bits.
        Vectors::new(self.dim(), data)
    }
}

fn key(side: Side, text: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(match side {
        Side::Query => b"q",
        Side::Document => b"d",
    });
    hasher.update(text.as_bytes());
    let mut key = [0; KEY];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..KEY]);
    key
}

fn append(bytes: &mut Vec<u8>, key: &Key, row: &[f32]) {
    let start = bytes.len();
    bytes.extend_from_slice(key);
    for number in row {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let check = blake3::hash(&bytes[start..]);
    bytes.extend_from_slice(&check.as_bytes()[..CHECK]);
}

/// The good records, and whether there was nothing else.
fn parse(bytes: &[u8], dim: usize) -> (HashMap<Key, Box<[f32]>>, bool) {
    let mut known = HashMap::new();
    let Some(records) = bytes.strip_prefix(MAGIC) else {
        return (known, false);
    };
    let size = KEY + 4 * dim + CHECK;
    let mut whole = records.len().is_multiple_of(size);
    for record in records.chunks_exact(size) {
        let (body, check) = record.split_at(size - CHECK);
        if blake3::hash(body).as_bytes()[..CHECK] != *check {
            whole = false;
            break;
        }
        let (key, numbers) = body.split_at(KEY);
        let row = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|number| f32::from_le_bytes(*number))
            .collect();
        if let Ok(key) = Key::try_from(key) {
            known.insert(key, row);
        }
    }
    (known, whole)
}

fn rewrite(path: &Path, known: &HashMap<Key, Box<[f32]>>) -> std::io::Result<()> {
    let mut bytes = MAGIC.to_vec();
    for (key, row) in known {
        append(&mut bytes, key, row);
    }
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    File::create(&draft)?.write_all(&bytes)?;
    fs::rename(draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::hashed::Hashed;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counting(Hashed, AtomicUsize);

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
        fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
            self.1.fetch_add(texts.len(), Ordering::Relaxed);
            self.0.embed(side, texts)
        }
    }

    fn counting() -> Counting {
        Counting(Hashed::new(24), AtomicUsize::new(0))
    }

    fn texts() -> Vec<String> {
        ["send mail", "发邮件", "send mail"]
            .map(String::from)
            .to_vec()
    }

    #[test]
    fn a_second_run_embeds_nothing_and_gets_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (counting(), counting());
        let made = Keeping::new(&first, folder.path()).unwrap();
        let made = made.embed(Side::Query, &texts()).unwrap();
        let kept = Keeping::new(&second, folder.path()).unwrap();
        assert_eq!(kept.missing(Side::Query, &texts()), 0);
        assert_eq!(kept.missing(Side::Document, &texts()), 3);
        assert_eq!(kept.embed(Side::Query, &texts()).unwrap(), made);
        assert_eq!(second.1.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_broken_file_costs_what_is_broken_and_is_mended() {
        let folder = tempfile::tempdir().unwrap();
        let inner = counting();
        let kept = Keeping::new(&inner, folder.path()).unwrap();
        let good = kept.embed(Side::Query, &texts()).unwrap();
        let path = kept.path.clone();
        let bytes = fs::read(&path).unwrap();
        for broken in [
            &bytes[..bytes.len() - 7],
            b"something else",
            &bytes[..3],
            b"",
        ] {
            fs::write(&path, broken).unwrap();
            let kept = Keeping::new(&inner, folder.path()).unwrap();
            assert_eq!(kept.embed(Side::Query, &texts()).unwrap(), good);
            let again = Keeping::new(&inner, folder.path()).unwrap();
            assert_eq!(again.missing(Side::Query, &texts()), 0);
        }
    }
}
