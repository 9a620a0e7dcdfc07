//! `temp.*`: files and directories that are there for a while.

use halite_core::host::Attributes;
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::random;
use halite_value::record;
use std::path::{Path, PathBuf};

pub const MODULE: Module = Module {
    name: "temp",
    doc: "Files and directories that are there for a while. Nobody removes them but who had them made.",
    functions: &[function::<Dir>("dir"), function::<File>("file")],
};

/// A path that there is not, in a directory that there is.
fn fresh(ctx: &Ctx, suffix: &str, prefix: &str, parent: Option<&str>) -> Result<PathBuf, Fault> {
    if suffix.contains('/') || prefix.contains('/') {
        return Err(Fault::invocation("prefix and suffix are parts of a name, without a slash"));
    }
    let inherited = ctx.host.env("TMPDIR").filter(|directory| paths::is_directory(ctx.host, directory));
    let directory = parent.map(str::to_owned).or(inherited).unwrap_or_else(|| "/tmp".to_owned());
    if !paths::is_directory(ctx.host, &directory) {
        return Err(Fault::execution(format!("[Errno 2] No such file or directory: '{directory}'")));
    }
    loop {
        let letters = b"abcdefghijklmnopqrstuvwxyz0123456789_";
        let name: String =
            (0..8).map(|_| char::from(letters[random::up_to(letters.len() as u64 - 1) as usize])).collect();
        let path = Path::new(&directory).join(format!("{prefix}{name}{suffix}"));
        if ctx.host.stat(&path).is_err() {
            return Ok(path);
        }
    }
}

fn shown(path: PathBuf, made: std::io::Result<()>) -> Reply {
    let path = path.to_string_lossy().into_owned();
    match made {
        Ok(()) => Ok(path.into()),
        Err(error) => Err(Fault::execution(format!("{path}: {error}"))),
    }
}

record! {
    /// Makes an empty directory for this account alone and returns its path.
    ///
    ///   salt '*' temp.dir
    ///   salt '*' temp.dir prefix=mytemp- parent=/var/run
    pub struct Dir {
        /// What its name ends with.
        suffix: String = "",
        /// What its name begins with.
        prefix: String = "tmp",
        /// The directory that it is made in.
        parent: Option<String> = (),
    }
}

impl Run for Dir {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = fresh(ctx, &self.suffix, &self.prefix, self.parent.as_deref())?;
        let made = ctx.host.make_directory(&path, 0o700);
        shown(path, made)
    }
}

record! {
    /// Makes an empty file for this account alone and returns its path.
    ///
    ///   salt '*' temp.file
    ///   salt '*' temp.file prefix=mytemp- parent=/var/run
    pub struct File {
        /// What its name ends with.
        suffix: String = "",
        /// What its name begins with.
        prefix: String = "tmp",
        /// The directory that it is made in.
        parent: Option<String> = (),
    }
}

impl Run for File {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = fresh(ctx, &self.suffix, &self.prefix, self.parent.as_deref())?;
        let made = ctx.host.write(&path, b"", Attributes { mode: Some(0o600), ..Attributes::default() });
        shown(path, made)
    }
}
