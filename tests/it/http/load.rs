//! Too much work, work that takes too long, and work that fails.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use toolscout::serve::{App, Limits, Parts, router};

use super::fixture::*;

const QUERY: &str = r#"{"query": "where is my parcel"}"#;

fn troubled(embedder: &Arc<Troubled>, limits: Limits) -> Router {
    let parts = Parts {
        embedder: Some(Arc::clone(embedder) as _),
        limits,
        ..parts(TOOLS)
    };
    router(App::new(parts).unwrap())
}

#[test]
fn more_than_can_wait_are_refused_at_once() {
    let limits = Limits {
        searches: 1,
        waiting: 1,
        ..Limits::for_cores(1)
    };
    let embedder = Troubled::new(Trouble::Sleep(Duration::from_millis(100)));
    let service = troubled(&embedder, limits);
    let mut answers: Vec<Answer> = block_on(async {
        let asked = || send(&service, discover(QUERY, GUEST));
        let (a, b, c, d) = tokio::join!(asked(), asked(), asked(), asked());
        vec![a, b, c, d]
    });
    answers.sort_by_key(|answer| answer.status);
    let statuses: Vec<u16> = answers
        .iter()
        .map(|answer| answer.status.as_u16())
        .collect();
    assert_eq!(statuses, [200, 200, 503, 503]);
    let message = "too many requests are waiting: try again in a second";
    assert_eq!(
        answers[3].error(),
        (503, "overloaded".into(), message.into())
    );
    assert_eq!(answers[3].header("retry-after"), "1");
    let later = block_on(send(&service, discover(QUERY, GUEST)));
    assert_eq!(later.status, 200);
}

#[test]
fn a_request_that_takes_too_long_ends() {
    let limits = Limits {
        request_time: Duration::from_millis(30),
        searches: 1,
        waiting: 0,
        ..Limits::for_cores(1)
    };
    let embedder = Troubled::new(Trouble::Sleep(Duration::from_millis(1000)));
    let service = troubled(&embedder, limits);
    block_on(async {
        let answer = send(&service, discover(QUERY, GUEST)).await;
        let message = "the request took longer than 0.03 s: try again, or ask for less";
        assert_eq!(answer.error(), (504, "timeout".into(), message.into()));
        // The work goes on and holds its turn: whoever comes now is refused rather than piled up.
        let answer = send(&service, discover(QUERY, GUEST)).await;
        assert_eq!(answer.error().1, "overloaded");
        assert_eq!(embedder.begun.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_model_that_fails_leaves_the_words() {
    let service = troubled(&Troubled::new(Trouble::Fail), Limits::for_cores(1));
    let body = r#"{"query": "where is my parcel", "threshold": 0}"#;
    let answer = block_on(send(&service, discover(body, GUEST)));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let answer: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
    let arms = answer["arms"].as_array().unwrap();
    assert!(arms.iter().any(|arm| arm == "keyword"), "{arms:?}");
    assert!(arms.iter().all(|arm| arm != "semantic"), "{arms:?}");
    assert!(!answer["hits"].as_array().unwrap().is_empty());
    assert!(!answer.to_string().contains("not for callers"));
}

#[test]
fn causes_stay_inside() {
    for trouble in [Trouble::Panic] {
        let service = troubled(&Troubled::new(trouble), Limits::for_cores(1));
        for _ in 0..3 {
            let answer = block_on(send(&service, discover(QUERY, GUEST)));
            let message = "something went wrong on the server: its log names this request_id";
            assert_eq!(
                answer.error(),
                (500, "internal".into(), message.into()),
                "{trouble:?}"
            );
            assert!(!answer.text.contains("not for callers"));
        }
        assert_eq!(
            block_on(send(&service, get("/v1/tools", GUEST))).status,
            200
        );
    }
}
