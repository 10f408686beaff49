//! All integration tests, in one binary so that it links once.

mod eval;
mod http;
mod interference;
mod search;
mod tidy;
