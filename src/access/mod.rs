//! Who asks, and what they may see. The only place where a set of permitted tools is made.
//!
//! A search takes a [`Permitted`], and only [`Policy::permit`] makes one, so a caller cannot forget
//! the check: without it the code does not compile.
//!
//! ```compile_fail,E0451
//! use toolscout::access::Permitted;
//! let forged = Permitted { tools: Default::default(), fingerprint: [0; 32] };
//! ```

mod permitted;
mod policy;
mod principal;

pub use permitted::Permitted;
pub use policy::{Effect, Error, Policy, Rule};
pub use principal::Principal;
