//! The caller, as authentication established it.

use std::collections::BTreeSet;

/// Who asks. Every field comes from authentication, never from the query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The organisation the caller belongs to. Tools of other tenants do not exist for it.
    pub tenant: String,
    /// Roles that policy rules name.
    pub roles: BTreeSet<String>,
    /// Scopes that tools may require.
    pub scopes: BTreeSet<String>,
    /// Deployment environment (`production`, `staging`, ...) the caller acts in.
    pub environment: Option<String>,
}

impl Principal {
    /// A caller of `tenant` with no roles and no scopes.
    pub fn of_tenant(tenant: impl Into<String>) -> Self {
        Self {
            tenant: tenant.into(),
            roles: BTreeSet::new(),
            scopes: BTreeSet::new(),
            environment: None,
        }
    }
}
