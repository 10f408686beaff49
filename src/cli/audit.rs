//! Options of the audit log.

use std::path::PathBuf;

use clap::{Args as Group, ValueEnum};

use super::error::Error;
use crate::serve::audit::{Audit, Options, Text};

/// Bytes of a megabyte.
const MEGABYTE: u64 = 1 << 20;
/// Bytes below which a key is too easily guessed.
const MIN_KEY: usize = 16;

/// Who asked for what, and which calls were allowed.
#[derive(Debug, Clone, Group)]
pub struct AuditArgs {
    /// File of JSON Lines: who looked for what, and which calls were allowed
    #[arg(long, value_name = "FILE", help_heading = "Audit")]
    pub audit: Option<PathBuf>,
    /// File of the key for what was asked [env: TOOLSCOUT_AUDIT_KEY, the key itself]
    #[arg(long, value_name = "FILE", requires = "audit", help_heading = "Audit")]
    pub audit_key: Option<PathBuf>,
    /// How what was asked is kept
    #[arg(
        long,
        value_name = "HOW",
        default_value = "hmac",
        help_heading = "Audit"
    )]
    pub audit_text: Kept,
    /// Megabytes after which a new file is begun
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1_048_576), help_heading = "Audit")]
    pub audit_size: u64,
    /// Older files that are kept
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(0..=1000), help_heading = "Audit")]
    pub audit_files: u16,
    /// Refuse what cannot be noted, rather than count what was lost
    #[arg(long, requires = "audit", help_heading = "Audit")]
    pub audit_required: bool,
}

/// How what was asked is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kept {
    /// As an HMAC-SHA256.
    Hmac,
    /// As it is.
    Plain,
}

impl AuditArgs {
    /// The audit, where one is wanted.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no key, [`Error::Audit`] where the file cannot be opened.
    pub(super) fn start(&self) -> Result<Option<Audit>, Error> {
        let Some(path) = &self.audit else {
            return Ok(None);
        };
        let options = Options {
            path: path.clone(),
            max_bytes: self.audit_size * MEGABYTE,
            files: usize::from(self.audit_files),
            text: match self.audit_text {
                Kept::Plain => Text::Plain,
                Kept::Hmac => Text::Hashed(self.key()?),
            },
            required: self.audit_required,
        };
        Ok(Some(Audit::start(options)?))
    }

    fn key(&self) -> Result<Vec<u8>, Error> {
        let key = match &self.audit_key {
            Some(path) => std::fs::read(path).map_err(|source| Error::Read {
                what: "audit key",
                path: path.clone(),
                source,
            })?,
            None => match std::env::var_os("TOOLSCOUT_AUDIT_KEY") {
                Some(key) => key.into_encoded_bytes(),
                None => {
                    return Err(Error::Usage(
                        "--audit keeps what was asked as an HMAC: name its key by --audit-key FILE, \
                         or keep it as it is by --audit-text plain"
                            .to_owned(),
                    ));
                }
            },
        };
        let key = key.trim_ascii();
        if key.len() < MIN_KEY {
            return Err(Error::Usage(format!(
                "the audit key has {} bytes, and a key wants {MIN_KEY} at least: openssl rand -hex 32",
                key.len()
            )));
        }
        Ok(key.to_vec())
    }
}
