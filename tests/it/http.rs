//! REST, called as a service without a socket, but for what only a socket shows.

mod audit;
mod auth;
mod bad_requests;
mod discover;
pub(super) mod fixture;
mod harness;
mod listener;
mod load;
mod mcp;
mod openapi;
mod registry;
mod rules;
mod tools;
mod wire;
