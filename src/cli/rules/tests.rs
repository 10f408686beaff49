use super::*;

fn file(text: &str) -> Result<Rules, Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    read(file.path())
}

fn fault(rest: &str) -> String {
    let text = format!("[[rule]]\nname = \"r\"\n{rest}\n");
    let message = file(&text).unwrap_err().message();
    message.split_once(", ").unwrap().1.to_owned()
}

/// What a rule says, and how the fault begins.
const FAULTS: &[(&str, &str)] = &[
    (
        "effect = \"pin\"\nwhen = { field = \"context.fase\", eq = \"x\" }",
        "line 4: there is no field 'context.fase'; there are: tool.key, tool.namespace",
    ),
    (
        "effect = \"pin\"\nwhen = { field = \"tool.key\", eq = \"x\" }",
        "line 1: 'tool.key' does not belong into 'when'",
    ),
    (
        "effect = \"pin\"\n\ntools = [\n{ field = \"tool.kind\", eq = \"serch\" }]",
        "line 6: 'tool.kind' is never 'serch'",
    ),
    (
        "effect = \"pin\"\ntools = { field = \"tool.key\", glob = \"a[\" }",
        "line 4: 'a[' is not a glob",
    ),
    (
        "effect = \"pin\"\ntools = { field = \"tool.key\", eq = \"a\", in = [\"b\"] }",
        "line 4: 'tool.key' wants one of: eq, in, glob, lt, le, gt, ge, is",
    ),
    (
        "effect = \"pin\"\ntools = { field = \"tool.risk\", lt = 3 }",
        "line 4: 'rule.tools.lt' must be a text",
    ),
    (
        "effect = \"pin\"\nwhen = { field = \"context.turn\", gt = -3 }",
        "line 4: 'rule.when.gt' must be a whole number from 0 to 1000000000",
    ),
    (
        "effect = \"pin\"\ntools = { all = [{ field = \"tool.key\", is = \"present\" }], any = [{}] }",
        "line 4: a condition has one of: field, all, any, not",
    ),
    (
        "effect = \"pin\"\ntools = {}",
        "line 4: a condition has one of",
    ),
    (
        "effect = \"pin\"\nwhen = []",
        "line 4: 'rule.when' is an empty list: leave it out",
    ),
    (
        "effect = \"pin\"\ntools = { field = \"tool.key\", eq = \"a\", any = [] }",
        "line 4: 'rule.tools.any' is an empty list: leave it out",
    ),
    (
        "effect = \"pin\"\ntools = 3",
        "line 4: 'rule.tools' must be a condition or a list of them",
    ),
    ("", "line 1: the rule has no effect: add one of boost"),
    (
        "effect = \"pin\"\nstrength = 0.5",
        "line 1: only boost and suppress have a strength",
    ),
    (
        "effect = \"boost\"\nstrength = 0",
        "line 1: a strength lies above 0",
    ),
    (
        "effect = \"boost\"\nstrength = 2",
        "line 4: 'rule.strength' must be a number from 0 to 1",
    ),
    (
        "effect = \"pin\"\nmode = \"on\"",
        "line 4: 'rule.mode' must be one of \"enforce\"",
    ),
    ("effect = \"pin\"\nwhat = 1", "line 4: unknown key 'what'"),
    (
        "effect = \"pin\"\n[[rule]]\nname = \"r\"\neffect = \"pin\"",
        "line 4: two rules are called 'r'",
    ),
];

#[test]
fn faults_are_told_with_their_line() {
    for (text, expected) in FAULTS {
        let found = fault(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

#[test]
fn conditions_are_no_deeper_than_they_may() {
    let deep = format!(
        "effect = \"pin\"\ntools = {}{{ field = \"tool.key\", eq = \"a\" }}{}",
        "{ not = ".repeat(20),
        " }".repeat(20)
    );
    assert!(fault(&deep).contains("at most 8"), "{}", fault(&deep));
    let deeper = format!("tools = {}1", "{ not = ".repeat(50_000));
    assert!(!fault(&deeper).is_empty());
}

#[test]
fn an_empty_file_holds_no_rules() {
    assert_eq!(file("").unwrap(), Rules::default());
    assert_eq!(file("mode = \"shadow\"\n").unwrap(), Rules::default());
}

#[test]
fn a_rule_takes_the_mode_of_its_file_or_its_own() {
    let text = "mode = \"shadow\"\n[[rule]]\nname = \"a\"\neffect = \"pin\"\n\
                [[rule]]\nname = \"b\"\neffect = \"pin\"\nmode = \"enforce\"\n";
    let rules = file(text).unwrap();
    let modes: Vec<Mode> = rules.as_slice().iter().map(|rule| rule.mode).collect();
    assert_eq!(modes, [Mode::Shadow, Mode::Enforce]);
}

#[test]
fn the_example_of_the_module_is_a_rules_file() {
    let text = crate::cli::document::example_of(include_str!("../rules.rs"));
    let rules = file(&text).unwrap();
    let effects: Vec<Effect> = rules.as_slice().iter().map(|rule| rule.effect).collect();
    assert_eq!(effects, [Effect::Require, Effect::Suppress(0.5)]);
}
