//! The programs.
pub mod master;
