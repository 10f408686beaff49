//! Who may change the registry.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::holder;
use crate::serve::error::Error;
use crate::serve::state::App;

/// What the log of an open server calls everybody.
const EVERYBODY: &str = "local";

/// An authenticated caller who may change the registry: an administrator, or whoever asks an open
/// server that was started with the right to write.
#[derive(Debug, Clone)]
pub(in crate::serve) struct Writer {
    /// Name of the key.
    pub(in crate::serve) name: String,
}

impl FromRequestParts<App> for Writer {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let holder = holder(parts, app).await?;
        let is_open = app.authentication().is_open();
        if !(is_open || holder.admin) {
            return Err(Error::NotAdministrator);
        }
        let registry = app.registry().ok_or(Error::NotWritable)?;
        if is_open && !registry.open_writes() {
            return Err(Error::NotWritable);
        }
        let name = if is_open {
            EVERYBODY.to_owned()
        } else {
            holder.name
        };
        Ok(Self { name })
    }
}
