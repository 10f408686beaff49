//! The exact scan: every row of every permitted tool.

use super::{Dense, Nearest, Path};
use crate::access::Permitted;
use crate::score::{Score, Scored, top_k};

pub(super) fn nearest(
    dense: &Dense,
    queries: &[&[f32]],
    permitted: &Permitted,
    k: usize,
) -> Vec<Nearest> {
    queries
        .iter()
        .map(|query| {
            let scored = permitted
                .iter()
                .filter_map(|tool| {
                    let score = Score::new(dense.best_cosine(query, tool)?);
                    Some(Scored { tool, score })
                })
                .collect();
            Nearest {
                hits: top_k(scored, k)
                    .into_iter()
                    .map(|hit| (hit.tool, hit.score.get()))
                    .collect(),
                path: Path::Exact,
            }
        })
        .collect()
}
