//! All integration tests, in one binary so that it links once.

mod http;
mod interference;
mod search;
mod tidy;
