//! The rules file, and `toolscout rules check`.
//!
//! ```toml
//! mode = "enforce"                 # or "shadow", which only explains; each [[rule]] may say its own
//!
//! [[rule]]
//! name = "locate"
//! when = { field = "context.phase", eq = "locate" }
//! tools = { any = [
//!   { field = "tool.kind", in = ["search", "query", "read"] },
//!   { field = "tool.phases", eq = "locate" },
//! ] }
//! effect = "require"               # boost, suppress, require, pin, never_defer
//!
//! [[rule]]
//! name = "careful after an error"
//! when = [
//!   { field = "context.previous_result", in = ["error", "timeout"] },
//!   { not = { field = "principal.roles", glob = "*-admin" } },
//! ]
//! tools = { field = "tool.side_effect", ge = "write" }
//! effect = "suppress"
//! strength = 0.5                   # of boost and suppress; 1 where it is left out
//! ```
//!
//! `when` is about who asks and the moment, `tools` about tools; a list means all of it, and what is
//! left out always holds. A test has a `field` and one of `eq`, `in`, `glob`, `lt`, `le`, `gt`, `ge`,
//! `is = "present"` and `is = "absent"`; `all`, `any` and `not` join them.

mod check;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use check::{Args, Command, run};

use super::document::{Document, Section};
use super::error::Error;
use crate::rules::{
    Comparison, Condition, Effect, Field, MAX_NESTING, Mode, Rule, Rules, Sort, Test,
};

const MODES: [(&str, Mode); 3] = [
    ("enforce", Mode::Enforce),
    ("shadow", Mode::Shadow),
    ("off", Mode::Off),
];
const EFFECTS: [(&str, Effect); 5] = [
    ("boost", Effect::Boost(1.0)),
    ("suppress", Effect::Suppress(1.0)),
    ("require", Effect::Require),
    ("pin", Effect::Pin),
    ("never_defer", Effect::NeverDefer),
];
const COMPARISONS: [(&str, Comparison); 4] = [
    ("lt", Comparison::Less),
    ("le", Comparison::AtMost),
    ("gt", Comparison::Greater),
    ("ge", Comparison::AtLeast),
];
/// The greatest number that a test compares with.
const MAX_NUMBER: usize = 1_000_000_000;

/// Reads a rules file.
///
/// # Errors
/// [`Error::Read`] where it cannot be read, [`Error::Setting`] where it says something that cannot be.
pub fn read(path: &Path) -> Result<Rules, Error> {
    let document = Document::read("rules file", path)?;
    let mut root = document.root()?;
    let mode = root.word("mode", &MODES)?.unwrap_or(Mode::Enforce);
    let sections = root.sections("rule")?;
    root.end()?;
    let mut rules: Vec<Rule> = Vec::with_capacity(sections.len());
    for section in sections {
        rules.push(rule(section, mode, &rules)?);
    }
    Rules::new(rules).map_err(|error| root.fault(error.to_string()))
}

/// The rules file that is typed or set in the environment.
pub(super) fn path(typed: Option<&Path>) -> Option<PathBuf> {
    let variable = || std::env::var_os("TOOLSCOUT_RULES").filter(|value| !value.is_empty());
    typed
        .map(Path::to_owned)
        .or_else(|| variable().map(PathBuf::from))
}

fn rule(mut section: Section<'_>, mode: Mode, known: &[Rule]) -> Result<Rule, Error> {
    let name: Arc<str> = section.text("name")?.unwrap_or_default().into();
    let mode = section.word("mode", &MODES)?.unwrap_or(mode);
    let effect = section.word("effect", &EFFECTS)?;
    let strength = section.number("strength", (0.0, 1.0))?;
    let when = conditions(&mut section, "when")?;
    let tools = conditions(&mut section, "tools")?;
    section.end()?;
    let effect = match (effect, strength) {
        (None, _) => {
            let words = EFFECTS.map(|(word, _)| word).join(", ");
            return Err(section.fault(format!("the rule has no effect: add one of {words}")));
        }
        (Some(Effect::Boost(usual)), given) => Effect::Boost(given.map_or(usual, |s| s as f32)),
        (Some(Effect::Suppress(usual)), given) => {
            Effect::Suppress(given.map_or(usual, |s| s as f32))
        }
        (Some(_), Some(_)) => {
            return Err(section.fault("only boost and suppress have a strength"));
        }
        (Some(effect), None) => effect,
    };
    let rule = Rule {
        name,
        mode,
        when,
        tools,
        effect,
    };
    let told = |error: crate::rules::Error| section.fault(error.to_string());
    rule.validate().map_err(told)?;
    if known.iter().any(|other| other.name == rule.name) {
        return Err(told(crate::rules::Error::SameName(rule.name)));
    }
    Ok(rule)
}

/// The condition under `key`; a list means all of it.
fn conditions(section: &mut Section<'_>, key: &str) -> Result<Condition, Error> {
    section.not_empty(key)?;
    let list = section.tables(key)?;
    let all: Result<Vec<Condition>, Error> =
        list.into_iter().map(|inner| condition(inner, 1)).collect();
    let mut all = all?;
    Ok(match all.len() {
        1 => all.remove(0),
        _ => Condition::All(all),
    })
}

fn condition(mut section: Section<'_>, depth: usize) -> Result<Condition, Error> {
    if MAX_NESTING < depth {
        let reason = format!("conditions inside each other: at most {MAX_NESTING}");
        return Err(section.fault(reason));
    }
    let field = section.text("field")?;
    section.not_empty("all")?;
    section.not_empty("any")?;
    let (all, any) = (section.tables("all")?, section.tables("any")?);
    let not = section.section("not")?;
    let joined = [!all.is_empty(), !any.is_empty(), not.is_some()];
    let given = joined.iter().filter(|given| **given).count() + usize::from(field.is_some());
    if given != 1 {
        return Err(section.fault("a condition has one of: field, all, any, not"));
    }
    let inner = |list: Vec<Section<'_>>| -> Result<Vec<Condition>, Error> {
        let read = |inner| condition(inner, depth + 1);
        list.into_iter().map(read).collect()
    };
    let condition = match (field, not) {
        (Some(name), _) => Condition::Test(test(&mut section, &name)?),
        (None, Some(not)) => Condition::Not(Box::new(condition(not, depth + 1)?)),
        (None, None) if !all.is_empty() => Condition::All(inner(all)?),
        (None, None) => Condition::Any(inner(any)?),
    };
    section.end()?;
    Ok(condition)
}

fn test(section: &mut Section<'_>, name: &str) -> Result<Test, Error> {
    let Some((_, field)) = Field::ALL.into_iter().find(|(known, _)| *known == name) else {
        let known = Field::ALL.map(|(known, _)| known).join(", ");
        return Err(section.fault(format!("there is no field '{name}'; there are: {known}")));
    };
    let mut tests: Vec<Result<Test, crate::rules::Error>> = Vec::new();
    let number = field.sort() == Sort::Number;
    if number {
        if let Some(value) = section.whole("eq", (0, MAX_NUMBER))? {
            tests.push(Test::number(field, None, value as u64));
        }
    } else if let Some(text) = section.text("eq")? {
        tests.push(Test::is_in(field, vec![text]));
    }
    if let Some(texts) = section.one_or_more("in")? {
        tests.push(Test::is_in(field, texts));
    }
    if let Some(globs) = section.one_or_more("glob")? {
        tests.push(Test::matches(field, globs));
    }
    for (key, comparison) in COMPARISONS {
        if number {
            let bound = section.whole(key, (0, MAX_NUMBER))?;
            tests.extend(bound.map(|bound| Test::number(field, Some(comparison), bound as u64)));
        } else {
            let word = section.text(key)?;
            tests.extend(word.map(|word| Test::order(field, comparison, &word)));
        }
    }
    let presence = [("present", true), ("absent", false)];
    if let Some(present) = section.word("is", &presence)? {
        tests.push(Ok(Test::presence(field, present)));
    }
    match (tests.pop(), tests.is_empty()) {
        (Some(test), true) => test.map_err(|error| section.fault(error.to_string())),
        _ => Err(section.fault(format!(
            "'{name}' wants one of: eq, in, glob, lt, le, gt, ge, is"
        ))),
    }
}

#[cfg(test)]
mod tests;
