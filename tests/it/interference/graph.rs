//! The nearest vectors, by either way: the exact scan gives the same as if what is forbidden did not
//! exist; the graph gives permitted tools only, and almost the same.

use toolscout::access::{Effect, Policy, Principal, Rule};
use toolscout::catalog::text::Passage;
use toolscout::embed::Vectors;
use toolscout::index::dense::{Dense, DensePath, Nearest, Path};
use toolscout::tool::{Exposure, Json, Risk, SideEffect, Tool, ToolId};

const TOOLS: usize = 3000;
const DIM: usize = 24;
const K: usize = 10;

/// Repeatable noise (splitmix64), in `-1.0..1.0`.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// A vector around `centre`.
    fn near(&mut self, centre: &[f32]) -> Vec<f32> {
        let vector: Vec<f32> = centre.iter().map(|x| x + 0.4 * self.next()).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

fn tool(at: usize, secret: bool) -> Tool {
    Tool {
        key: format!("t{at:05}"),
        namespace: String::new(),
        name: format!("t{at:05}"),
        description: String::new(),
        use_when: vec![],
        avoid_when: vec![],
        examples: vec![],
        input_schema: Json("{\"type\":\"object\"}".into()),
        output_schema: None,
        inputs: vec![],
        outputs: vec![],
        side_effect: SideEffect::Unknown,
        tags: if secret {
            vec!["secret".into()]
        } else {
            vec![]
        },
        aliases: vec![],
        kind: None,
        phases: vec![],
        risk: Risk::Low,
        exposure: Exposure::Deferred,
        required_scopes: vec![],
        tenants: vec![],
        owner: None,
    }
}

fn dense(rows: &[&Vec<f32>]) -> Dense {
    let data = rows.iter().flat_map(|row| row.iter().copied()).collect();
    let owners = (0..rows.len() as u32).map(ToolId).collect();
    let passages = vec![Passage::Document; rows.len()];
    Dense::new(
        Vectors::new(DIM, data).unwrap(),
        owners,
        passages,
        rows.len(),
    )
    .unwrap()
}

fn policy() -> Policy {
    let deny = Rule {
        tags: vec!["secret".into()],
        ..Rule::new(Effect::Deny)
    };
    Policy::new(vec![Rule::new(Effect::Allow), deny]).unwrap()
}

#[test]
fn non_interference_of_the_nearest_vectors() {
    let mut noise = Noise(11);
    let centres: Vec<Vec<f32>> = (0..60)
        .map(|_| (0..DIM).map(|_| noise.next()).collect())
        .collect();
    let rows: Vec<Vec<f32>> = (0..TOOLS).map(|at| noise.near(&centres[at % 60])).collect();
    let queries: Vec<Vec<f32>> = (0..60).map(|at| noise.near(&centres[at])).collect();
    let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
    let whole = dense(&rows.iter().collect::<Vec<_>>());
    let caller = Principal::of_tenant("acme");
    for every in [2, 10, 100] {
        // One tool of so many may be seen.
        let tools: Vec<Tool> = (0..TOOLS).map(|at| tool(at, at % every != 0)).collect();
        let permitted = policy().permit(&caller, &tools);
        let seen: Vec<ToolId> = permitted.iter().collect();
        assert_eq!(seen.len(), TOOLS.div_ceil(every));
        let kept: Vec<&Vec<f32>> = seen.iter().map(|id| &rows[id.index()]).collect();
        let kept_tools: Vec<Tool> = seen.iter().map(|id| tools[id.index()].clone()).collect();
        let without = dense(&kept);
        let all = policy().permit(&caller, &kept_tools);

        let exact = |dense: &Dense, permitted| {
            dense
                .nearest(&queries, permitted, K, DensePath::Exact)
                .unwrap()
        };
        let (on_whole, on_kept) = (exact(&whole, &permitted), exact(&without, &all));
        for (one, other) in on_whole.iter().zip(&on_kept) {
            let renamed = other
                .hits
                .iter()
                .map(|(tool, cosine)| (seen[tool.index()], *cosine));
            assert_eq!(one.hits, renamed.collect::<Vec<_>>());
        }

        let graph = whole
            .nearest(&queries, &permitted, K, DensePath::Hnsw)
            .unwrap();
        let recall = recall(&graph, &on_whole);
        for found in &graph {
            assert!(found.hits.iter().all(|(tool, _)| permitted.contains(*tool)));
            assert_eq!(found.hits.len(), K.min(seen.len()));
        }
        println!("1 of {every} permitted: recall@{K} of the graph {recall:.4}");
        assert!(0.98 < recall, "1 of {every}: {recall}");
    }
}

fn recall(found: &[Nearest], exact: &[Nearest]) -> f64 {
    assert!(found.iter().all(|found| found.path == Path::Graph));
    let mut hits = 0;
    for (found, exact) in found.iter().zip(exact) {
        let held = |tool: &ToolId| found.hits.iter().any(|(own, _)| own == tool);
        hits += exact.hits.iter().filter(|(tool, _)| held(tool)).count();
    }
    hits as f64 / exact.iter().map(|exact| exact.hits.len()).sum::<usize>() as f64
}
