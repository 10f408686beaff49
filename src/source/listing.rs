//! A server's list of tools, page by page and within bounds.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::{Peer, RoleClient};
use serde_json::{Value, json};

use super::connect::clipped;
use super::{Bounds, Error, owner};
use crate::catalog::import::{self, Format};
use crate::catalog::read::{self, Reading};
use crate::tool::Namespace;

/// Characters of what a server says of itself that become its namespace's description.
const MAX_ABOUT: usize = 400;

/// All that a server lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Its tools as records of a catalogue, in the server's order.
    pub records: Vec<Value>,
    /// What it says of itself; may be empty.
    pub about: String,
    /// For how long it says the list will stay as it is, where it says so.
    pub ttl: Option<Duration>,
}

impl Listing {
    /// The listing as tools, checked as all tools are, with the namespace `name` that holds them.
    pub fn read(&self, name: &str) -> Reading {
        let mut reading = read::records(name.as_ref(), self.records.iter().cloned());
        reading.namespaces.push(Namespace {
            name: name.to_owned(),
            description: self.about.clone(),
            tags: Vec::new(),
        });
        reading
    }
}

/// Reads all pages.
pub(super) async fn list(
    peer: &Peer<RoleClient>,
    name: &str,
    bounds: &Bounds,
) -> Result<Listing, Error> {
    let pages = pages(peer, name, bounds);
    let limit = bounds.listing;
    let slow = |_| Error::Slow {
        step: "listing its tools",
        limit,
    };
    let (records, ttl) = tokio::time::timeout(limit, pages).await.map_err(slow)??;
    let about = peer.peer_info().and_then(|info| {
        let itself = info.server_info.as_ref();
        let words = itself.and_then(|itself| itself.description.clone().or(itself.title.clone()));
        info.instructions.clone().or(words)
    });
    let about = about.unwrap_or_default();
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    Ok(Listing {
        records,
        about: about.chars().take(MAX_ABOUT).map(plain).collect(),
        ttl,
    })
}

async fn pages(
    peer: &Peer<RoleClient>,
    name: &str,
    bounds: &Bounds,
) -> Result<(Vec<Value>, Option<Duration>), Error> {
    let mut records = Vec::new();
    let (mut bytes, mut ttl, mut cursor) = (0, None, None);
    let mut seen = HashSet::new();
    for _ in 0..bounds.pages {
        let page = page(peer, cursor.take()).await?;
        for tool in page.tools {
            bytes += tool.to_string().len();
            if bytes > bounds.bytes {
                let limit = bounds.bytes;
                return Err(Error::TooLarge {
                    what: "bytes",
                    limit,
                });
            }
            if records.len() == bounds.tools {
                let limit = bounds.tools;
                return Err(Error::TooLarge {
                    what: "tools",
                    limit,
                });
            }
            records.extend(record(&tool, name));
        }
        ttl = page.ttl.or(ttl);
        match page.next {
            None => return Ok((records, ttl)),
            Some(next) if !seen.insert(next.clone()) => return Err(Error::Endless),
            Some(next) => cursor = Some(next),
        }
    }
    Err(Error::TooLarge {
        what: "pages",
        limit: bounds.pages,
    })
}

struct Page {
    tools: Vec<Value>,
    next: Option<String>,
    ttl: Option<Duration>,
}

/// One page, tool by tool: one that is malformed does not cost the others.
async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<Page, Error> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ClientRequest::ListToolsRequest(ListToolsRequest {
        method: Default::default(),
        params,
        extensions: Default::default(),
    });
    let failed = |reason: String| Error::Listing(clipped(&reason));
    let answer = peer.send_request(request).await;
    let mut value = match answer.map_err(|error| failed(error.to_string()))? {
        ServerResult::ListToolsResult(list) => {
            serde_json::to_value(list).map_err(|error| failed(error.to_string()))?
        }
        // What does not fit the protocol's own shape, for one tool that does not.
        ServerResult::CustomResult(custom) => custom.0,
        _ => return Err(failed("the answer is no list of tools".to_owned())),
    };
    let Some(Value::Array(tools)) = value.get_mut("tools").map(Value::take) else {
        return Err(Error::Listing("the answer has no list of tools".to_owned()));
    };
    let next = value.get("nextCursor").and_then(Value::as_str);
    let ttl = value.get("ttlMs").and_then(Value::as_u64);
    Ok(Page {
        tools,
        next: next.filter(|next| !next.is_empty()).map(str::to_owned),
        ttl: ttl.map(Duration::from_millis),
    })
}

fn record(tool: &Value, name: &str) -> Vec<Value> {
    let one = Value::Array(vec![tool.clone()]);
    // A list of the shape that is asked for always gives records.
    let mut records = import::records(&one, Some(Format::Mcp), name).unwrap_or_default();
    for record in &mut records {
        record["owner"] = json!(owner(name));
    }
    records
}
