//! What goes over the wire: the request, the answer, and how endpoints complain.

use serde::Deserialize;
use serde_json::json;

/// Characters of an endpoint's complaint that are passed on.
const MOST_OF_A_COMPLAINT: usize = 300;

/// A request for vectors, in JSON.
pub(super) fn request(model: &str, texts: &[String]) -> String {
    json!({"model": model, "input": texts, "encoding_format": "float"}).to_string()
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    embedding: Vec<f32>,
}

/// Vectors in the order of the texts, which the answer need not keep.
pub(super) fn rows(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|error| format!("its answer is not that of an embeddings endpoint: {error}"))?;
    let mut rows = vec![None; texts];
    let found = answer.data.len();
    for row in answer.data {
        match rows.get_mut(row.index) {
            Some(place @ None) => *place = Some(row.embedding),
            _ => {
                return Err(format!(
                    "it gave vector {} of {texts} twice or in vain",
                    row.index
                ));
            }
        }
    }
    rows.into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("it gave {found} vectors for {texts} texts"))
}

/// What an endpoint said when it refused, in one line.
pub(super) fn complaint(status: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|json| {
        let error = json.get("error")?;
        error.get("message").unwrap_or(error).as_str()
    });
    let words: Vec<&str> = message.unwrap_or(&text).split_whitespace().collect();
    let said: String = words.join(" ").chars().take(MOST_OF_A_COMPLAINT).collect();
    if said.is_empty() {
        format!("status {status}")
    } else {
        format!("status {status}: {said}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_in_order() {
        let body =
            br#"{"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1.5]}]}"#;
        assert_eq!(rows(body, 2).unwrap(), [[1.5], [2.0]]);
    }

    #[test]
    fn answers_that_do_not_fit_are_refused() {
        let one = br#"{"data": [{"index": 0, "embedding": [1]}]}"#;
        assert_eq!(rows(one, 2).unwrap_err(), "it gave 1 vectors for 2 texts");
        let twice =
            br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#;
        assert_eq!(
            rows(twice, 2).unwrap_err(),
            "it gave vector 0 of 2 twice or in vain"
        );
        let beyond = br#"{"data": [{"index": 9, "embedding": [1]}]}"#;
        assert!(rows(beyond, 1).unwrap_err().contains("vector 9 of 1"));
        assert!(
            rows(b"<html>", 1)
                .unwrap_err()
                .starts_with("its answer is not that of")
        );
    }

    #[test]
    fn complaints_are_read_from_either_shape() {
        let nested = br#"{"error": {"message": "model not found", "type": "x"}}"#;
        assert_eq!(complaint(404, nested), "status 404: model not found");
        assert_eq!(
            complaint(429, br#"{"error": "overloaded"}"#),
            "status 429: overloaded"
        );
        assert_eq!(complaint(502, b"bad\n gateway"), "status 502: bad gateway");
        assert_eq!(complaint(500, b""), "status 500");
    }
}
