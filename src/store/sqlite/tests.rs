//! The embedded store, in files of their own.

use std::sync::Arc;

use super::*;
use crate::catalog::fixture;
use crate::registry::{Author, Change, Document, Effect, Expect, Mode, Refusal};

fn author() -> Author {
    Author {
        name: "ann".into(),
        reason: Some("because".into()),
    }
}

fn document(name: &str, description: &str) -> Document {
    let mut tool = fixture::tool("crm", name);
    tool.description = description.into();
    Document::of_tool(&tool)
}

fn of_tenant(name: &str, tenant: &str) -> Document {
    let mut tool = fixture::tool("crm", name);
    tool.tenants = vec![tenant.into()];
    Document::of_tool(&tool)
}

fn batch(mode: Mode, changes: Vec<Change>) -> Batch {
    Batch {
        author: author(),
        mode,
        dry_run: false,
        changes: Box::new(changes.into_iter()),
    }
}

fn put(store: &Sqlite, document: Document) -> Applied {
    let change = Change::put(document);
    store.apply(Batch::one(author(), change)).unwrap()
}

fn fresh() -> (tempfile::TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("r.db"), Limits::default()).unwrap();
    (folder, store)
}

#[test]
fn every_change_has_its_revision_and_the_log_tells_who_when_and_why() {
    let (_folder, store) = fresh();
    let first = put(&store, document("a", "one"));
    assert_eq!((first.revision, first.committed), (Revision(1), true));
    put(&store, document("a", "two"));
    let same = put(&store, document("a", "two"));
    assert_eq!(same.revision, Revision(2));
    assert!(matches!(same.effects[0].1, Effect::Unchanged(_)));
    let id = Id::tool("crm/a");
    let gone = Change {
        id: id.clone(),
        expect: Expect::Something,
        action: crate::registry::Action::Delete {
            replacement: Some("crm/b".into()),
        },
    };
    let applied = store.apply(Batch::one(author(), gone)).unwrap();
    assert_eq!(applied.effects, [(id.clone(), Effect::Deleted)]);
    assert_eq!(store.record(&id).unwrap(), None);

    let history = store.history(&id, 10).unwrap();
    let numbers: Vec<u64> = history.iter().map(|entry| entry.revision.0).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!(history[0].put, None);
    assert_eq!(history[0].replacement.as_deref(), Some("crm/b"));
    assert_eq!(history[2].author, author());
    assert_eq!(
        history[1].put.as_ref().unwrap().0,
        document("a", "two").hash
    );
    assert_eq!(store.head().unwrap(), Revision(3));
    let later = store.entries(Revision(1), 10).unwrap();
    assert_eq!(later.len(), 2);

    put(&store, document("a", "back again"));
    assert_eq!(store.record(&id).unwrap().unwrap().revision, Revision(4));
}

#[test]
fn an_atomic_batch_is_made_whole_or_not_at_all() {
    let (_folder, store) = fresh();
    put(&store, document("a", "one"));
    let changes = || {
        vec![
            Change::put(document("b", "one")),
            Change::delete(Id::tool("crm/none")),
            Change::put(document("a", "two")),
        ]
    };
    let refused = store.apply(batch(Mode::Atomic, changes())).unwrap();
    assert_eq!((refused.revision, refused.committed), (Revision(1), false));
    assert_eq!(refused.refused(), 1);
    assert_eq!(store.head().unwrap(), Revision(1));
    assert_eq!(store.record(&Id::tool("crm/b")).unwrap(), None);

    let best = store.apply(batch(Mode::BestEffort, changes())).unwrap();
    assert_eq!((best.revision, best.committed), (Revision(3), true));
    assert_eq!(best.effects[1].1, Effect::Refused(Refusal::Unknown));
    assert!(store.record(&Id::tool("crm/b")).unwrap().is_some());

    let dry = Batch {
        dry_run: true,
        ..batch(Mode::BestEffort, vec![Change::put(document("c", "one"))])
    };
    let dry = store.apply(dry).unwrap();
    assert!(matches!(dry.effects[0].1, Effect::Created(_)) && !dry.committed);
    assert_eq!(store.head().unwrap(), Revision(3));
}

#[test]
fn a_later_change_of_a_batch_sees_the_earlier_one() {
    let (_folder, store) = fresh();
    let conditional = Change {
        expect: Expect::Hash(document("a", "one").hash),
        ..Change::put(document("a", "two"))
    };
    let changes = vec![Change::put(document("a", "one")), conditional];
    let applied = store.apply(batch(Mode::Atomic, changes)).unwrap();
    assert!(matches!(applied.effects[1].1, Effect::Updated(_)));
}

#[test]
fn a_namespace_is_replaced_and_guarded() {
    let (_folder, store) = fresh();
    for name in ["a", "b", "c", "d"] {
        put(&store, document(name, "one"));
    }
    put(&store, of_tenant("own", "acme"));
    let replace = |names: &[&str], force| {
        let tools = names.iter().map(|name| document(name, "one")).collect();
        store
            .replace(Replacement {
                author: author(),
                tenant: String::new(),
                namespace: "crm".into(),
                tools,
                force,
                dry_run: false,
            })
            .unwrap()
    };
    let refused = replace(&[], false);
    assert!(!refused.committed);
    assert_eq!(
        refused.effects[0].1,
        Effect::Refused(Refusal::Shrinks { held: 4, listed: 0 })
    );
    let kept = replace(&["a", "b", "new"], false);
    assert!(kept.committed);
    assert_eq!(kept.revision, Revision(8));
    let page = store.page(None, 100).unwrap();
    let keys: Vec<&str> = page
        .iter()
        .map(|one| one.document.id.key.as_str())
        .collect();
    assert_eq!(keys, ["crm/a", "crm/b", "crm/new", "crm/own"]);
    assert!(replace(&[], true).committed);
    assert_eq!(store.page(None, 100).unwrap().len(), 1);
}

#[test]
fn pages_go_on_where_the_last_one_ended() {
    let (_folder, store) = fresh();
    for name in ["c", "a", "b"] {
        put(&store, document(name, "one"));
    }
    put(&store, of_tenant("d", "y"));
    put(&store, of_tenant("d", "x"));
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.page(after.as_ref(), 2).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.document.id.clone());
        seen.extend(page.into_iter().map(|one| one.document.id));
    }
    let names: Vec<(&str, &str)> = seen
        .iter()
        .map(|id| (id.key.as_str(), id.tenant.as_str()))
        .collect();
    let expected = [
        ("crm/a", ""),
        ("crm/b", ""),
        ("crm/c", ""),
        ("crm/d", "x"),
        ("crm/d", "y"),
    ];
    assert_eq!(names, expected);
    let taken = put(&store, document("d", "shared"));
    assert!(matches!(
        taken.effects[0].1,
        Effect::Refused(Refusal::Taken { .. })
    ));
}

#[test]
fn a_quota_holds_within_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        tenant_tools: 2,
        shared_tools: 10,
    };
    let store = Sqlite::open(&folder.path().join("r.db"), limits).unwrap();
    let changes = ["a", "b", "c"].map(|name| Change::put(of_tenant(name, "acme")));
    let applied = store
        .apply(batch(Mode::BestEffort, changes.into()))
        .unwrap();
    let quota = Refusal::Quota {
        tenant: "acme".into(),
        limit: 2,
    };
    assert_eq!(applied.effects[2].1, Effect::Refused(quota));
    let again = vec![
        Change::delete(Id::tool_of("acme", "crm/a")),
        Change::put(of_tenant("c", "acme")),
    ];
    assert_eq!(
        store.apply(batch(Mode::Atomic, again)).unwrap().refused(),
        0
    );
}

#[test]
fn what_was_acknowledged_is_there_when_it_is_opened_again() {
    let (folder, store) = fresh();
    let identity = store.identity().to_owned();
    put(&store, document("a", "one"));
    drop(store);
    let store = Sqlite::open(&folder.path().join("r.db"), Limits::default()).unwrap();
    assert_eq!(store.head().unwrap(), Revision(1));
    assert_eq!(store.identity(), identity);
}

#[test]
fn writers_at_once_make_one_order_without_gaps() {
    let (_folder, store) = fresh();
    let store = Arc::new(store);
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                for at in 0..25 {
                    put(&store, document(&format!("t{writer}_{at}"), "one"));
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|one| one.join().unwrap());
    let entries = store.entries(Revision(0), 1000).unwrap();
    let numbers: Vec<u64> = entries.iter().map(|entry| entry.revision.0).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
}

#[test]
fn a_backup_is_whole_and_a_restored_registry_has_a_history_of_its_own() {
    let (folder, store) = fresh();
    put(&store, document("a", "one"));
    let (path, copy) = (folder.path().join("r.db"), folder.path().join("copy"));
    let findings = backup(&path, &copy).unwrap();
    assert_eq!((findings.tools, findings.revision), (1, Revision(1)));
    assert!(backup(&path, &copy).is_err(), "no copy is written over");
    put(&store, document("b", "one"));
    drop(store);
    assert!(restore(&copy, &path, false).is_err());
    let restored = restore(&copy, &path, true).unwrap();
    assert_eq!(restored.revision, Revision(1));
    assert_ne!(restored.identity, findings.identity);
    let store = Sqlite::open(&path, Limits::default()).unwrap();
    assert_eq!(put(&store, document("c", "one")).revision, Revision(2));
}

#[test]
fn a_check_finds_what_was_changed_behind_its_back() {
    let (folder, store) = fresh();
    put(&store, document("a", "one"));
    put(&store, document("b", "one"));
    drop(store);
    let path = folder.path().join("r.db");
    assert_eq!(verify(&path).unwrap().faults, Vec::<String>::new());
    for (change, fault) in [
        (
            "UPDATE change SET document = replace(document, 'one', 'two') WHERE revision = 1",
            "hash",
        ),
        (
            "UPDATE state SET live = 0 WHERE key = 'crm/b'",
            "1 tools are not what the log says",
        ),
        (
            "PRAGMA foreign_keys = 0; DELETE FROM change WHERE revision = 1",
            "1 changes and ends at revision 2",
        ),
    ] {
        let copy = folder.path().join("copy");
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(&path, &copy).unwrap();
        Connection::open(&copy)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        let faults = verify(&copy).unwrap().faults;
        assert!(faults.iter().any(|one| one.contains(fault)), "{faults:?}");
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.db");
    let open = || {
        Sqlite::open(&path, Limits::default())
            .map(drop)
            .unwrap_err()
    };
    std::fs::write(
        &path,
        "this is no database, but long enough to be one".repeat(100),
    )
    .unwrap();
    assert!(matches!(open(), Error::Foreign { .. }));
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE other (a)")
        .unwrap();
    assert!(matches!(open(), Error::Foreign { .. }));
    std::fs::remove_file(&path).unwrap();
    drop(Sqlite::open(&path, Limits::default()).unwrap());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 7)
        .unwrap();
    assert!(matches!(open(), Error::Version { found: 7, .. }));
    assert!(matches!(
        verify(&folder.path().join("none")),
        Err(Error::Unreachable { .. })
    ));
}
