//! What the handlers share: the index being served and the policy over it, swapped together; who
//! may ask; and the bounds.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use moka::sync::Cache;

use super::auth::Authentication;
use super::gate::Gate;
use super::limits::Limits;
use crate::access::{Policy, Principal};
use crate::embed::Embedder;
use crate::index::Index;
use crate::search::{Config, View};

/// Principals whose view is remembered.
const REMEMBERED_PRINCIPALS: u64 = 4096;
/// Views that are remembered: principals who may see the same tools share one.
const REMEMBERED_VIEWS: u64 = 512;

/// What a server is made of.
pub struct Parts {
    /// What is searched.
    pub index: Arc<Index>,
    /// Who may see which of its tools.
    pub policy: Arc<Policy>,
    /// The model that the index was made with; without one the semantic arm is silent, and answers
    /// say so.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Weights and constants of a search that names no preset.
    pub config: Config,
    /// Who may ask.
    pub authentication: Authentication,
    /// Bounds.
    pub limits: Limits,
}

/// Why an index cannot be served.
#[derive(Debug, thiserror::Error)]
#[error(
    "the index holds vectors of model '{index}', and the model here is '{embedder}': index again, or choose that model"
)]
pub struct ModelMismatch {
    /// Model of the index.
    pub index: String,
    /// Model that queries would be embedded with.
    pub embedder: String,
}

/// The running server, shared by all of its handlers. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    served: ArcSwap<Served>,
    embedder: Option<Arc<dyn Embedder>>,
    config: Config,
    authentication: Authentication,
    limits: Limits,
    gate: Gate,
    stopping: AtomicBool,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("authentication", &self.0.authentication)
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

impl App {
    /// A server of these parts.
    ///
    /// # Errors
    /// [`ModelMismatch`] where the embedder is not the index's.
    pub fn new(parts: Parts) -> Result<Self, ModelMismatch> {
        same_model(parts.embedder.as_deref(), &parts.index)?;
        Ok(Self(Arc::new(Shared {
            served: ArcSwap::from_pointee(Served::new(parts.index, parts.policy)),
            embedder: parts.embedder,
            config: parts.config,
            authentication: parts.authentication,
            gate: Gate::new(&parts.limits),
            limits: parts.limits,
            stopping: AtomicBool::new(false),
        })))
    }

    /// Serves another index, another policy, or both, from the next request on. Requests under way
    /// end with what they began with.
    ///
    /// # Errors
    /// [`ModelMismatch`] where the embedder is not the index's; the old index stays.
    pub fn publish(&self, index: Arc<Index>, policy: Arc<Policy>) -> Result<(), ModelMismatch> {
        same_model(self.embedder(), &index)?;
        self.0.served.store(Arc::new(Served::new(index, policy)));
        Ok(())
    }

    pub(super) fn served(&self) -> Arc<Served> {
        self.0.served.load_full()
    }

    pub(super) fn embedder(&self) -> Option<&dyn Embedder> {
        self.0.embedder.as_deref()
    }

    pub(super) fn config(&self) -> &Config {
        &self.0.config
    }

    pub(super) fn authentication(&self) -> &Authentication {
        &self.0.authentication
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.0.gate
    }

    pub(super) fn stop(&self) {
        self.0.stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.0.stopping.load(Ordering::Relaxed)
    }
}

fn same_model(embedder: Option<&dyn Embedder>, index: &Index) -> Result<(), ModelMismatch> {
    match embedder {
        Some(embedder) if embedder.model_id() != index.model_id => Err(ModelMismatch {
            index: index.model_id.clone(),
            embedder: embedder.model_id().to_owned(),
        }),
        _ => Ok(()),
    }
}

/// An index with the policy over it, and what is remembered of the two. What is remembered goes
/// when either changes, so nothing remembered can outlive a right.
pub(super) struct Served {
    pub(super) index: Arc<Index>,
    policy: Arc<Policy>,
    by_principal: Cache<Principal, Arc<Seen>>,
    by_fingerprint: Cache<[u8; 32], Arc<Seen>>,
}

/// What one principal sees.
pub(super) struct Seen {
    pub(super) view: View,
    pub(super) etag: String,
}

impl Served {
    fn new(index: Arc<Index>, policy: Arc<Policy>) -> Self {
        Self {
            index,
            policy,
            by_principal: Cache::new(REMEMBERED_PRINCIPALS),
            by_fingerprint: Cache::new(REMEMBERED_VIEWS),
        }
    }

    /// What `principal` sees. The first time it costs a pass over the catalogue, so call it where a
    /// thread may be kept busy.
    pub(super) fn seen_by(&self, principal: &Principal) -> Arc<Seen> {
        if let Some(seen) = self.by_principal.get(principal) {
            return seen;
        }
        let permitted = self.policy.permit(principal, self.index.catalog.tools());
        let seen = self.by_fingerprint.get_with(permitted.fingerprint(), || {
            Arc::new(Seen {
                etag: self.index.etag(&permitted),
                view: View::new(&self.index, permitted),
            })
        });
        self.by_principal
            .insert(principal.clone(), Arc::clone(&seen));
        seen
    }
}
