//! What goes between nodes: values, messages, seals, sessions, and the one file that knows NNG.

pub mod cbor;
pub mod deadline;
pub mod frame;
pub mod handshake;
pub mod link;
pub mod message;
pub mod nng;
pub mod publication;
pub mod seal;
pub mod session;
