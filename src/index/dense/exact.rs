//! The exact scan over all rows of all permitted tools.
//!
//! Two passes: bounds from the [coarse](super::coarse) rows say which tools can be among the
//! nearest, and those are scored from their full vectors. The answer is that of scoring all of
//! them, bit for bit.

use rayon::prelude::*;

use super::coarse::Query;
use super::{Dense, Nearest, Path};
use crate::access::Permitted;
use crate::catalog::text::Passage;
use crate::score::{Score, Scored, top_k};
use crate::tool::ToolId;

/// Tools a thread takes at a time.
const CHUNK: usize = 1024;

/// With fewer rows to compare, starting threads costs more than they save.
const MIN_PARALLEL: usize = 16_384;

/// With fewer tools for each one wanted, bounds do not pass over enough of them.
const MIN_TOOLS_PER_HIT: usize = 4;

/// The nearest tools of each query; every query is a vector of this space.
pub(super) fn nearest(
    dense: &Dense,
    queries: &[&[f32]],
    permitted: &Permitted,
    k: usize,
) -> Vec<Nearest> {
    let tools: Vec<ToolId> = permitted
        .iter()
        .filter(|&tool| !dense.rows_of(tool).is_empty())
        .collect();
    let candidates = if tools.len() <= k.saturating_mul(MIN_TOOLS_PER_HIT) {
        vec![tools; queries.len()]
    } else {
        candidates(dense, queries, &tools, k)
    };
    let hits = queries
        .iter()
        .zip(candidates)
        .map(|(query, candidates)| Nearest {
            hits: rescore(dense, query, &candidates, k),
            path: Path::Exact,
        });
    hits.collect()
}

/// The `k` best of `candidates` by their best row's cosine, best first.
pub(super) fn rescore(
    dense: &Dense,
    query: &[f32],
    candidates: &[ToolId],
    k: usize,
) -> Vec<(ToolId, f32)> {
    let scored = candidates.iter().filter_map(|&tool| {
        let score = Score::new(dense.best_cosine(query, tool)?);
        Some(Scored { tool, score })
    });
    top_k(scored.collect(), k)
        .into_iter()
        .map(|hit| (hit.tool, hit.score.get()))
        .collect()
}

/// For each query the tools, ascending, that can be among the `k` nearest.
fn candidates(dense: &Dense, queries: &[&[f32]], tools: &[ToolId], k: usize) -> Vec<Vec<ToolId>> {
    let queries: Vec<Query> = queries.iter().map(|query| Query::new(query)).collect();
    let rows = tools.len() * dense.rows() / dense.tools().max(1);
    let scan = |tools: &[ToolId]| scan(dense, &queries, tools, k);
    let chunks: Vec<Vec<Bounds>> = if rows * queries.len() < MIN_PARALLEL {
        vec![scan(tools)]
    } else {
        tools.par_chunks(CHUNK).map(scan).collect()
    };
    (0..queries.len())
        .map(|query| {
            let mut floor = Floor::new(k);
            for low in chunks.iter().flat_map(|chunk| &chunk[query].lows) {
                floor.push(*low);
            }
            let floor = floor.get();
            let highs = chunks.iter().flat_map(|chunk| &chunk[query].highs);
            let reach = tools.iter().zip(highs).filter(|(_, high)| floor <= **high);
            reach.map(|(tool, _)| *tool).collect()
        })
        .collect()
}

/// Bounds of one query over a run of tools.
struct Bounds {
    /// The upper bound of each tool.
    highs: Vec<f32>,
    /// The greatest lower bounds, as many as hits are wanted, in no order.
    lows: Vec<f32>,
}

fn scan(dense: &Dense, queries: &[Query], tools: &[ToolId], k: usize) -> Vec<Bounds> {
    let mut highs: Vec<Vec<f32>> = vec![Vec::with_capacity(tools.len()); queries.len()];
    let mut floors: Vec<Floor> = queries.iter().map(|_| Floor::new(k)).collect();
    for &tool in tools {
        for (at, query) in queries.iter().enumerate() {
            let (mut low, mut high) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
            for row in dense.rows_of(tool) {
                if dense.passages[row] != Passage::AvoidWhen {
                    let bounds = dense.coarse.bounds(query, row);
                    low = low.max(bounds.0);
                    high = high.max(bounds.1);
                }
            }
            highs[at].push(high);
            floors[at].push(low);
        }
    }
    let bounds = highs.into_iter().zip(floors);
    bounds
        .map(|(highs, floor)| Bounds {
            highs,
            lows: floor.kept,
        })
        .collect()
}

/// The `k` greatest of the numbers pushed, at a comparison for most of them.
struct Floor {
    k: usize,
    kept: Vec<f32>,
    /// Numbers below it are none of the `k` greatest.
    least: f32,
}

impl Floor {
    fn new(k: usize) -> Self {
        Self {
            k,
            kept: Vec::new(),
            least: f32::NEG_INFINITY,
        }
    }

    fn push(&mut self, number: f32) {
        if self.least <= number {
            self.kept.push(number);
            if self.kept.len() == 2 * self.k + 16 {
                self.prune();
            }
        }
    }

    fn prune(&mut self) {
        if let Some(last) = self.k.checked_sub(1).filter(|last| *last < self.kept.len()) {
            let (_, least, _) = self
                .kept
                .select_nth_unstable_by(last, |a, b| b.total_cmp(a));
            self.least = *least;
            self.kept.truncate(self.k);
        }
    }

    /// The `k`-th greatest; below everything, where there are not so many.
    fn get(mut self) -> f32 {
        self.prune();
        self.least
    }
}
