//! Who asks on the command line, and what they may see.

use std::path::{Path, PathBuf};

use clap::Args as Group;

use super::error::Error;
use super::policy;
use crate::access::{Policy, Principal};

/// The tenant of a caller who names none.
pub const USUAL_TENANT: &str = "default";

/// Who asks, and under which policy. One of `--open` and `--policy` must be chosen.
#[derive(Debug, Clone, Group)]
pub struct PrincipalArgs {
    /// See every tool of the catalogue that is no other tenant's
    #[arg(long, conflicts_with_all = ["policy", "roles", "scopes", "environment"], help_heading = "Who asks")]
    pub open: bool,
    /// Rules that say who may see which tools [env: TOOLSCOUT_POLICY]
    #[arg(long, value_name = "FILE", help_heading = "Who asks")]
    pub policy: Option<PathBuf>,
    /// Tenant of the caller
    #[arg(long, value_name = "NAME", default_value = USUAL_TENANT, help_heading = "Who asks")]
    pub tenant: String,
    /// Role of the caller (repeatable)
    #[arg(long = "role", value_name = "NAME", help_heading = "Who asks")]
    pub roles: Vec<String>,
    /// Scope that the caller holds (repeatable)
    #[arg(long = "scope", value_name = "NAME", help_heading = "Who asks")]
    pub scopes: Vec<String>,
    /// Environment the caller acts in
    #[arg(long, value_name = "NAME", help_heading = "Who asks")]
    pub environment: Option<String>,
}

impl PrincipalArgs {
    /// The policy and the principal.
    ///
    /// # Errors
    /// [`Error::Usage`] where no policy is chosen, and what reading the policy file says.
    pub fn resolve(&self) -> Result<(Policy, Principal), Error> {
        let principal = Principal {
            tenant: self.tenant.clone(),
            roles: self.roles.iter().cloned().collect(),
            scopes: self.scopes.iter().cloned().collect(),
            environment: self.environment.clone(),
            within: None,
        };
        if self.open {
            return Ok((open_policy(), principal));
        }
        match policy_path(self.policy.as_deref()) {
            Some(path) => Ok((policy::read(&path)?, principal)),
            None => {
                let advice = "say who asks: --open sees every tool of a local catalogue; \
                    --policy FILE with --role NAME sees what the rules allow";
                Err(Error::Usage(advice.to_owned()))
            }
        }
    }
}

/// The policy that `--open` chooses.
pub fn open_policy() -> Policy {
    Policy::open("chosen by --open on the command line")
}

/// The policy file: what is typed wins over the environment.
pub fn policy_path(typed: Option<&Path>) -> Option<PathBuf> {
    let variable = || std::env::var_os("TOOLSCOUT_POLICY").filter(|value| !value.is_empty());
    typed
        .map(Path::to_owned)
        .or_else(|| variable().map(PathBuf::from))
}
