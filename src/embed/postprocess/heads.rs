//! The file of means and heads: a line of JSON, then tensors.

use serde::Deserialize;

use super::{Script, unit};
use crate::embed::Side;

/// Tensors begin at multiples of this, and so does the first after the line of JSON.
const ALIGNMENT: usize = 64;

const FORMAT: &str = "toolscout-heads";
const VERSION: u32 = 1;

/// Why a file of means and heads cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeadsError {
    /// It is something else.
    #[error("is not a file of means and heads: {0}")]
    Foreign(String),
    /// It is of another version.
    #[error("is of version {0}, but this program reads {VERSION}")]
    Version(u32),
    /// It is for vectors of another length.
    #[error("is for vectors of {found} numbers, but the model's have {expected}")]
    Dimension {
        /// The model's.
        expected: usize,
        /// The file's.
        found: usize,
    },
    /// A tensor is not what it should be.
    #[error("tensor '{name}' {reason}")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    dimension: usize,
    tensors: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    shape: Vec<usize>,
    offset: usize,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    F32,
    I8,
}

/// A matrix, by rows.
#[derive(Debug, Clone)]
struct Matrix {
    columns: usize,
    numbers: Vec<f32>,
}

impl Matrix {
    /// `vector` as a row, times the matrix.
    fn times(&self, vector: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.columns];
        for (x, row) in vector.iter().zip(self.numbers.chunks_exact(self.columns)) {
            for (sum, y) in out.iter_mut().zip(row) {
                *sum += x * y;
            }
        }
        out
    }
}

/// The matrix of a head, or two of which it is the product.
#[derive(Debug, Clone)]
enum Head {
    Full(Matrix),
    Narrow { down: Matrix, up: Matrix },
}

impl Head {
    fn times(&self, vector: &[f32]) -> Vec<f32> {
        match self {
            Self::Full(matrix) => matrix.times(vector),
            Self::Narrow { down, up } => up.times(&down.times(vector)),
        }
    }
}

/// Of one side.
#[derive(Debug, Clone, Default)]
struct Steps {
    mean_han: Option<Vec<f32>>,
    mean_other: Option<Vec<f32>>,
    head: Option<Head>,
}

/// Means and heads of both sides.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    query: Steps,
    document: Steps,
}

impl Heads {
    /// From the file's bytes, for vectors of `dimension` numbers.
    pub(super) fn parse(bytes: &[u8], dimension: usize) -> Result<Self, HeadsError> {
        let (header, body) = split(bytes)?;
        if header.version != VERSION {
            return Err(HeadsError::Version(header.version));
        }
        if header.dimension != dimension {
            return Err(HeadsError::Dimension {
                expected: dimension,
                found: header.dimension,
            });
        }
        let file = File { header, body };
        file.check_names()?;
        Ok(Self {
            query: file.steps("query")?,
            document: file.steps("document")?,
        })
    }

    /// A unit vector moved, of unit length again.
    pub(super) fn apply(&self, side: Side, script: Script, vector: Vec<f32>) -> Vec<f32> {
        let steps = match side {
            Side::Query => &self.query,
            Side::Document => &self.document,
        };
        let mean = match script {
            Script::Han => &steps.mean_han,
            Script::Other => &steps.mean_other,
        };
        let vector = match mean {
            None => vector,
            Some(mean) => unit(vector.iter().zip(mean).map(|(x, m)| x - m).collect()),
        };
        match &steps.head {
            None => vector,
            Some(head) => {
                let change = head.times(&vector);
                unit(vector.iter().zip(change).map(|(x, y)| x + y).collect())
            }
        }
    }
}

/// The header, and the bytes that its offsets count from.
fn split(bytes: &[u8]) -> Result<(Header, &[u8]), HeadsError> {
    let foreign = |reason: &str| HeadsError::Foreign(reason.to_owned());
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(|| foreign("it has no header line"))?;
    let header: Header = serde_json::from_slice(&bytes[..end])
        .map_err(|error| HeadsError::Foreign(error.to_string()))?;
    if header.format != FORMAT {
        return Err(HeadsError::Foreign(format!(
            "its format is '{}'",
            header.format
        )));
    }
    if !(end + 1).is_multiple_of(ALIGNMENT) {
        return Err(foreign("its header line is not filled up"));
    }
    Ok((header, &bytes[end + 1..]))
}

struct File<'a> {
    header: Header,
    body: &'a [u8],
}

impl File<'_> {
    /// A name that is not known would silently do nothing.
    fn check_names(&self) -> Result<(), HeadsError> {
        for entry in &self.header.tensors {
            let name = entry.name.strip_suffix(".scale").unwrap_or(&entry.name);
            let known = ["query", "document"].iter().any(|side| {
                ["", ".down", ".up"]
                    .iter()
                    .any(|end| name == format!("head.{side}{end}"))
                    || ["han", "other"]
                        .iter()
                        .any(|end| name == format!("mean.{side}.{end}"))
            });
            if !known {
                return Err(fault(&entry.name, "has no meaning here"));
            }
        }
        Ok(())
    }

    fn steps(&self, side: &str) -> Result<Steps, HeadsError> {
        let mean = |script: &str| {
            let name = format!("mean.{side}.{script}");
            let mean = self.tensor(&name, &[Some(self.header.dimension)])?;
            Ok(mean.map(|mean| mean.numbers))
        };
        Ok(Steps {
            mean_han: mean("han")?,
            mean_other: mean("other")?,
            head: self.head(side)?,
        })
    }

    fn head(&self, side: &str) -> Result<Option<Head>, HeadsError> {
        let square = Some(self.header.dimension);
        let name = format!("head.{side}");
        let full = self.tensor(&name, &[square, square])?;
        let down = self.tensor(&format!("{name}.down"), &[square, None])?;
        let up = self.tensor(&format!("{name}.up"), &[None, square])?;
        match (full, down, up) {
            (None, None, None) => Ok(None),
            (Some(full), None, None) => Ok(Some(Head::Full(full))),
            (None, Some(down), Some(up)) => {
                if up.numbers.len() != down.columns * self.header.dimension {
                    return Err(fault(
                        &format!("{name}.up"),
                        "has another rank than its 'down'",
                    ));
                }
                Ok(Some(Head::Narrow { down, up }))
            }
            _ => Err(fault(&name, "is there in part, or twice")),
        }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.header.tensors.iter().find(|entry| entry.name == name)
    }

    /// The tensor called `name`, if there is one; `None` in `shape` stands for any length.
    fn tensor(&self, name: &str, shape: &[Option<usize>]) -> Result<Option<Matrix>, HeadsError> {
        let Some(entry) = self.entry(name) else {
            return Ok(None);
        };
        let fits =
            entry.shape.len() == shape.len()
                && entry.shape.iter().zip(shape).all(|(found, expected)| {
                    *found > 0 && expected.is_none_or(|size| size == *found)
                });
        if !fits {
            return Err(fault(name, &format!("has shape {:?}", entry.shape)));
        }
        let columns = entry.shape.last().copied().unwrap_or(1);
        let mut numbers = self.numbers(entry)?;
        if entry.kind == Kind::I8 {
            let scale = self.scale(name, numbers.len() / columns)?;
            for (row, scale) in numbers.chunks_exact_mut(columns).zip(scale) {
                row.iter_mut().for_each(|x| *x *= scale);
            }
        }
        if numbers.iter().all(|x| x.is_finite()) {
            Ok(Some(Matrix { columns, numbers }))
        } else {
            Err(fault(name, "is not finite"))
        }
    }

    fn scale(&self, name: &str, rows: usize) -> Result<Vec<f32>, HeadsError> {
        let scale = format!("{name}.scale");
        let entry = self
            .entry(&scale)
            .ok_or_else(|| fault(&scale, "is missing"))?;
        if entry.kind != Kind::F32 || entry.shape != [rows] {
            return Err(fault(&scale, &format!("is not {rows} of f32")));
        }
        self.numbers(entry)
    }

    /// An entry's numbers as they are stored.
    fn numbers(&self, entry: &Entry) -> Result<Vec<f32>, HeadsError> {
        let count = entry
            .shape
            .iter()
            .try_fold(1_usize, |all, size| all.checked_mul(*size));
        let width = match entry.kind {
            Kind::F32 => 4,
            Kind::I8 => 1,
        };
        let bytes = count
            .and_then(|count| count.checked_mul(width))
            .and_then(|bytes| entry.offset.checked_add(bytes))
            .and_then(|end| self.body.get(entry.offset..end))
            .ok_or_else(|| fault(&entry.name, "reaches beyond the end of the file"))?;
        if !entry.offset.is_multiple_of(ALIGNMENT) {
            return Err(fault(&entry.name, "is not aligned"));
        }
        Ok(match entry.kind {
            Kind::F32 => bytes
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
            Kind::I8 => bytes
                .iter()
                .map(|byte| f32::from(byte.cast_signed()))
                .collect(),
        })
    }
}

fn fault(name: &str, reason: &str) -> HeadsError {
    HeadsError::Tensor {
        name: name.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests;
