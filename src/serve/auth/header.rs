//! What a caller says of its own rights beside its key: `toolscout-principal`, whom it acts for, and
//! `toolscout-narrow`, what it gives up. Both can only take away.

use axum::http::HeaderMap;
use serde::de::DeserializeOwned;

use super::keys::Holder;
use crate::access::Principal;
use crate::serve::error::Error;
use crate::serve::wire::{Invalid, NarrowingRequest, PrincipalRequest};

/// Names the principal that a key acts for.
pub(in crate::serve) const PRINCIPAL: &str = "toolscout-principal";
/// Says what the caller gives up for this request.
pub(in crate::serve) const NARROW: &str = "toolscout-narrow";

/// Bytes of one of these headers.
const MAX_HEADER: usize = 8192;
/// Stands for every tenant in a key's `acts_for`.
const ANY_TENANT: &str = "*";

/// Who asks: the holder of the key, or whom it acts for, less what it gives up.
pub(super) fn asking(holder: &Holder, headers: &HeaderMap) -> Result<Principal, Error> {
    let mut principal = holder.principal.clone();
    if let Some(named) = read::<PrincipalRequest>(headers, PRINCIPAL)? {
        principal = acting(holder, named.check(PRINCIPAL)?)?;
    }
    if let Some(narrowing) = read::<NarrowingRequest>(headers, NARROW)? {
        let narrowing = narrowing.check(NARROW)?;
        principal = principal
            .narrowed(&narrowing)
            .map_err(|wider| Invalid::new(NARROW, wider.to_string()))?;
    }
    Ok(principal)
}

/// `named`, seeing nothing that the holder does not see in that tenant.
fn acting(holder: &Holder, named: Principal) -> Result<Principal, Error> {
    let may = |tenant: &str| holder.acts_for.contains(tenant);
    if !may(&named.tenant) && !may(ANY_TENANT) {
        return Err(Error::MayNotAct);
    }
    let mut bound = holder.principal.clone();
    bound.tenant.clone_from(&named.tenant);
    named
        .bounded_by(bound)
        .map_err(|wider| Invalid::new(PRINCIPAL, wider.to_string()).into())
}

fn read<T: DeserializeOwned>(headers: &HeaderMap, name: &str) -> Result<Option<T>, Error> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Invalid::new(name, "the header is given twice").into());
    }
    if MAX_HEADER < value.len() {
        let reason = format!("the header is longer than {MAX_HEADER} bytes");
        return Err(Invalid::new(name, reason).into());
    }
    let text = value.as_bytes();
    // Derived readers take a list for an object, field by field.
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(Invalid::new(name, "must be a JSON object").into());
    }
    serde_json::from_slice(text)
        .map(Some)
        .map_err(|error| Invalid::new(name, error.to_string()).into())
}
