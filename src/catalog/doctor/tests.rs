use super::*;
use crate::catalog::fixture;
use crate::tool::Parameter;
use std::sync::Arc;

fn described(namespace: &str, name: &str, description: &str) -> Tool {
    let mut tool = fixture::tool(namespace, name);
    tool.description = description.into();
    tool.use_when = vec!["it is asked for".into()];
    tool
}

/// Keys by check.
fn found(tools: Vec<Tool>) -> Vec<(Check, Vec<Vec<String>>)> {
    let report = examine(&Catalog::new(tools, vec![]));
    report
        .findings
        .into_iter()
        .map(|f| (f.check, f.subjects.into_iter().map(|s| s.keys).collect()))
        .collect()
}

fn only(check: Check, keys: &[&str]) -> Vec<(Check, Vec<Vec<String>>)> {
    vec![(check, vec![keys.iter().map(|k| (*k).to_owned()).collect()])]
}

const GOOD: &str = "Report when a parcel arrives and where it is at the moment.";

#[test]
fn a_good_catalogue_has_no_findings() {
    let other = described(
        "crm",
        "find_customer",
        "Search customers by name, email or phone.",
    );
    assert_eq!(
        found(vec![described("logistics", "get_eta", GOOD), other]),
        []
    );
}

#[test]
fn descriptions_are_weighed_by_what_they_say() {
    let empty = described("a", "x", " . ");
    assert_eq!(found(vec![empty]), only(Check::EmptyDescription, &["a/x"]));
    let short = described("a", "x", "Gets data.");
    assert_eq!(found(vec![short]), only(Check::ShortDescription, &["a/x"]));
    assert_eq!(
        found(vec![described("a", "x", "查询包裹的预计送达时间")]),
        []
    );
}

#[test]
fn the_same_words_are_a_duplicate_whatever_the_case() {
    let tools = vec![
        described("a", "get_eta", GOOD),
        described("b", "Get-ETA", &GOOD.to_uppercase()),
        described(
            "c",
            "find_customer",
            "Search customers by name, email or phone.",
        ),
    ];
    assert_eq!(
        found(tools),
        only(Check::Duplicate, &["a/get_eta", "b/Get-ETA"])
    );
}

#[test]
fn one_word_exchanged_in_a_sentence_is_a_near_duplicate() {
    let tools = vec![
        described(
            "a",
            "get_eta",
            &format!("{GOOD} Times are local to the depot."),
        ),
        described(
            "b",
            "get_eta",
            &format!("{GOOD} Times are local to the city."),
        ),
    ];
    let keys = &["a/get_eta", "b/get_eta"];
    let both = [
        only(Check::NearDuplicate, keys),
        only(Check::SharedName, keys),
    ];
    assert_eq!(found(tools), both.concat());
}

#[test]
fn names_that_providers_refuse_are_named_with_the_reason() {
    let report = examine(&Catalog::new(
        vec![described("a", "查询.order", GOOD)],
        vec![],
    ));
    assert_eq!(report.findings[0].check, Check::RefusedName);
    assert_eq!(report.findings[0].subjects[0].detail, "holds '查'");
    let long = described("a", &"x".repeat(65), GOOD);
    assert_eq!(
        examine(&Catalog::new(vec![long], vec![])).findings[0].subjects[0].detail,
        "has 65 characters"
    );
}

#[test]
fn crowds_parameters_and_references() {
    let crowd = (0..11).map(|n| {
        described(
            "crowd",
            &format!("tool{n}"),
            &format!("{n} {GOOD} {n}{n}{n} words {n}{n}"),
        )
    });
    let findings = found(crowd.collect());
    assert!(findings.contains(&only(Check::CrowdedNamespace, &["crowd"])[0]));

    let mut tool = described("a", "x", GOOD);
    tool.inputs = ["p", "q", "r"]
        .map(|path| Parameter {
            path: path.into(),
            description: String::new(),
            values: vec![],
            required: false,
        })
        .to_vec();
    tool.input_schema = crate::tool::Json(Arc::from(
        r##"{"properties":{"p":{"$ref":"#/$defs/none"}}}"##,
    ));
    let checks: Vec<Check> = found(vec![tool])
        .into_iter()
        .map(|(check, _)| check)
        .collect();
    assert_eq!(
        checks,
        [Check::BrokenReference, Check::UndescribedParameters]
    );
}

#[test]
fn ten_thousand_tools_of_one_template_take_no_time() {
    let tools = (0..10_000).map(|n| {
        described(
            "a",
            &format!("t{n}"),
            &format!("Reads the record number {n} of the archive and returns it whole."),
        )
    });
    let start = std::time::Instant::now();
    let report = examine(&Catalog::new(tools.collect(), vec![]));
    assert_eq!(report.tools, 10_000);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
