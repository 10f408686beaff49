//! toolscout
pub mod tool;
pub mod score;
pub mod access;
pub mod catalog;
pub mod embed;
