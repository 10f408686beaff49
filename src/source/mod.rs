//! Where tools come from at run time: servers of the Model Context Protocol, as child processes or
//! by URL.
//!
//! Nothing that a server says is trusted. A listing is bounded in pages, tools, bytes and time
//! ([`Bounds`]); descriptions are data; hints grant nothing. A child gets an environment of its own,
//! without this process's secrets, and dies with its connection.
//!
//! [`fetch`] lists a server once; [`Sources`] follows several for as long as it lives, and calls
//! their tools.

mod connect;
mod follow;
mod listing;
mod secret;

use std::fmt;
use std::time::Duration;

pub use follow::{Heard, Sources, name, owner};
pub use listing::Listing;
pub use secret::{Missing, expand};

/// A server to follow.
#[derive(Debug, Clone)]
pub struct Source {
    /// Name of the server: the namespace of its tools.
    pub name: String,
    /// How to reach it.
    pub endpoint: Endpoint,
    /// Time after which it is asked again, unless it says sooner that its list has changed.
    pub poll: Duration,
}

/// How to reach a server.
#[derive(Clone)]
pub enum Endpoint {
    /// A program that speaks over its standard input and output.
    Command {
        /// The program, looked up in `PATH`.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment, besides the few that every program needs.
        env: Vec<(String, String)>,
    },
    /// A URL that answers over streamable HTTP.
    Url {
        /// `https://…` or `http://…`.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

// Written by hand: environment and headers hold secrets, and arguments may.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { program, .. } => write!(f, "Command({program})"),
            Self::Url { .. } => f.write_str("Url"),
        }
    }
}

/// What one server may take of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Pages of one listing.
    pub pages: usize,
    /// Tools of one listing.
    pub tools: usize,
    /// Bytes of all definitions of one listing.
    pub bytes: usize,
    /// Bytes of one message.
    pub message: usize,
    /// Time to start and to open the protocol.
    pub opening: Duration,
    /// Time for a whole listing.
    pub listing: Duration,
    /// Time for a call.
    pub call: Duration,
    /// Bytes of a call's result.
    pub result: usize,
}

impl Default for Bounds {
    /// Ten times what the largest public servers need: 16,575 tools are the most that one server is
    /// known to list, and a start through a package runner takes seconds.
    fn default() -> Self {
        Self {
            pages: 1000,
            tools: 50_000,
            bytes: 64 << 20,
            message: 16 << 20,
            opening: Duration::from_secs(60),
            listing: Duration::from_secs(120),
            call: Duration::from_secs(60),
            result: 4 << 20,
        }
    }
}

/// What went wrong with a server. Messages hold what it said, bounded, and none of our secrets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program could not be started.
    #[error("cannot start '{program}': {cause}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        cause: std::io::Error,
    },
    /// A header is none.
    #[error("'{0}' is no header: give NAME: VALUE of plain characters")]
    Header(String),
    /// The server did not open the protocol.
    #[error("the server did not open the protocol: {reason}{said}")]
    Opening {
        /// What happened.
        reason: String,
        /// The last it said on standard error, ready to be appended; may be empty.
        said: String,
    },
    /// A step took too long.
    #[error("{step} took longer than {} s", .limit.as_secs_f32())]
    Slow {
        /// What was waited for.
        step: &'static str,
        /// For how long.
        limit: Duration,
    },
    /// A listing broke off or made no sense.
    #[error("listing its tools failed: {0}")]
    Listing(String),
    /// A listing is larger than the bounds let it be.
    #[error("its list is too large: more than {limit} {what}")]
    TooLarge {
        /// Which bound.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// A page leads back to one before it.
    #[error("its list does not end: a page leads back to one before it")]
    Endless,
    /// There is no connection now.
    #[error("its server is not available now")]
    Unavailable,
    /// A call broke off.
    #[error("the call failed: {0}")]
    Call(String),
    /// A result is larger than the bounds let it be.
    #[error("the result has more than {0} bytes: ask for less")]
    LargeResult(usize),
}

/// Lists a server once, and ends the connection.
///
/// # Errors
/// [`Error`], whatever went wrong.
pub async fn fetch(source: &Source, bounds: &Bounds) -> Result<Listing, Error> {
    let changed = std::sync::Arc::default();
    let connection = connect::open(&source.endpoint, bounds, changed).await?;
    let listing = listing::list(connection.peer(), &source.name, bounds).await;
    connection.end().await;
    listing
}
