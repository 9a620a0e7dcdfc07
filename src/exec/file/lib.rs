//! The engine that makes a file what it should be, for functions and states alike. They say what came of it in Salt's
//! words and do no more.
//!
//! A [`Request`](source::Request) finds the content of a file: nothing, a path of this host, or bytes that a template made.
//! A [`Desired`](desired::Desired) file is compared with the one that is there; the [`Delta`](desired::Delta) says how they
//! differ and makes them the same. Contents are compared, hashed and copied in pieces: none is held whole, but for what a
//! template made, what stands in the SLS, and texts that are short enough for their difference to be shown.
//!
//! Nothing here is read or written but through the [`Host`].

pub mod access;
pub mod arguments;
pub mod attributes;
pub mod backup;
pub mod choice;
pub mod content;
pub mod desired;
pub mod difference;
pub mod directories;
pub mod encoding;
pub mod owner;
pub mod source;
pub mod sum;
pub mod template;

use halite_core::host::{Host, Stat};
use halite_core::{Ctx, Fault, paths};
use halite_value::Value;
use std::io;
use std::path::Path;

/// Why something cannot be done, for whoever wrote the state.
pub type Complaint = String;

/// What stands at a path. A link that leads nowhere is itself.
pub fn stat(host: &dyn Host, path: &str, follow: bool) -> Result<Stat, Fault> {
    let own = host.stat(Path::new(path)).map_err(|_| Fault::execution(format!("Path not found: {path}")))?;
    match follow {
        true => Ok(paths::followed(host, Path::new(path)).unwrap_or(own)),
        false => Ok(own),
    }
}

/// A mode as Salt shows it: four digits.
pub fn shown_mode(mode: u32) -> String {
    format!("{mode:04o}")
}

/// Whether the call is one that only tells what it would do.
pub fn is_test(ctx: &Ctx) -> bool {
    ctx.opt("test").is_some_and(Value::truthy)
}

/// A failure of the host with what it was about, as Python words it.
pub fn refused(path: &str, error: &io::Error) -> Fault {
    Fault::execution(in_python_words(path, error))
}

/// What the system says of a path, in Python's words.
pub fn in_python_words(path: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => format!("[Errno {number}] {}: '{path}'", reason(error)),
        None => format!("{error}: '{path}'"),
    }
}

/// What the system says of an error, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::testing::{Known, Nothing};
    use halite_core::{Call, NoMaster};
    use halite_value::Map;
    use std::sync::atomic::AtomicBool;

    /// What is done in a world that is this host and nothing else.
    pub fn on<T>(host: &dyn Host, work: impl FnOnce(&Ctx) -> T) -> T {
        let (nothing, call, cancelled) = (Map::new(), Call::default(), AtomicBool::new(false));
        work(&Ctx {
            host,
            master: &NoMaster,
            functions: Nothing::functions(),
            grains: &nothing,
            pillar: &nothing,
            opts: &nothing,
            call: &call,
            cancelled: &cancelled,
            scratch: Default::default(),
            audience: Default::default(),
        })
    }
}
