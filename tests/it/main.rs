//! All integration tests, in one binary so that it links once.

mod interference;
mod search;
mod tidy;
