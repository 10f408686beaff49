//! `[[source]]`, `[gateway]` and `[mcp]` of the config file: servers of tools, whether their tools
//! can be called through this one, and who may ask over the Model Context Protocol.
//!
//! ```toml
//! [[source]]
//! name = "time"                                  # the namespace of its tools
//! command = ["uvx", "mcp-server-time"]
//! env = ["TOKEN=${TIME_TOKEN}"]                  # from this process's environment
//! poll = 300                                     # seconds
//!
//! [[source]]
//! name = "crm"
//! url = "https://crm.example.com/mcp"
//! headers = ["authorization: Bearer ${CRM_TOKEN}"]
//!
//! [gateway]
//! enabled = "yes"
//! timeout = 25                                   # seconds
//!
//! [mcp]
//! hosts = ["tools.example.com"]
//! origins = ["https://app.example.com:443"]
//! ```

use std::time::Duration;

use super::document::Section;
use super::error::Error;
use super::import::{command_endpoint, url_endpoint};
use crate::serve::mcp::Options;
use crate::source::{Bounds, Source, Sources};

/// Servers that one config file may name.
const MAX_SOURCES: usize = 256;
/// Seconds between two listings of a server that tells nothing of changes.
const USUAL_POLL: usize = 300;
/// Seconds for a call: within the 30 that a request has as a whole.
const USUAL_CALL: usize = 25;

/// What the config file says of servers.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// Those that are followed.
    pub sources: Vec<Source>,
    /// Whether `call_tool` passes calls on to them.
    pub gateway: bool,
    /// Seconds that a call may take, where it is said.
    call: Option<usize>,
    /// Names by which this server may be asked for over the protocol.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask over the protocol.
    pub origins: Vec<String>,
}

impl Servers {
    /// Reads the sections.
    pub(super) fn read(root: &mut Section<'_>) -> Result<Self, Error> {
        let mut servers = Self::default();
        let sections = root.sections("source")?;
        if sections.len() > MAX_SOURCES {
            return Err(root.fault(format!("at most {MAX_SOURCES} [[source]] are taken")));
        }
        for section in sections {
            let source = source(section, &servers.sources)?;
            servers.sources.push(source);
        }
        if let Some(mut section) = root.section("gateway")? {
            let words = [("yes", true), ("no", false)];
            servers.gateway = section.word("enabled", &words)?.unwrap_or(false);
            servers.call = section.whole("timeout", (1, 3600))?;
            section.end()?;
        }
        if let Some(mut section) = root.section("mcp")? {
            servers.hosts = section.texts("hosts")?;
            servers.origins = section.texts("origins")?;
            section.end()?;
        }
        Ok(servers)
    }

    /// What the protocol's side of a server is told, with the servers as they are followed.
    pub fn options(&self, sources: Option<Sources>) -> Options {
        Options {
            hosts: self.hosts.clone(),
            origins: self.origins.clone(),
            sources,
            gateway: self.gateway,
        }
    }

    /// # Errors
    /// [`Error::Usage`] where there are servers: a registry alone says what is served from it.
    pub(super) fn none_beside_a_registry(&self) -> Result<(), Error> {
        if self.sources.is_empty() {
            return Ok(());
        }
        let advice = "[[source]] and a registry cannot be served together: \
            'toolscout import' what the servers list, and put it into the registry";
        Err(Error::Usage(advice.to_owned()))
    }

    /// What each of them may take.
    pub fn bounds(&self) -> Bounds {
        let seconds = self.call.unwrap_or(USUAL_CALL);
        Bounds {
            call: Duration::from_secs(seconds as u64),
            ..Bounds::default()
        }
    }
}

fn source(mut section: Section<'_>, others: &[Source]) -> Result<Source, Error> {
    let name = section.text("name")?.unwrap_or_default();
    if name.is_empty() || name.contains('/') || name.chars().any(char::is_control) {
        return Err(section.fault("a [[source]] needs a name, without '/'"));
    }
    if others.iter().any(|other| other.name == name) {
        return Err(section.fault(format!("there are two sources named '{name}'")));
    }
    let command = section.texts("command")?;
    let env = section.texts("env")?;
    let url = section.text("url")?;
    let headers = section.texts("headers")?;
    let poll = section.whole("poll", (1, 86_400))?.unwrap_or(USUAL_POLL);
    section.end()?;
    let endpoint = match (&url, command.is_empty()) {
        (Some(url), true) if env.is_empty() => url_endpoint(url, &headers),
        (None, false) if headers.is_empty() => command_endpoint(&command, &env),
        _ => {
            let reason =
                format!("source '{name}' needs a command, with env, or a url, with headers");
            return Err(section.fault(reason));
        }
    };
    Ok(Source {
        name,
        endpoint: endpoint.map_err(|error| section.fault(error.message()))?,
        poll: Duration::from_secs(poll as u64),
    })
}
