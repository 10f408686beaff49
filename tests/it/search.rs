//! What a search promises, on the demo catalogue with an embedder that knows spelling only.

use std::path::Path;
use std::sync::Arc;

use toolscout::access::{Policy, Principal};
use toolscout::catalog::read;
use toolscout::embed::hashed::Hashed;
use toolscout::index::{Index, build::build};
use toolscout::search::{
    Answer, Arm, Config, Detail, Filters, Hints, Query, Reason, Request, View, search,
};
use toolscout::tool::SideEffect;

struct Demo {
    index: Index,
    view: View,
}

impl Demo {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo/tools");
        let catalog = read::read(&folder).unwrap().into_catalog();
        let index = build(Arc::new(catalog), &Hashed::new(128), &|_| {}).unwrap();
        let permitted = Policy::open("a test of search, not of access")
            .permit(&Principal::of_tenant("northlight"), index.catalog.tools());
        let view = View::new(&index, permitted);
        Self { index, view }
    }

    fn answer(&self, request: &Request) -> Answer {
        let embedder = Hashed::new(128);
        search(
            &self.index,
            Some(&embedder),
            &self.view,
            request,
            &Config::shipped(),
        )
        .unwrap()
    }

    fn keys(&self, request: &Request) -> Vec<&str> {
        let answer = self.answer(request);
        let tools = answer.hits.iter().map(|hit| hit.tool);
        tools
            .map(|tool| self.index.catalog.tool(tool).key.as_str())
            .collect()
    }
}

fn always(text: &str, limit: usize) -> Request {
    Request {
        threshold: Some(0.0),
        ..Request::new(text, limit)
    }
}

#[test]
fn a_tool_that_is_named_comes_first_in_whatever_spelling() {
    let demo = Demo::new();
    for text in [
        "get_shipping_eta",
        "logistics/get_shipping_eta",
        "getShippingEta",
        "`get_shipping_eta`",
        "please call get_shipping_eta for the weather invoice",
    ] {
        let request = Request {
            detail: Detail::Explained,
            ..always(text, 3)
        };
        assert_eq!(
            demo.keys(&request)[0],
            "logistics/get_shipping_eta",
            "{text}"
        );
        let answer = demo.answer(&request);
        assert!(
            answer.hits[0].explanation.as_ref().unwrap().exact_name,
            "{text}"
        );
        assert_eq!(answer.confidence, 1.0, "{text}");
    }
}

#[test]
fn select_takes_just_the_tools_it_names() {
    let demo = Demo::new();
    let request = always(
        "select:payments/get_invoice, get_shipping_eta,no_such_tool",
        5,
    );
    assert_eq!(
        demo.keys(&request),
        ["payments/get_invoice", "logistics/get_shipping_eta"]
    );
    let unknown = demo.answer(&always("select:no_such_tool", 5));
    assert_eq!(unknown.no_match.unwrap().reason, Reason::BelowThreshold);
}

#[test]
fn a_request_without_words_is_told_so() {
    let demo = Demo::new();
    for text in ["", "   ", "?!…", "。。。"] {
        let answer = demo.answer(&Request::new(text, 5));
        assert_eq!(
            answer.no_match.unwrap().reason,
            Reason::EmptyQuery,
            "{text:?}"
        );
    }
}

#[test]
fn contributions_add_up_to_the_score() {
    let demo = Demo::new();
    let text = "refund the invoice, and then send a message to the customer about it";
    let request = Request {
        detail: Detail::Explained,
        ..always(text, 10)
    };
    let answer = demo.answer(&request);
    assert!(answer.hits.len() == 10 && answer.truncated);
    for hit in &answer.hits {
        let explanation = hit.explanation.as_ref().unwrap();
        let arms: f32 = explanation.arms.iter().map(|arm| arm.contribution).sum();
        let total = (arms + explanation.covered - explanation.avoided).clamp(0.0, 1.0);
        assert!((total - hit.score).abs() < 1e-5, "{explanation:?}");
        let weights: f32 = explanation.arms.iter().map(|arm| arm.weight).sum();
        assert!((weights - 1.0).abs() < 1e-5, "{explanation:?}");
        assert!(explanation.part.is_some());
    }
    assert!(
        answer
            .hits
            .windows(2)
            .all(|pair| pair[1].score <= pair[0].score)
    );
}

#[test]
fn without_a_model_the_semantic_arm_is_silent_and_says_so() {
    let demo = Demo::new();
    let request = always("invoice", 3);
    let answer = search(&demo.index, None, &demo.view, &request, &Config::shipped()).unwrap();
    assert!(!answer.arms.contains(&Arm::Semantic) && answer.arms.contains(&Arm::Keyword));
    assert!(!answer.hits.is_empty());
}

#[test]
fn every_need_is_served_before_any_is_served_twice() {
    let demo = Demo::new();
    let needs = ["get_invoice", "search_email", "get_invoice"]
        .map(String::from)
        .to_vec();
    let query = Query {
        needs,
        ..Query::default()
    };
    let request = Request {
        query,
        ..always("", 4)
    };
    let answer = demo.answer(&request);
    let first: Vec<&str> = demo.keys(&request).into_iter().take(2).collect();
    assert_eq!(first, ["payments/get_invoice", "email/search_email"]);
    assert!(answer.hits[0].needs.contains(&0) && answer.hits[0].needs.contains(&2));
    assert!(answer.unserved.is_empty());
}

#[test]
fn near_duplicates_stand_once_whichever_need_found_them() {
    let twins = r#"{"namespace": "web", "name": "search_web", "description": "Search the web for pages."}
{"namespace": "research", "name": "searchWeb", "description": "Search the web for pages."}
{"namespace": "maps", "name": "find_route", "description": "Find a route by car."}"#;
    let file = tempfile::NamedTempFile::with_suffix(".jsonl").unwrap();
    std::fs::write(&file, twins).unwrap();
    let catalog = read::read(file.path()).unwrap().into_catalog();
    let embedder = Hashed::new(128);
    let index = build(Arc::new(catalog), &embedder, &|_| {}).unwrap();
    let permitted = Policy::open("a test of search, not of access")
        .permit(&Principal::of_tenant(""), index.catalog.tools());
    let view = View::new(&index, permitted);
    let needs = [
        "search of the web server",
        "search of research",
        "route by car",
    ];
    let query = Query {
        needs: needs.map(String::from).to_vec(),
        ..Query::default()
    };
    let request = Request {
        query,
        ..always("", 5)
    };
    let found = search(&index, Some(&embedder), &view, &request, &Config::shipped()).unwrap();
    let key = |tool| index.catalog.tool(tool).key.as_str();
    let names = found.hits.iter().map(|hit| key(hit.tool));
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["web/search_web", "maps/find_route"]
    );
    let variants = found.hits[0].variants.iter().map(|tool| key(*tool));
    assert_eq!(variants.collect::<Vec<_>>(), ["research/searchWeb"]);
    assert!(
        found.hits[0].needs.starts_with(&[0, 1]),
        "{:?}",
        found.hits[0].needs
    );
}

#[test]
fn filters_hide_the_rest_as_if_it_were_not_permitted() {
    let demo = Demo::new();
    let filters = Filters {
        namespaces: vec!["payments".into()],
        side_effects: vec![SideEffect::Read, SideEffect::None],
        ..Filters::default()
    };
    let request = Request {
        filters,
        ..always("invoice", 20)
    };
    let answer = demo.answer(&request);
    assert!(!answer.hits.is_empty());
    for hit in &answer.hits {
        let tool = demo.index.catalog.tool(hit.tool);
        assert_eq!(
            (tool.namespace.as_str(), tool.side_effect),
            ("payments", SideEffect::Read)
        );
    }
    let nothing = Filters {
        namespaces: vec!["no such".into()],
        ..Filters::default()
    };
    let answer = demo.answer(&Request {
        filters: nothing,
        ..always("invoice", 5)
    });
    assert_eq!(answer.no_match.unwrap().reason, Reason::NothingPermitted);
}

#[test]
fn hints_and_the_tool_request_form_steer_the_search() {
    let demo = Demo::new();
    let form = "<tool_request>server: payments; tool: get one invoice</tool_request>";
    assert_eq!(demo.keys(&always(form, 3))[0], "payments/get_invoice");
    let hints = Hints {
        namespace: None,
        tool: Some("get_invoice of payments".into()),
    };
    let query = Query {
        text: String::new(),
        needs: vec![],
        hints,
    };
    assert_eq!(
        demo.keys(&Request {
            query,
            ..always("", 3)
        })[0],
        "payments/get_invoice"
    );
}

#[test]
fn hostile_queries_are_answered() {
    let demo = Demo::new();
    let long = "track my parcel and then ".repeat(40_000);
    for text in [
        "a".repeat(1_000_000),
        "物".repeat(1_000_000),
        long,
        "\u{0}\u{202e}\u{fdd0}parcel".to_owned(),
        "<tool_request>".repeat(10_000),
        "{[{[".repeat(50_000),
        "select:".to_owned() + &"a,".repeat(100_000),
        "“".repeat(10_000),
    ] {
        let answer = demo.answer(&always(&text, 5));
        assert!(answer.hits.len() <= 5);
    }
}
