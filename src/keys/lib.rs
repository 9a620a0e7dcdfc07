//! Who a node is: its key pair, the keys it knows and trusts, and the group key of publications.

pub mod epoch;
pub mod identity;
pub mod sodium;
pub mod store;
pub mod watch;

pub use identity::{Identity, PublicKey};
pub use store::{KeyStatus, KeyStore};
