//! Models that refuse, break and lie.

use std::cell::RefCell;
use std::sync::Mutex;

use super::*;
use crate::catalog::fixture;
use crate::embed::hashed::Hashed;
use crate::embed::{self, Calibration, Side};
use crate::tool::Namespace;

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
