//! Models that refuse, break and lie.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Mutex;

use super::*;
use crate::catalog::fixture;
use crate::embed::hashed::Hashed;
use crate::embed::{self, Calibration, Side};
use crate::index::fixture::Noise;
use crate::tool::{Namespace, NamespaceId};

/// Refuses texts that hold a word; counts what it is given.
struct Picky {
    inner: Hashed,
    refused: &'static str,
    given: Mutex<Vec<String>>,
}

fn picky(refused: &'static str) -> Picky {
    Picky {
        inner: Hashed::new(32),
        refused,
        given: Mutex::default(),
    }
}

impl Embedder for Picky {
    fn model_id(&self) -> &str {
        "picky"
    }

    fn dim(&self) -> usize {
        32
    }

    fn calibration(&self) -> Calibration {
        self.inner.calibration()
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
        self.given.lock().unwrap().extend_from_slice(texts);
        if let Some(row) = texts.iter().position(|text| text.contains(self.refused)) {
            return Err(embed::Error::NotFinite { row });
        }
        self.inner.embed(side, texts)
    }
}

fn catalog(tools: usize) -> Arc<Catalog> {
    let tools = (0..tools).map(|at| {
        let mut tool = fixture::tool(["", "mail"][at % 2], &format!("tool_{at}"));
        tool.description = format!("description {at}");
        tool.use_when = vec!["the same line".into(), format!("line {at}")];
        tool.avoid_when = vec!["never for this".into()];
        tool
    });
    let namespace = Namespace {
        name: "mail".into(),
        description: "letters".into(),
        tags: vec![],
    };
    Arc::new(Catalog::new(tools.collect(), vec![namespace]))
}

#[test]
fn every_passage_has_its_vector_and_equal_texts_are_embedded_once() {
    let catalog = catalog(700);
    let model = picky("\u{0}");
    let seen = RefCell::new(Vec::new());
    let index = build(Arc::clone(&catalog), &model, &|progress| {
        seen.borrow_mut().push(progress);
    })
    .unwrap();

    let given = model.given.lock().unwrap();
    assert_eq!(
        given.iter().filter(|text| *text == "the same line").count(),
        1
    );
    let seen = seen.into_inner();
    let total = given.len();
    assert_eq!((seen[0].done, seen[0].total), (0, total));
    assert_eq!(seen.last().map(|last| last.done), Some(total));
    assert!(seen.is_sorted_by_key(|progress| progress.done));

    let hashed = Hashed::new(32);
    for (at, tool) in catalog.tools().iter().enumerate() {
        let rows = index.dense.rows_of(ToolId(at as u32));
        let passages = text::passages(tool);
        assert_eq!(rows.len(), passages.len());
        for (row, (passage, text)) in rows.zip(passages) {
            assert_eq!(index.dense.passage(row), passage);
            let alone = hashed.embed(Side::Document, &[text]).unwrap();
            assert_eq!(index.dense.vector(row), alone.row(0));
        }
    }
    assert_eq!(index.unembedded, []);
    assert_eq!(index.namespace_rows, [None, Some(0)]);
    assert_eq!(index.namespaces.len(), 1);
}

#[test]
fn a_refused_text_costs_its_tool_that_vector_only() {
    let catalog = catalog(600);
    let index = build(Arc::clone(&catalog), &picky("description 77"), &|_| ()).unwrap();
    let refused: Vec<&str> = index
        .unembedded
        .iter()
        .map(|id| catalog.tool(*id).name.as_str())
        .collect();
    assert_eq!(refused, ["tool_77"]);
    assert!(!index.dense.rows_of(index.unembedded[0]).is_empty());

    let index = build(Arc::clone(&catalog), &picky("line 5"), &|_| ()).unwrap();
    assert_eq!(index.unembedded, []);
}

#[test]
fn a_broken_model_is_an_error() {
    let broken = build(catalog(600), &picky("o"), &|_| ());
    assert!(matches!(broken, Err(Error::Embed(_))), "{broken:?}");
}

#[test]
fn a_model_that_refuses_everything_but_a_plain_word_leaves_the_keywords() {
    let index = build(catalog(9), &picky("i"), &|_| ()).unwrap();
    assert_eq!(index.unembedded.len(), 9);
    assert_eq!(index.lexical.tools(), 9);
    assert_eq!(index.namespace_rows, [None, None]);
}

struct Liar(usize);

impl Embedder for Liar {
    fn model_id(&self) -> &str {
        "liar"
    }

    fn dim(&self) -> usize {
        8
    }

    fn calibration(&self) -> Calibration {
        Calibration {
            low: 0.0,
            high: 1.0,
        }
    }

    fn embed(&self, _: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
        let rows = texts.len() - usize::from(self.0 == 8);
        Vectors::new(self.0, vec![1.0; rows * self.0])
    }
}

#[test]
fn a_model_that_is_not_what_it_says_is_an_error() {
    let fewer = build(catalog(3), &Liar(8), &|_| ());
    assert!(matches!(fewer, Err(Error::VectorCount { .. })), "{fewer:?}");
    let shorter = build(catalog(3), &Liar(7), &|_| ());
    assert!(matches!(
        shorter,
        Err(Error::Dimension {
            expected: 8,
            found: 7
        })
    ));
}

#[test]
fn an_empty_catalogue_has_an_index() {
    let index = build(Arc::new(Catalog::default()), &picky("x"), &|_| ()).unwrap();
    assert_eq!((index.dense.rows(), index.lexical.terms()), (0, 0));
}

/// A catalogue of some of the tools `0..20`, each in one of three versions.
fn edited(noise: &mut Noise) -> Arc<Catalog> {
    let mut tools = Vec::new();
    for at in 0..20 {
        if noise.below(5) == 0 {
            continue;
        }
        let mut tool = fixture::tool(["", "mail", "crm"][at % 3], &format!("tool_{at}"));
        tool.description = format!("version {} 查询快递", noise.below(3));
        tool.use_when = vec![["one line", "another line"][noise.below(2)].into()];
        tools.push(tool);
    }
    let namespace = Namespace {
        name: "mail".into(),
        description: ["letters", "parcels and letters"][noise.below(2)].into(),
        tags: vec![],
    };
    Arc::new(Catalog::new(tools, vec![namespace]))
}

fn assert_same(a: &Index, b: &Index) {
    assert_eq!(a.lexical, b.lexical);
    assert_eq!(a.dense.vectors(), b.dense.vectors());
    assert_eq!(a.dense.owners(), b.dense.owners());
    assert_eq!(a.dense.passages(), b.dense.passages());
    let vectors = |index: &Index| -> Vec<Option<Vec<f32>>> {
        let ids = (0..index.catalog.namespaces().len() as u32).map(NamespaceId);
        ids.map(|id| index.namespace_vector(id).map(<[f32]>::to_vec))
            .collect()
    };
    assert_eq!(vectors(a), vectors(b));
    assert_eq!(a.definition_hashes, b.definition_hashes);
    assert_eq!(a.unembedded, b.unembedded);
}

#[test]
fn an_updated_index_equals_one_that_is_built_anew() {
    let hashed = Hashed::new(32);
    let mut noise = Noise(7);
    let mut index = build(edited(&mut noise), &hashed, &|_| {}).unwrap();
    for _ in 0..200 {
        let catalog = edited(&mut noise);
        let anew = build(Arc::clone(&catalog), &hashed, &|_| {}).unwrap();
        index = update(&index, catalog, all(&hashed), &|_| {}).unwrap();
        assert_same(&index, &anew);
    }
}

#[test]
fn an_update_embeds_what_changed_and_nothing_else() {
    let before = build(catalog(300), &picky("\u{0}"), &|_| {}).unwrap();
    let mut tools = before.catalog.tools().to_vec();
    tools[17].use_when.push("a line of its own".into());
    tools[18].owner = Some("another".into());
    tools.remove(40);
    let changed = Arc::new(Catalog::new(tools, before.catalog.namespaces().to_vec()));
    let model = picky("\u{0}");
    let after = update(&before, changed, all(&model), &|_| {}).unwrap();
    let changed = [17, 18].map(|at| text::passages(&after.catalog.tools()[at]));
    let texts: HashSet<String> = changed
        .into_iter()
        .flatten()
        .map(|(_, text)| text)
        .collect();
    let given = model.given.lock().unwrap();
    assert_eq!(given.len(), texts.len());
    assert_eq!(given.iter().cloned().collect::<HashSet<_>>(), texts);
    assert_eq!(after.catalog.len(), 299);
}

#[test]
fn without_a_model_new_tools_are_found_by_words_until_it_is_back() {
    let hashed = Hashed::new(32);
    let mut noise = Noise(3);
    let before = build(edited(&mut noise), &hashed, &|_| {}).unwrap();
    let next = edited(&mut noise);
    let anew = build(Arc::clone(&next), &hashed, &|_| {}).unwrap();
    let by = |means, before: &Index| update(before, Arc::clone(&next), means, &|_| {}).unwrap();
    let none = Means {
        embedder: None,
        ..all(&hashed)
    };
    let words = by(none, &before);
    assert_eq!(words.lexical, anew.lexical);
    assert!(!words.unembedded.is_empty());
    let unwanted = Means {
        wanted: &|_| false,
        ..all(&hashed)
    };
    let kept = by(unwanted, &words);
    assert_eq!(kept.unembedded, words.unembedded);
    assert_same(&by(all(&hashed), &words), &anew);
}

fn all(embedder: &dyn Embedder) -> Means<'_> {
    Means {
        embedder: Some(embedder),
        wanted: &|_| true,
    }
}
