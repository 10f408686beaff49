//! What permission costs: laying a policy over a catalogue, a principal's permitted set, and what a
//! search among forbidden tools costs over one without them.
//!
//! Measured: 51 rules and 100,000 tools made up from the demo catalogue, without a model. The last
//! group tells how much the time of an answer, which is out of non-interference's scope, gives away.
//! Nothing is random. Run with `cargo bench --bench access`.

#![expect(
    clippy::panic,
    reason = "a bench that cannot be set up has nothing to measure"
)]
#![expect(clippy::print_stdout, reason = "memory is a figure of this bench")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use toolscout::access::{Effect, Policy, Principal, Rule};
use toolscout::catalog::{Catalog, read};
use toolscout::embed::hashed::Hashed;
use toolscout::index::{Index, build::build};
use toolscout::search::{Config, Request, View, search};
use toolscout::tool::{SideEffect, Tool};

const RULES: usize = 51;
const TOOLS: usize = 100_000;
const ROLES: usize = 17;

/// The demo catalogue as often as it takes, each copy in namespaces of its own.
fn tools(count: usize) -> Vec<Tool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo/tools");
    let Ok(reading) = read::read(&folder) else {
        panic!("the demo catalogue is part of the repository");
    };
    let copied = (0..).flat_map(|copy| reading.tools.iter().map(move |tool| (copy, tool)));
    let named = copied.take(count).map(|(copy, tool)| Tool {
        key: format!("team{copy}/{}", tool.key),
        namespace: format!("team{copy}/{}", tool.namespace),
        ..tool.clone()
    });
    let mut tools: Vec<Tool> = named.collect();
    tools.sort_by(|a, b| a.key.cmp(&b.key));
    tools
}

/// Rules of every sort: by namespace, by key, by tag, by side effect; two of three allow.
fn policy() -> Policy {
    let rule = |at: usize| {
        let mut rule = Rule::new(if at % 3 == 2 {
            Effect::Deny
        } else {
            Effect::Allow
        });
        rule.roles = vec![format!("role{}", at % ROLES)];
        match at % 4 {
            0 => rule.namespaces = vec![format!("team{}*", at % 10), "*/crm".to_owned()],
            1 => rule.tools = vec!["*/orders/get_*".to_owned(), format!("team{at}/*")],
            2 => rule.tags = vec!["billing".to_owned(), "pii".to_owned()],
            _ => rule.side_effects = vec![SideEffect::Read],
        }
        rule
    };
    match Policy::new((0..RULES).map(rule).collect()) {
        Ok(policy) => policy,
        Err(error) => panic!("{error}"),
    }
}

fn principal(number: usize) -> Principal {
    let mut principal = Principal::of_tenant("northlight");
    for bit in (0..ROLES).filter(|bit| (number >> bit) & 1 == 1) {
        principal.roles.insert(format!("role{bit}"));
    }
    principal
}

fn permissions(criterion: &mut Criterion) {
    let tools = tools(TOOLS);
    let policy = policy();
    criterion.bench_function("51 rules over 100,000 tools", |bencher| {
        bencher.iter(|| black_box(policy.over(black_box(&tools))));
    });
    let rights = policy.over(&tools);
    let megabytes = rights.bytes() as f64 / 1e6;
    println!("memory of 51 rules over 100,000 tools: {megabytes:.2} MB");
    let caller = principal(0b1_0110_1101);
    println!("permitted: {} tools", rights.of(&caller).len());
    criterion.bench_function("permitted set, principal of a known kind", |bencher| {
        bencher.iter(|| black_box(rights.of(black_box(&caller))));
    });
    let mut number = 0;
    criterion.bench_function("permitted set, principal of a new kind", |bencher| {
        bencher.iter(|| {
            number += 1;
            black_box(rights.of(&principal(number)))
        });
    });
}

fn index(tools: Vec<Tool>) -> Index {
    match build(
        Arc::new(Catalog::new(tools, Vec::new())),
        &Hashed::new(64),
        &|_| {},
    ) {
        Ok(index) => index,
        Err(error) => panic!("{error}"),
    }
}

/// The same 1,000 permitted tools, alone and among others that are forbidden.
fn timing(criterion: &mut Criterion) {
    let allow = Rule {
        tools: vec!["team[0-3]/*".to_owned()],
        ..Rule::new(Effect::Allow)
    };
    let Ok(policy) = Policy::new(vec![allow]) else {
        panic!("a constant rule");
    };
    let caller = Principal::of_tenant("northlight");
    let embedder = Hashed::new(64);
    let request = Request::new("refund the customer for invoice 4711", 5);
    for others in [0, 9_000, 99_000] {
        let mut all = tools(1_000 + others);
        if others == 0 {
            all.retain(|tool| {
                ["team0/", "team1/", "team2/", "team3/"]
                    .iter()
                    .any(|t| tool.key.starts_with(t))
            });
        }
        let index = index(all);
        let view = View::new(&index, policy.permit(&caller, index.catalog.tools()));
        let id = BenchmarkId::new("search among forbidden", others);
        criterion.bench_with_input(id, &(), |bencher, ()| {
            bencher.iter(|| {
                let answer = search(&index, Some(&embedder), &view, &request, &Config::shipped());
                black_box(answer.is_ok())
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(4));
    targets = permissions, timing
}
criterion_main!(benches);
