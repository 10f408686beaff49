//! Scores against the plainest scorer there is, and statistics that know of nothing hidden.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::access::Permitted;
use crate::catalog::{Catalog, fixture, text};
use crate::index::analyze::{TokenKind, analyze};
use crate::index::fixture::{Noise, permitted};
use crate::tool::{Namespace, Parameter, Tool};

const WORDS: [&str; 14] = [
    "order",
    "orders",
    "parcel",
    "get",
    "list_orders",
    "trackParcel",
    "GitHub",
    "screen",
    "shot",
    "查询",
    "快递物流",
    "订单",
    "the",
    "42",
];

const CONFIG: Bm25f = Bm25f {
    k1: 1.2,
    b: [0.75, 0.5, 0.75, 0.6, 0.9, 0.0, 1.0, 0.75, 0.3],
    weight: [1.8, 1.7, 1.0, 0.8, 0.3, 0.5, 0.3, 1.0, 0.9],
};

fn phrase(noise: &mut Noise, most: usize) -> String {
    let words = (0..noise.below(most + 1)).map(|_| WORDS[noise.below(WORDS.len())]);
    words.collect::<Vec<_>>().join(" ")
}

fn random_tools(count: usize, noise: &mut Noise) -> Vec<Tool> {
    (0..count)
        .map(|at| {
            let namespace = ["", "orders", "parcel_desk"][noise.below(3)];
            let mut tool = fixture::tool(namespace, &format!("{at:03}_{}", phrase(noise, 3)));
            tool.description = phrase(noise, 12);
            tool.use_when = vec![phrase(noise, 5)];
            tool.tags = vec![phrase(noise, 2)];
            tool.inputs = vec![Parameter {
                path: "order.parcelId".into(),
                description: phrase(noise, 4),
                values: vec![phrase(noise, 2)],
                required: false,
            }];
            tool
        })
        .collect()
}

fn namespaces() -> Vec<Namespace> {
    vec![Namespace {
        name: "orders".into(),
        description: "All about orders 订单".into(),
        tags: vec!["shop".into()],
    }]
}

/// Counts of each term in each field, and lengths.
type Bag = (BTreeMap<String, [u32; FIELDS]>, [u32; FIELDS]);

fn bag(catalog: &Catalog, tool: ToolId) -> Bag {
    let namespace = catalog.namespace(catalog.namespace_of(tool));
    let fields = text::fields(catalog.tool(tool), namespace);
    let (mut counts, mut lengths) = (BTreeMap::<String, [u32; FIELDS]>::new(), [0; FIELDS]);
    for (at, text) in fields.iter().enumerate() {
        for token in analyze(text) {
            let field = match token.kind {
                TokenKind::Joined if 1 < at => continue,
                TokenKind::Joined | TokenKind::Compound => FIELDS - 1,
                _ => at,
            };
            counts.entry(token.text).or_default()[field] += 1;
            lengths[field] += 1;
        }
    }
    (counts, lengths)
}

/// What each term gives each permitted tool, in double precision.
fn naive(catalog: &Catalog, terms: &[QueryTerm], permitted: &Permitted) -> Vec<(ToolId, Vec<f64>)> {
    let bags: Vec<(ToolId, Bag)> = permitted.iter().map(|id| (id, bag(catalog, id))).collect();
    let mean = |field: usize| {
        let all = bags
            .iter()
            .map(|(_, (_, lengths))| f64::from(lengths[field]));
        let filled: Vec<f64> = all.filter(|length| *length != 0.0).collect();
        filled.iter().sum::<f64>() / filled.len() as f64
    };
    let means: Vec<f64> = (0..FIELDS).map(mean).collect();
    let n = bags.len() as f64;
    let give = |term: &QueryTerm, (counts, lengths): &Bag| {
        let df = bags
            .iter()
            .filter(|(_, (c, _))| c.contains_key(&term.text))
            .count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        let Some(counts) = counts.get(&term.text) else {
            return 0.0;
        };
        let mut sum = 0.0;
        for field in (0..FIELDS).filter(|field| counts[*field] != 0) {
            let b = f64::from(CONFIG.b[field]);
            let norm = 1.0 - b + b * f64::from(lengths[field]) / means[field];
            sum += f64::from(CONFIG.weight[field]) * f64::from(counts[field]) / norm;
        }
        f64::from(term.weight) * idf * sum / (f64::from(CONFIG.k1) + sum)
    };
    bags.iter()
        .map(|(id, bag)| (*id, terms.iter().map(|term| give(term, bag)).collect()))
        .collect()
}

fn random_terms(noise: &mut Noise) -> Vec<QueryTerm> {
    let mut texts: Vec<String> = analyze(&phrase(noise, 6))
        .into_iter()
        .map(|token| token.text)
        .chain(["nowhere".to_owned()])
        .collect();
    texts.sort();
    texts.dedup();
    let weight = |noise: &mut Noise| 0.25 * (1 + noise.below(4)) as f32;
    texts
        .into_iter()
        .map(|text| QueryTerm {
            text,
            weight: weight(noise),
        })
        .collect()
}

fn score(lexical: &Lexical, terms: &[QueryTerm], permitted: &Permitted) -> Matches {
    lexical.score(terms, &lexical.statistics(permitted), permitted, &CONFIG)
}

fn close(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() <= 1e-5 * (1.0 + b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scores_are_those_of_the_plain_scorer(seed: u64, count in 0usize..40, share in 1usize..5) {
        let mut noise = Noise(seed);
        let catalog = Catalog::new(random_tools(count, &mut noise), namespaces());
        let lexical = Lexical::build(&catalog);
        let permitted = permitted(catalog.len(), |_| noise.below(share) == 0);
        let terms = random_terms(&mut noise);
        let matches = score(&lexical, &terms, &permitted);

        let expected = naive(&catalog, &terms, &permitted);
        let matched: Vec<ToolId> = expected
            .iter()
            .filter(|(_, gives)| gives.iter().any(|give| 0.0 < *give))
            .map(|(tool, _)| *tool)
            .collect();
        prop_assert_eq!(matches.iter().map(|(tool, _)| tool).collect::<Vec<_>>(), matched);
        for (tool, gives) in &expected {
            prop_assert!(close(matches.raw(*tool), gives.iter().sum()));
            for (at, give) in gives.iter().enumerate() {
                prop_assert!(close(matches.terms()[at].share(*tool), *give));
            }
        }
        for (term, found) in terms.iter().zip(matches.terms()) {
            let df = expected.iter().filter(|(tool, _)| 0.0 < found.share(*tool)).count();
            prop_assert_eq!(found.frequency, df);
            prop_assert_eq!(lexical.frequency(&term.text, &permitted), df);
        }
    }

    #[test]
    fn hidden_tools_move_nothing(seed: u64, count in 1usize..40) {
        let mut noise = Noise(seed);
        let tools = random_tools(count, &mut noise);
        let all = Catalog::new(tools, namespaces());
        let kept: Vec<bool> = (0..all.len()).map(|_| noise.below(2) == 0).collect();
        let names: Vec<ToolId> = (0..all.len() as u32).map(ToolId).filter(|t| kept[t.index()]).collect();
        let visible = names.iter().map(|id| all.tool(*id).clone()).collect();
        let without = Catalog::new(visible, namespaces());

        let (full, small) = (Lexical::build(&all), Lexical::build(&without));
        let some = permitted(all.len(), |tool| kept[tool.index()]);
        let every = permitted(without.len(), |_| true);
        prop_assert_eq!(full.statistics(&some), small.statistics(&every));
        let terms = random_terms(&mut noise);
        let (seen, expected) = (score(&full, &terms, &some), score(&small, &terms, &every));
        let named: Vec<_> = expected.iter().map(|(tool, raw)| (names[tool.index()], raw)).collect();
        prop_assert_eq!(seen.iter().collect::<Vec<_>>(), named);
        for (a, b) in seen.terms().iter().zip(expected.terms()) {
            prop_assert_eq!((a.frequency, a.idf, a.ceiling), (b.frequency, b.idf, b.ceiling));
            for (at, name) in names.iter().enumerate() {
                prop_assert_eq!(a.share(*name), b.share(ToolId(at as u32)));
            }
        }
        for term in &terms {
            prop_assert_eq!(full.is_word(&term.text, &some), small.is_word(&term.text, &every));
        }
    }
}

#[test]
fn postings_count_by_field() {
    let mut tool = fixture::tool("git_hub", "screenShot");
    tool.description = "Screen, screens and a GitHub shot".into();
    let lexical = Lexical::build(&Catalog::new(vec![tool], vec![]));
    let counts = |term: &str, field: Field| {
        let posting = lexical.postings(term).next();
        posting.map_or(0, |posting| posting.counts[field.index()])
    };
    assert_eq!(counts("screen", Field::Name), 1);
    assert_eq!(counts("screen", Field::Description), 2);
    // Name and namespace joined, and the description's word as a whole.
    assert_eq!(counts("screenshot", Field::Joined), 2);
    assert_eq!(counts("github", Field::Joined), 2);
    let all = permitted(1, |_| true);
    assert!(lexical.is_word("hub", &all) && !lexical.is_word("github", &all));
    assert_eq!(lexical.postings("absent").count(), 0);
    assert_eq!(lexical.postings("").count(), 0);
}

#[test]
fn repeats_saturate_and_scratch_is_left_clean() {
    let mut tool = fixture::tool("a", "b");
    tool.tags = vec!["spam ".repeat(10_000)];
    let lexical = Lexical::build(&Catalog::new(vec![tool], vec![]));
    let posting = lexical.postings("spam").next().unwrap();
    assert_eq!(posting.counts[Field::Tags.index()], MAX_COUNT);
    let all = permitted(1, |_| true);
    let term = QueryTerm {
        text: "spam".into(),
        weight: 1.0,
    };
    let first = score(&lexical, std::slice::from_ref(&term), &all);
    for _ in 0..3 {
        assert_eq!(score(&lexical, std::slice::from_ref(&term), &all), first);
    }
    assert!(score(&lexical, &[], &all).is_empty());
    assert_eq!(first.top(5).len(), 1);
}
