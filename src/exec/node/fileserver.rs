//! The file server: what `file_roots` gives, how a node gets at it, and what it keeps of it.
//!
//! The one who has the files is a [`FileServer`]: a master, or a node that runs with `file_client: local`. Whoever wants
//! some asks a [`Files`], which is the local file server or the way to the master's.

pub mod address;
pub mod cache;
mod changes;
pub mod client;
mod hashes;
mod ignore;
mod links;
mod lists;
mod local;
pub mod names;
pub mod received;
mod roots;
mod server;

pub use changes::Changes;
pub use lists::clear as clear_lists;
pub use local::LocalFiles;
pub use server::{Chunk, FileServer, Freshness, Opened, Version, backends};

pub use halite_core::files::*;
use halite_core::{Ctx, Fault};

/// Where a node's files come from: its own `file_roots` with `file_client: local`, else the master.
pub fn files<'a>(ctx: &'a Ctx<'a>) -> Result<Box<dyn Files + 'a>, Fault> {
    match ctx.opts.str_at("file_client") {
        Some("local") => Ok(Box::new(LocalFiles::new(ctx.opts)?)),
        _ => ctx.master.files(),
    }
}
