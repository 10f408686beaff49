//! Why a change was refused, and what goes wrong with a store.

use super::item::Hash;

/// Why one change was not made. Fixed words and the caller's own: a refusal is shown to whoever has
/// the right to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another document is there than the one that was expected.
    #[error("what is there is not what you expected ({}): read it again and repeat the change on it", found.map_or("nothing is there".to_owned(), |hash| format!("its hash is {hash}")))]
    Stale {
        /// Hash of what is there.
        found: Option<Hash>,
    },
    /// There is nothing to patch or delete.
    #[error("there is nothing of this key in this tenant")]
    Unknown,
    /// A shared tool and a tenant's own tool of the same key would both be seen by that tenant.
    #[error(
        "the key is taken by {}: delete that one first, or use another key",
        owner(tenant)
    )]
    Taken {
        /// Tenant of the other tool; empty for a shared one.
        tenant: String,
    },
    /// What is to be put is no tool or namespace.
    #[error("{0}")]
    Invalid(String),
    /// Too many tools.
    #[error(
        "the quota of {limit} tools for {} is used up: delete some, or raise it",
        owner(tenant)
    )]
    Quota {
        /// Whose quota.
        tenant: String,
        /// Tools it may have.
        limit: usize,
    },
    /// A listing that would take so much away that it looks like a mistake.
    #[error(
        "the listing has {listed} of the {held} tools that are there: send force=true if the rest are to be deleted"
    )]
    Shrinks {
        /// Tools there.
        held: usize,
        /// Tools there that are listed.
        listed: usize,
    },
}

fn owner(tenant: &str) -> String {
    if tenant.is_empty() {
        "shared tools".to_owned()
    } else {
        format!("tenant '{tenant}'")
    }
}

/// What goes wrong with a store as a whole. Nothing was changed by a call that ends with one.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The disk is full.
    #[error("the registry {place} cannot be written: the disk is full; free some space and repeat")]
    Full {
        /// Which store.
        place: String,
    },
    /// The store may not be written.
    #[error(
        "the registry {place} cannot be written ({reason}): check the permissions of the file and its folder"
    )]
    ReadOnly {
        /// Which store.
        place: String,
        /// What the system said.
        reason: String,
    },
    /// The store is not what was written.
    #[error("the registry {place} is damaged ({reason}): restore a backup by 'toolscout restore'")]
    Damaged {
        /// Which store.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something else than a registry.
    #[error("{place} is not a registry of toolscout: check the path")]
    Foreign {
        /// Which file.
        place: String,
    },
    /// A newer program wrote it.
    #[error(
        "the registry {place} has schema {found}, and this version knows {supported}: use the version that wrote it, or a newer one"
    )]
    Version {
        /// Which store.
        place: String,
        /// Schema of the store.
        found: i64,
        /// Newest schema known here.
        supported: i64,
    },
    /// Another process has been writing for too long.
    #[error("the registry {place} is being written by another process: try again when it is done")]
    Locked {
        /// Which store.
        place: String,
    },
    /// Too many changes are waiting.
    #[error("too many changes are waiting for the registry: try again in a second")]
    Busy,
    /// The store is closed, or its server cannot be reached.
    #[error("the registry {place} cannot be reached: {reason}")]
    Unreachable {
        /// Which store.
        place: String,
        /// What was said.
        reason: String,
    },
    /// Anything else.
    #[error("the registry {place} failed: {reason}")]
    Failed {
        /// Which store.
        place: String,
        /// What was said.
        reason: String,
    },
}
