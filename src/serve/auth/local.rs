//! Whether a request to an open server comes from a program on this machine, and not from a page
//! that a browser on it has open: such a page can send requests to localhost, but not without naming
//! its own origin, nor, behind a rebound name, without naming that as the host.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// Whether host and origin, as far as they are given, are names of this machine.
pub(super) fn is_local(headers: &HeaderMap) -> bool {
    let all = |name, names_this_machine: fn(&str) -> bool| {
        headers
            .get_all(name)
            .iter()
            .all(|value| value.to_str().is_ok_and(names_this_machine))
    };
    all(HOST, is_local_authority) && all(ORIGIN, is_local_origin)
}

fn is_local_origin(origin: &str) -> bool {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(is_local_authority)
}

pub(super) fn is_local_authority(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.split(':').next().unwrap_or(authority),
    };
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine() {
        for local in [
            "localhost",
            "LocalHost:8080",
            "127.0.0.1:1",
            "127.9.0.1",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_local_authority(local), "{local}");
        }
        for foreign in [
            "",
            "example.com",
            "localhost.example.com:80",
            "10.0.0.1",
            "[::2]:80",
        ] {
            assert!(!is_local_authority(foreign), "{foreign}");
        }
        assert!(is_local_origin("http://localhost:3000"));
        assert!(!is_local_origin("null"));
        assert!(!is_local_origin("https://example.com"));
    }
}
