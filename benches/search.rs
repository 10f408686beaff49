//! What a request costs apart from its embedding.
//!
//! Measured: analysing a text, word scores, the exact scan, and a whole search, on the demo
//! catalogue repeated to 228, 2,280 and 22,800 tools, with an embedder that only hashes. Nothing is
//! random. Run with `cargo bench --bench search`.

#![expect(
    clippy::panic,
    reason = "a bench that cannot be set up has nothing to measure"
)]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use toolscout::access::{Policy, Principal};
use toolscout::catalog::{Catalog, read};
use toolscout::embed::{Embedder, Side, hashed::Hashed};
use toolscout::index::analyze::analyze;
use toolscout::index::{Index, build::build, dense::DensePath};
use toolscout::search::{Config, Request, View, search};

const REQUEST: &str = "refund the customer for invoice 4711, and then tell the team about it";
const DIMENSION: usize = 512;

/// The demo catalogue `copies` times over, each copy under keys of its own.
fn index(copies: usize) -> Index {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo/tools");
    let Ok(reading) = read::read(&folder) else {
        panic!("the demo catalogue is part of the repository");
    };
    let mut tools = Vec::new();
    for copy in 0..copies {
        for tool in &reading.tools {
            let mut tool = tool.clone();
            tool.key = format!("{copy}/{}", tool.key);
            tools.push(tool);
        }
    }
    let catalog = Catalog::new(tools, reading.namespaces);
    match build(Arc::new(catalog), &Hashed::new(DIMENSION), &|_| {}) {
        Ok(index) => index,
        Err(error) => panic!("{error}"),
    }
}

fn searches(criterion: &mut Criterion) {
    criterion.bench_function("analyze a request", |bencher| {
        bencher.iter(|| analyze(black_box(REQUEST)));
    });
    let embedder = Hashed::new(DIMENSION);
    let config = Config::shipped();
    let request = Request::new(REQUEST, 5);
    for copies in [1, 10, 100] {
        let index = index(copies);
        let permitted = Policy::open("a measurement")
            .permit(&Principal::of_tenant("northlight"), index.catalog.tools());
        let view = View::new(&index, permitted);
        let tools = view.permitted.len();
        let Ok(vectors) = embedder.embed(Side::Query, &[REQUEST.to_owned()]) else {
            panic!("hashing does not fail");
        };
        criterion.bench_with_input(BenchmarkId::new("exact scan", tools), &(), |bencher, ()| {
            bencher.iter(|| {
                let nearest = index.dense.nearest(
                    &[vectors.row(0)],
                    &view.permitted,
                    black_box(10),
                    DensePath::Exact,
                );
                black_box(nearest.is_ok())
            });
        });
        criterion.bench_with_input(BenchmarkId::new("search", tools), &(), |bencher, ()| {
            bencher.iter(|| {
                let answer = search(&index, Some(&embedder), &view, black_box(&request), &config);
                black_box(answer.is_ok())
            });
        });
    }
}

criterion_group!(benches, searches);
criterion_main!(benches);
