//! Targeting: which minions a job is for. The same code on both ends.

pub mod fnmatch;
