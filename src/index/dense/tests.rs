//! The scan against the plainest one there is, and the graph against the scan.

use proptest::prelude::*;

use super::*;
use crate::index::fixture::{Noise, clustered, permitted};
use crate::score::{Score, Scored, top_k};

/// Tools with 0 to 3 rows each, some of them avoid-when lines.
fn made_up(tools: usize, dim: usize, seed: u64) -> Dense {
    let mut noise = Noise(seed);
    let (mut owners, mut passages) = (Vec::new(), Vec::new());
    for tool in 0..tools {
        for kind in [Passage::Document, Passage::Example, Passage::AvoidWhen] {
            if noise.below(3) != 0 {
                owners.push(ToolId(tool as u32));
                passages.push(kind);
            }
        }
    }
    let vectors = clustered(owners.len(), dim, &mut noise);
    Dense::new(vectors, owners, passages, tools).unwrap()
}

fn unit(dim: usize, noise: &mut Noise) -> Vec<f32> {
    Vectors::new(dim, noise.vector(dim))
        .unwrap()
        .row(0)
        .to_vec()
}

fn naive(dense: &Dense, query: &[f32], permitted: &Permitted, k: usize) -> Vec<(ToolId, f32)> {
    let mut scored = Vec::new();
    for row in 0..dense.rows() {
        let tool = dense.owner(row);
        if permitted.contains(tool) && dense.passage(row) != Passage::AvoidWhen {
            let score = Score::new(dot(query, dense.vector(row)));
            scored.push(Scored { tool, score });
        }
    }
    scored.sort();
    let mut seen = std::collections::HashSet::new();
    scored.retain(|hit| seen.insert(hit.tool));
    let best = top_k(scored, k).into_iter();
    best.map(|hit| (hit.tool, hit.score.get())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_scan_is_exact(
        seed: u64, tools in 0usize..160, dim in 1usize..80, k in 0usize..20, share in 1usize..6,
    ) {
        let dense = made_up(tools, dim, seed);
        let mut noise = Noise(!seed);
        let permitted = permitted(tools, |_| noise.below(share) == 0);
        let queries: Vec<Vec<f32>> = (0..3).map(|_| unit(dim, &mut noise)).collect();
        let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
        let found = dense.nearest(&queries, &permitted, k, DensePath::Exact).unwrap();
        for (query, nearest) in queries.iter().zip(found) {
            prop_assert_eq!(nearest.hits, naive(&dense, query, &permitted, k));
        }
    }

    #[test]
    fn bounds_hold(seed: u64, dim in 1usize..700) {
        let mut noise = Noise(seed);
        let vectors = clustered(8, dim, &mut noise);
        let coarse = coarse::Coarse::new(&vectors);
        let query = noise.near(vectors.row(0), 0.3);
        let query = Vectors::new(dim, query).unwrap();
        let rough = coarse::Query::new(query.row(0));
        for row in 0..vectors.len() {
            let (low, high) = coarse.bounds(&rough, row);
            let exact = dot(query.row(0), vectors.row(row));
            prop_assert!(low <= exact && exact <= high, "{low} {exact} {high}");
            prop_assert!(high - low < 0.05);
        }
    }

    #[test]
    fn forbidden_tools_do_not_show(seed: u64, tools in 1usize..60, k in 1usize..20) {
        let dense = made_up(tools, 24, seed);
        let mut noise = Noise(!seed);
        let kept: Vec<bool> = (0..tools).map(|_| noise.below(2) == 0).collect();
        let names: Vec<ToolId> = (0..tools as u32).map(ToolId).filter(|t| kept[t.index()]).collect();

        let rows: Vec<usize> = (0..dense.rows()).filter(|&r| kept[dense.owner(r).index()]).collect();
        let data = rows.iter().flat_map(|&row| dense.vector(row)).copied().collect();
        let position = |tool| ToolId(names.binary_search(&tool).unwrap() as u32);
        let without = Dense::new(
            Vectors::from_unit(24, data).unwrap(),
            rows.iter().map(|&row| position(dense.owner(row))).collect(),
            rows.iter().map(|&row| dense.passage(row)).collect(),
            names.len(),
        ).unwrap();

        let query = unit(24, &mut noise);
        let all = permitted(names.len(), |_| true);
        let some = permitted(tools, |tool| kept[tool.index()]);
        let expected = without.nearest(&[&query], &all, k, DensePath::Exact).unwrap();
        let found = dense.nearest(&[&query], &some, k, DensePath::Exact).unwrap();
        let named = expected[0].hits.iter().map(|(tool, cosine)| (names[tool.index()], *cosine));
        prop_assert_eq!(found[0].hits.clone(), named.collect::<Vec<_>>());
    }
}

/// Clustered data, `share` of 10 permitted: hits are permitted, as many as there can be, exactly
/// scored, and nearly always the right ones.
fn check_graph(dense: &Dense, share: usize) {
    let k = 10;
    let tools = dense.tools();
    let allowed = permitted(tools, |tool| tool.index() / 20 % 10 < share);
    let mut noise = Noise(7);
    let (mut right, mut wanted) = (0, 0);
    for _ in 0..100 {
        let row = noise.below(dense.rows());
        let near = noise.near(dense.vector(row), 0.4);
        let query = Vectors::new(dense.dim(), near).unwrap();
        let exact = dense
            .nearest(&[query.row(0)], &allowed, k, DensePath::Exact)
            .unwrap();
        let graph = dense
            .nearest(&[query.row(0)], &allowed, k, DensePath::Hnsw)
            .unwrap();
        let (exact, graph) = (&exact[0], &graph[0]);
        assert_eq!((exact.path, graph.path), (Path::Exact, Path::Graph));
        assert_eq!(exact.hits.len(), graph.hits.len());
        let last = exact.hits[k - 1].1;
        for (tool, cosine) in &graph.hits {
            assert!(allowed.contains(*tool));
            assert_eq!(dense.best_cosine(query.row(0), *tool), Some(*cosine));
            // Of tools with equal vectors any may be found.
            right += usize::from(last <= *cosine);
        }
        wanted += k;
    }
    let recall = right as f64 / wanted as f64;
    assert!(
        0.995 <= recall,
        "recall {recall} at {share} of 10 permitted"
    );
}

#[test]
fn the_graph_finds_what_the_scan_finds() {
    let mut noise = Noise(1);
    let rows = 1600;
    let vectors = clustered(rows, 32, &mut noise);
    let owners = (0..rows as u32).map(|row| ToolId(row / 2)).collect();
    let passages = [Passage::Document, Passage::Example].repeat(rows / 2);
    let dense = Dense::new(vectors, owners, passages, rows / 2).unwrap();
    for share in [10, 5, 1] {
        check_graph(&dense, share);
    }
    let health = dense.graph_health().unwrap();
    assert!(health.usable && health.nodes < rows, "{health:?}");
}

#[test]
fn the_graph_bears_crowds_of_near_duplicates() {
    let mut noise = Noise(2);
    let mut data = Vec::new();
    for _ in 0..8 {
        let centre = noise.vector(32);
        for _ in 0..200 {
            data.extend(noise.near(&centre, 0.001));
        }
    }
    let vectors = Vectors::new(32, data).unwrap();
    let owners = (0..1600).map(ToolId).collect();
    let dense = Dense::new(vectors, owners, vec![Passage::Document; 1600], 1600).unwrap();
    check_graph(&dense, 10);
}

#[test]
fn rows_are_audited() {
    let vectors = || Vectors::new(2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let make = |owners: &[u32], passages: usize| {
        let owners = owners.iter().copied().map(ToolId).collect();
        Dense::new(vectors(), owners, vec![Passage::Document; passages], 2)
    };
    assert!(make(&[0, 1], 2).is_ok());
    for (owners, passages) in [(&[0, 1][..], 1), (&[0], 2), (&[1, 0], 2), (&[0, 2], 2)] {
        assert!(matches!(make(owners, passages), Err(Error::Rows { .. })));
    }
    for bad in [f32::NAN, f32::INFINITY, 0.9, 0.0] {
        assert!(Vectors::from_unit(2, vec![0.0, 1.0, bad, 0.0]).is_err());
    }
}

#[test]
fn queries_are_audited() {
    let dense = made_up(20, 8, 3);
    let all = permitted(20, |_| true);
    let ask = |query: &[f32]| dense.nearest(&[query], &all, 3, DensePath::Auto);
    assert!(matches!(
        ask(&[0.0; 7]),
        Err(Error::Dimension {
            expected: 8,
            found: 7
        })
    ));
    assert!(matches!(ask(&[f32::NAN; 8]), Err(Error::QueryNotFinite)));
    assert_eq!(ask(&[0.0; 8]).unwrap()[0].hits.len(), 3);
}

#[test]
fn ties_go_to_the_first_tool() {
    let vectors = Vectors::new(3, [0.0, 0.6, 0.8].repeat(100)).unwrap();
    let owners = (0..100).map(ToolId).collect();
    let dense = Dense::new(vectors, owners, vec![Passage::Document; 100], 100).unwrap();
    let odd = permitted(100, |tool| tool.0 % 2 == 1);
    for path in [DensePath::Exact, DensePath::Hnsw] {
        let found = dense.nearest(&[&[0.0, 0.0, 1.0]], &odd, 4, path).unwrap();
        let tools: Vec<u32> = found[0].hits.iter().map(|(tool, _)| tool.0).collect();
        assert_eq!(tools, [1, 3, 5, 7], "{path:?}");
    }
}

#[test]
fn no_vectors_no_hits() {
    let dense = Dense::new(Vectors::empty(4), vec![], vec![], 3).unwrap();
    let all = permitted(3, |_| true);
    for path in [DensePath::Exact, DensePath::Hnsw, DensePath::Auto] {
        let found = dense
            .nearest(&[&[1.0, 0.0, 0.0, 0.0]], &all, 5, path)
            .unwrap();
        assert_eq!(found[0].hits, []);
    }
}
