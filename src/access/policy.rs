//! Rules that say which tools a principal may see: default deny, deny wins, tenants never mix.

use fixedbitset::FixedBitSet;
use globset::{Glob, GlobMatcher};

use super::{Permitted, Principal};
use crate::tool::{Tool, ToolId};

/// What a rule does to the tools it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Lets the principal see them, unless a deny matches too.
    Allow,
    /// Hides them, whatever else allows them.
    Deny,
}

/// One rule: for these principals, these tools.
///
/// An empty list puts no condition on its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Allow or deny.
    pub effect: Effect,
    /// Tenants the rule applies to.
    pub tenants: Vec<String>,
    /// Roles the rule applies to: any one of them is enough.
    pub roles: Vec<String>,
    /// Environments the rule applies to.
    pub environments: Vec<String>,
    /// Globs over tool keys (`logistics/*`): any one of them is enough.
    pub tools: Vec<String>,
    /// Globs over namespace names.
    pub namespaces: Vec<String>,
    /// Tags: any one of them is enough.
    pub tags: Vec<String>,
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
}

/// Which tools a principal may see.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Vec<CompiledRule>,
    open: bool,
}

#[derive(Debug, Clone)]
struct CompiledRule {
    rule: Rule,
    tools: Vec<GlobMatcher>,
    namespaces: Vec<GlobMatcher>,
}

impl Policy {
    /// A policy of `rules`; with none, nobody sees anything.
    ///
    /// # Errors
    /// [`Error::Glob`] where a rule holds a glob that does not parse.
    pub fn new(rules: Vec<Rule>) -> Result<Self, Error> {
        let rules = rules
            .into_iter()
            .enumerate()
            .map(|(at, rule)| CompiledRule::new(at + 1, rule))
            .collect::<Result<_, _>>()?;
        Ok(Self { rules, open: false })
    }

    /// Everybody sees every tool of their tenant and every shared one, required scopes or not.
    ///
    /// `reason` says in the caller's own code why no rules are wanted: a local catalogue, a
    /// measurement. Nothing chooses this by default.
    pub fn open(reason: &'static str) -> Self {
        debug_assert!(!reason.is_empty(), "an open policy needs a reason");
        Self {
            rules: Vec::new(),
            open: true,
        }
    }

    /// The tools of a catalogue that `principal` may see. `tools` is the catalogue's whole list, in
    /// its order.
    pub fn permit(&self, principal: &Principal, tools: &[Tool]) -> Permitted {
        let rules: Vec<&CompiledRule> = self
            .rules
            .iter()
            .filter(|rule| rule.speaks_of(principal))
            .collect();
        let mut set = FixedBitSet::with_capacity(tools.len());
        for (at, tool) in tools.iter().enumerate() {
            if belongs(tool, principal) && (self.open || decide(&rules, principal, tool)) {
                set.insert(ToolId(at as u32).index());
            }
        }
        Permitted::new(set)
    }
}

fn belongs(tool: &Tool, principal: &Principal) -> bool {
    tool.tenants.is_empty() || tool.tenants.contains(&principal.tenant)
}

fn decide(rules: &[&CompiledRule], principal: &Principal, tool: &Tool) -> bool {
    let mut allowed = false;
    for rule in rules.iter().filter(|rule| rule.covers(tool)) {
        match rule.rule.effect {
            Effect::Deny => return false,
            Effect::Allow => allowed = true,
        }
    }
    allowed
        && tool
            .required_scopes
            .iter()
            .all(|scope| principal.scopes.contains(scope))
}

impl CompiledRule {
    fn new(position: usize, rule: Rule) -> Result<Self, Error> {
        let compile = |globs: &[String]| {
            globs
                .iter()
                .map(|glob| match Glob::new(glob) {
                    Ok(parsed) => Ok(parsed.compile_matcher()),
                    Err(source) => Err(Error::Glob {
                        rule: position,
                        glob: glob.clone(),
                        source,
                    }),
                })
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            tools: compile(&rule.tools)?,
            namespaces: compile(&rule.namespaces)?,
            rule,
        })
    }

    fn speaks_of(&self, principal: &Principal) -> bool {
        let rule = &self.rule;
        (rule.tenants.is_empty() || rule.tenants.contains(&principal.tenant))
            && (rule.roles.is_empty() || rule.roles.iter().any(|r| principal.roles.contains(r)))
            && (rule.environments.is_empty()
                || principal
                    .environment
                    .as_ref()
                    .is_some_and(|e| rule.environments.contains(e)))
    }

    fn covers(&self, tool: &Tool) -> bool {
        (self.tools.is_empty() || self.tools.iter().any(|g| g.is_match(&tool.key)))
            && (self.namespaces.is_empty()
                || self.namespaces.iter().any(|g| g.is_match(&tool.namespace)))
            && (self.rule.tags.is_empty()
                || self.rule.tags.iter().any(|tag| tool.tags.contains(tag)))
    }
}

#[cfg(test)]
mod tests;
