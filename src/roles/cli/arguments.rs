//! Words of a command line as values.
