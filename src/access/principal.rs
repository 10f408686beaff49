//! The caller, as authentication established it.

use std::collections::BTreeSet;
use std::sync::Arc;

/// How often one principal may be bounded by another: acting for somebody, a request that narrows
/// itself, sessions within sessions. Each bound costs a union of bit sets, once.
pub const MAX_BOUNDS: usize = 16;

/// Who asks. Every field comes from authentication, never from the query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The organisation the caller belongs to. Tools of other tenants do not exist for it.
    pub tenant: String,
    /// Roles that policy rules name.
    pub roles: BTreeSet<String>,
    /// Scopes that tools may require and policy rules name.
    pub scopes: BTreeSet<String>,
    /// Deployment environment (`production`, `staging`, ...) the caller acts in.
    pub environment: Option<String>,
    /// Who else must be allowed to see a tool before this principal is: whoever acts for it, or what
    /// it was before it narrowed itself.
    pub within: Option<Arc<Principal>>,
}

/// What a caller gives up for one request or session. What is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Narrowing {
    /// The roles that are kept.
    pub roles: Option<BTreeSet<String>>,
    /// The scopes that are kept.
    pub scopes: Option<BTreeSet<String>>,
    /// The environment to act in, of a caller that is bound to none.
    pub environment: Option<String>,
}

/// Why a principal cannot become another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wider {
    /// A role that the principal does not have.
    #[error("role '{0}' is not among the caller's own: a caller can only give roles up")]
    Role(String),
    /// A scope that the principal does not hold.
    #[error("scope '{0}' is not among the caller's own: a caller can only give scopes up")]
    Scope(String),
    /// Another environment than the principal's.
    #[error("the caller is bound to another environment than '{0}'")]
    Environment(String),
    /// The principal is bounded too often.
    #[error("a caller can be narrowed {MAX_BOUNDS} times at most")]
    TooDeep,
}

impl Principal {
    /// A caller of `tenant` with no roles and no scopes.
    pub fn of_tenant(tenant: impl Into<String>) -> Self {
        Self {
            tenant: tenant.into(),
            roles: BTreeSet::new(),
            scopes: BTreeSet::new(),
            environment: None,
            within: None,
        }
    }

    /// This principal with less: it sees what it saw at most, whatever the policy says. Giving up a
    /// role does not free it of the denials that name the role.
    ///
    /// # Errors
    /// [`Wider`] where something is asked for that the principal does not have.
    ///
    /// ```
    /// use toolscout::access::{Narrowing, Principal};
    /// let mut caller = Principal::of_tenant("acme");
    /// caller.roles.extend(["support".to_owned(), "sales".to_owned()]);
    /// let roles = Some(["support".to_owned()].into());
    /// let session = caller.narrowed(&Narrowing { roles, ..Narrowing::default() })?;
    /// let roles = Some(["sales".to_owned()].into());
    /// assert!(session.narrowed(&Narrowing { roles, ..Narrowing::default() }).is_err());
    /// # Ok::<(), toolscout::access::Wider>(())
    /// ```
    pub fn narrowed(&self, to: &Narrowing) -> Result<Self, Wider> {
        let mut narrow = self.clone();
        if let Some(roles) = &to.roles {
            if let Some(foreign) = roles.difference(&self.roles).next() {
                return Err(Wider::Role(foreign.clone()));
            }
            narrow.roles.clone_from(roles);
        }
        if let Some(scopes) = &to.scopes {
            if let Some(foreign) = scopes.difference(&self.scopes).next() {
                return Err(Wider::Scope(foreign.clone()));
            }
            narrow.scopes.clone_from(scopes);
        }
        if let Some(environment) = &to.environment {
            match &self.environment {
                Some(own) if own != environment => {
                    return Err(Wider::Environment(environment.clone()));
                }
                _ => narrow.environment = Some(environment.clone()),
            }
        }
        if narrow == *self {
            return Ok(narrow);
        }
        narrow.bounded_by(self.clone())
    }

    /// This principal, seeing nothing that `bound` does not see: for one that acts for it.
    ///
    /// # Errors
    /// [`Wider::TooDeep`] where `bound` is itself bounded too often.
    pub fn bounded_by(mut self, bound: Self) -> Result<Self, Wider> {
        if MAX_BOUNDS <= bound.bounds() {
            return Err(Wider::TooDeep);
        }
        self.within = Some(Arc::new(bound));
        Ok(self)
    }

    /// How many others must be allowed to see a tool before this principal is.
    fn bounds(&self) -> usize {
        self.within.as_ref().map_or(0, |bound| 1 + bound.bounds())
    }
}
