//! A connection to a server: starting it, opening the protocol, and the end of both.

use std::collections::HashMap;
use std::future::Future;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use rmcp::model::SubscriptionFilter;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt,
    NotificationContext, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, Peer, RoleClient};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::{Bounds, Endpoint, Error};

/// Variables that programs need to find other programs, files and words. Everything else of this
/// process's environment, its secrets included, is withheld.
const INHERITED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "SYSTEMROOT",
    "APPDATA",
    "TEMP",
];
/// Bytes kept of what a child says on standard error: enough for the message that it ends with.
const MAX_SAID: usize = 2048;
/// Time for a connection to end by itself.
const ENDING: Duration = Duration::from_secs(2);

/// A connection. Dropped, it ends at once and kills the child.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    /// Ends when the connection does; aborted with it.
    running: JoinSet<()>,
    child: Option<Child>,
    /// Reads standard error, and listens to changes.
    _readers: JoinSet<()>,
}

impl Connection {
    /// To send requests by.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Done when the server has gone.
    pub(super) async fn closed(&mut self) {
        self.running.join_next().await;
    }

    /// Ends the connection: a child is given a moment to go by itself.
    pub(super) async fn end(mut self) {
        self.running.shutdown().await;
        if let Some(child) = &mut self.child {
            let _ = tokio::time::timeout(ENDING, child.wait()).await;
            let _ = child.start_kill();
        }
    }
}

/// What the server may tell: that its list has changed. What it asks for is declined.
#[derive(Debug, Clone)]
struct Client {
    changed: Arc<Notify>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let itself = Implementation::new("toolscout", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), itself)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// Starts or calls the server and opens the protocol: the newest revision first, and where that
/// fails the older opening, over a new connection, since some servers end at what they do not know.
pub(super) async fn open(
    endpoint: &Endpoint,
    bounds: &Bounds,
    changed: Arc<Notify>,
) -> Result<Connection, Error> {
    let newest = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    };
    match open_as(endpoint, bounds, Arc::clone(&changed), newest).await {
        Err(Error::Opening { .. }) => {
            open_as(endpoint, bounds, changed, ClientLifecycleMode::Initialize).await
        }
        opened => opened,
    }
}

async fn open_as(
    endpoint: &Endpoint,
    bounds: &Bounds,
    changed: Arc<Notify>,
    mode: ClientLifecycleMode,
) -> Result<Connection, Error> {
    let client = Client {
        changed: Arc::clone(&changed),
    };
    let mut readers = JoinSet::new();
    let (service, child) = match endpoint {
        Endpoint::Command { program, args, env } => {
            let mut child = start(program, args, env)?;
            let said = Arc::new(Mutex::new(Vec::new()));
            if let Some(stderr) = child.stderr.take() {
                readers.spawn(keep_tail(stderr, Arc::clone(&said)));
            }
            let (Some(output), Some(input)) = (child.stdout.take(), child.stdin.take()) else {
                let cause = std::io::Error::other("it has no standard input and output");
                let program = program.clone();
                return Err(Error::Start { program, cause });
            };
            let transport =
                AsyncRwTransport::new_client(output, input).with_max_line_length(bounds.message);
            let serving = client.serve_with_lifecycle(transport, mode);
            let opened = within(serving, bounds.opening).await;
            let secrets = env.iter().map(|(_, value)| value.as_str());
            let tail = || tail(&said, secrets);
            (opened.map_err(|error| error.with(tail))?, Some(child))
        }
        Endpoint::Url { url, headers } => {
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                .custom_headers(header_map(headers)?)
                .max_sse_event_size(bounds.message);
            config.max_json_response_size = bounds.message;
            let transport = StreamableHttpClientTransport::from_config(config);
            let serving = client.serve_with_lifecycle(transport, mode);
            let opened = within(serving, bounds.opening).await;
            (opened.map_err(|error| error.with(String::new))?, None)
        }
    };
    let peer = service.peer().clone();
    // Every listing is to be a new one.
    peer.set_response_cache_config(ClientCacheConfig::disabled())
        .await;
    readers.spawn(listen(peer.clone(), changed));
    let mut running = JoinSet::new();
    running.spawn(async move { drop(service.waiting().await) });
    Ok(Connection {
        peer,
        running,
        child,
        _readers: readers,
    })
}

fn start(program: &str, args: &[String], env: &[(String, String)]) -> Result<Child, Error> {
    let inherited = INHERITED
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    Command::new(program)
        .args(args)
        .env_clear()
        .envs(inherited)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|cause| Error::Start {
            program: program.to_owned(),
            cause,
        })
}

/// Why an opening failed, before it is known what the child said.
enum Failed {
    Slow(Duration),
    Refused(String),
}

impl Failed {
    fn with(self, said: impl FnOnce() -> String) -> Error {
        match self {
            Self::Slow(limit) => Error::Slow {
                step: "opening the protocol",
                limit,
            },
            Self::Refused(reason) => Error::Opening {
                reason,
                said: said(),
            },
        }
    }
}

async fn within(
    serving: impl Future<Output = Result<RunningService<RoleClient, Client>, ClientInitializeError>>,
    limit: Duration,
) -> Result<RunningService<RoleClient, Client>, Failed> {
    match tokio::time::timeout(limit, Box::pin(serving)).await {
        Err(_) => Err(Failed::Slow(limit)),
        Ok(opened) => opened.map_err(|error| Failed::Refused(clipped(&error.to_string()))),
    }
}

/// Since 2026-07-28 a server tells of changes only to those who asked to hear of them.
async fn listen(peer: Peer<RoleClient>, changed: Arc<Notify>) {
    let wanted = SubscriptionFilter::builder().tools_list_changed().build();
    let newest = peer.peer_info().is_some_and(|info| {
        info.protocol_version.as_str() >= ProtocolVersion::V_2026_07_28.as_str()
    });
    if !newest {
        return;
    }
    if let Ok(mut subscription) = peer.listen(wanted).await {
        while let Ok(Some(_)) = subscription.next().await {
            changed.notify_one();
        }
    }
}

/// Reads all that a child says, so that it never waits for us, and keeps the end of it.
async fn keep_tail(mut from: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&buffer[..read]);
        let surplus = said.len().saturating_sub(MAX_SAID);
        said.drain(..surplus);
    }
}

/// The last line that a child said, without the secrets that it was given.
fn tail<'a>(said: &Mutex<Vec<u8>>, secrets: impl Iterator<Item = &'a str>) -> String {
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = String::from_utf8_lossy(&said).into_owned();
    for secret in secrets.filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "***");
    }
    match text.lines().rfind(|line| !line.trim().is_empty()) {
        None => String::new(),
        Some(line) => format!("; it said: {}", clipped(line.trim())),
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, Error> {
    headers
        .iter()
        .map(|(name, value)| {
            let wrong = || Error::Header(name.clone());
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
            Ok((name, value))
        })
        .collect()
}

/// At most 300 characters, on one line and without what a terminal would obey.
pub(super) fn clipped(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(300).map(plain).collect()
}
