//! An index on disk: one file, written whole, checked whole.
//!
//! The file is replaced in one step (written beside, flushed to disk, renamed), so a crash leaves
//! the old one or the new one. Every section has a checksum, and what passes it is still checked for
//! fitting together, so a broken, foreign or forged file is an [`Error`] that says what to do.
//!
//! Vectors and postings are stored as they lie in memory; the graph is not stored, since it is
//! quickly wrong and slowly checked, but built again from the vectors.

mod container;
mod record;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::cast_slice;

use super::analyze::ANALYZER_VERSION;
use super::dense::Dense;
use super::lexical::{Columns, FIELDS, Lexical};
use super::{Error, Index};
use crate::catalog::Catalog;
use crate::catalog::text::Passage;
use crate::embed::{Calibration, Vectors};
use crate::tool::ToolId;
use container::{Reader, Section};
use record::Head;

/// Name of the snapshot in its directory.
pub const FILE_NAME: &str = "index.toolscout";

/// Changes whenever an older program would read the file wrongly.
pub const FORMAT_VERSION: u16 = 1;

/// In the place of a namespace's row that there is not.
const NO_ROW: u32 = u32::MAX;

// The position is the code in the file: new passages go to the end.
const PASSAGES: [Passage; 5] = [
    Passage::Document,
    Passage::Short,
    Passage::UseWhen,
    Passage::Example,
    Passage::AvoidWhen,
];

/// Writes `index` into `dir` (made if need be), replacing what is there in one step. On return the
/// file is on disk, not just in the system's memory.
///
/// # Errors
/// [`Error::Io`] where the file cannot be written; what was there before is untouched then.
pub fn save(index: &Index, dir: &Path) -> Result<(), Error> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { path, source }
    };
    fs::create_dir_all(dir).map_err(at(dir))?;
    let place = dir.join(FILE_NAME);
    let beside = beside(dir);
    let written = write(index, &beside)
        .and_then(|()| fs::rename(&beside, &place))
        .and_then(|()| flush_directory(dir));
    written.map_err(|source| {
        // It may be gone already, or the disk may be; the first error is the one that matters.
        let _ = fs::remove_file(&beside);
        at(&place)(source)
    })
}

/// A name that no other writer of this directory uses.
fn beside(dir: &Path) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    dir.join(format!(".{FILE_NAME}.{}-{count}.tmp", std::process::id()))
}

/// A rename is on disk once its directory is; only Unix lets a directory be flushed.
fn flush_directory(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(dir)?.sync_all()
    } else {
        Ok(())
    }
}

fn write(index: &Index, path: &Path) -> io::Result<()> {
    let head = record::encode_head(&Head {
        analyzer: ANALYZER_VERSION,
        model_id: index.model_id.clone(),
        dim: index.dense.dim() as u32,
        calibration: (index.calibration.low, index.calibration.high),
        tools: index.catalog.len() as u32,
        namespaces: index.catalog.namespaces().len() as u32,
    })?;
    let catalog = record::encode_catalog(index.catalog.tools(), index.catalog.namespaces())?;
    let ids = |ids: &[ToolId]| -> Vec<u32> { ids.iter().map(|id| id.0).collect() };
    let owners = ids(index.dense.owners());
    let unembedded = ids(&index.unembedded);
    let passages = passage_codes(index.dense.passages());
    let namespace_rows: Vec<u32> = index
        .namespace_rows
        .iter()
        .map(|row| row.unwrap_or(NO_ROW))
        .collect();
    let words = index.lexical.columns();
    let section = |name, bytes| Section { name, bytes };
    let sections = [
        section("head", &head[..]),
        section("catalog", &catalog),
        section("definitions", cast_slice(&index.definition_hashes)),
        section("terms", words.text.as_bytes()),
        section("term ends", cast_slice(&words.text_ends)),
        section("entry ends", cast_slice(&words.entry_ends)),
        section("entry tools", cast_slice(&words.entry_tools)),
        section("entry counts", cast_slice(&words.entry_counts)),
        section("lengths", cast_slice(&words.lengths)),
        section("vectors", cast_slice(index.dense.vectors().as_slice())),
        section("owners", cast_slice(&owners)),
        section("passages", &passages),
        section("namespaces", cast_slice(index.namespaces.as_slice())),
        section("namespace rows", cast_slice(&namespace_rows)),
        section("unembedded", cast_slice(&unembedded)),
    ];
    let file = File::create_new(path)?;
    container::write(&file, FORMAT_VERSION, &sections)?;
    file.sync_all()
}

fn passage_codes(passages: &[Passage]) -> Vec<u8> {
    let code = |passage: &Passage| PASSAGES.iter().position(|known| known == passage);
    passages
        .iter()
        .map(|passage| code(passage).map_or(u8::MAX, |at| at as u8))
        .collect()
}

/// Reads the index in `dir`. With `expected_model`, its vectors must be that model's.
///
/// # Errors
/// Every variant that speaks of a snapshot: whatever is wrong with the file is an error that says
/// what to do.
pub fn load(dir: &Path, expected_model: Option<&str>) -> Result<Index, Error> {
    let path = dir.join(FILE_NAME);
    let mut reader = Reader::open(&path, FORMAT_VERSION)?;
    let head = head(&mut reader, &path, expected_model)?;
    let catalog = catalog(&mut reader, &head)?;
    let definition_hashes: Vec<[u8; 32]> = reader.numbers("definitions")?;
    if definition_hashes.len() != catalog.len() {
        return Err(reader.inconsistent("definitions", "there is not one for each tool"));
    }
    let lexical = lexical(&mut reader, catalog.len())?;
    let dense = dense(&mut reader, &head)?;
    let (namespaces, namespace_rows) = namespaces(&mut reader, &head)?;
    let unembedded: Vec<u32> = reader.numbers("unembedded")?;
    if unembedded.iter().any(|&tool| head.tools <= tool) {
        return Err(reader.inconsistent("unembedded", "it names no tool of the catalogue"));
    }
    Ok(Index {
        catalog: Arc::new(catalog),
        lexical,
        dense,
        namespaces,
        namespace_rows,
        model_id: head.model_id,
        calibration: Calibration {
            low: head.calibration.0,
            high: head.calibration.1,
        },
        definition_hashes,
        unembedded: unembedded.into_iter().map(ToolId).collect(),
    })
}

fn head(reader: &mut Reader, path: &Path, expected_model: Option<&str>) -> Result<Head, Error> {
    let bytes: Vec<u8> = reader.numbers("head")?;
    let head = record::decode_head(&bytes).map_err(|fault| reader.inconsistent("head", fault))?;
    if head.analyzer != ANALYZER_VERSION {
        return Err(Error::Analyzer {
            path: path.to_owned(),
            found: head.analyzer,
            expected: ANALYZER_VERSION,
        });
    }
    if let Some(expected) = expected_model.filter(|expected| *expected != head.model_id) {
        return Err(Error::Model {
            path: path.to_owned(),
            found: head.model_id,
            expected: expected.to_owned(),
        });
    }
    let (low, high) = head.calibration;
    if head.dim == 0 || !(low.is_finite() && high.is_finite() && low < high) {
        return Err(reader.inconsistent("head", "it describes no vector space"));
    }
    Ok(head)
}

fn catalog(reader: &mut Reader, head: &Head) -> Result<Catalog, Error> {
    let bytes: Vec<u8> = reader.numbers("catalog")?;
    let (tools, namespaces) = record::decode_catalog(&bytes, head.tools, head.namespaces)
        .map_err(|fault| reader.inconsistent("catalog", fault))?;
    let catalog = Catalog::new(tools, namespaces);
    if catalog.len() != head.tools as usize
        || catalog.namespaces().len() != head.namespaces as usize
    {
        return Err(reader.inconsistent("catalog", "tools or namespaces are given twice"));
    }
    Ok(catalog)
}

fn lexical(reader: &mut Reader, tools: usize) -> Result<Lexical, Error> {
    let text = String::from_utf8(reader.numbers("terms")?)
        .map_err(|fault| reader.inconsistent("terms", fault))?;
    let columns = Columns {
        text,
        text_ends: reader.numbers("term ends")?,
        entry_ends: reader.numbers("entry ends")?,
        entry_tools: reader.numbers("entry tools")?,
        entry_counts: reader.numbers("entry counts")?,
        lengths: reader.numbers::<[u16; FIELDS]>("lengths")?,
    };
    if columns.lengths.len() != tools {
        return Err(reader.inconsistent("lengths", "there is not one for each tool"));
    }
    Lexical::from_columns(columns).map_err(|fault| reader.inconsistent("entry tools", fault))
}

fn dense(reader: &mut Reader, head: &Head) -> Result<Dense, Error> {
    let vectors = vectors(reader, head, "vectors")?;
    let owners: Vec<u32> = reader.numbers("owners")?;
    let owners = owners.into_iter().map(ToolId).collect();
    let codes: Vec<u8> = reader.numbers("passages")?;
    let passages: Option<Vec<Passage>> = codes
        .into_iter()
        .map(|code| PASSAGES.get(usize::from(code)).copied())
        .collect();
    let passages = passages
        .ok_or_else(|| reader.inconsistent("passages", "a passage is of no kind known here"))?;
    Dense::new(vectors, owners, passages, head.tools as usize)
        .map_err(|fault| reader.inconsistent("owners", fault))
}

fn namespaces(reader: &mut Reader, head: &Head) -> Result<(Vectors, Vec<Option<u32>>), Error> {
    let vectors = vectors(reader, head, "namespaces")?;
    let rows: Vec<u32> = reader.numbers("namespace rows")?;
    let sound = |row: &u32| *row == NO_ROW || (*row as usize) < vectors.len();
    if rows.len() != head.namespaces as usize || !rows.iter().all(sound) {
        return Err(reader.inconsistent("namespace rows", "there is not one for each namespace"));
    }
    let rows = rows
        .into_iter()
        .map(|row| (row != NO_ROW).then_some(row))
        .collect();
    Ok((vectors, rows))
}

fn vectors(reader: &mut Reader, head: &Head, name: &'static str) -> Result<Vectors, Error> {
    let numbers: Vec<f32> = reader.numbers(name)?;
    Vectors::from_unit(head.dim as usize, numbers).map_err(|fault| reader.inconsistent(name, fault))
}

#[cfg(test)]
mod tests;
