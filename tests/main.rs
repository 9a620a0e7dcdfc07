//! Tests of the whole: each module says what it shows.

/// The binary as users meet it.
mod programs;
