//! The graph: nearest rows without looking at all of them. The only file that names hnsw_rs.
//!
//! hnsw_rs 0.3.5 has faults that would show in answers, so it is held at arm's length:
//!
//! - Equal vectors, and vectors that arrive clustered, leave nodes that no search reaches. Here equal
//!   vectors share a node, nodes are inserted in a shuffled order, and after the build every node is
//!   searched for: those not found are scanned exactly beside the graph.
//! - It asserts on distances below zero and can panic. Here the distance is clamped, and a panic
//!   makes the caller scan.
//! - Its distances are taken as a hint only: what it finds is scored again from the vectors.
//! - Its files end the process when they are damaged. Here they are not used: the graph is built
//!   from the vectors, in the background.
//!
//! Levels are drawn from the system's randomness, so two builds may differ in their last percent of
//! recall; within one build answers are the same every time.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hnsw_rs::prelude::{Distance, Hnsw};
use rayon::prelude::*;

use super::{Dense, GraphHealth, dot, exact};
use crate::access::Permitted;
use crate::catalog::text::Passage;
use crate::tool::ToolId;

/// Neighbours of a node; more cost memory and gained nothing on clustered vectors.
const NEIGHBOURS: usize = 24;
/// Candidates held while a node is inserted.
const EF_BUILD: usize = 200;
/// Candidates held in a search, at least: with few a filter leaves nothing.
const EF_MIN: usize = 96;
/// Candidates held for each row wanted.
const EF_PER_ROW: usize = 2;
/// Candidates held when a node is searched for by its own vector.
const EF_AUDIT: usize = 48;
/// Rows fetched beyond those that the wanted tools have on average.
const FETCH_MORE: usize = 32;
/// A graph that leaves out more than one node in so many is not worth having.
const MAX_LEFT_OUT: usize = 4;
/// Layers; the library's limit.
const LAYERS: usize = 16;
/// Fixed, so that the order of insertion is the same every time.
const SHUFFLE_SEED: u64 = 0x746f_6f6c_7363_6f75;

/// A graph over the distinct vectors of all rows that speak for their tool.
pub(super) struct Graph {
    /// None where there is nothing in it or the build failed: every search says so.
    hnsw: Option<Hnsw<'static, f32, Angular>>,
    nodes: Nodes,
    /// Nodes that the graph does not lead to.
    left_out: Vec<usize>,
    /// Rows that a tool has on average, at least 1.
    rows_per_tool: usize,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph")
            .field("nodes", &self.nodes.len())
            .field("left_out", &self.left_out.len())
            .finish_non_exhaustive()
    }
}

/// `1 - cosine`, never below zero.
#[derive(Debug, Clone, Copy)]
struct Angular;

impl Distance<f32> for Angular {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - dot(a, b)).max(0.0)
    }
}

/// Rows by distinct vector.
struct Nodes {
    /// Rows node by node.
    rows: Vec<u32>,
    /// End of each node's rows.
    ends: Vec<u32>,
}

impl Nodes {
    fn of(dense: &Dense) -> Self {
        let mut node_of: HashMap<&[u8], usize> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        for row in 0..dense.rows() {
            if dense.passages[row] == Passage::AvoidWhen {
                continue;
            }
            let bytes = bytemuck::cast_slice(dense.vector(row));
            let node = *node_of.entry(bytes).or_insert(members.len());
            if node == members.len() {
                members.push(Vec::new());
            }
            members[node].push(row as u32);
        }
        let mut ends = Vec::with_capacity(members.len());
        let mut rows = Vec::with_capacity(dense.rows());
        for node in members {
            rows.extend(node);
            ends.push(rows.len() as u32);
        }
        Self { rows, ends }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn rows(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        let rows = &self.rows[start as usize..self.ends[node] as usize];
        rows.iter().map(|&row| row as usize)
    }

    fn vector<'a>(&self, dense: &'a Dense, node: usize) -> &'a [f32] {
        dense.vector(self.rows[self.ends[node] as usize - 1] as usize)
    }
}

impl Graph {
    /// Builds on all cores of the rayon pool it is called in.
    pub(super) fn build(dense: &Dense) -> Self {
        let nodes = Nodes::of(dense);
        let rows_per_tool = nodes.rows.len().div_ceil(dense.tools().max(1)).max(1);
        let built = (0 < nodes.len())
            .then(|| catch_unwind(AssertUnwindSafe(|| insert(dense, &nodes))).ok())
            .flatten();
        let mut graph = Self {
            hnsw: built,
            left_out: Vec::new(),
            nodes,
            rows_per_tool,
        };
        graph.left_out = graph.unreachable(dense);
        if graph.nodes.len() < graph.left_out.len() * MAX_LEFT_OUT {
            graph.hnsw = None;
        }
        graph
    }

    pub(super) fn health(&self) -> GraphHealth {
        GraphHealth {
            nodes: self.nodes.len(),
            left_out: self.left_out.len(),
            usable: self.hnsw.is_some(),
        }
    }

    /// The `k` nearest permitted tools with their exact cosines, best first; none where the graph
    /// cannot tell, and the caller has to scan.
    pub(super) fn nearest(
        &self,
        dense: &Dense,
        query: &[f32],
        permitted: &Permitted,
        k: usize,
    ) -> Option<Vec<(ToolId, f32)>> {
        let fetch = (k * self.rows_per_tool + FETCH_MORE).min(self.nodes.len());
        let everything = permitted.len() == dense.tools();
        let visible = |node: usize| {
            everything
                || self
                    .nodes
                    .rows(node)
                    .any(|row| permitted.contains(dense.owners[row]))
        };
        let found = self.search(query, fetch, (!everything).then_some(&visible))?;
        let mut tools: Vec<ToolId> = found
            .into_iter()
            .chain(self.left_out.iter().copied())
            .flat_map(|node| self.nodes.rows(node))
            .map(|row| dense.owners[row])
            .filter(|tool| permitted.contains(*tool))
            .collect();
        tools.sort_unstable();
        tools.dedup();
        let hits = exact::rescore(dense, query, &tools, k);
        (hits.len() == k).then_some(hits)
    }

    /// At most `count` nodes near `vector`, nearest first.
    fn search(
        &self,
        vector: &[f32],
        count: usize,
        visible: Option<&dyn Fn(usize) -> bool>,
    ) -> Option<Vec<usize>> {
        let hnsw = self.hnsw.as_ref()?;
        let ef = (count * EF_PER_ROW).max(EF_MIN);
        let found = catch_unwind(AssertUnwindSafe(|| match visible {
            Some(visible) => {
                let filter = |node: &usize| visible(*node);
                hnsw.search_filter(vector, count, ef, Some(&filter))
            }
            None => hnsw.search(vector, count, ef),
        }))
        .ok()?;
        Some(found.into_iter().map(|near| near.d_id).collect())
    }

    fn unreachable(&self, dense: &Dense) -> Vec<usize> {
        let Some(hnsw) = &self.hnsw else {
            return Vec::new();
        };
        let reached = |node: &usize| {
            let vector = self.nodes.vector(dense, *node);
            let search = || hnsw.search(vector, EF_AUDIT, EF_AUDIT);
            catch_unwind(AssertUnwindSafe(search))
                .is_ok_and(|found| found.iter().any(|near| near.d_id == *node))
        };
        (0..self.nodes.len())
            .into_par_iter()
            .filter(|node| !reached(node))
            .collect()
    }
}

fn insert(dense: &Dense, nodes: &Nodes) -> Hnsw<'static, f32, Angular> {
    let mut hnsw = Hnsw::new(NEIGHBOURS, nodes.len(), LAYERS, EF_BUILD, Angular);
    let shuffled: Vec<(&[f32], usize)> = shuffled(nodes.len())
        .into_iter()
        .map(|node| (nodes.vector(dense, node), node))
        .collect();
    hnsw.parallel_insert_slice(&shuffled);
    hnsw.set_searching_mode(true);
    hnsw
}

/// `0..count` in an order that has nothing to do with it: Fisher and Yates, by splitmix64.
fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = SHUFFLE_SEED;
    for at in (1..count).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        order.swap(at, (z % (at as u64 + 1)) as usize);
    }
    order
}
