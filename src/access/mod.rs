//! Who asks, and what they may see. The only place where a set of permitted tools is made.
//!
//! A [`Policy`] is laid over one catalogue, which gives [`Rights`]: each rule's tools as a bit set,
//! worked out once. [`Rights::of`] then makes the [`Permitted`] set of a [`Principal`] by unions, and
//! remembers it for all principals of whom the same rules speak. A search takes a [`Permitted`], and
//! nothing else makes one, so a caller cannot forget the check: without it the code does not compile.
//!
//! ```compile_fail,E0451
//! use toolscout::access::Permitted;
//! let forged = Permitted { tools: Default::default(), fingerprint: [0; 32] };
//! ```

mod bits;
mod matching;
mod permitted;
mod policy;
mod principal;
mod review;
mod rights;
mod why;

pub use permitted::Permitted;
pub use policy::{Effect, Error, Policy, Rule};
pub use principal::{MAX_BOUNDS, Narrowing, Principal, Wider};
pub use review::{Finding, Review};
pub use rights::Rights;
pub use why::{Obstacle, Offer, Want, Why};
