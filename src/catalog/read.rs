//! Files to tools: JSON Lines, one tool a line, a file or a folder of them.
//!
//! A bad line costs nothing but itself: it becomes a [`Problem`] with file, line, field and reason,
//! and the rest is read. Only a file that cannot be opened at all is an [`Error`].

mod field;
mod record;
mod single;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Catalog, share_a_tenant};
use crate::tool::{Namespace, Tool};

pub use single::{One, Rejected, namespace, tool};

/// Bytes of one line. A definition of a megabyte is a quarter of a million tokens: no model can be
/// shown it, so it is a mistake or an attack.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Name of the file in a folder that describes namespaces.
const NAMESPACES_FILE: &str = "namespaces.jsonl";

/// What was read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The good tools, in the order of reading.
    pub tools: Vec<Tool>,
    /// Namespaces that the files describe.
    pub namespaces: Vec<Namespace>,
    /// What was wrong with the rest.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// The catalogue of what was read.
    pub fn into_catalog(self) -> Catalog {
        Catalog::new(self.tools, self.namespaces)
    }

    /// How many lines were rejected.
    pub fn rejected(&self) -> usize {
        let errors = |p: &&Problem| p.severity == Severity::Error;
        self.problems.iter().filter(errors).count()
    }
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The tool was kept, mended where that was possible.
    Warning,
    /// The line was left out.
    Error,
}

/// Something wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Kept or left out.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// Line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// Key of the tool, where the line got as far as having one.
    pub tool: Option<String>,
    /// Field of the tool, where one is to blame.
    pub field: Option<String>,
    /// What is wrong and what was done about it.
    pub reason: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{word}: {}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if let Some(tool) = &self.tool {
            write!(f, ": tool '{tool}'")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": field '{field}'")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be opened or read.
    #[error("cannot read catalogue {path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder without a file of tools.
    #[error("catalogue folder {path} holds no .jsonl file of tools")]
    NoFiles {
        /// The folder.
        path: PathBuf,
    },
}

/// Reads a file of tools, or a folder.
///
/// Of a folder, every `*.jsonl` file is read in order of name, and `namespaces.jsonl` describes the
/// namespaces. A folder that holds a file `tools.jsonl` or a folder `tools` is a labelled set: only
/// that is read, with the namespaces file beside or inside it.
///
/// # Errors
/// [`Error::Io`] where a file cannot be opened or read, [`Error::NoFiles`] for an empty folder.
pub fn read(path: &Path) -> Result<Reading, Error> {
    let mut reader = Reader::default();
    for file in tool_files(path)? {
        reader.file(&file, Line::Tool)?;
    }
    for file in namespace_files(path) {
        reader.file(&file, Line::Namespace)?;
    }
    Ok(reader.finish())
}

/// Reads records that are in memory; `place` is what problems say they are from, and a record's line
/// is its position, from 1.
pub fn records(place: &Path, records: impl IntoIterator<Item = Value>) -> Reading {
    let mut reader = Reader::default();
    for (at, value) in records.into_iter().enumerate() {
        let number = at + 1;
        if let Err(reason) = reader.record(place, number, value, Line::Tool) {
            reader.reject(place, number, reason);
        }
    }
    reader.finish()
}

fn tool_files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let io = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    if !std::fs::metadata(path).map_err(io)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let single = path.join("tools.jsonl");
    if single.is_file() {
        return Ok(vec![single]);
    }
    let nested = path.join("tools");
    let folder = if nested.is_dir() {
        nested.as_path()
    } else {
        path
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let file = entry.map_err(io)?.path();
        let is_jsonl = file
            .extension()
            .is_some_and(|extension| extension == "jsonl");
        if is_jsonl && file.file_name().is_some_and(|name| name != NAMESPACES_FILE) {
            files.push(file);
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        return Err(Error::NoFiles {
            path: folder.to_owned(),
        });
    }
    Ok(files)
}

fn namespace_files(path: &Path) -> Vec<PathBuf> {
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    [folder.to_owned(), folder.join("tools")]
        .into_iter()
        .map(|folder| folder.join(NAMESPACES_FILE))
        .filter(|file| file.is_file() && file != path)
        .collect()
}

/// What the lines of a file are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Tool,
    Namespace,
}

#[derive(Default)]
struct Reader {
    reading: Reading,
    /// Where each tool was read, beside `reading.tools`.
    places: Vec<(PathBuf, usize)>,
}

impl Reader {
    fn file(&mut self, path: &Path, kind: Line) -> Result<(), Error> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let mut input = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            let bytes = read_line(&mut input, &mut line).map_err(io)?;
            if bytes == 0 {
                return Ok(());
            }
            number += 1;
            if let Err(reason) = self.line(path, number, (&line, bytes), kind) {
                self.reject(path, number, reason);
            }
        }
    }

    fn reject(&mut self, path: &Path, number: usize, reason: record::Rejection) {
        self.reading.problems.push(Problem {
            severity: Severity::Error,
            file: path.to_owned(),
            line: number,
            tool: reason.tool,
            field: reason.field,
            reason: reason.reason,
        });
    }

    fn line(
        &mut self,
        path: &Path,
        number: usize,
        (line, bytes): (&[u8], usize),
        kind: Line,
    ) -> Result<(), record::Rejection> {
        if bytes > MAX_LINE_BYTES {
            let reason = format!("the line has {bytes} bytes; at most {MAX_LINE_BYTES} are taken");
            return Err(record::Rejection::line(reason));
        }
        let text = std::str::from_utf8(line).map_err(|error| {
            let at = error.valid_up_to() + 1;
            record::Rejection::line(format!("not valid UTF-8 from byte {at} on"))
        })?;
        // A byte order mark is no part of the first line.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(());
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| record::Rejection::line(format!("not valid JSON: {error}")))?;
        self.record(path, number, value, kind)
    }

    fn record(
        &mut self,
        path: &Path,
        number: usize,
        value: Value,
        kind: Line,
    ) -> Result<(), record::Rejection> {
        let Value::Object(map) = value else {
            let reason = "expected one JSON object a line (convert arrays of tools first)";
            return Err(record::Rejection::line(reason.to_owned()));
        };
        let mut record = record::Record::new(map);
        match kind {
            Line::Namespace => self.reading.namespaces.push(record.namespace()?),
            Line::Tool => {
                let tool = record.tool()?;
                for (field, reason) in record.warnings {
                    self.reading.problems.push(Problem {
                        severity: Severity::Warning,
                        file: path.to_owned(),
                        line: number,
                        tool: Some(tool.key.clone()),
                        field: Some(field),
                        reason,
                    });
                }
                self.reading.tools.push(tool);
                self.places.push((path.to_owned(), number));
            }
        }
        Ok(())
    }

    /// Leaves out tools whose key another tool of the same tenant has already.
    fn finish(mut self) -> Reading {
        let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
        let mut keep = Vec::with_capacity(self.reading.tools.len());
        for (at, tool) in self.reading.tools.iter().enumerate() {
            let others = seen.entry(tool.key.clone()).or_default();
            let first = others
                .iter()
                .copied()
                .find(|other| share_a_tenant(&self.reading.tools[*other], tool));
            keep.push(first.is_none());
            let Some(first) = first else {
                others.push(at);
                continue;
            };
            let (first_file, first_line) = &self.places[first];
            let (file, line) = &self.places[at];
            self.reading.problems.push(Problem {
                severity: Severity::Error,
                file: file.clone(),
                line: *line,
                tool: Some(tool.key.clone()),
                field: Some("id".to_owned()),
                reason: format!(
                    "the key is taken by {}:{first_line}; the first one is kept",
                    first_file.display()
                ),
            });
        }
        let mut keep = keep.into_iter();
        self.reading.tools.retain(|_| keep.next().unwrap_or(true));
        let by_place = |p: &Problem| (p.file.clone(), p.line);
        self.reading.problems.sort_by_key(by_place);
        self.reading
    }
}

/// Reads up to the next line feed. Returns the bytes of the whole line, its line feed included, and
/// 0 at the end; `line` holds at most [`MAX_LINE_BYTES`] of them, so that a line without end does
/// not fill the memory.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    line.clear();
    let mut bytes = 0;
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(bytes);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        let room = MAX_LINE_BYTES.saturating_sub(line.len());
        line.extend_from_slice(&chunk[..taken.min(room)]);
        bytes += taken;
        input.consume(taken);
        if end.is_some() {
            return Ok(bytes);
        }
    }
}

#[cfg(test)]
mod tests;
