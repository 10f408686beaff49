//! An index on disk.

use std::path::Path;

use super::{Error, Index};

/// Name of the snapshot in its directory.
pub const FILE_NAME: &str = "index.toolscout";

/// Writes `index` into `dir` (made if need be), replacing what is there in one step.
///
/// # Errors
/// [`Error::Io`] where the file cannot be written.
pub fn save(_index: &Index, dir: &Path) -> Result<(), Error> {
    Err(Error::Missing { path: dir.join(FILE_NAME) })
}

/// Reads the index in `dir`. With `expected_model`, its vectors must be that model's.
///
/// # Errors
/// Every variant that speaks of a snapshot: whatever is wrong with the file is an error that says
/// what to do.
pub fn load(dir: &Path, _expected_model: Option<&str>) -> Result<Index, Error> {
    Err(Error::Missing { path: dir.join(FILE_NAME) })
}
