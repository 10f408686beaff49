//! Invariants 2 and 3: what a caller may not see changes nothing that it gets, and the same request
//! gets the same answer.
//!
//! Each case makes up a catalogue with duplicates, near-duplicates and shared rare words, a policy,
//! a caller and requests, and compares what the caller gets on the catalogue with what it gets on the
//! catalogue without the tools it may not see: every bit of a search's answer, and over HTTP status,
//! headers and body, after somebody who sees more has asked the same. Times are left out: how long an
//! answer takes does depend on hidden tools (`cargo bench --bench access` measures how much).
//!
//! A run has 1,000 cases of each kind, from a fixed seed. `PROPTEST_CASES` and `PROPTEST_RNG_SEED`
//! change that; a million of both together are
//!
//! ```text
//! PROPTEST_CASES=500000 PROPTEST_RNG_SEED=1 cargo test --release --test it non_interference
//! ```
//!
//! `tests/mutate.sh` breaks the filter in five places and shows that each is caught.

mod forms;
mod graph;
mod world;

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toolscout::access::{Policy, Principal};
use toolscout::catalog::definition::definition;
use toolscout::embed::hashed::Hashed;
use toolscout::index::{Index, dense::DensePath};
use toolscout::rules::Ruling;
use toolscout::search::{Answer, Config, Detail, Filters, Hints, Query, Request, View, search};
use toolscout::serve::auth::Authentication;
use toolscout::serve::{App, Limits, Parts, mcp, router};
use toolscout::tool::Tool;
use tower::ServiceExt;

use forms::{Form, forms};
use world::{DIMENSION, WORDS, World, words, worlds};

/// Cases of one kind.
const CASES: u32 = 1000;
/// Requests in a world; worlds cost more to make than requests to answer.
const REQUESTS: usize = 4;

fn config() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261_130);
    }
    config
}

fn requests() -> impl Strategy<Value = Request> {
    let text = proptest::collection::vec(0..WORDS.len(), 0..9).prop_map(|at| words(&at, " "));
    let name = proptest::collection::vec(0..WORDS.len(), 1..4).prop_map(|at| words(&at, "_"));
    let query = prop_oneof![
        4 => text.clone().prop_map(Query::text),
        2 => name.clone().prop_map(Query::text),
        1 => (0..24usize).prop_map(|at| Query::text(format!("select:t{at:03},parcel,T001"))),
        1 => (0..24usize).prop_map(|at| Query::text(format!("use t{at:03} for the parcel"))),
        2 => proptest::collection::vec(text.clone(), 1..4).prop_map(|needs| Query {
            needs,
            ..Query::default()
        }),
        1 => (text.clone(), name).prop_map(|(text, hint)| Query {
            text,
            needs: vec![],
            hints: Hints { namespace: Some("logistics".into()), tool: Some(hint) },
        }),
        2 => (text.clone(), text)
            .prop_map(|(a, b)| Query::text(format!("{a}, and then send \"{b}\". 然后查询{a}"))),
    ];
    (
        query,
        1..8usize,
        prop_oneof![Just(None), Just(Some(0.0)), Just(Some(0.6))],
        any::<bool>(),
    )
        .prop_map(|(query, limit, threshold, narrow)| Request {
            query,
            limit,
            threshold,
            filters: if narrow {
                Filters {
                    namespaces: vec!["logistics".into(), "crm".into()],
                    ..Filters::default()
                }
            } else {
                Filters::default()
            },
            dense: DensePath::Auto,
            ruling: Ruling::default(),
            detail: Detail::Explained,
        })
}

/// Everything a caller gets, with keys in place of positions and floats to the last bit.
fn rendered(index: &Index, policy: &Policy, principal: &Principal, request: &Request) -> String {
    let permitted = policy.permit(principal, index.catalog.tools());
    let view = View::new(index, permitted);
    let answer = search(
        index,
        Some(&Hashed::new(DIMENSION)),
        &view,
        request,
        &Config::shipped(),
    )
    .unwrap();
    let key = |id| -> &Tool { index.catalog.tool(id) };
    let mut out = format!("{}\n", index.etag(&view.permitted));
    let Answer {
        hits,
        no_match,
        confidence,
        features,
        truncated,
        unserved,
        arms,
        used_graph,
        model_fault,
    } = answer;
    for hit in hits {
        let variants: Vec<&str> = hit
            .variants
            .iter()
            .map(|id| key(*id).key.as_str())
            .collect();
        let _ = writeln!(
            out,
            "{} {:x} {:?} {variants:?} {:?} {}",
            key(hit.tool).key,
            hit.score.to_bits(),
            hit.needs,
            hit.explanation,
            definition(key(hit.tool)).as_str()
        );
    }
    assert_eq!(model_fault, None);
    if let Some(no_match) = no_match {
        let near: Vec<&str> = no_match
            .near
            .iter()
            .map(|id| key(*id).key.as_str())
            .collect();
        let _ = writeln!(out, "{:?} {} {near:?}", no_match.reason, no_match.advice);
    }
    let _ = writeln!(
        out,
        "{:x} {features:?} {truncated} {unserved:?} {arms:?} {used_graph}",
        confidence.to_bits()
    );
    for namespace in &view.namespaces {
        let name = &index.catalog.namespace(namespace.id).name;
        let _ = writeln!(out, "{name} {} {:?}", namespace.tools, namespace.words);
    }
    out
}

/// What a caller gets: status, headers but for times, and body.
type Got = (StatusCode, HeaderMap, Vec<u8>);

async fn got(service: &Router, form: &Form, etag: Option<&str>) -> Got {
    let response = service.clone().oneshot(form.request(etag)).await.unwrap();
    let (mut parts, body) = response.into_parts();
    parts.headers.remove("server-timing");
    let bytes = body.collect().await.unwrap().to_bytes();
    (parts.status, parts.headers, bytes.to_vec())
}

fn app(world: &World, index: Index) -> App {
    App::new(Parts {
        index: Arc::new(index),
        policy: Arc::new(world.policy()),
        embedder: Some(Arc::new(Hashed::new(DIMENSION))),
        config: Config::shipped(),
        authentication: Authentication::Open(world.caller.clone()),
        limits: Limits::for_cores(2),
        mcp: mcp::Options::default(),
    })
    .unwrap()
}

/// What the caller gets for each request; `before` asks the same first, and may see more.
async fn answers(app: &App, caller: &Principal, forms: &[Form], before: &Principal) -> Vec<Got> {
    let service = router(app.clone());
    let becomes = |principal: &Principal| {
        let open = Authentication::Open(principal.clone());
        app.publish_authentication(open).unwrap();
    };
    let mut answers = Vec::new();
    for form in forms {
        becomes(before);
        got(&service, form, None).await;
        becomes(caller);
        let answer = got(&service, form, None).await;
        let etag = answer.1.get("etag").filter(|_| form.again).cloned();
        answers.push(answer);
        if let Some(etag) = etag.as_ref().and_then(|etag| etag.to_str().ok()) {
            answers.push(got(&service, form, Some(etag)).await);
        }
    }
    answers
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn non_interference_of_answers(world in worlds(), request in requests()) {
        let whole = world.whole();
        let without = world.without_forbidden(&whole);
        let (policy, caller) = (world.policy(), &world.caller);
        prop_assert_eq!(
            rendered(&whole, &policy, caller, &request),
            rendered(&without, &policy, caller, &request)
        );
    }

    #[test]
    fn non_interference_of_every_request(
        world in worlds(),
        forms in proptest::collection::vec(forms(), REQUESTS),
    ) {
        let whole = world.whole();
        let without = world.without_forbidden(&whole);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (one, other) = runtime.block_on(async {
            let (whole, without) = (app(&world, whole), app(&world, without));
            (
                answers(&whole, &world.caller, &forms, &world.root()).await,
                answers(&without, &world.caller, &forms, &world.caller).await,
            )
        });
        for (one, other) in one.iter().zip(&other) {
            let text = |got: &Got| format!("{} {:?} {}", got.0, got.1, String::from_utf8_lossy(&got.2));
            prop_assert_eq!(text(one), text(other));
        }
        prop_assert_eq!(one.len(), other.len());
    }
}

proptest! {
    #[test]
    fn answers_are_deterministic(world in worlds(), request in requests()) {
        let (whole, reversed) = (world.whole(), world.reversed());
        // Of tools with the same key the one that is read first stays.
        prop_assume!(whole.definition_hashes == reversed.definition_hashes);
        let (policy, caller) = (world.policy(), &world.caller);
        prop_assert_eq!(
            rendered(&whole, &policy, caller, &request),
            rendered(&reversed, &policy, caller, &request)
        );
    }
}
