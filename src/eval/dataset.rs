//! Labelled sets: requests, the tools that serve them, and the catalogue they ask of.
//!
//! A set is a folder:
//!
//! | file | holds |
//! |---|---|
//! | `tools.jsonl` or `tools/` | the catalogue, with `namespaces.jsonl` beside or inside; left out where another set's catalogue is meant |
//! | `queries.jsonl` | `{"id", "text", "lang"}` |
//! | `qrels.tsv` | query id, tool id, 1: each tool is a need of its own |
//! | `needs.tsv` | query id, need number, acceptable tool; in place of `qrels.tsv` for the queries it names |
//! | `equiv.tsv` | tool id, group: near-duplicates |
//! | `negatives.jsonl` | requests that no tool serves, in the form of `queries.jsonl` |
//! | `train_queries.jsonl`, `train_qrels.tsv` | more of the same, for fitting |
//!
//! A malformed line is an [`Error::Line`]. A label of a tool that the catalogue does not hold is
//! left out and reported in [`Dataset::unknown`]: no search could find the tool.

mod label;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use crate::catalog::{Catalog, read};
use crate::tool::ToolId;

pub use label::Unknown;

/// A labelled set over one catalogue.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Name of the folder, with `/train` where the training split was read.
    pub name: String,
    /// The tools asked of.
    pub catalog: Arc<Catalog>,
    /// Labelled requests, in the order of the file.
    pub queries: Vec<Labelled>,
    /// Requests that no tool serves.
    pub negatives: Vec<Text>,
    /// Near-duplicates of each tool, itself included, ascending; empty where it has none.
    pub equivalents: Vec<Vec<ToolId>>,
    /// Labels left out because the catalogue does not hold their tool.
    pub unknown: Vec<Unknown>,
    /// Queries left out because nothing is left of their labels, or they never had one.
    pub unlabelled: Vec<String>,
    /// What the reader of the catalogue had to say.
    pub problems: Vec<read::Problem>,
}

/// A request with an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Unique in its file.
    pub id: String,
    /// The request.
    pub text: String,
    /// Language code; empty where the file does not say.
    pub lang: String,
}

/// A request and what serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The request.
    pub query: Text,
    /// The acceptable tools of each need, ascending. There is at least one need, and none is empty.
    pub needs: Vec<Vec<ToolId>>,
}

/// Which queries of a set are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// `queries.jsonl`: what figures are taken from.
    #[default]
    Test,
    /// `train_queries.jsonl`: what constants may be fitted on.
    Train,
}

/// How a set is read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Catalogue for sets that have no tools of their own; others keep theirs.
    pub catalog: Option<PathBuf>,
    /// Which queries.
    pub split: Split,
    /// At most this many queries, spread evenly over the file.
    pub limit: Option<usize>,
}

impl Dataset {
    /// Reads the set in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Catalogue`] where a file cannot be read, [`Error::Line`] for the
    /// first malformed line, [`Error::NoTools`] for a set without a catalogue and
    /// [`Error::NothingLabelled`] for one without a single label.
    pub fn load(folder: &Path, options: &Options) -> Result<Self, Error> {
        // A folder that is not there is told as such, not as one without tools.
        std::fs::read_dir(folder).map_err(|source| Error::Io {
            path: folder.to_owned(),
            source,
        })?;
        let reading = read::read(&catalogue_of(folder, options)?)?;
        let problems = reading.problems.clone();
        let catalog = Arc::new(reading.into_catalog());
        let (prefix, suffix) = match options.split {
            Split::Test => ("", ""),
            Split::Train => ("train_", "/train"),
        };
        let texts = record::texts(&folder.join(format!("{prefix}queries.jsonl")))?;
        let mut labels = label::Labels::new(&catalog);
        labels.qrels(&folder.join(format!("{prefix}qrels.tsv")), &texts)?;
        labels.needs(&folder.join(format!("{prefix}needs.tsv")), &texts)?;
        let equivalents = labels.equivalents(&folder.join("equiv.tsv"))?;
        let negatives = record::optional_texts(&folder.join("negatives.jsonl"))?;
        let (mut by_query, unknown) = labels.finish();

        let (mut queries, mut unlabelled) = (Vec::new(), Vec::new());
        for query in texts {
            match by_query.remove(&query.id) {
                Some(needs) => queries.push(Labelled { query, needs }),
                None => unlabelled.push(query.id),
            }
        }
        if queries.is_empty() {
            return Err(Error::NothingLabelled {
                folder: folder.to_owned(),
                unlabelled: unlabelled.len(),
                unknown: unknown.len(),
            });
        }
        Ok(Self {
            name: format!("{}{suffix}", name_of(folder)),
            catalog,
            queries: spread(queries, options.limit),
            negatives: spread(negatives, options.limit),
            equivalents,
            unknown,
            unlabelled,
            problems,
        })
    }

    /// The needs of a query with each acceptable tool's near-duplicates added.
    pub fn relaxed(&self, needs: &[Vec<ToolId>]) -> Vec<Vec<ToolId>> {
        let mut relaxed = needs.to_vec();
        for need in &mut relaxed {
            for at in 0..need.len() {
                need.extend_from_slice(&self.equivalents[need[at].index()]);
            }
            need.sort_unstable();
            need.dedup();
        }
        relaxed
    }

    /// The groups of queries that are worth a figure of their own: see [`level`], and
    /// `lang:CODE` for each language, unless it has just the queries of a level. Groups of fewer
    /// than [`MIN_LEVEL`] queries are left out, and so is a lone group.
    pub fn levels(&self) -> BTreeMap<String, Vec<usize>> {
        let mut levels = groups(self.queries.iter().map(|q| level(&q.query.id).to_owned()));
        let mut languages = groups(self.queries.iter().map(|q| match q.query.lang.as_str() {
            "" => String::new(),
            lang => format!("lang:{lang}"),
        }));
        languages.retain(|_, members| !levels.values().any(|level| level == members));
        levels.extend(languages);
        levels
    }
}

/// Queries that a level needs to be shown.
pub const MIN_LEVEL: usize = 5;

fn groups(names: impl Iterator<Item = String>) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, name) in names.enumerate() {
        groups.entry(name).or_default().push(at);
    }
    let alone = groups.len() < 2;
    groups.retain(|name, members| !alone && !name.is_empty() && MIN_LEVEL <= members.len());
    groups
}

/// The level that a query's id names: what stands before the numbers at its end.
///
/// ```
/// use toolscout::eval::dataset::level;
/// assert_eq!(level("L2-17"), "L2");
/// assert_eq!(level("zh-colloquial-01"), "zh-colloquial");
/// assert_eq!(level("live_multiple_2-1-0"), "live_multiple");
/// assert_eq!(level("42"), "");
/// ```
pub fn level(id: &str) -> &str {
    let mut rest = id;
    loop {
        let cut = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = cut.strip_suffix(['-', '_']);
        match stem {
            Some(stem) if cut.len() < rest.len() => rest = stem,
            _ if cut.is_empty() => return "",
            _ => return rest,
        }
    }
}

/// `limit` of `items`, evenly spaced and in order: files are often sorted by level, so the first
/// few would be of one kind.
fn spread<T>(items: Vec<T>, limit: Option<usize>) -> Vec<T> {
    let (count, Some(limit)) = (items.len(), limit) else {
        return items;
    };
    if count <= limit {
        return items;
    }
    let mut kept = Vec::with_capacity(limit);
    for (at, item) in items.into_iter().enumerate() {
        // The at-th item is the first of its stride when at * limit / count steps up here.
        if kept.len() < limit && at * limit / count == kept.len() {
            kept.push(item);
        }
    }
    kept
}

fn catalogue_of(folder: &Path, options: &Options) -> Result<PathBuf, Error> {
    if folder.join("tools.jsonl").is_file() || folder.join("tools").is_dir() {
        return Ok(folder.to_owned());
    }
    options.catalog.clone().ok_or_else(|| Error::NoTools {
        folder: folder.to_owned(),
    })
}

fn name_of(folder: &Path) -> String {
    let full = folder.canonicalize();
    let folder = full.as_deref().unwrap_or(folder);
    folder.file_name().map_or_else(
        || folder.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}
