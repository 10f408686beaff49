use std::sync::Arc;

use super::*;
use crate::access::Principal;
use crate::catalog::fixture;
use crate::tool::{self, SideEffect, Tool, ToolId};

fn tools() -> Vec<Tool> {
    let tool = |name: &str, kind, side_effect, phases: &[&str]| {
        let mut tool = fixture::tool("code", name);
        tool.kind = Some(kind);
        tool.side_effect = side_effect;
        tool.phases = phases.iter().map(|phase| (*phase).to_owned()).collect();
        tool
    };
    vec![
        tool("commit", tool::Kind::Act, SideEffect::Write, &["modify"]),
        tool("grep", tool::Kind::Search, SideEffect::Read, &["locate"]),
        tool("mystery", tool::Kind::Act, SideEffect::Unknown, &[]),
        tool("test", tool::Kind::Act, SideEffect::None, &["verify"]),
    ]
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn is_in(field: Field, list: &[&str]) -> Condition {
    Condition::Test(Test::is_in(field, texts(list)).unwrap())
}

fn rule(name: &str, when: Condition, tools: Condition, effect: Effect) -> Rule {
    Rule {
        name: name.into(),
        mode: Mode::Enforce,
        when,
        tools,
        effect,
    }
}

fn compiled(rules: Vec<Rule>) -> Compiled {
    Compiled::new(Arc::new(Rules::new(rules).unwrap()), &tools())
}

fn caller() -> Principal {
    let mut principal = Principal::of_tenant("acme");
    principal.roles.insert("engineer".into());
    principal
}

fn in_phase(phase: &str) -> Context {
    Context {
        phase: Some(phase.to_owned()),
        ..Context::default()
    }
}

fn names(condition: &Condition) -> Vec<String> {
    let tools = tools().into_iter();
    let held = tools.filter(|tool| condition.holds_for(tool));
    held.map(|tool| tool.name).collect()
}

#[test]
fn conditions_on_tools() {
    let order = |how, word| Condition::Test(Test::order(Field::SideEffect, how, word).unwrap());
    let glob = |glob: &str| Condition::Test(Test::matches(Field::Key, texts(&[glob])).unwrap());
    // What is not declared is below nothing.
    assert_eq!(names(&order(Comparison::AtMost, "read")), ["grep", "test"]);
    assert_eq!(names(&order(Comparison::Greater, "read")), ["commit"]);
    assert_eq!(names(&glob("code/*t*")), ["commit", "mystery", "test"]);
    assert_eq!(
        names(&is_in(Field::Phases, &["locate", "verify"])),
        ["grep", "test"]
    );
    let none = Condition::Test(Test::presence(Field::Phases, false));
    assert_eq!(names(&none), ["mystery"]);
    let neither = Condition::Not(Box::new(Condition::Any(vec![none, glob("*/grep")])));
    assert_eq!(names(&neither), ["commit", "test"]);
    assert_eq!(names(&Condition::Any(vec![])), Vec::<String>::new());
    assert_eq!(names(&Condition::always()).len(), 4);
    let few = Condition::Test(Test::number(Field::Parameters, Some(Comparison::Less), 1).unwrap());
    assert_eq!(names(&few).len(), 4);
}

#[test]
fn a_rule_speaks_in_its_moment_only() {
    let rules = compiled(vec![
        rule(
            "locate",
            is_in(Field::Phase, &["locate"]),
            is_in(Field::Phases, &["locate"]),
            Effect::Require,
        ),
        rule(
            "engineers commit",
            is_in(Field::Roles, &["engineer", "admin"]),
            is_in(Field::Name, &["commit"]),
            Effect::Boost(0.5),
        ),
    ]);
    let (commit, grep) = (ToolId(0), ToolId(1));
    let silent = rules.ruling(&Principal::of_tenant("acme"), &in_phase("modify"));
    assert!(silent.is_silent() && silent.keeps(commit) && silent.value(commit).is_none());
    let locate = rules.ruling(&caller(), &in_phase("locate"));
    assert!(locate.removes() && locate.keeps(grep) && !locate.keeps(commit));
    assert_eq!(locate.value(commit), Some(0.75));
    assert_eq!(locate.value(grep), None);
    assert_eq!(locate.against(commit).count(), 1);
}

#[test]
fn pulls_add_up_and_pins_keep_their_order() {
    let always = Condition::always;
    let rules = compiled(vec![
        rule("a", always(), is_in(Field::Name, &["test"]), Effect::Pin),
        rule(
            "b",
            always(),
            is_in(Field::Name, &["grep", "test"]),
            Effect::Pin,
        ),
        rule(
            "c",
            always(),
            is_in(Field::Name, &["grep"]),
            Effect::Boost(0.2),
        ),
        rule(
            "d",
            always(),
            is_in(Field::Name, &["grep"]),
            Effect::Suppress(1.0),
        ),
        rule(
            "e",
            always(),
            is_in(Field::Name, &["grep"]),
            Effect::Suppress(0.9),
        ),
        rule(
            "f",
            always(),
            is_in(Field::Name, &["grep"]),
            Effect::NeverDefer,
        ),
    ]);
    let ruling = rules.ruling(&caller(), &Context::default());
    assert_eq!(ruling.value(ToolId(1)), Some(0.0));
    assert_eq!(ruling.pinned(9, |_| true), [ToolId(3), ToolId(1)]);
    assert_eq!(ruling.pinned(9, |tool| tool != ToolId(3)), [ToolId(1)]);
    assert_eq!(ruling.pinned(1, |_| true), [ToolId(3)]);
    assert_eq!(ruling.pin(ToolId(1)), Some(1));
    assert_eq!(&*ruling.never_defers(ToolId(1)).unwrap().name, "f");
    assert!(ruling.never_defers(ToolId(3)).is_none());
}

#[test]
fn a_rule_in_shadow_counts_only_when_asked() {
    let mut shadowed = rule(
        "s",
        Condition::always(),
        is_in(Field::Name, &["grep"]),
        Effect::Require,
    );
    shadowed.mode = Mode::Shadow;
    let mut off = rule(
        "o",
        Condition::always(),
        Condition::always(),
        Effect::Boost(1.0),
    );
    off.mode = Mode::Off;
    let ruling = compiled(vec![shadowed, off]).ruling(&caller(), &Context::default());
    assert!(!ruling.is_silent() && !ruling.removes() && ruling.keeps(ToolId(0)));
    assert_eq!(ruling.value(ToolId(0)), None);
    let would = ruling.with_shadow().unwrap();
    assert!(would.removes() && !would.keeps(ToolId(0)));
    assert!(Ruling::default().with_shadow().is_none());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let error = |result: Result<Test, Error>| result.unwrap_err().to_string();
    assert_eq!(
        error(Test::is_in(Field::Kind, texts(&["serch"]))),
        "'tool.kind' is never 'serch': it is one of search, read, parse, query, act"
    );
    assert_eq!(
        error(Test::order(Field::Kind, Comparison::Less, "act")),
        "'tool.kind' cannot be tested by a comparison"
    );
    assert_eq!(
        error(Test::is_in(Field::Turn, texts(&["3"]))),
        "'context.turn' cannot be tested by in"
    );
    assert!(error(Test::matches(Field::Key, texts(&["a["]))).starts_with("'a[' is not a glob"));
    assert!(error(Test::is_in(Field::Key, vec![])).contains("the list is empty"));
    let many = vec!["x".to_owned(); MAX_TEXTS + 1];
    assert!(error(Test::is_in(Field::Key, many)).contains("at most 256"));
    let long = vec!["x".repeat(MAX_TEXT + 1)];
    assert!(error(Test::is_in(Field::Key, long)).contains("at most 256"));

    let error = |rules| Rules::new(rules).unwrap_err().to_string();
    let phase = || is_in(Field::Phase, &["locate"]);
    let key = || is_in(Field::Key, &["a"]);
    assert_eq!(
        error(vec![rule("r", key(), key(), Effect::Pin)]),
        "'tool.key' does not belong into 'when': it says of a tool, so put it into 'tools'"
    );
    assert!(error(vec![rule("r", phase(), phase(), Effect::Pin)]).contains("into 'tools'"));
    assert!(error(vec![rule(" ", phase(), key(), Effect::Pin)]).contains("needs a name"));
    assert!(error(vec![rule("r", phase(), key(), Effect::Boost(0.0))]).contains("above 0"));
    let twin = rule("r", phase(), key(), Effect::Pin);
    assert!(error(vec![twin.clone(), twin]).contains("two rules are called 'r'"));
    let deep = (0..MAX_NESTING).fold(phase(), |inner, _| Condition::Not(Box::new(inner)));
    assert!(error(vec![rule("r", deep, key(), Effect::Pin)]).contains("at most 8"));
    let many = (0..=MAX_RULES).map(|n| rule(&n.to_string(), phase(), key(), Effect::Pin));
    assert!(error(many.collect()).contains("257 rules, at most 256"));
}

fn found(rules: Vec<Rule>) -> Vec<(Kind, usize)> {
    let found = check(&compiled(rules)).into_iter();
    found.map(|finding| (finding.kind, finding.rule)).collect()
}

#[test]
fn rules_are_looked_over() {
    let always = Condition::always;
    let phase = |phases: &[&str]| is_in(Field::Phase, phases);
    let name = |names: &[&str]| is_in(Field::Name, names);
    let require = |name, when, tools| rule(name, when, tools, Effect::Require);
    let good = vec![
        require("locate", phase(&["locate"]), name(&["grep"])),
        require("modify", phase(&["modify"]), name(&["commit"])),
        rule("p", phase(&["modify"]), name(&["commit"]), Effect::Pin),
    ];
    assert_eq!(found(good), []);
    assert_eq!(
        found(vec![
            rule("a", always(), name(&["nobody"]), Effect::Pin),
            rule("b", always(), always(), Effect::Boost(1.0)),
            rule(
                "c",
                Condition::All(vec![phase(&["x"]), phase(&["y"])]),
                name(&["grep"]),
                Effect::Pin
            ),
            require("d", always(), name(&["grep"])),
            require("e", phase(&["x"]), name(&["test"])),
            rule("f", phase(&["x"]), name(&["commit"]), Effect::Pin),
            require("g", phase(&["x"]), name(&["grep", "commit"])),
        ]),
        [
            (Kind::NoTool, 0),
            (Kind::EveryTool, 1),
            (Kind::Never, 2),
            (Kind::Contradiction, 4),
            (Kind::Contradiction, 5),
            (Kind::Contradiction, 5),
            (Kind::Shadowed, 6),
            (Kind::Contradiction, 6),
        ]
    );
    assert_eq!(
        found(vec![
            rule(
                "a",
                phase(&["x", "y"]),
                name(&["grep", "test"]),
                Effect::Pin
            ),
            rule("b", phase(&["x"]), name(&["grep"]), Effect::Pin),
            rule("c", always(), name(&["grep"]), Effect::Pin),
            rule("d", always(), name(&["grep"]), Effect::Boost(0.5)),
            rule("e", always(), name(&["grep"]), Effect::Suppress(0.5)),
        ]),
        [(Kind::Shadowed, 1), (Kind::Contradiction, 4)]
    );
}

#[test]
fn numbers_that_cannot_be_are_seen() {
    use Comparison::{AtLeast, Greater, Less};
    let turn = |how, bound| Condition::Test(Test::number(Field::Turn, Some(how), bound).unwrap());
    let grep = || is_in(Field::Name, &["grep"]);
    for (tests, never) in [
        (vec![turn(Less, 3), turn(Greater, 3)], true),
        (vec![turn(Less, 4), turn(Greater, 2)], false),
        (vec![turn(Less, 0), turn(AtLeast, 0)], true),
        (
            vec![
                turn(Less, 3),
                Condition::Test(Test::presence(Field::Turn, false)),
            ],
            true,
        ),
        (
            // A caller may have both roles.
            vec![is_in(Field::Roles, &["a"]), is_in(Field::Roles, &["b"])],
            false,
        ),
    ] {
        let found = found(vec![rule("r", Condition::All(tests), grep(), Effect::Pin)]);
        assert_eq!(found == [(Kind::Never, 0)], never);
    }
}
