//! The programs.
pub mod config;
pub mod master;
