//! The audit log: who asked for what, what was shown, and which calls were allowed, a JSON object a
//! line.
//!
//! One thread writes, behind a queue of bounded length, so that no request waits for a disk. Where the
//! queue is full the event is dropped and counted, and the log says how many were. An audit that is
//! *required* has the request wait until the system has taken its line, and refuses it where that
//! fails: nothing is answered that is not noted. What was asked is kept as an HMAC-SHA256: with the key one
//! can tell whether a known text was asked, and without it nothing.

mod event;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(super) use event::{CallerName, RequestId};
pub use event::{Event, Trail};

use crate::access::Principal;
use crate::search::Query;
use event::Line;
use writer::Writer;

/// Events that wait to be written; more are dropped or refused.
const QUEUE: usize = 4096;
/// How long a request waits to be noted where the audit is required.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two looks for a place in a full queue.
const PAUSE: Duration = Duration::from_millis(5);

/// How what was asked is kept.
#[derive(Clone)]
pub enum Text {
    /// As an HMAC-SHA256 under this key, in hexadecimal.
    Hashed(Vec<u8>),
    /// As it is.
    Plain,
}

// The key is in no log.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hashed(_) => "Hashed",
            Self::Plain => "Plain",
        })
    }
}

/// Where and how the audit is kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file; older ones are beside it, with `.1` (the newest of them), `.2` and so on.
    pub path: PathBuf,
    /// Bytes from which on a file is put aside.
    pub max_bytes: u64,
    /// Older files that are kept.
    pub files: usize,
    /// How what was asked is kept.
    pub text: Text,
    /// A request that cannot be noted is refused.
    pub required: bool,
}

/// Why there is no audit.
#[derive(Debug, thiserror::Error)]
#[error("audit {path}: {source}: see that the folder exists and can be written, and has room")]
pub struct Error {
    /// The file.
    path: PathBuf,
    /// What the system said.
    source: std::io::Error,
}

/// A required audit that cannot be written just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unavailable;

/// The audit of a server. Cheap to clone.
#[derive(Clone)]
pub struct Audit(Arc<Shared>);

struct Shared {
    queue: SyncSender<Message>,
    thread: Mutex<Option<JoinHandle<()>>>,
    dropped: Arc<AtomicU64>,
    text: Text,
    required: bool,
}

enum Message {
    /// A line, and whom to tell whether it was written, where somebody waits for that.
    Line(Box<Line>, Option<SyncSender<bool>>),
    End,
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("required", &self.0.required)
            .finish_non_exhaustive()
    }
}

impl Audit {
    /// Opens the file, adding to what is in it, and begins to write.
    ///
    /// # Errors
    /// [`Error`] where it cannot be opened.
    pub fn start(options: Options) -> Result<Self, Error> {
        Self::with_queue(options, QUEUE)
    }

    /// [`start`](Self::start) with room for `queue` events that wait.
    ///
    /// # Errors
    /// [`Error`] where the file cannot be opened.
    pub fn with_queue(options: Options, queue: usize) -> Result<Self, Error> {
        let dropped = Arc::new(AtomicU64::new(0));
        let failed = |source| Error {
            path: options.path.clone(),
            source,
        };
        let writer = Writer::open(&options, Arc::clone(&dropped)).map_err(failed)?;
        let (sender, receiver) = sync_channel(queue.max(1));
        let thread = std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(failed)?;
        Ok(Self(Arc::new(Shared {
            queue: sender,
            thread: Mutex::new(Some(thread)),
            dropped,
            text: options.text,
            required: options.required,
        })))
    }

    /// Events that were lost since the start, whether the queue was full or the disk.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Notes an event of a request by `principal`. Waits for the disk, a second at most, where the
    /// audit is required, and not at all where it is not.
    pub(super) fn note(
        &self,
        trail: &Trail,
        principal: &Principal,
        event: Event<'_>,
    ) -> Result<(), Unavailable> {
        let line = Line::new(SystemTime::now(), trail, principal, event, |query| {
            self.said(query)
        });
        let line = Box::new(line);
        let shared = &*self.0;
        if shared.required {
            return shared.write_through(line);
        }
        if shared.queue.try_send(Message::Line(line, None)).is_err()
            && shared.dropped.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::warn!("the audit cannot keep up: events are dropped, and counted in it");
        }
        Ok(())
    }

    /// What was asked, as it is kept: hashed, or plain.
    fn said(&self, query: &Query) -> (Option<String>, Option<String>) {
        let mut text = query.text.clone();
        for need in &query.needs {
            text.push('\n');
            text.push_str(need);
        }
        match &self.0.text {
            Text::Plain => (None, Some(text)),
            Text::Hashed(key) => {
                // A key of any length will do.
                let hmac = Hmac::<Sha256>::new_from_slice(key).ok();
                let hmac = hmac.map(|hmac| hmac.chain_update(text.as_bytes()).finalize());
                let bytes = hmac.map(|hmac| <[u8; 32]>::from(hmac.into_bytes()));
                (
                    bytes.map(|bytes| blake3::Hash::from(bytes).to_hex().to_string()),
                    None,
                )
            }
        }
    }

    /// Writes what waits, and ends. What is noted later is lost.
    pub fn finish(&self) {
        let thread = self.0.thread.lock();
        let thread = thread.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = self.0.queue.send(Message::End);
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Has a line written, and waits until it is. A line that comes too late is in the log, and its
    /// request was refused.
    fn write_through(&self, line: Box<Line>) -> Result<(), Unavailable> {
        let end = Instant::now() + PATIENCE;
        let (tell, told) = sync_channel(1);
        let mut message = Message::Line(line, Some(tell));
        loop {
            message = match self.queue.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Full(message)) if Instant::now() < end => message,
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                    return Err(Unavailable);
                }
            };
            std::thread::sleep(PAUSE);
        }
        match told.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Unavailable),
        }
    }
}
