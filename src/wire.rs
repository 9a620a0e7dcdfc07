//! What goes between nodes: values, messages, seals, sessions, and the one file that knows NNG.

pub mod record;
pub mod value;
