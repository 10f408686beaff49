//! Following servers: connecting, listing, hearing of changes, and coming back after a fall.
//!
//! A server that falls, or that suddenly lists nothing, does not lose its tools: what was listed
//! last stays, and [`Sources::is_down`] says that it cannot be called for now.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject};
use rmcp::{Peer, RoleClient, ServiceError};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::connect::{self, Connection, clipped};
use super::listing::{self, Listing};
use super::{Bounds, Error, Source};

/// Pause before the first new attempt; it doubles with each that fails.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A connection that lasts as long makes up for those that failed before it.
const STEADY: Duration = Duration::from_secs(10);
/// Time in which several words of change are taken for one.
const SETTLING: Duration = Duration::from_millis(200);
/// A list is asked for again no sooner than this, whatever lifetime its server gives it.
const SHORTEST_POLL: Duration = Duration::from_secs(1);

/// What a tool's owner is called that comes from the source of this name.
pub fn owner(name: &str) -> String {
    format!("mcp:{name}")
}

/// The source that an owner names, or the owner itself where it names none.
pub fn name(owned_by: &str) -> &str {
    owned_by.strip_prefix("mcp:").unwrap_or(owned_by)
}

/// Called with a source's name and its whole list, first and whenever that is another than before.
pub type Heard = Arc<dyn Fn(&str, &Listing) + Send + Sync>;

/// Servers that are followed for as long as this lives. Cheap to clone.
#[derive(Clone)]
pub struct Sources(Arc<Shared>);

struct Shared {
    entries: Vec<Arc<Entry>>,
    bounds: Bounds,
    /// Aborted when the last clone goes, which ends connections and children.
    _following: Mutex<JoinSet<()>>,
}

struct Entry {
    source: Source,
    state: Mutex<State>,
    /// Told when the first attempt to list has come to an end.
    tried: Notify,
}

#[derive(Default)]
struct State {
    peer: Option<Peer<RoleClient>>,
    tried: bool,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.entries.iter().map(|entry| &entry.source.name);
        f.debug_list().entries(names).finish()
    }
}

impl Sources {
    /// Follows the servers on the runtime that this is called on. `heard` is called on its threads,
    /// and should be quick.
    pub fn follow(sources: Vec<Source>, bounds: Bounds, heard: &Heard) -> Self {
        let mut following = JoinSet::new();
        let entries: Vec<Arc<Entry>> = sources
            .into_iter()
            .map(|source| {
                Arc::new(Entry {
                    source,
                    state: Mutex::default(),
                    tried: Notify::new(),
                })
            })
            .collect();
        for entry in &entries {
            following.spawn(follow(Arc::clone(entry), bounds, Arc::clone(heard)));
        }
        Self(Arc::new(Shared {
            entries,
            bounds,
            _following: Mutex::new(following),
        }))
    }

    /// Done when each server has been listed or has failed once, or when `limit` is over.
    pub async fn tried(&self, limit: Duration) {
        let all = async {
            for entry in &self.0.entries {
                let told = entry.tried.notified();
                if !entry.state().tried {
                    told.await;
                }
            }
        };
        let _ = tokio::time::timeout(limit, all).await;
    }

    /// Whether tools of this owner come from a server that cannot be called now. Not so for owners
    /// that are no source.
    pub fn is_down(&self, owned_by: &str) -> bool {
        let entry = self.entry(owned_by);
        entry.is_some_and(|entry| entry.state().peer.is_none())
    }

    /// Whether tools of this owner come from one of these servers.
    pub fn knows(&self, owned_by: &str) -> bool {
        self.entry(owned_by).is_some()
    }

    /// Calls a tool of the source that `owned_by` names. Dropped, the call is called off.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the server is down or the owner is no source, [`Error::Slow`],
    /// [`Error::Call`] and [`Error::LargeResult`].
    pub async fn call(
        &self,
        owned_by: &str,
        tool: String,
        arguments: JsonObject,
    ) -> Result<CallToolResult, Error> {
        let entry = self.entry(owned_by).ok_or(Error::Unavailable)?;
        let peer = entry.state().peer.clone().ok_or(Error::Unavailable)?;
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        let limit = self.0.bounds.call;
        let called = tokio::time::timeout(limit, peer.call_tool_once(params)).await;
        let step = "the call";
        let answer = match called.map_err(|_| Error::Slow { step, limit })? {
            Ok(CallToolResponse::Complete(result)) => result,
            Ok(_) => {
                let reason = "the server asks for more than a call can give";
                return Err(Error::Call(reason.to_owned()));
            }
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
                return Err(Error::Unavailable);
            }
            Err(error) => return Err(Error::Call(clipped(&error.to_string()))),
        };
        let size = serde_json::to_vec(&answer).map_or(usize::MAX, |bytes| bytes.len());
        if size > self.0.bounds.result {
            return Err(Error::LargeResult(self.0.bounds.result));
        }
        Ok(answer)
    }

    fn entry(&self, owned_by: &str) -> Option<&Entry> {
        let name = owned_by.strip_prefix("mcp:")?;
        let mut entries = self.0.entries.iter();
        entries
            .find(|entry| entry.source.name == name)
            .map(|entry| &**entry)
    }
}

impl Entry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tried(&self) {
        self.state().tried = true;
        self.tried.notify_waiters();
    }
}

async fn follow(entry: Arc<Entry>, bounds: Bounds, heard: Heard) {
    let name = &entry.source.name;
    let mut last: Option<Listing> = None;
    let mut pause = FIRST_PAUSE;
    loop {
        let changed = Arc::new(Notify::new());
        let begun = Instant::now();
        let opened = connect::open(&entry.source.endpoint, &bounds, Arc::clone(&changed)).await;
        let error = match opened {
            Err(error) => Some(error),
            Ok(mut connection) => {
                let mut following = Following {
                    entry: &entry,
                    bounds: &bounds,
                    last: &mut last,
                };
                let listed = following
                    .until_it_goes(&mut connection, &changed, &heard)
                    .await;
                entry.state().peer = None;
                connection.end().await;
                if begun.elapsed() > STEADY {
                    pause = FIRST_PAUSE;
                }
                listed.err()
            }
        };
        entry.tried();
        match error {
            Some(error) => {
                tracing::warn!(source = name, %error, ?pause, "a source is not available")
            }
            None => tracing::warn!(source = name, ?pause, "a source has gone"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

struct Following<'a> {
    entry: &'a Entry,
    bounds: &'a Bounds,
    /// What was heard last, over all connections.
    last: &'a mut Option<Listing>,
}

impl Following<'_> {
    /// Lists again and again, and hands on what is new, until the server goes.
    async fn until_it_goes(
        &mut self,
        connection: &mut Connection,
        changed: &Notify,
        heard: &Heard,
    ) -> Result<(), Error> {
        loop {
            let source = &self.entry.source;
            let peer = connection.peer();
            let listing = listing::list(peer, &source.name, self.bounds).await?;
            let lifetime = listing.ttl.map_or(source.poll, |ttl| ttl.min(source.poll));
            self.entry.state().peer = Some(peer.clone());
            self.hear(listing, heard);
            self.entry.tried();
            tokio::select! {
                () = connection.closed() => return Ok(()),
                () = changed.notified() => tokio::time::sleep(SETTLING).await,
                () = tokio::time::sleep(lifetime.max(SHORTEST_POLL)) => {}
            }
        }
    }

    fn hear(&mut self, listing: Listing, heard: &Heard) {
        let name = &self.entry.source.name;
        let known = self.last.as_ref().map_or(0, |last| last.records.len());
        if listing.records.is_empty() && known > 0 {
            tracing::warn!(
                source = name,
                known,
                "a source lists nothing; its tools are kept"
            );
            return;
        }
        let is_new = self
            .last
            .as_ref()
            .is_none_or(|last| last.records != listing.records || last.about != listing.about);
        if is_new {
            tracing::info!(
                source = name,
                tools = listing.records.len(),
                "a source was listed"
            );
            heard(name, &listing);
            *self.last = Some(listing);
        }
    }
}
