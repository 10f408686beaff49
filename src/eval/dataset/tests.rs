use std::fs;
use std::path::Path;

use super::*;

fn write(folder: &Path, file: &str, text: &str) {
    fs::write(folder.join(file), text).unwrap();
}

fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "tools.jsonl",
        r#"{"id":"a","name":"a","namespace":"x","description":"first"}
{"id":"b","name":"b","namespace":"x","description":"second"}
{"id":"c/d","name":"d","namespace":null,"description":"third"}
"#,
    );
    write(
        folder.path(),
        "queries.jsonl",
        "{\"id\":\"q-1\",\"text\":\"one\",\"lang\":\"en\",\"more\":1}\n\n{\"id\":\"q-2\",\"text\":\"二\",\"lang\":\"zh\"}\n",
    );
    write(
        folder.path(),
        "qrels.tsv",
        "query-id\tcorpus-id\tscore\nq-1\ta\t1\nq-1\tc/d\t1\nq-2\tb\t1\n",
    );
    folder
}

fn load(folder: &Path) -> Result<Dataset, Error> {
    Dataset::load(folder, &Options::default())
}

#[test]
fn each_tool_of_plain_labels_is_a_need() {
    let folder = small();
    let set = load(folder.path()).unwrap();
    assert_eq!(set.queries.len(), 2);
    assert_eq!(set.queries[0].needs, [[ToolId(0)], [ToolId(2)]]);
    assert!(set.unknown.is_empty() && set.negatives.is_empty());
}

#[test]
fn needs_take_the_place_of_plain_labels_and_may_count_from_one() {
    let folder = small();
    write(
        folder.path(),
        "needs.tsv",
        "query-id\tneed\ttool-id\nq-1\t1\tc/d\nq-1\t1\ta\n",
    );
    let set = load(folder.path()).unwrap();
    assert_eq!(set.queries[0].needs, [[ToolId(0), ToolId(2)]]);
    assert_eq!(set.queries[1].needs, [[ToolId(1)]]);
}

#[test]
fn near_duplicates_relax_a_need() {
    let folder = small();
    write(folder.path(), "equiv.tsv", "tool-id\tgroup\na\t0\nb\t0\n");
    let set = load(folder.path()).unwrap();
    assert_eq!(set.relaxed(&[vec![ToolId(0)]]), [[ToolId(0), ToolId(1)]]);
    assert_eq!(set.relaxed(&[vec![ToolId(2)]]), [[ToolId(2)]]);
}

#[test]
fn labels_of_unknown_tools_are_left_out_and_reported() {
    let folder = small();
    write(
        folder.path(),
        "qrels.tsv",
        "q-1\ta\t1\nq-1\tgone\t1\nq-2\tgone\t1\n",
    );
    let set = load(folder.path()).unwrap();
    assert_eq!(set.queries[0].needs, [[ToolId(0)]]);
    assert_eq!(set.unlabelled, ["q-2"]);
    let lines: Vec<_> = set
        .unknown
        .iter()
        .map(|u| (u.line, u.tool.as_str()))
        .collect();
    assert_eq!(lines, [(2, "gone"), (3, "gone")]);
}

#[test]
fn a_malformed_line_is_named() {
    let cases = [
        (
            "queries.jsonl",
            "{\"id\":\"q-1\"}",
            ":1: not a query: missing field `text`",
        ),
        (
            "queries.jsonl",
            "{\"id\":\"q-1\",\"text\":\" \"}",
            ":1: query 'q-1' has no text",
        ),
        (
            "queries.jsonl",
            "{\"id\":\"q\",\"text\":\"a\"}\n{\"id\":\"q\",\"text\":\"b\"}",
            ":2: query id 'q' is taken",
        ),
        (
            "qrels.tsv",
            "query-id\ttool\nq-1 a 1",
            ":2: expected 2 columns separated by tabs, found 1",
        ),
        (
            "qrels.tsv",
            "query-id\ttool\nq-9\ta\t1",
            ":2: no query has the id 'q-9'",
        ),
        ("qrels.tsv", "q-1\ta\tyes", ":1: score 'yes' is no number"),
        (
            "needs.tsv",
            "q-1\tfirst\ta",
            ":1: need 'first' is no number",
        ),
    ];
    for (file, text, expected) in cases {
        let folder = small();
        write(folder.path(), file, text);
        let message = load(folder.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("{file}{expected}")), "{message}");
    }
}

#[test]
fn a_set_without_tools_asks_for_a_catalogue() {
    let folder = small();
    let elsewhere = tempfile::tempdir().unwrap();
    let catalog = elsewhere.path().join("some.jsonl");
    fs::rename(folder.path().join("tools.jsonl"), &catalog).unwrap();
    assert!(matches!(load(folder.path()), Err(Error::NoTools { .. })));
    let options = Options {
        catalog: Some(catalog),
        ..Options::default()
    };
    let set = Dataset::load(folder.path(), &options).unwrap();
    assert_eq!(set.catalog.len(), 3);
}

#[test]
fn a_folder_that_is_not_there_is_told_as_such() {
    let found = load(Path::new("no/such/set"));
    assert!(matches!(found, Err(Error::Io { .. })));
}

#[test]
fn a_set_without_one_label_cannot_be_measured() {
    let folder = small();
    write(folder.path(), "qrels.tsv", "q-1\tgone\t1\n");
    let message = load(folder.path()).unwrap_err().to_string();
    assert!(
        message.contains("2 without a label, 1 labels of unknown tools"),
        "{message}"
    );
}

#[test]
fn a_limit_takes_queries_from_all_over_the_file() {
    let kept = spread((0..10).collect::<Vec<_>>(), Some(3));
    assert_eq!(kept, [0, 4, 7]);
    assert_eq!(spread(vec![1, 2], Some(5)), [1, 2]);
    assert_eq!(spread(vec![1, 2], None), [1, 2]);
}

#[test]
fn lone_and_small_groups_are_no_levels() {
    let folder = small();
    let mut set = load(folder.path()).unwrap();
    assert!(set.levels().is_empty());
    let one = set.queries[0].clone();
    let mut other = one.clone();
    other.query.id = "r-1".into();
    other.query.lang = "zh".into();
    set.queries = vec![one; MIN_LEVEL];
    set.queries.extend(vec![other; MIN_LEVEL + 1]);
    let names = |set: &Dataset| set.levels().into_keys().collect::<Vec<_>>();
    // Languages that say the same as the levels are not said twice.
    assert_eq!(names(&set), ["q", "r"]);
    set.queries[MIN_LEVEL].query.lang = "en".into();
    assert_eq!(names(&set), ["lang:en", "lang:zh", "q", "r"]);
    assert_eq!(set.levels()["r"].len(), 6);
}
