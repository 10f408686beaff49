//! A registry in a file, followed with a model that counts and fails on demand.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::*;
use crate::catalog::fixture;
use crate::embed::hashed::Hashed;
use crate::embed::{self, Calibration, Side, Vectors};
use crate::index::build::build;
use crate::registry::{Author, Batch, Change, Document, Id, Mode, Revision};
use crate::store::sqlite::{Limits, Sqlite};
use crate::store::vectors;

struct Counting {
    inner: Hashed,
    texts: AtomicUsize,
    down: AtomicBool,
}

impl Embedder for Counting {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn calibration(&self) -> Calibration {
        self.inner.calibration()
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
        if self.down.load(Ordering::SeqCst) {
            return Err(embed::Error::Endpoint {
                url: "there".into(),
                reason: "nobody answers".into(),
            });
        }
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        self.inner.embed(side, texts)
    }
}

struct Fixture {
    source: Source,
    model: Arc<Counting>,
    published: Arc<Mutex<Vec<Arc<Index>>>>,
}

fn fixture(folder: &Path) -> Fixture {
    let model = Arc::new(Counting {
        inner: Hashed::new(32),
        texts: AtomicUsize::new(0),
        down: AtomicBool::new(false),
    });
    let store = Sqlite::open(&folder.join("r.db"), Limits::default()).unwrap();
    let vectors = vectors::Vectors::open(&folder.join("vectors"), 1 << 20).unwrap();
    let embedder = Remembered::new(Arc::clone(&model) as _, Arc::new(vectors));
    let source = Source {
        store: Arc::new(store),
        embedder: Arc::new(embedder),
        snapshots: Some(folder.join("snapshots")),
        pace: Pace {
            quiet: Duration::from_millis(1),
            longest: Duration::from_millis(5),
            poll: Duration::from_millis(20),
            save: Duration::from_millis(10),
        },
    };
    Fixture {
        source,
        model,
        published: Arc::default(),
    }
}

impl Fixture {
    fn start(&self) -> (Followed, Following) {
        let first = open(&self.source, &|_| {}).unwrap();
        let published = Arc::clone(&self.published);
        published.lock().unwrap().push(Arc::clone(&first.index));
        let publish = Box::new(move |index| {
            published.lock().unwrap().push(index);
            Ok(())
        });
        let following = follow(self.source.clone(), first.clone(), publish).unwrap();
        (first, following)
    }

    fn apply(&self, changes: Vec<Change>) -> Revision {
        let batch = Batch {
            author: Author {
                name: "test".into(),
                reason: None,
            },
            mode: Mode::Atomic,
            dry_run: false,
            changes: Box::new(changes.into_iter()),
        };
        let applied = self.source.store.apply(batch).unwrap();
        assert!(applied.committed);
        applied.revision
    }

    fn keys(&self) -> Vec<String> {
        let published = self.published.lock().unwrap();
        let tools = published.last().unwrap().catalog.tools();
        tools.iter().map(|tool| tool.key.clone()).collect()
    }

    fn texts(&self) -> usize {
        self.model.texts.swap(0, Ordering::SeqCst)
    }
}

fn put(name: &str, description: &str) -> Change {
    let mut tool = fixture::tool("crm", name);
    tool.description = description.into();
    Change::put(Document::of_tool(&tool))
}

fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn changes_are_served_and_only_what_changed_is_embedded() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = fixture(folder.path());
    fixture.apply((0..50).map(|at| put(&format!("t{at}"), "one")).collect());
    let (first, following) = fixture.start();
    assert_eq!(
        (first.revision, first.index.catalog.len()),
        (Revision(50), 50)
    );
    assert!(first.index.unembedded.is_empty());
    fixture.texts();

    let revision = fixture.apply(vec![put("t7", "two"), Change::delete(Id::tool("crm/t8"))]);
    following.wake();
    wait("served", || following.served() == revision);
    // The document and the short passage hold the description.
    assert_eq!(fixture.texts(), 2);
    assert_eq!(fixture.keys().len(), 49);
    let back = fixture.apply(vec![put("t7", "one")]);
    wait("polled", || following.served() == back);
    assert_eq!(fixture.texts(), 0, "the vectors are remembered");
    wait("idle", || following.state().phase == Phase::Idle);
    let state = following.state();
    assert_eq!((state.tools, state.wanted), (49, back));
    assert_eq!((state.error, state.unembedded.0), (None, 0));
}

#[test]
fn a_restart_begins_from_the_snapshot_and_takes_up_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    {
        let fixture = fixture(folder.path());
        fixture.apply((0..20).map(|at| put(&format!("t{at}"), "one")).collect());
        let (_, following) = fixture.start();
        let revision = fixture.apply(vec![put("new", "one")]);
        following.wake();
        wait("saved", || following.state().saved == revision);
        drop(following);
        fixture.apply(vec![
            put("later", "one"),
            Change::delete(Id::tool("crm/t0")),
        ]);
    }
    std::fs::remove_file(folder.path().join("vectors")).unwrap();
    let fixture = fixture(folder.path());
    let (first, following) = fixture.start();
    assert_eq!(first.revision, Revision(23));
    assert_eq!(fixture.texts(), 2, "the rest is in the snapshot");
    assert_eq!(first.index.catalog.len(), 21);
    let anew = build(Arc::clone(&first.index.catalog), &Hashed::new(32), &|_| {}).unwrap();
    assert_eq!(first.index.lexical, anew.lexical);
    assert_eq!(first.index.dense.vectors(), anew.dense.vectors());
    drop(following);
}

#[test]
fn a_broken_snapshot_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    {
        let fixture = fixture(path);
        fixture.apply(vec![put("a", "one")]);
        let (_, following) = fixture.start();
        let revision = fixture.apply(vec![put("b", "one")]);
        following.wake();
        wait("saved", || following.state().saved == revision);
    }
    let entries: Vec<_> = std::fs::read_dir(path.join("snapshots")).unwrap().collect();
    assert!((1..=2).contains(&entries.len()));
    for entry in entries {
        let file = entry.unwrap().path().join("index.toolscout");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    }
    let fixture = fixture(path);
    let (first, _following) = fixture.start();
    assert_eq!(first.index.catalog.len(), 2);
}

#[test]
fn while_the_model_is_down_changes_are_served_by_words() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = fixture(folder.path());
    fixture.apply(vec![put("a", "one")]);
    let (_, following) = fixture.start();
    fixture.model.down.store(true, Ordering::SeqCst);
    for name in ["b", "c"] {
        let revision = fixture.apply(vec![put(name, "two")]);
        following.wake();
        wait("served by words", || following.served() == revision);
    }
    assert_eq!(fixture.keys(), ["crm/a", "crm/b", "crm/c"]);
    let state = following.state();
    assert_eq!(state.unembedded.1, ["crm/b", "crm/c"]);
    assert!(state.error.unwrap().1.contains("nobody answers"));
    fixture.model.down.store(false, Ordering::SeqCst);
    wait("embedded", || following.state().unembedded.0 == 0);
    wait("well", || following.state().error.is_none());
}

#[test]
fn an_atomic_batch_is_never_served_by_half() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = fixture(folder.path());
    fixture.apply(vec![put("a", "0"), put("b", "0")]);
    let (_, following) = fixture.start();
    let mut last = Revision(0);
    for round in 1..60 {
        last = fixture.apply(vec![
            put("a", &round.to_string()),
            put("b", &round.to_string()),
        ]);
        following.wake();
    }
    wait("served", || following.served() == last);
    let published = fixture.published.lock().unwrap();
    assert!(1 < published.len());
    for index in published.iter() {
        let tools = index.catalog.tools();
        assert_eq!(tools[0].description, tools[1].description);
    }
}

#[test]
fn a_rebuild_asks_for_everything_again() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = fixture(folder.path());
    fixture.apply(vec![put("a", "one")]);
    let (_, following) = fixture.start();
    let before = following.state().builds;
    following.rebuild();
    wait("rebuilt", || before < following.state().builds);
    assert_eq!(fixture.keys(), ["crm/a"]);
}
