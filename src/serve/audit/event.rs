//! What is noted.

use std::convert::Infallible;
use std::time::SystemTime;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use serde::Serialize;

use crate::access::Principal;
use crate::search::Query;
use crate::serve::state::App;

/// Which request it was, and by whose key.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    /// The request's identity, as answers and logs have it.
    pub request: String,
    /// Name of the key or token that the request came with; empty where none was asked for.
    pub caller: String,
}

impl Trail {
    /// Of a request whose caller is known.
    pub(in crate::serve) fn of(extensions: &Extensions) -> Self {
        let text = |text: Option<String>| text.unwrap_or_default();
        Self {
            request: text(extensions.get().map(|RequestId(id)| id.clone())),
            caller: text(extensions.get().map(|CallerName(name)| name.clone())),
        }
    }
}

impl FromRequestParts<App> for Trail {
    type Rejection = Infallible;

    /// Extracts after the caller is known.
    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

/// Rides in a request's extensions.
#[derive(Debug, Clone)]
pub(in crate::serve) struct RequestId(pub(in crate::serve) String);

/// Rides in a request's extensions once the caller is known.
#[derive(Debug, Clone)]
pub(in crate::serve) struct CallerName(pub(in crate::serve) String);

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Tools were looked for.
    Discover {
        /// What was asked.
        query: &'a Query,
        /// Keys of the tools shown.
        tools: &'a [String],
    },
    /// Whole definitions were given out: tools were described, or loaded into a session.
    Load {
        /// Keys of the tools.
        tools: &'a [String],
    },
    /// A call was judged.
    Authorize {
        /// What the caller named.
        tool: &'a str,
        /// Whether the call may be made.
        allowed: bool,
        /// Why.
        reason: &'static str,
    },
}

/// A line of the log.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    /// When, in UTC.
    pub(super) time: String,
    pub(super) event: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) request: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) caller: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) tenant: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query_hmac: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
    /// Events that were lost before this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
}

impl Line {
    /// An event as a line; `said` gives what was asked, hashed or plain.
    pub(super) fn new(
        time: SystemTime,
        trail: &Trail,
        principal: &Principal,
        event: Event<'_>,
        said: impl Fn(&Query) -> (Option<String>, Option<String>),
    ) -> Self {
        let mut line = Self {
            request: trail.request.clone(),
            caller: trail.caller.clone(),
            tenant: principal.tenant.clone(),
            ..Self::bare(time, "")
        };
        match event {
            Event::Discover { query, tools } => {
                line.event = "discover";
                (line.query_hmac, line.query) = said(query);
                line.tools = Some(tools.to_vec());
            }
            Event::Load { tools } => {
                line.event = "load";
                line.tools = Some(tools.to_vec());
            }
            Event::Authorize {
                tool,
                allowed,
                reason,
            } => {
                line.event = "authorize";
                line.tools = Some(vec![tool.to_owned()]);
                line.allowed = Some(allowed);
                line.reason = Some(reason);
            }
        }
        line
    }

    /// That `count` events were lost.
    pub(super) fn dropped(time: SystemTime, count: u64) -> Self {
        Self {
            count: Some(count),
            ..Self::bare(time, "dropped")
        }
    }

    fn bare(time: SystemTime, event: &'static str) -> Self {
        Self {
            time: utc(time),
            event,
            request: String::new(),
            caller: String::new(),
            tenant: String::new(),
            query_hmac: None,
            query: None,
            tools: None,
            allowed: None,
            reason: None,
            count: None,
        }
    }
}

/// A moment as RFC 3339 has it, in UTC, to the millisecond; days to dates by Howard Hinnant's
/// `civil_from_days`.
fn utc(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let seconds = since.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let milliseconds = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_told_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(
                utc(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
                text
            );
        }
    }
}
