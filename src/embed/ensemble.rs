//! Several embedders as one.
