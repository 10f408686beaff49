//! A set measured end to end, without a model: the hashing embedder knows spelling, which is enough
//! to see that figures are figured.

use std::path::{Path, PathBuf};

use toolscout::embed::hashed::Hashed;
use toolscout::eval::bench::Bench;
use toolscout::eval::dataset::{Dataset, Options};
use toolscout::eval::keep::Keeping;
use toolscout::eval::metric::Metric;
use toolscout::eval::report::{Report, SetReport, compare, tables, worst};
use toolscout::eval::run::{Plan, System, run};
use toolscout::eval::strategies::{self, Strategy};
use toolscout::eval::tune::{Depth, tune};
use toolscout::search::Config;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name)
}

fn bench<'a>(name: &str, embedder: &'a Hashed) -> Bench<'a> {
    let options = Options {
        limit: Some(30),
        ..Options::default()
    };
    let set = Dataset::load(&data(name), &options).unwrap();
    Bench::new(set, embedder, &|_| ()).unwrap()
}

fn report(name: &str, config: &Config) -> Report {
    let embedder = Hashed::new(64);
    let bench = bench(name, &embedder);
    let ran = run(&bench, config, &Plan::default(), &|_| ()).unwrap();
    let mut set = SetReport::new(&bench, &ran);
    set.worst = worst::worst(&bench, &ran, config, 3).unwrap();
    Report {
        model: "hashed".into(),
        config: "default".into(),
        sets: vec![set],
    }
}

#[test]
fn the_committed_sets_load_whole() {
    let demo = Dataset::load(&data("demo"), &Options::default()).unwrap();
    assert_eq!(demo.unknown, []);
    assert!(demo.unlabelled.is_empty() && 200 < demo.queries.len() && 20 < demo.negatives.len());
    for folder in std::fs::read_dir(data("train")).unwrap() {
        let folder = folder.unwrap().path();
        if folder.join("tools").is_dir() {
            let set = Dataset::load(&folder, &Options::default()).unwrap();
            assert_eq!(set.unknown, [], "{}", set.name);
        }
    }
}

#[test]
fn equal_runs_give_equal_reports() {
    let config = Config::shipped();
    let (one, other) = (report("demo", &config), report("demo", &config));
    let json = serde_json::to_string(&one).unwrap();
    assert_eq!(json, serde_json::to_string(&other).unwrap());
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), one);
}

#[test]
fn a_report_has_what_scripts_read() {
    let report = report("demo", &Config::shipped());
    let json = serde_json::to_value(report.without_rows()).unwrap();
    let set = &json["sets"][0];
    assert_eq!(set["name"], "demo");
    assert_eq!(set["queries"], 30);
    for arm in ["fused", "keyword", "semantic", "namespace", "card", "rrf60"] {
        for metric in ["recall@1", "recall@5", "recall@10", "ndcg@10", "mrr"] {
            let value = set["arms"][arm][metric].as_f64().unwrap();
            let ends = &set["arms"][arm]["interval"][metric];
            assert!(ends[0].as_f64().unwrap() <= value && value <= ends[1].as_f64().unwrap());
        }
    }
    for figure in ["negatives_auc", "withheld_auc"] {
        assert!(set["abstention"][figure].as_f64().is_some(), "{figure}");
    }
    let level = &set["levels"]["lang:zh"];
    assert!(level["arms"]["fused"]["recall@5"].as_f64().is_some());
    assert!(level["abstention"]["withheld_auc"].as_f64().is_some());
    assert!(set.get("rows").is_none());
    assert_eq!(set["worst"].as_array().unwrap().len(), 3);
}

#[test]
fn tables_show_every_set_and_arm() {
    let report = report("demo", &Config::shipped());
    let markdown = tables::markdown(&report);
    for word in ["demo", "fused", "rrf60", "Worst queries of demo", "lang:zh"] {
        assert!(markdown.contains(word), "{word}");
    }
}

#[test]
fn a_report_compared_with_itself_has_no_winners() {
    let config = Config::shipped();
    let before = report("demo", &config);
    let changes = compare::compare(&before, &before, System::Fused).unwrap();
    assert!(changes[0].moved.is_empty());
    let mut deaf = config;
    deaf.weights.keyword = 0.0;
    let after = report("demo", &deaf);
    let changes = compare::compare(&before, &after, System::Fused).unwrap();
    let recall = changes[0]
        .changes
        .iter()
        .find(|c| c.metric == Metric::Recall10)
        .unwrap();
    let whole =
        |report: &Report| report.sets[0].whole.arms[&System::Fused].figures[&Metric::Recall10];
    assert!((recall.before - whole(&before)).abs() < 1e-6);
    assert!((recall.after - whole(&after)).abs() < 1e-6);
    assert!(!changes[0].moved.is_empty());
    let mut other = before.clone();
    other.sets[0].name = "other".into();
    assert!(compare::compare(&before, &other, System::Fused).is_err());
}

#[test]
fn a_prompt_of_all_tools_grows_and_that_of_a_search_does_not() {
    let embedder = Hashed::new(64);
    let bench = bench("demo", &embedder);
    let cells = strategies::compare(&bench, &Config::shipped(), &[30, 120], &|_| ()).unwrap();
    assert_eq!(cells.len(), 6);
    let tokens = |strategy, tools| {
        let at = cells
            .iter()
            .find(|at| at.strategy == strategy && at.tools == tools);
        at.unwrap().tokens
    };
    assert!(3.0 * tokens(Strategy::All, 30) < tokens(Strategy::All, 120));
    for strategy in [Strategy::Prefilter, Strategy::Active] {
        assert!(tokens(strategy, 120) < 1.5 * tokens(strategy, 30));
        assert!(tokens(strategy, 120) < tokens(Strategy::All, 120) / 4.0);
    }
    let all = cells
        .iter()
        .find(|at| at.strategy == Strategy::All)
        .unwrap();
    assert_eq!((all.recall, all.exact), (1.0, None));
}

#[test]
fn constants_are_judged_on_the_catalogue_they_were_not_fitted_on() {
    let embedder = Hashed::new(64);
    let benches = [bench("demo", &embedder), bench("train/health", &embedder)];
    let start = Config::shipped();
    let tuning = tune(&benches, &start, Depth::Fusion, &|_| ()).unwrap();
    assert_eq!(tuning.judged.len(), 2);
    assert_ne!(tuning.judged[0].group, tuning.judged[1].group);
    for set in &tuning.judged {
        assert!(set.before.len() == System::ALL.len() && set.after.get(Metric::Recall20) > 0.0);
    }
    let lone = tune(&benches[..1], &start, Depth::Fusion, &|_| ()).unwrap_err();
    assert!(lone.to_string().contains("at least two"), "{lone}");
}

#[test]
fn kept_vectors_change_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Hashed::new(64);
    let measured = || {
        let keeping = Keeping::new(&embedder, folder.path()).unwrap();
        let options = Options {
            limit: Some(10),
            ..Options::default()
        };
        let set = Dataset::load(&data("demo"), &options).unwrap();
        let bench = Bench::new(set, &keeping, &|_| ()).unwrap();
        let ran = run(&bench, &Config::shipped(), &Plan::default(), &|_| ()).unwrap();
        SetReport::new(&bench, &ran)
    };
    assert_eq!(measured(), measured());
}
