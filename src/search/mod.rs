//! What is asked, and the answer.
//!
//! [`search`] takes an index, a [`View`] of it and a [`Request`], and gives an [`Answer`]. In between:
//! [`parse`] reads the query, [`parts`] cuts a long one into what it asks for, the four arms
//! ([`semantic`], [`keyword`], [`namespace`], [`rule`]) score candidates, [`fuse`] adds them up,
//! [`confidence`] says whether the best of them fits at all, [`group`] folds near-duplicates, and
//! [`cover`] sees to it that each of several needs is served.
//!
//! Synchronous, and without I/O but for what the embedder does.

pub mod answer;
pub mod config;
pub mod request;
pub mod view;

pub use answer::{Answer, Arm, ArmScore, Explanation, Hit, NoMatch, Reason, TermMatch};
pub use config::{Config, Weights};
pub use request::{Detail, Filters, Hints, Query, Request};
pub use view::View;
