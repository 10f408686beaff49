//! Invariants 2 and 3: what a caller may not see changes nothing that it gets, and the same request
//! gets the same answer.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use toolscout::access::{Effect, Policy, Principal, Rule};
use toolscout::catalog::{Catalog, definition::definition, read};
use toolscout::embed::hashed::Hashed;
use toolscout::index::{Index, build::build, dense::DensePath};
use toolscout::rules::Ruling;
use toolscout::search::{Answer, Config, Detail, Filters, Hints, Query, Request, View, search};
use toolscout::tool::Tool;

/// Few words, so that tools share rare ones, repeat each other and are near-duplicates.
const WORDS: [&str; 14] = [
    "parcel", "track", "order", "refund", "weather", "city", "查询", "快递", "订单", "天气",
    "invoice", "send", "message", "zebra",
];
const NAMESPACES: [&str; 4] = ["", "logistics", "crm", "weather-station"];

#[derive(Debug, Clone)]
struct Draft {
    namespace: usize,
    name: Vec<usize>,
    description: Vec<usize>,
    use_when: Vec<usize>,
    avoid_when: Vec<usize>,
    secret: bool,
}

fn words(indices: &[usize], between: &str) -> String {
    let words: Vec<&str> = indices.iter().map(|at| WORDS[*at]).collect();
    words.join(between)
}

fn tool(number: usize, draft: &Draft) -> String {
    let tags = if draft.secret { "secret" } else { "plain" };
    serde_json::json!({
        "id": format!("t{number:03}"),
        "namespace": NAMESPACES[draft.namespace],
        "name": words(&draft.name, "_"),
        "description": words(&draft.description, " "),
        "use_when": [words(&draft.use_when, " ")],
        "avoid_when": [words(&draft.avoid_when, " ")],
        "tags": [tags],
        "side_effect": if number.is_multiple_of(2) { "read" } else { "write" },
    })
    .to_string()
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let some = |range| proptest::collection::vec(0..WORDS.len(), range);
    let draft = (
        0..NAMESPACES.len(),
        some(1..4),
        some(0..8),
        some(0..5),
        some(0..4),
        any::<bool>(),
    )
        .prop_map(
            |(namespace, name, description, use_when, avoid_when, secret)| Draft {
                namespace,
                name,
                description,
                use_when,
                avoid_when,
                secret,
            },
        );
    proptest::collection::vec(draft, 1..24)
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

fn index(lines: &[String]) -> Index {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n")).unwrap();
    let catalog: Catalog = read::read(file.path()).unwrap().into_catalog();
    build(Arc::new(catalog), &Hashed::new(64), &|_| {}).unwrap()
}

fn without_secrets() -> Policy {
    let rule = |effect, tags: &[&str]| Rule {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Rule::new(effect)
    };
    Policy::new(vec![
        rule(Effect::Allow, &[]),
        rule(Effect::Deny, &["secret"]),
    ])
    .unwrap()
}

/// Everything a caller gets, with keys in place of positions and floats to the last bit.
fn rendered(index: &Index, policy: &Policy, request: &Request) -> String {
    let principal = Principal::of_tenant("acme");
    let permitted = policy.permit(&principal, index.catalog.tools());
    let view = View::new(index, permitted);
    let answer = search(
        index,
        Some(&Hashed::new(64)),
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

proptest! {
    #[test]
    fn non_interference_of_answers(drafts in drafts(), request in requests()) {
        let lines: Vec<String> = drafts.iter().enumerate().map(|(at, d)| tool(at, d)).collect();
        let visible: Vec<String> = drafts
            .iter()
            .zip(&lines)
            .filter(|(draft, _)| !draft.secret)
            .map(|(_, line)| line.clone())
            .collect();
        let policy = without_secrets();
        prop_assert_eq!(
            rendered(&index(&lines), &policy, &request),
            rendered(&index(&visible), &policy, &request)
        );
    }

    #[test]
    fn answers_are_deterministic(drafts in drafts(), request in requests()) {
        let lines: Vec<String> = drafts.iter().enumerate().map(|(at, d)| tool(at, d)).collect();
        let mut shuffled = lines.clone();
        shuffled.reverse();
        let policy = without_secrets();
        prop_assert_eq!(
            rendered(&index(&lines), &policy, &request),
            rendered(&index(&shuffled), &policy, &request)
        );
    }
}
