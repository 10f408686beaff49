//! Rules that say which tools a principal may see: default deny, deny wins, tenants never mix.

use super::matching::Matcher;
use super::{Permitted, Principal, Rights};
use crate::tool::{Risk, SideEffect, Tool};

/// What a rule does to the tools it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Lets the principal see them, unless a deny matches too.
    Allow,
    /// Hides them, whatever else allows them.
    Deny,
}

impl Effect {
    /// The word used in policy files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// One rule: for these principals, these tools.
///
/// An empty list puts no condition on its field; of a list that is not empty, any one entry is
/// enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What reports call it; may be empty.
    pub name: String,
    /// Allow or deny.
    pub effect: Effect,
    /// Tenants the rule applies to.
    pub tenants: Vec<String>,
    /// Roles the rule applies to.
    pub roles: Vec<String>,
    /// Scopes of which the principal holds one.
    pub scopes: Vec<String>,
    /// Environments the rule applies to.
    pub environments: Vec<String>,
    /// Globs over tool keys (`logistics/*`).
    pub tools: Vec<String>,
    /// Globs over namespace names.
    pub namespaces: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// What a call changes.
    pub side_effects: Vec<SideEffect>,
    /// How much harm a wrong call does.
    pub risks: Vec<Risk>,
}

impl Rule {
    /// A rule without conditions: everybody, every tool of their tenant.
    pub fn new(effect: Effect) -> Self {
        Self {
            name: String::new(),
            effect,
            tenants: Vec::new(),
            roles: Vec::new(),
            scopes: Vec::new(),
            environments: Vec::new(),
            tools: Vec::new(),
            namespaces: Vec::new(),
            tags: Vec::new(),
            side_effects: Vec::new(),
            risks: Vec::new(),
        }
    }

    /// Whether the rule applies to `principal`, itself and not who it acts within.
    pub fn speaks_of(&self, principal: &Principal) -> bool {
        let any = |list: &[String], holds: &dyn Fn(&String) -> bool| {
            list.is_empty() || list.iter().any(holds)
        };
        any(&self.tenants, &|tenant| *tenant == principal.tenant)
            && any(&self.roles, &|role| principal.roles.contains(role))
            && any(&self.scopes, &|scope| principal.scopes.contains(scope))
            && any(&self.environments, &|own| {
                principal.environment.as_ref() == Some(own)
            })
    }
}

/// Why a policy could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A glob that does not parse.
    #[error("policy rule {rule}: '{glob}' is not a glob: {source}")]
    Glob {
        /// Position of the rule, from 1.
        rule: usize,
        /// The text given.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// Globs that are each good, and too much together.
    #[error("the globs of the policy cannot be used together: {source}")]
    Globs {
        /// What is wrong with them.
        source: globset::Error,
    },
}

/// Which tools a principal may see.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Vec<Rule>,
    matcher: Matcher,
    open: bool,
}

impl Policy {
    /// A policy of `rules`; with none, nobody sees anything.
    ///
    /// # Errors
    /// [`Error::Glob`] where a rule holds a glob that does not parse.
    pub fn new(rules: Vec<Rule>) -> Result<Self, Error> {
        Ok(Self {
            matcher: Matcher::new(&rules)?,
            rules,
            open: false,
        })
    }

    /// Everybody sees every tool of their tenant and every shared one, required scopes or not.
    ///
    /// `reason` says in the caller's own code why no rules are wanted: a local catalogue, a
    /// measurement. Nothing chooses this by default.
    pub fn open(reason: &'static str) -> Self {
        debug_assert!(!reason.is_empty(), "an open policy needs a reason");
        Self {
            rules: Vec::new(),
            matcher: Matcher::default(),
            open: true,
        }
    }

    /// The rules, in the order given.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Everybody sees everything; see [`Policy::open`].
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// This policy over one catalogue, whose whole list `tools` is, in its order. It takes a pass
    /// over the catalogue, on all cores.
    pub fn over(&self, tools: &[Tool]) -> Rights {
        Rights::new(self, &self.matcher, tools)
    }

    /// The tools of a catalogue that `principal` may see, where that is asked once: [`Policy::over`]
    /// serves many.
    pub fn permit(&self, principal: &Principal, tools: &[Tool]) -> Permitted {
        Permitted::clone(&self.over(tools).of(principal))
    }
}

#[cfg(test)]
mod tests;
