//! What a node can do.
