//! The file: a magic, a version, a table of sections, and the sections. Knows bytes, not indexes.
//!
//! ```text
//! 0   magic, 8 bytes            24   table: 64 bytes a section
//! 8   format version, u16            name, 16 bytes, padded with zeros
//! 10  number of sections, u16        offset, u64, a multiple of 64
//! 12  zeros, 4 bytes                 length, u64, in bytes
//! 16  length of the file, u64        blake3 of the section, 32 bytes
//!                               ..   blake3 of all before it, 32 bytes
//! ```
//!
//! All numbers are little-endian. Sections follow in the table's order, with zeros between them.
//! Nothing is allocated for a length that the file does not have.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::index::Error;

// Numbers are written as they lie in memory.
const _: () = assert!(
    cfg!(target_endian = "little"),
    "a big-endian machine would have to swap the numbers of a snapshot"
);

const MAGIC: [u8; 8] = *b"TOOLSCT\0";
const ALIGN: u64 = 64;
const HEAD: usize = 24;
const ENTRY: usize = 64;
const HASH: usize = 32;

/// A section to be written.
pub(super) struct Section<'a> {
    /// At most 16 bytes of ASCII.
    pub(super) name: &'static str,
    pub(super) bytes: &'a [u8],
}

/// Writes a whole file.
pub(super) fn write(file: &File, version: u16, sections: &[Section<'_>]) -> std::io::Result<()> {
    let mut place = align((HEAD + sections.len() * ENTRY + HASH) as u64);
    let mut table = Vec::with_capacity(sections.len() * ENTRY);
    for section in sections {
        let mut name = [0u8; 16];
        name[..section.name.len()].copy_from_slice(section.name.as_bytes());
        table.extend(name);
        table.extend(place.to_le_bytes());
        table.extend((section.bytes.len() as u64).to_le_bytes());
        table.extend(hash(section.bytes));
        place = align(place + section.bytes.len() as u64);
    }
    let mut head = Vec::with_capacity(HEAD + table.len() + HASH);
    head.extend(MAGIC);
    head.extend(version.to_le_bytes());
    head.extend((sections.len() as u16).to_le_bytes());
    head.extend([0; 4]);
    head.extend(place.to_le_bytes());
    head.extend(table);
    head.extend(*blake3::hash(&head).as_bytes());

    let mut out = BufWriter::with_capacity(1 << 20, file);
    for bytes in std::iter::once(&head[..]).chain(sections.iter().map(|section| section.bytes)) {
        out.write_all(bytes)?;
        let padding = align(bytes.len() as u64) - bytes.len() as u64;
        out.write_all(&[0; ALIGN as usize][..padding as usize])?;
    }
    out.flush()
}

fn align(place: u64) -> u64 {
    place.next_multiple_of(ALIGN)
}

fn hash(bytes: &[u8]) -> [u8; HASH] {
    *blake3::hash(bytes).as_bytes()
}

/// A file being read, section by section in the order of its table.
pub(super) struct Reader {
    path: PathBuf,
    file: File,
    table: std::vec::IntoIter<Entry>,
}

struct Entry {
    name: String,
    length: u64,
    hash: [u8; HASH],
}

impl Reader {
    /// Opens a file and checks its head.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Io`], [`Error::Foreign`], [`Error::Version`],
    /// [`Error::Truncated`], [`Error::Damaged`].
    pub(super) fn open(path: &Path, version: u16) -> Result<Self, Error> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Error::Missing {
                path: path.to_owned(),
            },
            _ => io(source),
        })?;
        let size = file.metadata().map_err(io)?.len();
        let truncated = |expected| Error::Truncated {
            path: path.to_owned(),
            expected,
            found: size,
        };
        let damaged = |section: &str| Error::Damaged {
            path: path.to_owned(),
            section: section.to_owned(),
        };

        let mut head = Vec::new();
        (&mut file)
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(io)?;
        let sections =
            section_count(path, &head, version)?.ok_or_else(|| truncated(HEAD as u64))?;
        let head_length = HEAD + sections * ENTRY + HASH;
        (&mut file)
            .take((head_length - HEAD) as u64)
            .read_to_end(&mut head)
            .map_err(io)?;
        if head.len() < head_length {
            return Err(truncated(head_length as u64));
        }
        let (body, sum) = head.split_at(head_length - HASH);
        if hash(body) != *sum {
            return Err(damaged("head"));
        }
        let expected = number(&head[16..24]);
        if size < expected {
            return Err(truncated(expected));
        }
        if expected < size {
            return Err(damaged("end"));
        }
        let table =
            entries(&body[HEAD..], head_length as u64, expected).ok_or_else(|| damaged("head"))?;
        let mut reader = Self {
            path: path.to_owned(),
            file,
            table: table.into_iter(),
        };
        reader.padding(head_length as u64, "head")?;
        Ok(reader)
    }

    /// The next section, which must be `name`, as numbers in memory order.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], [`Error::Inconsistent`].
    pub(super) fn numbers<T: Pod>(&mut self, name: &'static str) -> Result<Vec<T>, Error> {
        let entry = self.table.next().filter(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| self.inconsistent(name, "the section is missing"))?;
        let size = size_of::<T>() as u64;
        if entry.length % size != 0 {
            return Err(self.inconsistent(name, "its length is no whole number of items"));
        }
        let mut numbers = vec![T::zeroed(); (entry.length / size) as usize];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
        self.file
            .read_exact(bytes)
            .map_err(|source| self.io(source))?;
        if hash(bytes) != entry.hash {
            return Err(self.damaged(name));
        }
        self.padding(entry.length, name)?;
        Ok(numbers)
    }

    /// Reads the zeros after `length` bytes.
    fn padding(&mut self, length: u64, name: &str) -> Result<(), Error> {
        let mut zeros = [0; ALIGN as usize];
        let zeros = &mut zeros[..(align(length) - length) as usize];
        self.file
            .read_exact(zeros)
            .map_err(|source| self.io(source))?;
        if zeros.iter().any(|&zero| zero != 0) {
            return Err(self.damaged(name));
        }
        Ok(())
    }

    fn io(&self, source: std::io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            source,
        }
    }

    fn damaged(&self, section: &str) -> Error {
        Error::Damaged {
            path: self.path.clone(),
            section: section.to_owned(),
        }
    }

    /// The error that a section's content is not what its index needs.
    pub(super) fn inconsistent(
        &self,
        section: &'static str,
        reason: impl Into<Box<dyn std::error::Error>>,
    ) -> Error {
        Error::Inconsistent {
            path: self.path.clone(),
            section,
            reason: reason.into().to_string(),
        }
    }
}

/// How many sections the first bytes of a file announce; none where they are too few to say.
fn section_count(path: &Path, head: &[u8], version: u16) -> Result<Option<usize>, Error> {
    if !head.starts_with(&MAGIC[..head.len().min(MAGIC.len())]) {
        return Err(Error::Foreign {
            path: path.to_owned(),
        });
    }
    if head.len() < HEAD {
        return Ok(None);
    }
    let found = u16::from_le_bytes([head[8], head[9]]);
    if found != version {
        return Err(Error::Version {
            path: path.to_owned(),
            found,
            supported: version,
        });
    }
    let sections = u16::from_le_bytes([head[10], head[11]]);
    Ok(Some(usize::from(sections)))
}

/// The table's entries, if the sections lie end to end in a file of `size` bytes.
fn entries(table: &[u8], head_length: u64, size: u64) -> Option<Vec<Entry>> {
    let mut place = align(head_length);
    let mut entries = Vec::with_capacity(table.len() / ENTRY);
    for entry in table.chunks_exact(ENTRY) {
        let name = std::str::from_utf8(&entry[..16]).ok()?;
        let (offset, length) = (number(&entry[16..24]), number(&entry[24..32]));
        if offset != place || size < offset.checked_add(length)? {
            return None;
        }
        place = align(offset + length);
        let mut hash = [0; HASH];
        hash.copy_from_slice(&entry[32..]);
        entries.push(Entry {
            name: name.trim_end_matches('\0').to_owned(),
            length,
            hash,
        });
    }
    (place == size).then_some(entries)
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_le_bytes(number)
}
