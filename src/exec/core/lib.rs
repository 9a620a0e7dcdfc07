//! What a function is, and all that it may touch: the contracts of modules and states, the context of a call, the host.
//! Synchronous, and without a socket: whatever a function may touch arrives in its [`Ctx`].

pub mod accounts;
pub mod context;
pub mod files;
pub mod function;
pub mod host;
pub mod jid;
pub mod jobs;
pub mod module;
pub mod names;
pub mod paths;
pub mod pillar_request;
pub mod program;
pub mod requisite;
pub mod returners;
pub mod state;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text_file;
pub mod update;

pub use context::{Audience, Call, Ctx, Master, NoMaster};
pub use halite_value::fault::{Fault, Reply, Returned};
pub use jid::Jid;

/// The version of this program.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "-halite");

/// The release of Salt that this program follows. SLS files compare the grains `saltversion` and `saltversioninfo` with
/// it to know what they may use.
pub const SALT_VERSION: [i64; 2] = [3008, 4];
