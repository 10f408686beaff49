//! Tokens (JWT) of an issuer: the `[jwt]` section of the keys file.
//!
//! ```toml
//! [jwt]
//! issuer = "https://login.example"
//! audience = ["toolscout"]
//! jwks = "https://login.example/keys"   # or a file beside this one
//! algorithms = ["RS256", "ES256"]       # as is usual; never taken from a token
//! leeway = 60                           # seconds that clocks may differ
//! refresh = 300                         # seconds after which keys are fetched again
//! tenant = "acme"                       # where all tokens are of one tenant; else by claim
//! [jwt.claims]                          # names of claims, as is usual
//! tenant = "tenant"
//! roles = "roles"                       # a list, or words with blanks between them
//! scopes = "scope"
//! environment = "environment"
//! ```

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::jwks::Issuer;
use super::keys::Holder;
use crate::access::Principal;

/// Bytes of a token.
const MAX_TOKEN: usize = 16 * 1024;
/// Roles, and scopes, of one token.
const MAX_NAMES: usize = 256;
/// Characters of a subject that the log shows.
const MAX_SUBJECT: usize = 64;
/// Seconds that clocks may be allowed to differ.
const MAX_LEEWAY: u64 = 600;
/// Seconds after which keys are fetched again.
const REFRESH: std::ops::RangeInclusive<u64> = 10..=86_400;

/// Signatures that only the holder of a private key can make: no shared secrets, and not `none`.
const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("RS256", Algorithm::RS256),
    ("RS384", Algorithm::RS384),
    ("RS512", Algorithm::RS512),
    ("PS256", Algorithm::PS256),
    ("PS384", Algorithm::PS384),
    ("PS512", Algorithm::PS512),
    ("ES256", Algorithm::ES256),
    ("ES384", Algorithm::ES384),
    ("EdDSA", Algorithm::EdDSA),
];

/// The section as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    issuer: String,
    audience: Vec<String>,
    jwks: String,
    #[serde(default = "usual_algorithms")]
    algorithms: Vec<String>,
    #[serde(default = "usual_leeway")]
    leeway: u64,
    #[serde(default = "usual_refresh")]
    refresh: u64,
    tenant: Option<String>,
    #[serde(default)]
    claims: Claims,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Claims {
    tenant: String,
    roles: String,
    scopes: String,
    environment: String,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            tenant: "tenant".to_owned(),
            roles: "roles".to_owned(),
            scopes: "scope".to_owned(),
            environment: "environment".to_owned(),
        }
    }
}

fn usual_algorithms() -> Vec<String> {
    vec!["RS256".to_owned(), "ES256".to_owned()]
}

fn usual_leeway() -> u64 {
    60
}

fn usual_refresh() -> u64 {
    300
}

/// Believes the tokens of one issuer.
pub(super) struct Tokens {
    issuer: Arc<Issuer>,
    algorithms: Vec<Algorithm>,
    validation: Validation,
    tenant: Option<String>,
    claims: Claims,
}

impl Tokens {
    /// What the section says; `folder` is where the keys file is.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn new(section: Section, folder: &Path) -> Result<Self, String> {
        let mut algorithms = Vec::new();
        for name in &section.algorithms {
            let known = ALGORITHMS.iter().find(|(known, _)| known == name);
            let (_, algorithm) = known.ok_or_else(|| {
                let names = ALGORITHMS.map(|(name, _)| name).join(", ");
                format!("algorithm '{name}' is none of {names}: only public keys are believed")
            })?;
            algorithms.push(*algorithm);
        }
        let named = |list: &[String]| !list.is_empty() && list.iter().all(|one| !one.is_empty());
        if algorithms.is_empty() || section.issuer.is_empty() || !named(&section.audience) {
            return Err("issuer, audience and algorithms must not be empty".to_owned());
        }
        if section.tenant.as_ref().is_some_and(String::is_empty) {
            return Err("tenant is empty".to_owned());
        }
        if MAX_LEEWAY < section.leeway {
            return Err(format!("leeway must be at most {MAX_LEEWAY} seconds"));
        }
        if !REFRESH.contains(&section.refresh) {
            let (low, high) = (REFRESH.start(), REFRESH.end());
            return Err(format!("refresh must be {low} to {high} seconds"));
        }
        // The algorithm is set for each token, from its key.
        let mut validation = Validation::new(algorithms[0]);
        validation.set_issuer(&[&section.issuer]);
        validation.set_audience(&section.audience);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.validate_nbf = true;
        validation.leeway = section.leeway;
        let refresh = Duration::from_secs(section.refresh);
        Ok(Self {
            issuer: Arc::new(Issuer::new(&section.jwks, folder, refresh)?),
            algorithms,
            validation,
            tenant: section.tenant,
            claims: section.claims,
        })
    }

    /// Who holds `token`; none where it is not to be believed, and then the log says why.
    pub(super) async fn holder(&self, token: &str) -> Option<Holder> {
        match self.read(token).await {
            Ok(holder) => Some(holder),
            Err(reason) => {
                tracing::debug!(reason, "a token is not believed");
                None
            }
        }
    }

    async fn read(&self, token: &str) -> Result<Holder, String> {
        if MAX_TOKEN < token.len() {
            return Err("it is too long".to_owned());
        }
        let header = decode_header(token).map_err(|error| error.to_string())?;
        if !self.algorithms.contains(&header.alg) {
            return Err(format!("its algorithm {:?} is not allowed", header.alg));
        }
        let key = self.issuer.key(header.kid.as_deref()).await;
        let key = key.ok_or("its key is not known")?;
        if !serves(&key, header.alg) {
            return Err(format!("its key is not for {:?}", header.alg));
        }
        let secret_free = DecodingKey::from_jwk(&key).map_err(|error| error.to_string())?;
        let mut validation = self.validation.clone();
        validation.algorithms = vec![header.alg];
        let token = decode::<Map<String, Value>>(token, &secret_free, &validation);
        self.principal(&token.map_err(|error| error.to_string())?.claims)
    }

    fn principal(&self, claims: &Map<String, Value>) -> Result<Holder, String> {
        let names = &self.claims;
        let tenant = match &self.tenant {
            Some(tenant) => tenant.clone(),
            None => text(claims, &names.tenant)?
                .filter(|tenant| !tenant.is_empty())
                .ok_or_else(|| format!("claim '{}' is missing", names.tenant))?,
        };
        let principal = Principal {
            tenant,
            roles: list(claims, &names.roles)?,
            scopes: list(claims, &names.scopes)?,
            environment: text(claims, &names.environment)?,
            within: None,
        };
        let subject = text(claims, "sub")?.unwrap_or_default();
        Ok(Holder {
            name: subject.chars().take(MAX_SUBJECT).collect(),
            ..Holder::of(principal)
        })
    }
}

/// Whether the key is for signatures of this kind, as far as it says.
fn serves(key: &Jwk, algorithm: Algorithm) -> bool {
    let common = &key.common;
    let said = common.key_algorithm;
    let fits = said.is_none_or(|said| said == KeyAlgorithm::from(algorithm));
    let signs = common.public_key_use.as_ref();
    fits && signs.is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
}

fn text(claims: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("claim '{name}' is not a text")),
    }
}

/// A list of texts, or a text of words.
fn list(claims: &Map<String, Value>, name: &str) -> Result<BTreeSet<String>, String> {
    let names: Option<BTreeSet<String>> = match claims.get(name) {
        None | Some(Value::Null) => Some(BTreeSet::new()),
        Some(Value::String(text)) => Some(text.split_whitespace().map(str::to_owned).collect()),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect()
        }
        Some(_) => None,
    };
    names
        .filter(|names| names.len() <= MAX_NAMES)
        .ok_or_else(|| format!("claim '{name}' is not a list of at most {MAX_NAMES} texts"))
}
