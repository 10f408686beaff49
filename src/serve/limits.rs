//! What one caller, and all of them together, may take of the server.

use std::time::Duration;

/// Bounds on requests, connections and work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Time for a request's head to arrive, and for an idle connection to be kept.
    pub head_time: Duration,
    /// Time for a request's body to arrive.
    pub body_time: Duration,
    /// Time for a request as a whole.
    pub request_time: Duration,
    /// Time for a bulk change as a whole.
    pub bulk_time: Duration,
    /// Bytes of a bulk change.
    pub bulk: u64,
    /// Time for requests under way to end once the server is told to stop.
    pub drain_time: Duration,
    /// Connections open at a time; more wait to be accepted.
    pub connections: usize,
    /// Searches running at a time: each keeps a core busy, so more than there are cores only make
    /// all of them slower.
    pub searches: usize,
    /// Searches waiting for their turn; more are refused.
    pub waiting: usize,
}

impl Limits {
    /// Bounds for a machine of this many cores: the defaults of `toolscout serve`.
    ///
    /// A mebibyte holds the longest request a hundred times. A search takes milliseconds, so 64
    /// waiting for each core are served within a second or so: a caller that would wait longer is
    /// better told to come back.
    pub fn for_cores(cores: usize) -> Self {
        let cores = cores.max(1);
        Self {
            body: 1 << 20,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(10),
            request_time: Duration::from_secs(30),
            bulk_time: Duration::from_secs(600),
            bulk: 2 << 30,
            drain_time: Duration::from_secs(20),
            connections: 1024,
            searches: cores,
            waiting: 64 * cores,
        }
    }
}
