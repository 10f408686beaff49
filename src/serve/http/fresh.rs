//! Reading one's own writes: an answer of a revision or a later one.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::change::{PATIENCE, registry};
use crate::registry::Revision;
use crate::serve::auth::Writer;
use crate::serve::error::Error;
use crate::serve::extract::pairs;
use crate::serve::state::App;
use crate::serve::wire::Invalid;

/// The catalogue is of the revision that the query string's `min_revision` asks for, or later.
///
/// Only those with the right to write may ask: a revision counts the changes of tools that others
/// may not see.
pub(in crate::serve) struct Fresh;

impl FromRequestParts<App> for Fresh {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let mut wanted = None;
        for (name, value) in pairs(&parts.uri)? {
            if name != "min_revision" {
                let reason = "is not a parameter here; known is min_revision";
                return Err(Invalid::new(name, reason).into());
            }
            wanted = Some(value);
        }
        let Some(value) = wanted else { return Ok(Self) };
        Writer::from_request_parts(parts, app).await?;
        let wrong = |_| Invalid::new("min_revision", "must be a whole number");
        let revision = Revision(value.parse().map_err(wrong)?);
        if registry(app)?.served(revision, PATIENCE).await {
            Ok(Self)
        } else {
            Err(Error::NotYet)
        }
    }
}
