//! What is asked, and the answer.
//!
//! [`search`] takes an index, a [`View`] of it and a [`Request`], and gives an [`Answer`]. In between
//! the query is [read](parse), cut into [parts] and looked up ([evidence]); four arms
//! ([semantic], [keyword], [namespace], [rule]) score the candidates and are [added up](fuse); a
//! [confidence] says whether the best of them fits at all; near-duplicates are [folded](group), and
//! each of several needs is [served](mod@cover).
//!
//! Synchronous, and without I/O but for what the embedder does.

pub mod answer;
pub mod confidence;
pub mod config;
pub mod cover;
mod engine;
mod error;
mod evidence;
pub mod fuse;
mod group;
mod keyword;
mod namespace;
mod parse;
pub mod parts;
mod rank;
pub mod request;
pub mod route;
mod rule;
mod semantic;
pub mod shadow;
mod shipped;
mod terms;
pub mod view;

pub use answer::{Answer, Arm, ArmScore, Explanation, Hit, NoMatch, Reason, RuleNote, TermMatch};
pub use config::{Config, Weights};
pub use engine::search;
pub use error::Error;
pub use request::{Detail, Filters, Hints, Query, Request};
pub use view::View;
