//! The exact bytes of an answer, from numbers that no tuning changes.

use toolscout::access::{Policy, Principal};
use toolscout::search::confidence::Features;
use toolscout::search::{
    Answer, Arm, ArmScore, Explanation, Hit, NoMatch, Reason, TermMatch, View,
};
use toolscout::serve::wire::{Detail, discover_response};
use toolscout::tool::ToolId;

use super::fixture::*;
use super::openapi::golden;

fn hit(tool: u32, explanation: Option<Explanation>) -> Hit {
    Hit {
        tool: ToolId(tool),
        score: 0.731_058_6,
        needs: if explanation.is_some() {
            vec![0, 1]
        } else {
            vec![]
        },
        variants: if explanation.is_some() {
            vec![ToolId(1)]
        } else {
            vec![]
        },
        explanation,
    }
}

fn answer() -> Answer {
    let explanation = Explanation {
        arms: vec![
            ArmScore {
                arm: Arm::Semantic,
                raw: 0.5,
                value: 0.9,
                weight: 0.6875,
                contribution: 0.618_75,
            },
            ArmScore {
                arm: Arm::Keyword,
                raw: 7.123_456_7,
                value: 0.36,
                weight: 0.3125,
                contribution: 0.1125,
            },
        ],
        covered: 0.0,
        avoided: 0.000_191_4,
        exact_name: false,
        terms: vec![TermMatch {
            term: "parcel".into(),
            fields: vec!["description", "usage"],
            points: 7.123_456_7,
        }],
        part: Some("where is my parcel".into()),
        rules: vec![],
        total: 0.731_058_6,
    };
    Answer {
        hits: vec![hit(2, Some(explanation)), hit(4, None)],
        no_match: None,
        confidence: 0.999_999_9,
        features: Features::default(),
        truncated: true,
        unserved: vec![2],
        arms: vec![Arm::Semantic, Arm::Keyword],
        used_graph: false,
        model_fault: None,
    }
}

#[test]
fn an_answer_has_these_bytes() {
    let index = index(TOOLS);
    let permitted =
        Policy::open("a fixture").permit(&Principal::of_tenant("acme"), index.catalog.tools());
    let view = View::new(&index, permitted);
    for (name, detail) in [
        ("full", Detail::Full),
        ("compact", Detail::Compact),
        ("name", Detail::Name),
    ] {
        let response = discover_response(&index, &view, &answer(), detail);
        let text = serde_json::to_string_pretty(&response).unwrap();
        golden(&format!("discover_{name}.json"), &text);
    }
    let nothing = Answer {
        hits: vec![],
        no_match: Some(NoMatch {
            reason: Reason::BelowThreshold,
            advice: "Say it otherwise.",
            near: vec![ToolId(2), ToolId(0)],
        }),
        confidence: f32::NAN,
        truncated: false,
        unserved: vec![],
        ..answer()
    };
    let response = discover_response(&index, &view, &nothing, Detail::Full);
    golden(
        "discover_no_match.json",
        &serde_json::to_string_pretty(&response).unwrap(),
    );
}
