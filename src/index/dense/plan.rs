//! Which way to take to the nearest tools.

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
