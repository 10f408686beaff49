//! The public keys of those who issue tokens: from a file or an address, remembered, and fetched
//! again when they are old or a token names one that is not known.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{Jwk, JwkSet};

use super::local;

/// Time for a fetch as a whole.
const FETCH_TIME: Duration = Duration::from_secs(5);
/// Bytes of a set of keys.
const MOST_BYTES: u64 = 1 << 20;
/// Keys of a set.
const MOST_KEYS: usize = 256;
/// Pause between two fetches for keys that are not known, or after one that failed: whoever sends
/// tokens with made-up names of keys must not be able to keep the issuer busy.
const PAUSE: Duration = Duration::from_secs(30);
/// For so long beyond their time, keys that cannot be fetched again are still believed.
const GRACE: Duration = Duration::from_secs(3600);

/// Where keys come from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    File(PathBuf),
    Address(String),
}

/// The keys of an issuer.
pub(super) struct Issuer {
    source: Source,
    refresh: Duration,
    held: Mutex<Held>,
    /// Held by the one that fetches.
    fetching: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Held {
    keys: Arc<[Jwk]>,
    fetched: Option<Instant>,
    /// When the last fetch ended that was not for age alone, or that failed.
    paused: Option<Instant>,
}

impl Issuer {
    /// The keys at `place`: an `https` address, an `http` one on this machine, or a file, relative to
    /// `folder`. A file is read at once, an address when the first token comes.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn new(place: &str, folder: &Path, refresh: Duration) -> Result<Self, String> {
        let is_address = place.contains("://");
        let source = if is_address {
            if !is_safe(place) {
                return Err(format!(
                    "'{place}' is not safe: use https, or http on this machine's own address"
                ));
            }
            Source::Address(place.to_owned())
        } else {
            Source::File(folder.join(place))
        };
        let mut held = Held::default();
        if !is_address {
            held.keys = source.fetch()?;
            held.fetched = Some(Instant::now());
        }
        Ok(Self {
            source,
            refresh,
            held: Mutex::new(held),
            fetching: Arc::default(),
        })
    }

    /// The key of this name; of a token that names none, the only key there is.
    pub(super) async fn key(self: &Arc<Self>, name: Option<&str>) -> Option<Jwk> {
        let (known, is_due) = self.look(name);
        if !is_due {
            return known;
        }
        let turn = Arc::clone(&self.fetching);
        // Whoever has a key need not wait for others to fetch it again.
        let turn = match &known {
            Some(_) => turn.try_lock_owned().ok(),
            None => Some(turn.lock_owned().await),
        };
        // Others may have fetched meanwhile.
        if let Some(turn) = turn
            && self.look(name).1
        {
            let issuer = Arc::clone(self);
            let was_missing = known.is_none();
            let fetch = move || {
                issuer.take_up(issuer.source.fetch(), was_missing);
                // Held to here even if nobody waits any more, so that one fetches at a time.
                drop(turn);
            };
            // A fetch that panicked has taken nothing up.
            let _ = tokio::task::spawn_blocking(fetch).await;
        }
        self.look(name).0
    }

    /// What is known, and whether to fetch.
    fn look(&self, name: Option<&str>) -> (Option<Jwk>, bool) {
        let held = self.held();
        let age = held.fetched.map(|then| then.elapsed());
        let is_old = age.is_none_or(|age| self.refresh < age);
        let is_dead = age.is_none_or(|age| self.refresh + GRACE < age);
        let known = match name {
            _ if is_dead => None,
            Some(name) => {
                let named = |key: &&Jwk| key.common.key_id.as_deref() == Some(name);
                held.keys.iter().find(named).cloned()
            }
            None if held.keys.len() == 1 => held.keys.first().cloned(),
            None => None,
        };
        let is_paused = held.paused.is_some_and(|then| then.elapsed() < PAUSE);
        let is_due = (is_old || (known.is_none() && name.is_some())) && !is_paused;
        (known, is_due)
    }

    fn take_up(&self, fetched: Result<Arc<[Jwk]>, String>, was_missing: bool) {
        let mut held = self.held();
        let had_some = held.fetched.is_some();
        match fetched {
            Ok(keys) => {
                held.keys = keys;
                held.fetched = Some(Instant::now());
                // The first fetch leaves room for one more: keys may be turned just then.
                held.paused = (was_missing && had_some).then(Instant::now);
            }
            Err(reason) => {
                held.paused = Some(Instant::now());
                tracing::error!(
                    reason,
                    "the issuer's keys cannot be had: those known are believed"
                );
            }
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    fn fetch(&self) -> Result<Arc<[Jwk]>, String> {
        let (place, bytes) = match self {
            Self::File(path) => {
                let place = path.display().to_string();
                let bytes = std::fs::read(path).map_err(|error| format!("{place}: {error}"))?;
                (place, bytes)
            }
            Self::Address(url) => (url.clone(), get(url).map_err(|e| format!("{url}: {e}"))?),
        };
        let set: JwkSet = serde_json::from_slice(&bytes)
            .map_err(|error| format!("{place}: this is no set of keys (JWKS): {error}"))?;
        if set.keys.is_empty() || MOST_KEYS < set.keys.len() {
            return Err(format!("{place}: a set must hold 1 to {MOST_KEYS} keys"));
        }
        Ok(set.keys.into())
    }
}

fn get(url: &str) -> Result<Vec<u8>, ureq::Error> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(FETCH_TIME))
        // A redirect could lead to where nobody has looked whether it is safe.
        .max_redirects(0)
        .build()
        .into();
    let mut response = agent.get(url).call()?;
    response
        .body_mut()
        .with_config()
        .limit(MOST_BYTES)
        .read_to_vec()
}

/// Whether nobody on the way can put keys of their own in.
fn is_safe(url: &str) -> bool {
    let plain = |rest: &str| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !authority.contains('@') && local::is_local_authority(authority)
    };
    url.starts_with("https://") || url.strip_prefix("http://").is_some_and(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_safe_ways_only() {
        for safe in [
            "https://idp.example/keys",
            "http://127.0.0.1:80/k",
            "http://[::1]/k",
        ] {
            assert!(is_safe(safe), "{safe}");
        }
        for unsafe_ in [
            "http://idp.example/keys",
            "http://localhost@evil.example/",
            "ftp://127.0.0.1/",
        ] {
            assert!(!is_safe(unsafe_), "{unsafe_}");
        }
    }
}
