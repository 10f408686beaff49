//! What only a real connection shows. The server has a thread and a runtime of its own; the tests
//! talk to it as any program would.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use toolscout::serve::{App, Limits, Parts, RunError, run};

use super::fixture::*;

const QUERY: &str = r#"{"query": "where is my parcel"}"#;
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), RunError>>,
}

impl Server {
    fn start(embedder: &Arc<Troubled>, limits: Limits) -> Self {
        let parts = Parts {
            embedder: Some(Arc::clone(embedder) as _),
            authentication: open(),
            limits,
            ..parts(TOOLS)
        };
        let app = App::new(parts).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (told, address) = std::sync::mpsc::channel();
        let serve = async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap()).unwrap();
            let shutdown = async {
                let _ = stopped.await;
            };
            run(listener, app, shutdown).await
        };
        let ended = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            let result = runtime.block_on(serve);
            runtime.shutdown_background();
            result
        });
        Self {
            address: address.recv().unwrap(),
            stop,
            ended,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream
    }

    fn end(self) {
        self.stop.send(()).unwrap();
        self.ended.join().unwrap().unwrap();
    }
}

/// Sends a request and gives all that comes back until the connection ends.
fn ask(mut stream: TcpStream, request: &[u8]) -> String {
    stream.write_all(request).unwrap();
    let mut text = String::new();
    // A connection that is cut off may end with a reset.
    let _ = stream.read_to_string(&mut text);
    text
}

fn discover_request() -> Vec<u8> {
    let head = "POST /v1/discover HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{QUERY}", QUERY.len()).into_bytes()
}

/// Waits until a search has begun.
fn begun(embedder: &Troubled) {
    while embedder.begun.load(Ordering::SeqCst) == 0 {
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_request_under_way_ends_before_the_server_does() {
    let embedder = Troubled::new(Trouble::Sleep(Duration::from_millis(300)));
    let server = Server::start(&embedder, Limits::for_cores(1));
    let mut idle = server.connect();
    let (stream, address) = (server.connect(), server.address);
    let asked = thread::spawn(move || ask(stream, &discover_request()));
    begun(&embedder);
    server.end();
    let text = asked.join().unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("logistics/get_shipping_eta"), "{text}");
    assert_eq!(idle.read(&mut [0; 1]).unwrap(), 0, "idle ones are closed");
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_request_that_outlasts_the_drain_limit_is_cut_off() {
    let embedder = Troubled::new(Trouble::Sleep(Duration::from_millis(1500)));
    let limits = Limits {
        drain_time: Duration::from_millis(50),
        ..Limits::for_cores(1)
    };
    let server = Server::start(&embedder, limits);
    let stream = server.connect();
    let asked = thread::spawn(move || ask(stream, &discover_request()));
    begun(&embedder);
    let told = Instant::now();
    server.end();
    assert!(
        told.elapsed() < Duration::from_secs(1),
        "{:?}",
        told.elapsed()
    );
    assert_eq!(asked.join().unwrap(), "");
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let limits = Limits {
        head_time: Duration::from_millis(50),
        ..Limits::for_cores(1)
    };
    let server = Server::start(&Troubled::new(Trouble::Fail), limits);
    let sent = Instant::now();
    let rest = ask(server.connect(), b"GET /healthz HTTP/1.1\r\nhost: loc");
    assert!(!rest.contains("200"), "{rest}");
    assert!(sent.elapsed() < Duration::from_secs(5));
    server.end();
}

#[test]
fn connections_over_the_limit_wait() {
    let limits = Limits {
        connections: 1,
        ..Limits::for_cores(1)
    };
    let server = Server::start(&Troubled::new(Trouble::Fail), limits);
    let first = server.connect();
    let second = server.connect();
    let asked = thread::spawn(move || ask(second, HEALTH));
    thread::sleep(Duration::from_millis(100));
    assert!(!asked.is_finished());
    drop(first);
    let text = asked.join().unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    server.end();
}
