//! What is odd about a policy over a catalogue: for those who write it.

use std::collections::HashSet;

use fixedbitset::FixedBitSet;
use globset::Glob;

use super::Rights;
use super::policy::{Effect, Rule};
use crate::tool::{Exposure, Tool, ToolId};

/// What a policy comes to over a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// What is likely a mistake, in the order of the rules.
    pub findings: Vec<Finding>,
    /// Tools that no principal of any kind can see: no rule allows them, every allowance is denied
    /// again, or the rules that allow them speak of other tenants only. Hidden tools are not here.
    pub unreachable: Vec<ToolId>,
    /// Tools that every principal of every tenant sees.
    pub public: Vec<ToolId>,
    /// Tools that are hidden by their own exposure.
    pub hidden: Vec<ToolId>,
}

/// What is likely a mistake in one rule, given by its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A glob or tag that nothing in the catalogue matches.
    MatchesNothing {
        /// The rule.
        rule: usize,
        /// `tools`, `namespaces` or `tags`.
        field: &'static str,
        /// The entry.
        text: String,
    },
    /// The rule covers no tool at all.
    Unused {
        /// The rule.
        rule: usize,
    },
    /// Without the rule everything would stay as it is: all it does, these rules do as well, for
    /// everybody of whom it speaks.
    Shadowed {
        /// The rule.
        rule: usize,
        /// Those that do the same.
        by: Vec<usize>,
    },
    /// All that the rule allows, these rules deny to everybody of whom it speaks.
    Overruled {
        /// The rule.
        rule: usize,
        /// Those that deny it.
        by: Vec<usize>,
    },
    /// The rule denies nothing that any rule allows.
    DeniesNothing {
        /// The rule.
        rule: usize,
    },
}

impl Rights {
    /// What is odd about the policy over `tools`, the catalogue that these rights are for.
    pub fn review(&self, tools: &[Tool]) -> Review {
        let mut findings = Vec::new();
        for (at, rule) in self.rules().iter().enumerate() {
            findings.extend(matches_nothing(at, rule, tools));
            findings.extend(self.needless(at));
        }
        let mut review = Review {
            findings,
            unreachable: Vec::new(),
            public: Vec::new(),
            hidden: Vec::new(),
        };
        let reachable = self.reachable(tools);
        let public = self.public();
        for (at, tool) in tools.iter().enumerate() {
            let id = ToolId(at as u32);
            let plain = tool.tenants.is_empty();
            if tool.exposure == Exposure::Hidden {
                review.hidden.push(id);
            } else if self.is_open() {
                if plain {
                    review.public.push(id);
                }
            } else if !reachable.contains(at) {
                review.unreachable.push(id);
            } else if plain && tool.required_scopes.is_empty() && public.contains(at) {
                review.public.push(id);
            }
        }
        review
    }

    /// Why a rule could be left out, if it could.
    fn needless(&self, at: usize) -> Option<Finding> {
        let rules = self.rules();
        let rule = &rules[at];
        if self.covered(at) == 0 {
            return Some(Finding::Unused { rule: at });
        }
        let wider = |effect: Effect| {
            rules.iter().enumerate().filter(move |(other, wide)| {
                // Of rules for the same principals the earlier one counts, so that not both are needless.
                let same = speaks_wherever(rule, wide);
                *other != at
                    && wide.effect == effect
                    && speaks_wherever(wide, rule)
                    && (!same || effect != rule.effect || *other < at)
            })
        };
        if let Some(by) = self.covering(at, wider(rule.effect).map(|(other, _)| other)) {
            return Some(Finding::Shadowed { rule: at, by });
        }
        if rule.effect == Effect::Allow {
            let by = self.covering(at, wider(Effect::Deny).map(|(other, _)| other))?;
            return Some(Finding::Overruled { rule: at, by });
        }
        let mut allowed = FixedBitSet::with_capacity(self.tools());
        for (other, _) in rules.iter().enumerate().filter(|(_, r)| allows(r)) {
            self.add_covered(other, &mut allowed);
        }
        let touches = allowed
            .ones()
            .any(|tool| self.covers(at, ToolId(tool as u32)));
        (!touches).then_some(Finding::DeniesNothing { rule: at })
    }

    /// Those of `others` that together cover all that the rule covers; none where they do not.
    fn covering(&self, rule: usize, others: impl Iterator<Item = usize>) -> Option<Vec<usize>> {
        let mut left = FixedBitSet::with_capacity(self.tools());
        self.add_covered(rule, &mut left);
        let mut by = Vec::new();
        for other in others {
            let before = left.count_ones(..);
            self.take_covered(other, &mut left);
            if left.count_ones(..) < before {
                by.push(other);
            }
            if left.is_clear() {
                return Some(by);
            }
        }
        None
    }

    /// Tools that some rule allows to somebody to whom no one rule denies them again.
    fn reachable(&self, tools: &[Tool]) -> FixedBitSet {
        let rules = self.rules();
        let mut reachable = FixedBitSet::with_capacity(self.tools());
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| allows(rule)) {
            let mut set = FixedBitSet::with_capacity(self.tools());
            self.add_covered(at, &mut set);
            for (other, deny) in rules.iter().enumerate() {
                if !allows(deny) && speaks_wherever(deny, rule) {
                    self.take_covered(other, &mut set);
                }
            }
            let of_tenant = |tool: &Tool| {
                rule.tenants.is_empty()
                    || tool.tenants.is_empty()
                    || rule.tenants.iter().any(|own| tool.tenants.contains(own))
            };
            reachable.extend(set.ones().filter(|tool| of_tenant(&tools[*tool])));
        }
        reachable
    }

    /// Tools that a rule for everybody allows and no rule denies to anybody.
    fn public(&self) -> FixedBitSet {
        let everybody = Rule::new(Effect::Allow);
        let mut public = FixedBitSet::with_capacity(self.tools());
        for (at, rule) in self.rules().iter().enumerate() {
            if allows(rule) && speaks_wherever(rule, &everybody) {
                self.add_covered(at, &mut public);
            }
        }
        for (at, _) in self.rules().iter().enumerate().filter(|(_, r)| !allows(r)) {
            self.take_covered(at, &mut public);
        }
        public
    }
}

fn allows(rule: &Rule) -> bool {
    rule.effect == Effect::Allow
}

/// Whether `wide` speaks of every principal of whom `narrow` speaks.
fn speaks_wherever(wide: &Rule, narrow: &Rule) -> bool {
    let holds = |wide: &[String], narrow: &[String]| {
        wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|one| wide.contains(one)))
    };
    holds(&wide.tenants, &narrow.tenants)
        && holds(&wide.roles, &narrow.roles)
        && holds(&wide.scopes, &narrow.scopes)
        && holds(&wide.environments, &narrow.environments)
}

fn matches_nothing(at: usize, rule: &Rule, tools: &[Tool]) -> Vec<Finding> {
    let finding = |field, text: &String| Finding::MatchesNothing {
        rule: at,
        field,
        text: text.clone(),
    };
    let keys: HashSet<&str> = tools.iter().map(|tool| tool.key.as_str()).collect();
    let namespaces: HashSet<&str> = tools.iter().map(|tool| tool.namespace.as_str()).collect();
    let misses = |glob: &String, names: &HashSet<&str>| {
        // Globs that do not parse were refused before.
        let matcher = Glob::new(glob).map(|glob| glob.compile_matcher());
        matcher.is_ok_and(|matcher| !names.iter().any(|name| matcher.is_match(name)))
    };
    let tools_missed = rule.tools.iter().filter(|glob| misses(glob, &keys));
    let namespaces_missed = rule
        .namespaces
        .iter()
        .filter(|glob| misses(glob, &namespaces));
    let tags_missed = rule
        .tags
        .iter()
        .filter(|tag| !tools.iter().any(|tool| tool.tags.contains(tag)));
    tools_missed
        .map(|text| finding("tools", text))
        .chain(namespaces_missed.map(|text| finding("namespaces", text)))
        .chain(tags_missed.map(|text| finding("tags", text)))
        .collect()
}
