//! Business rules: which tools suit this moment, within what the caller may see.
//!
//! A [`Rule`] has a [`Condition`] on the moment (who asks, and the [`Context`] of the request), one
//! on tools, and an [`Effect`]. Conditions on tools are turned into one bit set a rule when a
//! catalogue or a rules file is taken up ([`Compiled`]); those on the moment are looked at once a
//! request, and what comes out is a [`Ruling`]. No rule is ever asked about one tool of one query.
//!
//! Rules shape what is shown, never what is allowed: the context comes from the request, and a
//! caller may say in it what it likes. So a ruling can reorder and remove within what is permitted,
//! after every statistic is taken, and can never add.

mod check;
mod condition;
mod context;
mod field;
mod rule;
mod ruling;
#[cfg(test)]
mod tests;

pub use check::{Finding, Kind, check};
pub use condition::{
    Condition, MAX_NESTING, MAX_TESTS, MAX_TEXT, MAX_TEXTS, Pattern, Test, Wanted,
};
pub use context::Context;
pub use field::{About, Comparison, Field, Sort};
pub use rule::{Effect, Error, MAX_NAME, MAX_RULES, Mode, Rule, Rules};
pub use ruling::{Compiled, Fired, NEUTRAL, Ruling};
