//! toolscout answers one question for an LLM agent's harness: *of the hundreds or thousands of tools
//! this caller may use, which few does this request need?*
//!
//! # How a question is answered
//!
//! 1. [`catalog::read`] turns files into tools, and [`catalog::text`] decides what of a tool is
//!    searchable.
//! 2. [`index::build`] counts the words and embeds the texts ([`embed`]) into one immutable
//!    [`Index`](index::Index), which [`index::snapshot`] keeps on disk.
//! 3. [`access::Policy`] says which tools a [`Principal`](access::Principal) may see: a
//!    [`Permitted`](access::Permitted) set, which nothing else can make.
//! 4. [`search::View`] counts every statistic over that set alone.
//! 5. [`search::search`] scores candidates by four arms (semantic, keyword, namespace, rule), adds
//!    them up, and says how sure it is that the best one fits.
//! 6. `serve` and `cli` render the [`Answer`](search::Answer).
//!
//! # Layers
//!
//! A module may use modules of lower layers only; `tests/it/tidy.rs` checks it.
//!
//! | layer | modules | what they hold |
//! |---|---|---|
//! | 0 | [`tool`], [`score`], [`plot`] | plain data; line charts |
//! | 1 | [`access`], [`catalog`], [`embed`] | who may see what; files to tools; texts to vectors |
//! | 2 | [`index`], [`registry`], [`rules`] | words and vectors of a catalogue, on disk and in memory; which changes are accepted; what suits the moment |
//! | 3 | [`search`], [`refresh`] | a request to an answer; a changing registry to the index that is served |
//! | 3 | [`session`] | what the model of one request sees, and what it has found |
//! | 4 | [`eval`], [`serve`], [`source`], [`store`] | how good the answers are; REST and MCP; servers of tools; where registries are kept |
//! | 5 | [`cli`] | what is typed |
//!
//! # Invariants
//!
//! Each names the test that holds it.
//!
//! 1. No search runs without a [`Permitted`](access::Permitted) set, and only a
//!    [`Policy`](access::Policy) makes one: the compile-fail example of [`access`].
//! 2. The answer on a catalogue equals, byte for byte, the answer on the catalogue without the
//!    forbidden tools: `non_interference_of_answers`, and over HTTP `non_interference_of_every_request`.
//!    Every statistic is taken over permitted tools,
//!    and a forbidden tool answers like an unknown one: `unknown_and_forbidden_answer_alike`.
//! 3. Same snapshot, same request, same answer, ties included: `answers_are_deterministic`. On the
//!    exact path always, on the graph path within one built graph.
//! 4. Every vector in an index is finite, of unit length, of one dimension and one model:
//!    `rows_are_audited`.
//! 5. A broken or foreign file is an error that says what to do, never a panic, an exit or a wrong
//!    answer: `damaged_snapshots_are_refused`.
//! 6. Layers import downward only; below layer 4 there is no async and no network but for the HTTP
//!    embedder: `modules_import_downward_only`, `each_library_is_named_in_its_own_place_only`.
//! 7. A tool's definition has the same bytes every time: `definitions_are_byte_stable`.

pub mod plot;
pub mod score;
pub mod tool;

pub mod access;
pub mod catalog;
pub mod embed;

pub mod index;
pub mod registry;
pub mod rules;

pub mod refresh;
pub mod search;
pub mod session;

pub mod eval;
pub mod serve;
pub mod source;
pub mod store;

pub mod cli;
