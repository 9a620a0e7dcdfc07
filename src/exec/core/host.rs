//! The machine below a function: its files, processes, accounts and network. Each is a trait in a file of its own, and a
//! [`Host`] is what has them all.
//!
//! There are three: the real machine, a fake for tests in which a command that nobody scripted fails loudly, and a
//! read-only view under which a state in test mode cannot change anything. What the node keeps for itself is none of the
//! host's: [`own`] has that, and it may be written in test mode too.

mod accounts;
mod acting;
mod child;
mod environment;
#[cfg(any(test, feature = "testing"))]
pub mod fake;
mod files;
mod machine;
mod network;
pub mod own;
mod processes;
mod read_only;
mod umask;
pub mod web;

pub use accounts::{Accounts, User};
pub use acting::acting_as;
pub use child::{adopt, keep_open};
pub use files::{Access, Attributes, Content, FileKind, FileSystem, Fill, HostFiles, Node, Stat};
pub use machine::Machine;
pub use network::{Address, Network, Protocol};
pub use processes::{Choice, Command, Finished, Processes, words_of_cut};
pub use read_only::ReadOnly;
pub use umask::with_umask;

/// What a function may do to the machine it runs on.
pub trait Host: HostFiles + Processes + Accounts + Network + Sync {}

impl<T: HostFiles + Processes + Accounts + Network + Sync> Host for T {}
