//! A policy laid over one catalogue.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use moka::sync::Cache;

use super::bits::Bits;
use super::matching::Matcher;
use super::policy::{Effect, Policy, Rule};
use super::{Permitted, Principal};
use crate::tool::{Exposure, Tool, ToolId};

/// Sets that are remembered, of as many kinds of principals: 13 MB for 100,000 tools and 1,024 kinds.
const REMEMBERED: u64 = 1024;

/// What each principal may see of one catalogue.
///
/// Each rule's tools are worked out once, when this is made; asking for a principal's tools joins
/// sets, and no rule looks at a tool again. Principals of whom the same rules speak share a result.
pub struct Rights {
    rules: Vec<Rule>,
    covered: Vec<Bits>,
    open: bool,
    /// Tools that anybody may be shown and that belong to no tenant.
    shared: FixedBitSet,
    /// Tools of one tenant or several, by tenant.
    owned: HashMap<String, Vec<u32>>,
    /// Tools that require scopes, by the set they require.
    guarded: Vec<(BTreeSet<String>, Vec<u32>)>,
    known: Cache<Class, Arc<Permitted>>,
}

/// What of a principal matters to a policy over a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Class {
    /// Positions of the rules that speak of it.
    rules: Vec<u32>,
    /// Its tenant, if that has tools of its own.
    tenant: Option<String>,
    /// Positions of the guarded sets that it lacks a scope for.
    lacking: Vec<u32>,
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rights")
            .field("rules", &self.rules.len())
            .field("tools", &self.shared.len())
            .finish_non_exhaustive()
    }
}

impl Rights {
    pub(super) fn new(policy: &Policy, matcher: &Matcher, tools: &[Tool]) -> Self {
        let mut shared = FixedBitSet::with_capacity(tools.len());
        let mut owned: HashMap<String, Vec<u32>> = HashMap::new();
        let mut guarded: BTreeMap<BTreeSet<&str>, Vec<u32>> = BTreeMap::new();
        for (at, tool) in tools.iter().enumerate() {
            if tool.exposure == Exposure::Hidden {
                continue;
            }
            if tool.tenants.is_empty() {
                shared.insert(at);
            }
            for tenant in &tool.tenants {
                let list = owned.entry(tenant.clone()).or_default();
                list.push(at as u32);
            }
            if !tool.required_scopes.is_empty() {
                let scopes = tool.required_scopes.iter().map(String::as_str).collect();
                guarded.entry(scopes).or_default().push(at as u32);
            }
        }
        let scopes = |set: BTreeSet<&str>| set.into_iter().map(str::to_owned).collect();
        Self {
            rules: policy.rules().to_vec(),
            covered: matcher.covered(policy.rules(), tools),
            open: policy.is_open(),
            shared,
            owned,
            guarded: guarded
                .into_iter()
                .map(|(set, tools)| (scopes(set), tools))
                .collect(),
            known: Cache::new(REMEMBERED),
        }
    }

    /// The tools that `principal` may see: of those that everybody it acts [within](Principal::within)
    /// may see, too.
    pub fn of(&self, principal: &Principal) -> Arc<Permitted> {
        let own = self.alone(principal);
        match &principal.within {
            None => own,
            Some(bound) => Arc::new(own.and(&self.of(bound))),
        }
    }

    /// The tools that `principal` itself may see, whoever it acts within.
    fn alone(&self, principal: &Principal) -> Arc<Permitted> {
        let class = self.class(principal);
        if let Some(known) = self.known.get(&class) {
            return known;
        }
        let made = Arc::new(Permitted::new(self.make(&class)));
        self.known.insert(class, Arc::clone(&made));
        made
    }

    fn class(&self, principal: &Principal) -> Class {
        let speaking = self.rules.iter().enumerate();
        let lacking = self.guarded.iter().enumerate();
        Class {
            rules: speaking
                .filter(|(_, rule)| rule.speaks_of(principal))
                .map(|(at, _)| at as u32)
                .collect(),
            tenant: self
                .owned
                .contains_key(&principal.tenant)
                .then(|| principal.tenant.clone()),
            lacking: lacking
                .filter(|(_, (scopes, _))| !scopes.is_subset(&principal.scopes))
                .map(|(at, _)| at as u32)
                .collect(),
        }
    }

    fn make(&self, class: &Class) -> FixedBitSet {
        let mut belonging = Cow::Borrowed(&self.shared);
        if let Some(own) = class.tenant.as_ref().and_then(|own| self.owned.get(own)) {
            belonging.to_mut().extend(own.iter().map(|at| *at as usize));
        }
        if self.open {
            return belonging.into_owned();
        }
        let speaking = |effect| {
            let rules = class.rules.iter().map(|rule| *rule as usize);
            rules.filter(move |rule| self.rules[*rule].effect == effect)
        };
        let mut set = FixedBitSet::with_capacity(self.shared.len());
        for rule in speaking(Effect::Allow) {
            self.covered[rule].add_to(&mut set);
        }
        set.intersect_with(&belonging);
        for rule in speaking(Effect::Deny) {
            self.covered[rule].take_from(&mut set);
        }
        for guarded in &class.lacking {
            let (_, tools) = &self.guarded[*guarded as usize];
            tools.iter().for_each(|at| set.remove(*at as usize));
        }
        set
    }

    /// The rules of the policy, in its order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether the rule at this position covers the tool: only then can it decide about it.
    pub fn covers(&self, rule: usize, tool: ToolId) -> bool {
        self.covered[rule].contains(tool.index())
    }

    /// How many tools the rule at this position covers.
    pub fn covered(&self, rule: usize) -> usize {
        self.covered[rule].count()
    }

    /// How many tools the catalogue has.
    pub fn tools(&self) -> usize {
        self.shared.len()
    }

    /// Bytes that the rules' and tenants' sets take, without what is remembered.
    pub fn bytes(&self) -> usize {
        let lists = self.owned.values();
        let lists = lists.chain(self.guarded.iter().map(|(_, tools)| tools));
        self.covered.iter().map(Bits::bytes).sum::<usize>()
            + self.shared.len() / 8
            + lists
                .map(|list| list.len() * size_of::<u32>())
                .sum::<usize>()
    }

    /// The tools that a rule covers, added to `set`.
    pub(super) fn add_covered(&self, rule: usize, set: &mut FixedBitSet) {
        self.covered[rule].add_to(set);
    }

    /// The tools that a rule covers, taken out of `set`.
    pub(super) fn take_covered(&self, rule: usize, set: &mut FixedBitSet) {
        self.covered[rule].take_from(set);
    }

    /// The policy lets everybody see everything.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }
}
