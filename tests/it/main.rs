//! All integration tests, in one binary so that it links once.

#![expect(
    clippy::unwrap_used,
    reason = "clippy lets tests unwrap, but not the functions that tests share"
)]

mod access;
mod cli;
mod crash;
mod embed;
mod eval;
mod http;
mod interference;
mod interference_rules;
mod search;
mod session;
mod source;
mod tidy;
