//! Invariant 2 where business rules have a say: what a caller may not see changes nothing of what it
//! gets, whatever the rules and the moment.

use std::sync::Arc;

use axum::Router;
use proptest::prelude::*;
use toolscout::access::{Effect as Grant, Policy, Principal, Rule as Access};
use toolscout::catalog::read;
use toolscout::embed::hashed::Hashed;
use toolscout::index::build;
use toolscout::rules::{Condition, Effect, Field, Mode, Rule, Rules, Test};
use toolscout::search::Config;
use toolscout::serve::auth::Authentication;
use toolscout::serve::{App, Limits, Parts, mcp, router};

use super::http::fixture::{Answer, block_on, post, send};

const WORDS: [&str; 10] = [
    "parcel", "track", "order", "refund", "查询", "快递", "invoice", "send", "city", "zebra",
];
const SPACES: [&str; 3] = ["logistics", "crm", "vault"];
const PHASES: [&str; 3] = ["locate", "modify", "verify"];

#[derive(Debug, Clone)]
struct Draft {
    space: usize,
    name: Vec<usize>,
    text: Vec<usize>,
    phase: usize,
    writes: bool,
    secret: bool,
}

fn words(at: &[usize], between: &str) -> String {
    let words: Vec<&str> = at.iter().map(|at| WORDS[*at]).collect();
    words.join(between)
}

fn line(number: usize, draft: &Draft) -> String {
    serde_json::json!({
        "id": format!("t{number:02}"),
        "namespace": SPACES[draft.space],
        "name": words(&draft.name, "_"),
        "description": words(&draft.text, " "),
        "phases": [PHASES[draft.phase]],
        "side_effect": if draft.writes { "write" } else { "read" },
        "tags": [if draft.secret { "secret" } else { "plain" }],
    })
    .to_string()
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let some = |range| proptest::collection::vec(0..WORDS.len(), range);
    let draft = (
        0..SPACES.len(),
        some(1..4),
        some(0..7),
        0..PHASES.len(),
        any::<bool>(),
        any::<bool>(),
    );
    let draft = draft.prop_map(|(space, name, text, phase, writes, secret)| Draft {
        space,
        name,
        text,
        phase,
        writes,
        secret,
    });
    proptest::collection::vec(draft, 1..16)
}

fn one_of(field: Field, words: &[&str]) -> Condition {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Condition::Test(Test::is_in(field, words).unwrap())
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let tools = prop_oneof![
        (0..PHASES.len()).prop_map(|at| one_of(Field::Phases, &[PHASES[at]])),
        (0..SPACES.len()).prop_map(|at| one_of(Field::Namespace, &[SPACES[at]])),
        Just(one_of(Field::SideEffect, &["read"])),
        Just(one_of(Field::Tags, &["secret"])),
        (0..16usize).prop_map(|at| one_of(Field::Key, &[&format!("t{at:02}")])),
        Just(Condition::always()),
    ];
    let tools = (tools, any::<bool>()).prop_map(|(tools, not)| {
        if not {
            Condition::Not(Box::new(tools))
        } else {
            tools
        }
    });
    let when = prop_oneof![
        Just(Condition::always()),
        (0..PHASES.len()).prop_map(|at| one_of(Field::Phase, &[PHASES[at]])),
    ];
    let effect = prop_oneof![
        Just(Effect::Boost(1.0)),
        Just(Effect::Suppress(0.5)),
        Just(Effect::Require),
        Just(Effect::Pin),
        Just(Effect::NeverDefer),
    ];
    let mode = prop_oneof![3 => Just(Mode::Enforce), 1 => Just(Mode::Shadow)];
    proptest::collection::vec((tools, when, effect, mode), 1..5).prop_map(|drafts| {
        let rule = |(at, (tools, when, effect, mode)): (usize, _)| Rule {
            name: format!("r{at}").into(),
            mode,
            when,
            tools,
            effect,
        };
        drafts.into_iter().enumerate().map(rule).collect()
    })
}

fn service(lines: &[String], rules: &[Rule]) -> Router {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n")).unwrap();
    let catalog = read::read(file.path()).unwrap().into_catalog();
    let index = build::build(Arc::new(catalog), &Hashed::new(64), &|_| {}).unwrap();
    let rule = |effect, tags: &[&str]| Access {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Access::new(effect)
    };
    let policy = Policy::new(vec![
        rule(Grant::Allow, &[]),
        rule(Grant::Deny, &["secret"]),
    ]);
    let app = App::new(Parts {
        index: Arc::new(index),
        policy: Arc::new(policy.unwrap()),
        embedder: Some(Arc::new(Hashed::new(64))),
        config: Config::shipped(),
        authentication: Authentication::Open(Principal::of_tenant("acme")),
        limits: Limits::for_cores(2),
        mcp: mcp::Options::default(),
    })
    .unwrap();
    app.publish_rules(Arc::new(Rules::new(rules.to_vec()).unwrap()));
    router(app)
}

/// All that a caller gets for each of the requests, but for the times.
fn answers(service: &Router, asked: &[(&str, String)]) -> Vec<Answer> {
    let ask = |(path, body): &(&str, String)| {
        let mut answer = block_on(send(service, post(path, body.clone(), "")));
        answer.headers.remove("server-timing");
        answer
    };
    asked.iter().map(ask).collect()
}

fn requests() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let text = proptest::collection::vec(0..WORDS.len(), 1..6).prop_map(|at| words(&at, " "));
    (text, 0..PHASES.len(), 0..16usize, 1..6usize, any::<bool>()).prop_map(
        |(text, phase, tool, limit, explain)| {
            let key = format!("t{tool:02}");
            let context = serde_json::json!({"phase": PHASES[phase], "previous_tool": key});
            let discover = serde_json::json!({
                "query": text, "limit": limit, "explain": explain, "threshold": 0.0,
                "context": context,
            });
            let select = serde_json::json!({
                "query": format!("select:{key},parcel"), "context": context, "explain": explain,
            });
            let route = serde_json::json!({
                "query": text, "limit": limit, "threshold": 0.0, "context": context,
                "always": [key, "t01", "parcel"], "phase_limit": limit,
                "token_budget": 60 * limit,
            });
            let effect = if explain { "write" } else { "read" };
            let authorize = serde_json::json!({"tool": key, "side_effect": effect});
            vec![
                ("/v1/discover", discover.to_string()),
                ("/v1/discover", select.to_string()),
                ("/v1/route", route.to_string()),
                ("/v1/authorize", authorize.to_string()),
            ]
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn non_interference_under_rules(drafts in drafts(), rules in rules(), asked in requests()) {
        let lines: Vec<String> = drafts.iter().enumerate().map(|(at, d)| line(at, d)).collect();
        let visible: Vec<String> = drafts
            .iter()
            .zip(&lines)
            .filter(|(draft, _)| !draft.secret)
            .map(|(_, line)| line.clone())
            .collect();
        prop_assert_eq!(
            answers(&service(&lines, &rules), &asked),
            answers(&service(&visible, &rules), &asked)
        );
    }
}
