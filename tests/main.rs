//! Tests of the whole: each module says what it shows.

/// Who may import whom.
mod layers;
/// The binary as users meet it.
mod programs;
