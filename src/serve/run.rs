//! From a listener to answers: accepting, bounding and, at the end, draining connections.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::state::App;

/// Bytes of a request's head, and of what is read ahead of a body.
const READ_BUFFER: usize = 64 * 1024;
/// Pause after the system refused a connection, most often for want of file descriptors: trying
/// again at once would only keep a core busy.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a server could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server without authentication on an address that others can reach.
    #[error(
        "{address} can be reached by other machines, and an open server answers everybody: listen on 127.0.0.1, or give it API keys"
    )]
    OpenToOthers {
        /// Where it listens.
        address: SocketAddr,
    },
    /// The listener has no address.
    #[error("the listener failed: {0}")]
    Listener(#[from] std::io::Error),
}

/// Serves until `shutdown` is done; then takes no more connections, lets the requests under way end
/// for as long as [`drain_time`](super::Limits::drain_time) says, and returns.
///
/// Listener and signal are arguments, so that a test can use a port of the system's choice and stop
/// when it likes.
///
/// # Errors
/// [`Error::OpenToOthers`] where the server has no authentication and the listener is not on a
/// loopback address.
pub async fn run(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), Error> {
    let address = listener.local_addr()?;
    if app.authentication().is_open() && !address.ip().is_loopback() {
        return Err(Error::OpenToOthers { address });
    }
    let places = Arc::new(Semaphore::new(app.limits().connections.max(1)));
    let (stop, stopped) = watch::channel(false);
    let router = super::router(app.clone());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    tracing::info!(%address, "serving");
    loop {
        let (stream, place) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &places) => accepted,
            // Forgets those that have ended.
            Some(_) = connections.join_next() => continue,
        };
        let head_time = app.limits().head_time;
        let serving = serve(stream, router.clone(), head_time, stopped.clone());
        connections.spawn(async move {
            serving.await;
            drop(place);
        });
    }
    drop(listener);
    app.stop();
    stop.send_replace(true);
    drain(connections, app.limits().drain_time).await;
    Ok(())
}

/// The next connection, once there is a place for it. Dropped at any point, it loses none.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // Nobody closes the semaphore.
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve(
    stream: TcpStream,
    router: Router,
    head_time: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    // Answers are small and whole; waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let service = router.map_request(|request: Request<Incoming>| request.map(Body::new));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told(&mut stopped) => {
            // The request under way is the connection's last.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

async fn told(stopped: &mut watch::Receiver<bool>) {
    // The other end is dropped after it has told.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn drain(mut connections: JoinSet<()>, limit: Duration) {
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limit, all).await.is_err() {
        let left = connections.len();
        tracing::warn!(left, "some requests did not end in time and are cut off");
        connections.shutdown().await;
    }
}
