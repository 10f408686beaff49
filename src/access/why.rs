//! Why a principal sees one tool, or does not: for administrators, who may know of every tool.

use std::collections::BTreeSet;

use super::policy::{Effect, Rule};
use super::{Principal, Rights};
use crate::tool::{Exposure, Tool, ToolId};

/// What decides whether a principal sees a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// It does.
    pub visible: bool,
    /// Positions of the rules that speak of the principal and allow the tool.
    pub allowing: Vec<usize>,
    /// What stands in the way; empty where nothing does.
    pub obstacles: Vec<Obstacle>,
}

/// What keeps a principal from seeing a tool; each is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// The tool is hidden from everybody.
    Hidden,
    /// The tool belongs to other tenants, named here.
    OtherTenant(Vec<String>),
    /// No rule that speaks of the principal allows the tool. Here are the rules that allow it to
    /// others, fewest wants first.
    NotAllowed(Vec<Offer>),
    /// The rule at this position denies it.
    Denied(usize),
    /// The tool requires scopes that the principal does not hold.
    Scopes(Vec<String>),
    /// Whoever acts for the principal, or what it was before it was narrowed, does not see the tool.
    Within(Box<Why>),
}

/// A rule that would allow the tool, and what the principal would need for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Position of the rule.
    pub rule: usize,
    /// One of each of these.
    pub wants: Vec<Want>,
}

/// One of some values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// `tenant`, `role`, `scope` or `environment`.
    pub field: &'static str,
    /// Any of these is enough.
    pub any_of: Vec<String>,
}

impl Rights {
    /// Why `principal` sees `tool`, which must be the one at `id`, or does not.
    pub fn why(&self, principal: &Principal, id: ToolId, tool: &Tool) -> Why {
        let speaking = |effect| {
            let rules = self.rules().iter().enumerate();
            rules
                .filter(move |(_, rule)| rule.effect == effect)
                .filter(|(at, rule)| rule.speaks_of(principal) && self.covers(*at, id))
                .map(|(at, _)| at)
        };
        let allowing: Vec<usize> = speaking(Effect::Allow).collect();
        let mut obstacles = Vec::new();
        if tool.exposure == Exposure::Hidden {
            obstacles.push(Obstacle::Hidden);
        }
        if !tool.tenants.is_empty() && !tool.tenants.contains(&principal.tenant) {
            obstacles.push(Obstacle::OtherTenant(tool.tenants.clone()));
        }
        if !self.is_open() {
            obstacles.extend(speaking(Effect::Deny).map(Obstacle::Denied));
            let lacked: BTreeSet<&String> = tool
                .required_scopes
                .iter()
                .filter(|scope| !principal.scopes.contains(*scope))
                .collect();
            if !lacked.is_empty() {
                obstacles.push(Obstacle::Scopes(lacked.into_iter().cloned().collect()));
            }
            if allowing.is_empty() {
                obstacles.push(Obstacle::NotAllowed(self.offers(principal, id)));
            }
        }
        if let Some(bound) = &principal.within {
            let why = self.why(bound, id, tool);
            if !why.visible {
                obstacles.push(Obstacle::Within(Box::new(why)));
            }
        }
        Why {
            visible: obstacles.is_empty(),
            allowing,
            obstacles,
        }
    }

    fn offers(&self, principal: &Principal, id: ToolId) -> Vec<Offer> {
        let mut offers: Vec<Offer> = self
            .rules()
            .iter()
            .enumerate()
            .filter(|(at, rule)| rule.effect == Effect::Allow && self.covers(*at, id))
            .map(|(rule, what)| Offer {
                rule,
                wants: wants(what, principal),
            })
            .collect();
        offers.sort_by_key(|offer| offer.wants.len());
        offers
    }
}

/// What `principal` lacks for `rule` to speak of it.
fn wants(rule: &Rule, principal: &Principal) -> Vec<Want> {
    let tenant = BTreeSet::from([principal.tenant.clone()]);
    let environment = principal.environment.iter().cloned().collect();
    [
        ("tenant", &rule.tenants, &tenant),
        ("role", &rule.roles, &principal.roles),
        ("scope", &rule.scopes, &principal.scopes),
        ("environment", &rule.environments, &environment),
    ]
    .into_iter()
    .filter(|(_, list, held)| !list.is_empty() && !list.iter().any(|one| held.contains(one)))
    .map(|(field, list, _)| Want {
        field,
        any_of: list.clone(),
    })
    .collect()
}
