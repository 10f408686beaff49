//! API keys: a TOML file that holds their hashes and what each is bound to.
//!
//! ```toml
//! [[key]]
//! name = "support-agent"        # for logs
//! sha256 = "9f86d0…"            # printf %s "$KEY" | sha256sum
//! tenant = "acme"
//! roles = ["support"]           # optional, as are the next two
//! scopes = ["crm:read"]
//! environment = "production"
//! acts_for = ["acme"]           # may name another principal of these tenants; "*" is any
//! admin = true                  # may ask what is for administrators
//! ```
//!
//! A `[jwt]` section says whose tokens are believed beside them; see `auth::jwt`.
//!
//! A key is a long random string, so a plain hash keeps it as well as a slow one would, and anybody
//! can make one with the tools of any system.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::jwt::{self, Tokens};
use crate::access::Principal;

/// Why API keys could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("API keys {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not TOML of this shape.
    #[error("API keys {path}: {reason}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with line and column.
        reason: String,
    },
    /// One entry says something that cannot be.
    #[error("API keys {path}: key '{name}': {reason}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The entry.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The section `[jwt]` says something that cannot be.
    #[error("API keys {path}: [jwt]: {reason}")]
    Jwt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There are no entries, so nobody could ask.
    #[error(
        "API keys {path}: there are no [[key]] entries and there is no [jwt], so nobody could ask"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Known API keys, each with the principal it stands for.
#[derive(Clone)]
pub struct Keys {
    keys: Vec<Key>,
    tokens: Option<Arc<Tokens>>,
}

#[derive(Clone)]
struct Key {
    // The type's comparison takes the same time whatever it compares.
    hash: blake3::Hash,
    holder: Holder,
}

/// Who holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    /// For logs.
    pub(super) name: String,
    /// Who the key stands for.
    pub(super) principal: Principal,
    /// Tenants for whose principals it may act; `*` is any.
    pub(super) acts_for: BTreeSet<String>,
    /// Whether it may ask what is for administrators.
    pub(super) admin: bool,
}

impl Holder {
    /// Somebody without a key, who may act for nobody and administers nothing.
    pub(super) fn of(principal: Principal) -> Self {
        Self {
            name: String::new(),
            principal,
            acts_for: BTreeSet::new(),
            admin: false,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    key: Vec<Entry>,
    jwt: Option<jwt::Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    sha256: String,
    tenant: String,
    #[serde(default)]
    roles: BTreeSet<String>,
    #[serde(default)]
    scopes: BTreeSet<String>,
    environment: Option<String>,
    #[serde(default)]
    acts_for: BTreeSet<String>,
    #[serde(default)]
    admin: bool,
}

impl Keys {
    /// Reads a file of keys.
    ///
    /// # Errors
    /// [`Error`] naming the file and the entry at fault.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// Reads the text of a file of keys; `path` is for messages.
    ///
    /// # Errors
    /// [`Error`] naming the file and the entry at fault.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let file: File = toml::from_str(text).map_err(|error| Error::Toml {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let mut keys = Vec::with_capacity(file.key.len());
        let (mut names, mut hashes) = (HashSet::new(), HashSet::new());
        for entry in file.key {
            let fault = |reason| Error::Key {
                path: path.to_owned(),
                name: entry.name.clone(),
                reason,
            };
            let hash = blake3::Hash::from_hex(&entry.sha256).map_err(|_| {
                fault("sha256 is not 64 hexadecimal digits: printf %s \"$KEY\" | sha256sum")
            })?;
            if entry.tenant.is_empty() {
                return Err(fault("tenant is empty"));
            }
            if !names.insert(entry.name.clone()) {
                return Err(fault("there are two keys of this name"));
            }
            if !hashes.insert(hash) {
                return Err(fault("another entry has the same sha256"));
            }
            let principal = Principal {
                tenant: entry.tenant,
                roles: entry.roles,
                scopes: entry.scopes,
                environment: entry.environment,
                within: None,
            };
            let holder = Holder {
                name: entry.name,
                principal,
                acts_for: entry.acts_for,
                admin: entry.admin,
            };
            keys.push(Key { hash, holder });
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let tokens = file
            .jwt
            .map(|section| Tokens::new(section, folder))
            .transpose()
            .map_err(|reason| Error::Jwt {
                path: path.to_owned(),
                reason,
            })?;
        if keys.is_empty() && tokens.is_none() {
            return Err(Error::Empty {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            keys,
            tokens: tokens.map(Arc::new),
        })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// There are no keys, and tokens alone are believed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The principal of a key, where it is a known one.
    pub fn principal(&self, presented: &str) -> Option<&Principal> {
        self.find(presented).map(|holder| &holder.principal)
    }

    /// Who holds a token, where tokens are believed and this one is.
    pub(super) async fn token(&self, presented: &str) -> Option<Holder> {
        self.tokens.as_ref()?.holder(presented).await
    }

    /// Who holds a key. All keys are compared, so that the time taken does not tell
    /// which was near or where it stands.
    pub(super) fn find(&self, presented: &str) -> Option<&Holder> {
        let presented = blake3::Hash::from_bytes(Sha256::digest(presented.as_bytes()).into());
        let mut found = None;
        for key in &self.keys {
            if key.hash == presented {
                found = Some(&key.holder);
            }
        }
        found
    }
}

/// What to write as `sha256` for a key.
///
/// ```
/// use toolscout::serve::auth::hash_of_key;
/// assert!(hash_of_key("test").starts_with("9f86d081884c7d65"));
/// ```
pub fn hash_of_key(key: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    blake3::Hash::from_bytes(digest).to_hex().to_string()
}

#[cfg(test)]
mod tests;
