//! What a node can do: execution modules, targeting, renderers, outputters. Synchronous, and without a socket: whatever
//! a function may touch arrives in [`Ctx`].

pub mod accounts;
pub mod base64;
pub mod context;
pub mod diff;
pub mod digest;
pub mod fault;
pub mod files;
pub mod fileserver;
pub mod function;
pub mod grains;
pub mod highstate;
pub mod host;
pub mod jid;
pub mod jobs;
pub mod keyring;
pub mod merge;
pub mod module;
pub mod modules;
pub mod names;
pub mod net;
pub mod outputters;
pub mod outside;
pub mod paths;
pub mod patterns;
pub mod pillar;
pub mod pillar_request;
pub mod program;
pub mod random;
pub mod regex;
pub mod renderers;
pub mod returners;
pub mod runners;
pub mod serializers;
pub mod signature;
pub mod sls;
pub mod state;
pub mod states;
pub mod tags;
pub mod target;
pub mod templates;
#[cfg(test)]
pub mod testing;
pub mod text_file;
pub mod update;

pub use context::{Audience, Call, Ctx, Master, NoMaster};
pub use fault::{Fault, Reply, Returned};
pub use jid::Jid;

/// The version of this program.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "-halite");

/// The release of Salt that this program follows. SLS files compare the grains `saltversion` and `saltversioninfo` with
/// it to know what they may use.
pub const SALT_VERSION: [i64; 2] = [3008, 4];
