//! What the handlers share: the index being served with the policy and the business rules over it;
//! who may ask; and the bounds. Index, policy, rules and authentication are published independently, each while the others may
//! be published too.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use moka::sync::Cache;

use super::audit::{Audit, Event, Trail, Unavailable};
use super::auth::Authentication;
use super::error::Error;
use super::gate::Gate;
use super::limits::Limits;
use super::mcp;
use super::registry::Registry;
use crate::access::{Permitted, Policy, Principal, Rights};
use crate::embed::Embedder;
use crate::index::Index;
use crate::refresh::Publish;
use crate::rules::{Compiled, Rules};
use crate::search::{Config, View};
use crate::source;

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
    /// The Model Context Protocol's side.
    pub mcp: mcp::Options,
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

/// An open server was to ask for keys, or one with keys was to be open. Which of the two a server is
/// was decided with its address, so it takes a new start.
#[derive(Debug, thiserror::Error)]
#[error("an open server stays open, and one that asks for keys goes on asking: start it anew")]
pub struct OpennessChanged;

/// The running server, shared by all of its handlers. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    served: ArcSwap<Served>,
    /// Held while what is served is made anew from a changed part and the others as they are, so
    /// that two changes at once do not undo each other. Readers never wait for it.
    publishing: Mutex<()>,
    audit: OnceLock<Audit>,
    embedder: Option<Arc<dyn Embedder>>,
    config: Config,
    authentication: ArcSwap<Authentication>,
    limits: Limits,
    mcp: mcp::Options,
    gate: Gate,
    registry: OnceLock<Registry>,
    stopping: AtomicBool,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("authentication", &self.authentication())
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
            served: ArcSwap::from_pointee(Served::new(parts.index, parts.policy, Arc::default())),
            publishing: Mutex::new(()),
            audit: OnceLock::new(),
            embedder: parts.embedder,
            config: parts.config,
            authentication: ArcSwap::from_pointee(parts.authentication),
            gate: Gate::new(&parts.limits),
            limits: parts.limits,
            mcp: parts.mcp,
            registry: OnceLock::new(),
            stopping: AtomicBool::new(false),
        })))
    }

    /// Serves another index from the next request on. Requests under way end with what they began
    /// with. It takes a pass over the catalogue, so call it where a thread may be kept busy.
    ///
    /// # Errors
    /// [`ModelMismatch`] where the embedder is not the index's; the old index stays.
    pub fn publish_index(&self, index: Arc<Index>) -> Result<(), ModelMismatch> {
        same_model(self.embedder(), &index)?;
        self.republish(|served| Served::new(index, Arc::clone(&served.policy), served.rules()));
        Ok(())
    }

    /// Follows another policy from the next request on. It takes a pass over the catalogue, so call
    /// it where a thread may be kept busy.
    pub fn publish_policy(&self, policy: Arc<Policy>) {
        self.republish(|served| Served::new(Arc::clone(&served.index), policy, served.rules()));
    }

    /// Notes what is asked and allowed from the next request on. The first audit stays.
    pub fn keep_audit(&self, audit: Audit) {
        let _ = self.0.audit.set(audit);
    }

    /// Notes an event, where there is an audit.
    ///
    /// # Errors
    /// [`Error::AuditUnavailable`] where the audit is required and cannot be written.
    pub(super) fn note(
        &self,
        trail: &Trail,
        principal: &Principal,
        event: Event<'_>,
    ) -> Result<(), Error> {
        let Some(audit) = self.0.audit.get() else {
            return Ok(());
        };
        let noted = audit.note(trail, principal, event);
        noted.map_err(|_: Unavailable| Error::AuditUnavailable)
    }

    /// Follows other business rules from the next request on; a new server has none. It takes a pass
    /// over the catalogue, so call it where a thread may be kept busy.
    pub fn publish_rules(&self, rules: Arc<Rules>) {
        self.republish(|served| {
            let (index, policy) = (Arc::clone(&served.index), Arc::clone(&served.policy));
            Served::new(index, policy, rules)
        });
    }

    /// Knows other callers from the next request on.
    ///
    /// # Errors
    /// [`OpennessChanged`] where a server that asks for keys would become an open one, or the
    /// reverse; the old authentication stays.
    pub fn publish_authentication(
        &self,
        authentication: Authentication,
    ) -> Result<(), OpennessChanged> {
        let _turn = self.turn();
        if authentication.is_open() != self.authentication().is_open() {
            return Err(OpennessChanged);
        }
        self.0.authentication.store(Arc::new(authentication));
        Ok(())
    }

    /// Puts indexes into service for as long as this server lives: what a registry is followed with.
    pub fn publisher(&self) -> Publish {
        let shared = Arc::downgrade(&self.0);
        Box::new(move |index| {
            let Some(shared) = shared.upgrade() else {
                return Err("the server has ended".to_owned());
            };
            let published = Self(shared).publish_index(index);
            published.map_err(|mismatch| mismatch.to_string())
        })
    }

    /// Takes changes for a registry from now on. The first registry stays.
    pub fn set_registry(&self, registry: Registry) {
        // Another one would answer for revisions of the first.
        let _ = self.0.registry.set(registry);
    }

    /// The registry that the index is of; none where the index is fixed.
    pub(super) fn registry(&self) -> Option<&Registry> {
        self.0.registry.get()
    }

    /// Replaces what is served by what `change` makes of it; one change at a time.
    fn republish(&self, change: impl FnOnce(&Served) -> Served) {
        let _turn = self.turn();
        let changed = change(&self.served());
        self.0.served.store(Arc::new(changed));
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        // Nothing is left half done by a change that panics: it stores at its end.
        let turn = self.0.publishing.lock();
        turn.unwrap_or_else(PoisonError::into_inner)
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

    pub(super) fn authentication(&self) -> Arc<Authentication> {
        self.0.authentication.load_full()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The servers among these owners that cannot be called now, by name.
    pub(super) fn unavailable(&self, owners: &BTreeSet<String>) -> Vec<String> {
        let Some(sources) = &self.0.mcp.sources else {
            return Vec::new();
        };
        let down = owners.iter().filter(|owner| sources.is_down(owner));
        down.map(|owner| source::name(owner).to_owned()).collect()
    }

    pub(super) fn mcp(&self) -> &mcp::Options {
        &self.0.mcp
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

/// An index with the policy and the rules over it, and what is remembered of them. What is remembered goes
/// when either changes, so nothing remembered can outlive a right.
pub(super) struct Served {
    pub(super) index: Arc<Index>,
    policy: Arc<Policy>,
    rights: Rights,
    /// What suits which moment; no say in who sees what.
    pub(super) rules: Compiled,
    by_principal: Cache<Principal, Arc<Seen>>,
    by_fingerprint: Cache<[u8; 32], Arc<Seen>>,
}

/// What one principal sees.
pub(super) struct Seen {
    pub(super) view: View,
    pub(super) etag: String,
    /// Owners of the tools it sees.
    pub(super) owners: BTreeSet<String>,
}

impl Served {
    fn new(index: Arc<Index>, policy: Arc<Policy>, rules: Arc<Rules>) -> Self {
        Self {
            rights: policy.over(index.catalog.tools()),
            rules: Compiled::new(rules, index.catalog.tools()),
            index,
            policy,
            by_principal: Cache::new(REMEMBERED_PRINCIPALS),
            by_fingerprint: Cache::new(REMEMBERED_VIEWS),
        }
    }

    /// What each principal may see of the index.
    pub(super) fn rights(&self) -> &Rights {
        &self.rights
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::clone(self.rules.rules())
    }

    /// What `principal` sees. The first time it costs a pass over the catalogue, so call it where a
    /// thread may be kept busy.
    pub(super) fn seen_by(&self, principal: &Principal) -> Arc<Seen> {
        if let Some(seen) = self.by_principal.get(principal) {
            return seen;
        }
        let permitted = self.rights.of(principal);
        let seen = self.by_fingerprint.get_with(permitted.fingerprint(), || {
            Arc::new(Seen {
                etag: self.index.etag(&permitted),
                owners: permitted
                    .iter()
                    .filter_map(|tool| self.index.catalog.tool(tool).owner.clone())
                    .collect(),
                view: View::new(&self.index, Permitted::clone(&permitted)),
            })
        });
        self.by_principal
            .insert(principal.clone(), Arc::clone(&seen));
        seen
    }
}
