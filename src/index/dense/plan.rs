//! Which way to take to the nearest tools.

use super::Dense;
use crate::access::Permitted;

/// The way a caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DensePath {
    /// Whichever is faster by measurement.
    #[default]
    Auto,
    /// The exact scan.
    Exact,
    /// The graph, built if need be.
    Hnsw,
}

/// The way that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Path {
    /// Every permitted tool was looked at.
    Exact,
    /// The graph was followed, its finds re-scored exactly.
    Graph,
}

/// Up to so many permitted tools the scan is exact whatever else holds: it takes some milliseconds,
/// and its answers depend on nothing but the permitted tools.
const ALWAYS_EXACT: usize = 20_000;

/// A filtered graph search costs about 0.7 ms over the permitted share, a scan about 0.1 us a row,
/// so they cost the same at the square root of this many times the rows (see `benches/dense.rs`).
const BREAK_EVEN: usize = 8_000;

/// Below this permitted share the walk over forbidden nodes outweighs everything.
const MIN_SHARE: f64 = 0.2;

/// Whether the graph is the faster way, if it is there.
pub(super) fn graph_pays(dense: &Dense, permitted: &Permitted) -> bool {
    is_many(dense, permitted.len()) && MIN_SHARE * dense.tools() as f64 <= permitted.len() as f64
}

/// Whether the graph is the faster way for somebody.
pub(super) fn graph_could_pay(dense: &Dense) -> bool {
    is_many(dense, dense.tools())
}

fn is_many(dense: &Dense, permitted: usize) -> bool {
    let break_even = ((BREAK_EVEN * dense.rows()) as f64).sqrt() as usize;
    ALWAYS_EXACT.max(break_even) < permitted
}
