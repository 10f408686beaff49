//! Snapshots of the served index, each in a folder that is named after what it is of.
//!
//! The name holds the identity of the registry's history and the revision, so a snapshot is never
//! taken for one of another registry, of a later state of a restored one, or of another revision.

use std::fs;
use std::path::{Path, PathBuf};

use crate::index::{self, Index, snapshot};
use crate::registry::Revision;

/// Snapshots that are kept: one may turn out to be damaged.
const KEPT: usize = 2;

/// A snapshot that was found.
pub(super) struct Found {
    pub(super) index: Index,
    pub(super) revision: Revision,
}

fn name(identity: &str, revision: Revision) -> String {
    format!("{identity}-{:020}", revision.0)
}

/// The newest good snapshot of a history, up to a revision, with the vectors of a model. One that
/// cannot be used is told in the log and passed over.
pub(super) fn newest(folder: &Path, identity: &str, head: Revision, model: &str) -> Option<Found> {
    for (revision, path) in list(folder, identity) {
        if head < revision {
            continue;
        }
        match snapshot::load(&path, Some(model)) {
            Ok(index) => return Some(Found { index, revision }),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a snapshot cannot be used");
            }
        }
    }
    None
}

/// Saves an index and lets older snapshots go, those of other histories too.
pub(super) fn save(
    folder: &Path,
    identity: &str,
    revision: Revision,
    index: &Index,
) -> Result<(), index::Error> {
    let path = folder.join(name(identity, revision));
    snapshot::save(index, &path)?;
    let kept: Vec<PathBuf> = list(folder, identity)
        .into_iter()
        .filter(|(other, _)| *other <= revision)
        .take(KEPT)
        .map(|(_, path)| path)
        .collect();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let old = entry.path();
        let is_snapshot = parse(&entry.file_name().to_string_lossy()).is_some();
        if is_snapshot && !kept.contains(&old) {
            // What cannot go now goes with the next one.
            let _ = fs::remove_dir_all(&old);
        }
    }
    Ok(())
}

/// Snapshots of a history, newest first.
fn list(folder: &Path, identity: &str) -> Vec<(Revision, PathBuf)> {
    let mut found: Vec<(Revision, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let (of, revision) = parse(&name)?;
            (of == identity).then(|| (revision, entry.path()))
        })
        .collect();
    found.sort_unstable_by_key(|(revision, _)| std::cmp::Reverse(*revision));
    found
}

fn parse(name: &str) -> Option<(&str, Revision)> {
    let (identity, number) = name.rsplit_once('-')?;
    let hexadecimal = !identity.is_empty() && identity.bytes().all(|c| c.is_ascii_hexdigit());
    (hexadecimal && number.len() == 20).then_some(())?;
    Some((identity, Revision(number.parse().ok()?)))
}
