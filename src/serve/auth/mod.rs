//! Who asks: from a request's headers to a [`Principal`].
//!
//! A handler that takes a `Caller` cannot be reached without one; one that does not take it cannot
//! see a principal. Nothing else of a request has a say in who asks, but that a key may act for
//! others, and any caller give up rights, by the headers of [`header`].

pub(super) mod header;
mod jwks;
mod jwt;
mod keys;
mod local;
mod writer;

use std::fmt;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

pub use keys::{Error, Keys, hash_of_key};

use super::audit::CallerName;
use super::error::Error as Refusal;
use super::state::App;
use crate::access::Principal;
use keys::Holder;
pub(super) use writer::Writer;

/// How callers prove who they are. There is no default: an open server must be asked for by name.
#[derive(Clone)]
pub enum Authentication {
    /// Nobody proves anything, and everybody is this principal. [`run`](super::run()) refuses it on
    /// an address that other machines can reach.
    Open(Principal),
    /// By API key, or by a token of an issuer that the keys file names.
    Keys(Keys),
}

impl Authentication {
    /// Nobody proves anything.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

// Written by hand so that no way of logging a server can show who holds which rights.
impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(_) => f.write_str("Open"),
            Self::Keys(keys) => write!(f, "Keys({})", keys.len()),
        }
    }
}

/// The authenticated caller.
#[derive(Debug, Clone)]
pub(super) struct Caller(pub(super) Principal);

/// An authenticated caller who may ask what is for administrators.
#[derive(Debug, Clone, Copy)]
pub(super) struct Administrator;

impl FromRequestParts<App> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let holder = holder(parts, app).await?;
        parts.extensions.insert(CallerName(holder.name.clone()));
        header::asking(&holder, &parts.headers).map(Self)
    }
}

impl FromRequestParts<App> for Administrator {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let holder = holder(parts, app).await?;
        holder
            .admin
            .then_some(Self)
            .ok_or(Refusal::NotAdministrator)
    }
}

/// Who sent the request, whoever it acts for.
async fn holder(parts: &Parts, app: &App) -> Result<Holder, Refusal> {
    match &*app.authentication() {
        Authentication::Open(principal) => {
            if !local::is_local(&parts.headers) {
                return Err(Refusal::NotLocal);
            }
            Ok(Holder::of(principal.clone()))
        }
        Authentication::Keys(keys) => {
            let presented = bearer(parts).ok_or(Refusal::Unauthorized)?;
            let holder = match keys.find(presented) {
                Some(holder) => holder.clone(),
                None => keys.token(presented).await.ok_or(Refusal::Unauthorized)?,
            };
            tracing::Span::current().record("caller", &holder.name);
            Ok(holder)
        }
    }
}

/// The token of an `authorization: Bearer TOKEN` header.
fn bearer(parts: &Parts) -> Option<&str> {
    let value = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}
