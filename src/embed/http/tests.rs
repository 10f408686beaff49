use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// A server that gives each request the next answer (the last one for ever), and keeps requests.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

type Answer = (u16, String);

fn serve(answers: Vec<Answer>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let length: usize = head
                .to_lowercase()
                .split("content-length: ")
                .nth(1)
                .map_or(0, |rest| {
                    rest.split("\r\n").next().unwrap().parse().unwrap()
                });
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            kept.lock()
                .unwrap()
                .push(head + &String::from_utf8(body).unwrap());
            let (status, text) = &answers[number.min(answers.len() - 1)];
            let more = if *status == 429 {
                "retry-after: 0\r\n"
            } else {
                ""
            };
            write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{more}connection: close\r\n\r\n{text}",
                text.len()
            )
            .unwrap();
        }
    });
    Server { url, seen }
}

fn good(rows: &[&[f32]]) -> Answer {
    let data: Vec<serde_json::Value> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| serde_json::json!({"index": index, "embedding": row}))
        .rev()
        .collect();
    (
        200,
        serde_json::json!({"object": "list", "data": data}).to_string(),
    )
}

fn feed(dimension: Option<usize>) -> Feed {
    Feed {
        name: "remote".to_owned(),
        version: "1".to_owned(),
        dimension,
        calibration: Calibration {
            low: 0.0,
            high: 1.0,
        },
        query_prefix: "query: ".to_owned(),
        document_prefix: String::new(),
        max_tokens: 2,
    }
}

fn open(server: &Server, dimension: Option<usize>) -> Result<Http, Error> {
    let address = Address::new(&server.url, "org/model", None).unwrap();
    Http::open(address, feed(dimension))
}

fn fault(answers: Vec<Answer>, dimension: Option<usize>) -> String {
    open(&serve(answers), dimension).err().unwrap().to_string()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn vectors_come_back_in_order_and_the_request_is_as_it_should_be() {
    let server = serve(vec![
        good(&[&[1.0, 0.0]]),
        good(&[&[3.0, 4.0], &[0.0, 2.0]]),
    ]);
    let http = open(&server, None).unwrap();
    assert_eq!(http.dim(), 2);
    assert!(http.model_id().starts_with("remote@1-"));
    let vectors = http
        .embed(Side::Document, &texts(&["", "a long text"]))
        .unwrap();
    assert_eq!(vectors.as_slice(), [0.6, 0.8, 0.0, 1.0]);
    let seen = server.seen.lock().unwrap();
    assert!(seen[0].starts_with("POST /v1/embeddings HTTP/1.1"));
    let body = seen[0].split("\r\n\r\n").nth(1).unwrap();
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    let expected = serde_json::json!(
        {"model": "org/model", "input": ["query: probe"], "encoding_format": "float"}
    );
    assert_eq!(json, expected);
    assert!(seen[1].contains(r#""input":[" ","a long"]"#), "{}", seen[1]);
}

#[test]
fn many_texts_go_in_batches_and_keep_their_order() {
    let row: &[f32] = &[0.0, 1.0];
    let server = serve(vec![
        good(&[row]),
        good(&[row; 32]),
        good(&[row; 32]),
        good(&[row; 32]),
    ]);
    let http = open(&server, Some(2)).unwrap();
    let vectors = http
        .embed(Side::Document, &vec!["t".to_owned(); 96])
        .unwrap();
    assert_eq!(vectors.len(), 96);
    assert_eq!(server.seen.lock().unwrap().len(), 4);
}

#[test]
fn a_busy_endpoint_is_tried_again_and_given_up_in_the_end() {
    let busy = (429, r#"{"error": {"message": "slow down"}}"#.to_owned());
    let server = serve(vec![busy.clone(), busy.clone(), good(&[&[1.0]])]);
    assert!(open(&server, None).is_ok());
    let text = fault(vec![busy], None);
    assert!(
        text.ends_with("status 429: slow down (tried 4 times)"),
        "{text}"
    );
}

#[test]
fn what_will_not_change_is_not_tried_again() {
    let server = serve(vec![(
        404,
        r#"{"error": {"message": "no such model"}}"#.to_owned(),
    )]);
    let text = open(&server, None).err().unwrap().to_string();
    assert!(text.ends_with("status 404: no such model"), "{text}");
    assert_eq!(server.seen.lock().unwrap().len(), 1);
    let moved = fault(vec![(302, String::new())], None);
    assert!(moved.ends_with("status 302"), "{moved}");
}

#[test]
fn wrong_answers_are_told_apart() {
    let text = fault(vec![good(&[&[1.0, 0.0]])], Some(3));
    assert!(
        text.contains("'remote' gives vectors of 2 numbers where 3 were expected"),
        "{text}"
    );
    assert!(fault(vec![good(&[&[]])], None).contains("a vector without numbers"));
    assert!(
        fault(vec![(200, "<html>".to_owned())], None)
            .contains("not that of an embeddings endpoint")
    );
    let server = serve(vec![good(&[&[1.0]]), good(&[&[0.0]])]);
    let http = open(&server, None).unwrap();
    let error = http.embed(Side::Query, &texts(&["x"])).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 0 }));
}

#[test]
fn nobody_there_is_an_error_that_names_the_place() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address =
        Address::new(&format!("http://127.0.0.1:{port}/v1/embeddings"), "m", None).unwrap();
    let text = Http::open(address, feed(None)).err().unwrap().to_string();
    assert!(
        text.contains(&format!(
            "endpoint http://127.0.0.1:{port}/v1/embeddings: it cannot be reached"
        )),
        "{text}"
    );
}
