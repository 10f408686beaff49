//! The log: to standard error, as `RUST_LOG` says.

use tracing_subscriber::EnvFilter;

use super::error::Error;
use super::serve::LogFormat;

/// Starts the log; `usual` is its filter where `RUST_LOG` is not set. A second start does nothing.
///
/// # Errors
/// [`Error::Usage`] where `RUST_LOG` does not parse.
pub(super) fn start(format: LogFormat, usual: &str) -> Result<(), Error> {
    let directives = std::env::var("RUST_LOG")
        .ok()
        .filter(|text| !text.trim().is_empty());
    let filter = EnvFilter::try_new(directives.as_deref().unwrap_or(usual))
        .map_err(|error| Error::Usage(format!("RUST_LOG: {error}")))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    Ok(())
}
