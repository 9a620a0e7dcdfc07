//! Halite: Salt as one static file.

pub mod exec;
pub mod keys;
pub mod roles;
pub mod wire;
