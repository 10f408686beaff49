//! Rules over one catalogue, and what they say in one moment.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::context::Context;
use super::rule::{Effect, Mode, Rules};
use crate::access::Principal;
use crate::tool::{Tool, ToolId};

/// Value of the rule arm for a tool that no rule speaks of while rules speak of others: between
/// those that are boosted and those that are suppressed.
pub const NEUTRAL: f32 = 0.5;

/// Rules with the tools of one catalogue that each speaks of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compiled {
    rules: Arc<Rules>,
    /// In the order of the rules.
    tools: Vec<Arc<FixedBitSet>>,
}

impl Compiled {
    /// Looks each rule's tools up once. `tools` is the catalogue's whole list, in its order.
    pub fn new(rules: Arc<Rules>, tools: &[Tool]) -> Self {
        let speaks_of = |condition: &super::Condition| {
            let mut set = FixedBitSet::with_capacity(tools.len());
            for (at, tool) in tools.iter().enumerate() {
                set.set(at, condition.holds_for(tool));
            }
            Arc::new(set)
        };
        let sets = rules.as_slice().iter().map(|rule| &rule.tools);
        Self {
            tools: sets.map(speaks_of).collect(),
            rules,
        }
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Whether the rule at `at` speaks of `tool`, whatever the moment.
    pub fn covers(&self, at: usize, tool: ToolId) -> bool {
        let set = self.tools.get(at);
        set.is_some_and(|set| set.contains(tool.index()))
    }

    /// The tools that the rule at `at` speaks of.
    pub(super) fn tools(&self, at: usize) -> &FixedBitSet {
        &self.tools[at]
    }

    /// What the rules say to `principal` in this `context`.
    pub fn ruling(&self, principal: &Principal, context: &Context) -> Ruling {
        let fired = self
            .rules
            .as_slice()
            .iter()
            .zip(&self.tools)
            .filter(|(rule, _)| rule.mode != Mode::Off && rule.when.holds_in(principal, context))
            .map(|(rule, tools)| Fired {
                name: Arc::clone(&rule.name),
                effect: rule.effect,
                mode: rule.mode,
                tools: Arc::clone(tools),
            });
        Ruling {
            fired: fired.collect(),
        }
    }
}

/// What the rules say in one moment: those whose condition on it holds. The default says nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ruling {
    fired: Vec<Fired>,
}

/// A rule that speaks in this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    /// Its name.
    pub name: Arc<str>,
    /// What it does.
    pub effect: Effect,
    /// [`Mode::Enforce`] or [`Mode::Shadow`].
    pub mode: Mode,
    tools: Arc<FixedBitSet>,
}

impl Fired {
    /// Whether it speaks of `tool`.
    pub fn covers(&self, tool: ToolId) -> bool {
        self.tools.contains(tool.index())
    }
}

impl Ruling {
    /// No rule speaks, not even in shadow.
    pub fn is_silent(&self) -> bool {
        self.fired.is_empty()
    }

    /// What counts of it.
    fn enforced(&self) -> impl Iterator<Item = &Fired> {
        self.fired.iter().filter(|rule| rule.mode == Mode::Enforce)
    }

    /// What does not count and would say something.
    pub fn in_shadow(&self) -> impl Iterator<Item = &Fired> {
        self.fired.iter().filter(|rule| rule.mode == Mode::Shadow)
    }

    /// The rules that would count if those in shadow did; none where no rule in shadow speaks.
    pub fn with_shadow(&self) -> Option<Self> {
        let mut all = self.clone();
        let mut some = false;
        for rule in &mut all.fired {
            some |= rule.mode == Mode::Shadow;
            rule.mode = Mode::Enforce;
        }
        some.then_some(all)
    }

    /// The rules that speak of `tool`, in shadow or not, in the order of their file.
    pub fn about(&self, tool: ToolId) -> impl Iterator<Item = &Fired> {
        self.fired.iter().filter(move |rule| rule.covers(tool))
    }

    /// The rules that leave `tool` out, in shadow or not.
    pub fn against(&self, tool: ToolId) -> impl Iterator<Item = &Fired> {
        let required = |rule: &&Fired| rule.effect == Effect::Require;
        self.fired
            .iter()
            .filter(required)
            .filter(move |rule| !rule.covers(tool))
    }

    /// All boosts of `tool` less all that suppress it; none where no rule speaks of it.
    pub fn pull(&self, tool: ToolId) -> Option<f32> {
        let pulls = self.enforced().filter(|rule| rule.covers(tool));
        pulls.fold(None, |sum, rule| match rule.effect {
            Effect::Boost(strength) => Some(sum.unwrap_or(0.0) + strength),
            Effect::Suppress(strength) => Some(sum.unwrap_or(0.0) - strength),
            Effect::Require | Effect::Pin | Effect::NeverDefer => sum,
        })
    }

    /// What the rules say of `tool`, `0.0..=1.0`, [`NEUTRAL`] where they cancel out; none where no
    /// rule boosts or suppresses it.
    pub fn value(&self, tool: ToolId) -> Option<f32> {
        let pull = self.pull(tool)?;
        Some(NEUTRAL + NEUTRAL * pull.clamp(-1.0, 1.0))
    }

    /// Some rule leaves all but its tools out.
    pub fn removes(&self) -> bool {
        self.enforced().any(|rule| rule.effect == Effect::Require)
    }

    /// Whether no rule leaves `tool` out.
    pub fn keeps(&self, tool: ToolId) -> bool {
        self.enforced()
            .filter(|rule| rule.effect == Effect::Require)
            .all(|rule| rule.covers(tool))
    }

    /// The place of `tool` among those that come first; none where it is not pinned.
    pub fn pin(&self, tool: ToolId) -> Option<usize> {
        self.pins().position(|rule| rule.covers(tool))
    }

    /// The first `limit` of the tools that come first, of those that `may_be` seen: rule by rule,
    /// then by key.
    pub fn pinned(&self, limit: usize, may_be: impl Fn(ToolId) -> bool) -> Vec<ToolId> {
        let mut pinned = Vec::new();
        for rule in self.pins() {
            for at in rule.tools.ones() {
                let tool = ToolId(at as u32);
                if limit <= pinned.len() {
                    return pinned;
                }
                if may_be(tool) && self.keeps(tool) && !pinned.contains(&tool) {
                    pinned.push(tool);
                }
            }
        }
        pinned
    }

    fn pins(&self) -> impl Iterator<Item = &Fired> {
        self.enforced().filter(|rule| rule.effect == Effect::Pin)
    }

    /// The rule that wants `tool` in the prompt from the start.
    pub fn never_defers(&self, tool: ToolId) -> Option<&Fired> {
        self.enforced()
            .find(|rule| rule.effect == Effect::NeverDefer && rule.covers(tool))
    }
}
