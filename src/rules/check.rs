//! What is wrong with rules over a catalogue: those that say nothing, and those that gainsay.

use super::condition::{Condition, Test, Wanted};
use super::rule::{Effect, Mode, Rule};
use super::ruling::Compiled;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The rule speaks of no tool of the catalogue.
    NoTool,
    /// Its condition on the moment can never hold.
    Never,
    /// Two rules gainsay each other.
    Contradiction,
    /// Another rule says the same already.
    Shadowed,
    /// The rule speaks of every tool and so changes nothing.
    EveryTool,
    /// The rule is off.
    Off,
}

impl Kind {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoTool => "no_tool",
            Self::Never => "never",
            Self::Contradiction => "contradiction",
            Self::Shadowed => "shadowed",
            Self::EveryTool => "every_tool",
            Self::Off => "off",
        }
    }
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// Position of the rule, from 0.
    pub rule: usize,
    /// What is the matter, for people.
    pub detail: String,
}

/// Looks rules over: each by itself, in the order of the file, then against those before it.
pub fn check(compiled: &Compiled) -> Vec<Finding> {
    let rules = compiled.rules().as_slice();
    let mut found = Vec::new();
    // Rules that are in order by themselves.
    let mut sound: Vec<usize> = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        if let Some(finding) = alone(compiled, at, rule) {
            found.push(finding);
            continue;
        }
        found.extend(sound.iter().filter_map(|other| pair(compiled, *other, at)));
        sound.push(at);
    }
    found
}

fn alone(compiled: &Compiled, at: usize, rule: &Rule) -> Option<Finding> {
    let tools = compiled.tools(at);
    let count = tools.count_ones(..);
    let finding = |kind, detail: &str| Finding {
        kind,
        rule: at,
        detail: detail.to_owned(),
    };
    if rule.mode == Mode::Off {
        return Some(finding(Kind::Off, "it is off"));
    }
    if cannot_hold(&rule.when) {
        return Some(finding(Kind::Never, "its 'when' can never hold"));
    }
    if count == 0 {
        let detail = if rule.effect == Effect::Require {
            "its 'tools' match no tool, so it leaves nothing at all"
        } else {
            "its 'tools' match no tool of this catalogue"
        };
        return Some(finding(Kind::NoTool, detail));
    }
    let moves = matches!(
        rule.effect,
        Effect::Boost(_) | Effect::Suppress(_) | Effect::Require
    );
    if moves && count == tools.len() {
        let detail = "its 'tools' match every tool of this catalogue, so it changes nothing";
        return Some(finding(Kind::EveryTool, detail));
    }
    None
}

/// What an earlier rule and a later one have against each other.
fn pair(compiled: &Compiled, earlier: usize, later: usize) -> Option<Finding> {
    let rules = compiled.rules().as_slice();
    let (one, other) = (&rules[earlier], &rules[later]);
    if excludes(&one.when, &other.when) {
        return None;
    }
    let (first, second) = (compiled.tools(earlier), compiled.tools(later));
    let name = &one.name;
    let both = first.intersection_count(second);
    let always = implies(&other.when, &one.when);
    let finding = |kind, detail: String| {
        Some(Finding {
            kind,
            rule: later,
            detail,
        })
    };
    match (one.effect, other.effect) {
        (Effect::Require, Effect::Require) if both == 0 => finding(
            Kind::Contradiction,
            format!("together with '{name}' it leaves no tool at all"),
        ),
        (Effect::Require, Effect::Require) if always && first.is_subset(second) => finding(
            Kind::Shadowed,
            format!("'{name}' leaves no more than this already"),
        ),
        (Effect::Require, Effect::Pin | Effect::NeverDefer | Effect::Boost(_)) if both == 0 => {
            finding(
                Kind::Contradiction,
                format!("'{name}' leaves out every tool it speaks of"),
            )
        }
        (Effect::Pin | Effect::NeverDefer | Effect::Boost(_), Effect::Require) if both == 0 => {
            finding(
                Kind::Contradiction,
                format!("it leaves out every tool that '{name}' speaks of"),
            )
        }
        (Effect::Boost(a), Effect::Suppress(b)) | (Effect::Suppress(a), Effect::Boost(b))
            if both > 0 && a == b =>
        {
            finding(
                Kind::Contradiction,
                format!("it and '{name}' undo each other for {both} tools"),
            )
        }
        (Effect::Pin, Effect::Pin) | (Effect::NeverDefer, Effect::NeverDefer)
            if always && second.is_subset(first) =>
        {
            finding(Kind::Shadowed, format!("'{name}' says the same already"))
        }
        (Effect::Boost(a), Effect::Boost(_)) | (Effect::Suppress(a), Effect::Suppress(_))
            if a >= 1.0 && always && second.is_subset(first) =>
        {
            finding(
                Kind::Shadowed,
                format!("'{name}' pulls these tools as far as it goes already"),
            )
        }
        _ => None,
    }
}

/// The conditions that must all hold.
fn conjuncts(condition: &Condition) -> Vec<&Condition> {
    match condition {
        Condition::All(inner) => inner.iter().flat_map(conjuncts).collect(),
        Condition::Any(_) | Condition::Not(_) | Condition::Test(_) => vec![condition],
    }
}

/// As far as can be seen, `one` never holds without `other`.
fn implies(one: &Condition, other: &Condition) -> bool {
    let given = conjuncts(one);
    let follows = |wanted: &Condition| {
        given.iter().any(|known| {
            *known == wanted
                || match (known, wanted) {
                    (Condition::Test(a), Condition::Test(b)) => narrower(a, b),
                    _ => false,
                }
        })
    };
    conjuncts(other).into_iter().all(follows)
}

/// Whether what passes `a` passes `b`.
fn narrower(a: &Test, b: &Test) -> bool {
    if a.field != b.field {
        return false;
    }
    match (&a.wanted, &b.wanted) {
        (Wanted::In(few), Wanted::In(many)) => few.iter().all(|text| many.contains(text)),
        (Wanted::In(texts), Wanted::Present) => texts.iter().all(|text| !text.is_empty()),
        _ => false,
    }
}

/// As far as can be seen, the two never hold together.
fn excludes(one: &Condition, other: &Condition) -> bool {
    let (ours, theirs) = (conjuncts(one), conjuncts(other));
    ours.iter().any(|a| theirs.iter().any(|b| apart(a, b)))
}

/// As far as can be seen, it never holds.
fn cannot_hold(condition: &Condition) -> bool {
    match condition {
        Condition::Any(inner) => inner.iter().all(cannot_hold),
        Condition::Not(inner) => inner.is_always(),
        Condition::Test(_) => false,
        Condition::All(_) => {
            let all = conjuncts(condition);
            let pairs = all
                .iter()
                .enumerate()
                .any(|(at, a)| all[at + 1..].iter().any(|b| apart(a, b)));
            pairs || all.iter().any(|inner| cannot_hold(inner))
        }
    }
}

fn apart(a: &Condition, b: &Condition) -> bool {
    match (a, b) {
        (Condition::Not(a), b) if **a == *b => true,
        (a, Condition::Not(b)) if *a == **b => true,
        (Condition::Test(a), Condition::Test(b)) if a.field == b.field => tests_apart(a, b),
        _ => false,
    }
}

fn tests_apart(a: &Test, b: &Test) -> bool {
    use super::field::Comparison::{AtLeast, AtMost, Greater, Less};

    // A field of several values may pass two tests by two of them.
    let single = !a.field.is_list();
    match (&a.wanted, &b.wanted) {
        (Wanted::In(one), Wanted::In(other)) => single && !one.iter().any(|t| other.contains(t)),
        (Wanted::Absent, other) | (other, Wanted::Absent) => !matches!(other, Wanted::Absent),
        (Wanted::Is(one), Wanted::Is(other)) => one != other,
        (Wanted::Is(value), Wanted::Compare(how, bound))
        | (Wanted::Compare(how, bound), Wanted::Is(value)) => !how.holds(*value, *bound),
        (Wanted::Compare(one, low), Wanted::Compare(other, high)) => {
            let below = |how: &_, bound: u64| match how {
                Less => bound.checked_sub(1),
                AtMost => Some(bound),
                Greater | AtLeast => Some(u64::MAX),
            };
            let above = |how: &_, bound: u64| match how {
                Greater => bound.saturating_add(1),
                AtLeast => bound,
                Less | AtMost => 0,
            };
            let least = above(one, *low).max(above(other, *high));
            match (below(one, *low), below(other, *high)) {
                (Some(a), Some(b)) => a.min(b) < least,
                // Nothing is below 0.
                _ => true,
            }
        }
        _ => false,
    }
}
