//! Everything that ends a command, with its exit code.

use std::path::PathBuf;

use super::output::one_line;
use crate::{access, catalog, embed, eval, index, refresh, registry, search, serve};

/// Why a command ended without doing what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments do not make sense together.
    #[error("{0}")]
    Usage(String),
    /// A config, policy or keys file says something that cannot be.
    #[error("{what} {path}, line {line}: {reason}")]
    Setting {
        /// Which kind of file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A config, policy or keys file cannot be read.
    #[error("cannot read {what} {path}: {source}")]
    Read {
        /// Which kind of file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The catalogue cannot be read.
    #[error(transparent)]
    Catalog(#[from] catalog::read::Error),
    /// A document of tools in another shape cannot be read.
    #[error("{path}: {source}")]
    Import {
        /// The file.
        path: PathBuf,
        /// Why.
        source: catalog::import::Error,
    },
    /// A server of tools cannot be listed.
    #[error("{name}: {error}")]
    Source {
        /// The server.
        name: String,
        /// Why.
        error: crate::source::Error,
    },
    /// The catalogue has not one good tool.
    #[error("{path} holds no tool that could be read: {problem}")]
    NoTools {
        /// The file or folder.
        path: PathBuf,
        /// The first thing that was wrong with it.
        problem: String,
    },
    /// The policy cannot be made.
    #[error(transparent)]
    Policy(#[from] access::Error),
    /// The model cannot be used.
    #[error(transparent)]
    Embed(#[from] embed::Error),
    /// The index cannot be built, written or read.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The request says something that cannot be served.
    #[error(transparent)]
    Request(#[from] serve::wire::Invalid),
    /// A set could not be measured.
    #[error(transparent)]
    Eval(#[from] eval::Error),
    /// The request could not be answered.
    #[error(transparent)]
    Search(#[from] search::Error),
    /// The audit cannot be kept.
    #[error(transparent)]
    Audit(#[from] serve::audit::Error),
    /// The API keys cannot be used.
    #[error(transparent)]
    Keys(#[from] serve::auth::Error),
    /// The server could not run.
    #[error(transparent)]
    Serve(#[from] serve::RunError),
    /// The client on standard input and output spoke something else.
    #[error(transparent)]
    Mcp(#[from] serve::mcp::StdioError),
    /// The registry cannot be used.
    #[error(transparent)]
    Registry(#[from] registry::Error),
    /// The registry cannot be followed.
    #[error(transparent)]
    Refresh(#[from] refresh::Error),
    /// A change of the registry was turned down.
    #[error("{what}: {refusal}")]
    Refused {
        /// Which tool or namespace.
        what: String,
        /// Why.
        refusal: registry::Refusal,
    },
    /// The index was made with another model than the one that is open.
    #[error(
        "the index in {path} was made with model '{index}', and '{open}' is open: leave --model out, or run 'toolscout index' again with it"
    )]
    ModelMismatch {
        /// Folder of the index.
        path: PathBuf,
        /// Model of the index.
        index: String,
        /// Model that is open.
        open: String,
    },
    /// No tool of this key.
    #[error("no tool has the key '{key}'{near}")]
    UnknownTool {
        /// The key asked for.
        key: String,
        /// Keys like it, ready to be appended; may be empty.
        near: String,
    },
    /// The reader of our output went away, which is no fault: `toolscout … | head`.
    #[error("the output was closed")]
    Closed,
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(std::io::Error),
    /// Something of the system that a command cannot do without.
    #[error("cannot {what}: {source}")]
    System {
        /// What could not be done.
        what: String,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    /// The exit code: 2 for what the caller typed or wrote into a settings file, 1 for the rest.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Usage(_)
            | Self::Setting { .. }
            | Self::Read { .. }
            | Self::Policy(_)
            | Self::Request(_)
            | Self::Audit(_)
            | Self::Keys(_)
            | Self::Serve(serve::RunError::OpenToOthers { .. }) => 2,
            Self::Catalog(_)
            | Self::Import { .. }
            | Self::Source { .. }
            | Self::NoTools { .. }
            | Self::Embed(_)
            | Self::Index(_)
            | Self::Search(_)
            | Self::Eval(_)
            | Self::Serve(_)
            | Self::Mcp(_)
            | Self::Registry(_)
            | Self::Refresh(_)
            | Self::Refused { .. }
            | Self::ModelMismatch { .. }
            | Self::UnknownTool { .. }
            | Self::Output(_)
            | Self::System { .. } => 1,
        }
    }

    /// The message with its causes, on one line.
    pub fn message(&self) -> String {
        let mut text = one_line(&self.to_string());
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = one_line(&error.to_string());
            // Most messages tell their cause already.
            if !text.contains(&more) {
                text.push_str(": ");
                text.push_str(&more);
            }
            cause = error.source();
        }
        text
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Output(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "no such\nfile");
        let error = Error::Read {
            what: "config file",
            path: "a.toml".into(),
            source,
        };
        assert_eq!(
            error.message(),
            "cannot read config file a.toml: no such file"
        );
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = Error::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(error.exit_code(), 0);
    }
}
