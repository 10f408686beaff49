//! The graph.

#[derive(Debug)]
pub(super) struct Graph;
