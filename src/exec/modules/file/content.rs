//! Reading and writing what is in a file.

use super::{absolute, in_python_words, refused};
use halite_core::host::Attributes;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::reason;
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The lines of a call: the words behind the path, else the argument `args`.
fn lines(words: Rest, keywords: &Keywords) -> Result<Vec<String>, Fault> {
    if let Some((other, _)) =
        keywords.0.iter().find(|(name, _)| !name.as_str().is_some_and(|name| name == "args" || name.starts_with("__")))
    {
        return Err(Fault::invocation(format!(
            "there is no argument '{}': the lines stand in 'args'",
            other.to_text()
        )));
    }
    let given = match keywords.0.at("args") {
        Some(Value::List(items)) => items.clone(),
        Some(one) => vec![one.clone()],
        None => words.0,
    };
    Ok(given.iter().map(Value::to_text).collect())
}

fn with_ends(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

record! {
    /// Returns what is in a file.
    ///
    ///   salt '*' file.read /etc/hostname
    pub struct Read {
        /// The path.
        path: String,
        /// Return bytes, not text.
        binary: bool = false,
    }
}

impl Run for Read {
    fn run(self, ctx: &Ctx) -> Reply {
        let bytes = ctx.host.read(Path::new(&self.path)).map_err(|error| refused(&self.path, &error))?;
        if self.binary {
            return Ok(Value::Bytes(bytes).into());
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Fault::execution(format!("{} is not text in UTF-8: use binary=True", self.path)))?;
        // As Python reads text: each kind of line end is one.
        Ok(text.replace("\r\n", "\n").replace('\r', "\n").into())
    }
}

record! {
    /// Writes lines to a file; what was in it is gone.
    ///
    ///   salt '*' file.write /etc/motd 'With all thine offerings thou shalt offer salt.'
    ///   salt '*' file.write /etc/motd args='["one line", "another"]'
    pub struct Write {
        /// The path.
        path: String,
        args: Rest,
        /// `args`: the lines, in place of words.
        kwargs: Keywords,
    }
}

impl Run for Write {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let lines = lines(self.args, &self.kwargs)?;
        put(ctx, &path, with_ends(&lines).as_bytes())?;
        Ok(format!("Wrote {} lines to \"{path}\"", lines.len()).into())
    }
}

fn put(ctx: &Ctx, path: &str, bytes: &[u8]) -> Result<(), Fault> {
    let real = paths::real(ctx.host, path);
    let real = if path.starts_with('/') { real.as_str() } else { path };
    ctx.host.write(Path::new(real), bytes, Attributes::default()).map_err(|error| refused(path, &error))
}

record! {
    /// Puts lines at the end of a file that is there.
    ///
    ///   salt '*' file.append /etc/motd 'Cheers!'
    ///   salt '*' file.append /etc/motd args='["one line", "another"]'
    pub struct Append {
        /// The path.
        path: String,
        args: Rest,
        /// `args`: the lines, in place of words.
        kwargs: Keywords,
    }
}

impl Run for Append {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let lines = lines(self.args, &self.kwargs)?;
        let old = ctx.host.read(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let mut more = with_ends(&lines);
        if !old.is_empty() && !old.ends_with(b"\n") {
            more.insert(0, '\n');
        }
        ctx.host.append(Path::new(&path), more.as_bytes()).map_err(|error| refused(&path, &error))?;
        Ok(format!("Wrote {} lines to \"{path}\"", lines.len()).into())
    }
}

record! {
    /// Puts lines at the beginning of a file, which is made where there is none.
    ///
    ///   salt '*' file.prepend /etc/motd 'Welcome.'
    ///   salt '*' file.prepend /etc/motd args='["one line", "another"]'
    pub struct Prepend {
        /// The path.
        path: String,
        args: Rest,
        /// `args`: the lines, in place of words.
        kwargs: Keywords,
    }
}

impl Run for Prepend {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let lines = lines(self.args, &self.kwargs)?;
        let mut whole = with_ends(&lines).into_bytes();
        match ctx.host.read(Path::new(&path)) {
            Ok(old) => whole.extend(old),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(refused(&path, &error)),
        }
        put(ctx, &path, &whole)?;
        Ok(format!("Prepended {} lines to \"{path}\"", lines.len()).into())
    }
}

record! {
    /// Makes a file where there is none, and sets its times.
    ///
    ///   salt '*' file.touch /var/log/emptyfile
    pub struct Touch {
        /// The path.
        name: String,
        /// When it was last read, in seconds since 1970; now, if neither is given.
        atime: Value = (),
        /// When it was last written.
        mtime: Value = (),
    }
}

impl Run for Touch {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.name);
        let (accessed, modified) = (time(ctx, &self.atime)?, time(ctx, &self.mtime)?);
        let failed = |error: std::io::Error| Fault::execution(reason(&error));
        if !paths::exists(ctx.host, &path) {
            ctx.host.append(Path::new(&path), b"").map_err(failed)?;
        }
        ctx.host.set_times(Path::new(&path), accessed, modified).map_err(failed)?;
        Ok(paths::exists(ctx.host, &path).into())
    }
}

fn time(ctx: &Ctx, given: &Value) -> Result<SystemTime, Fault> {
    let seconds = match given {
        Value::Null => return Ok(ctx.host.now()),
        Value::Str(text) => text.parse().ok(),
        number => number.as_float(),
    };
    let wrong = || Fault::invocation("atime and mtime must be integers");
    let seconds: f64 = seconds.ok_or_else(wrong)?;
    let span = Duration::try_from_secs_f64(seconds.abs()).map_err(|_| wrong())?;
    let time = if seconds < 0.0 { UNIX_EPOCH.checked_sub(span) } else { UNIX_EPOCH.checked_add(span) };
    time.ok_or_else(wrong)
}

record! {
    /// Returns a part of a file, as bytes.
    ///
    ///   salt '*' file.seek_read /etc/passwd 4096 0
    pub struct SeekRead {
        /// The path.
        path: String,
        /// How many bytes.
        size: i64,
        /// How many bytes are before them.
        offset: i64,
    }
}

/// So much is read at most: what a job may return.
const LONGEST: i64 = 64 << 20;

impl Run for SeekRead {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let invalid = |_| Fault::execution("[Errno 22] Invalid argument");
        let offset = u64::try_from(self.offset).map_err(invalid)?;
        let size = u64::try_from(self.size.min(LONGEST)).map_err(invalid)?;
        let mut file = ctx.host.open(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let failed = |error: std::io::Error| refused(&path, &error);
        std::io::copy(&mut file.as_mut().take(offset), &mut std::io::sink()).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Value::Bytes(bytes).into())
    }
}

record! {
    /// Writes over a part of a file. Returns how many bytes were written.
    ///
    ///   salt '*' file.seek_write /tmp/file 'some data' 4096
    pub struct SeekWrite {
        /// The path.
        path: String,
        /// What is written.
        data: Value,
        /// How many bytes stay as they are before it.
        offset: i64,
    }
}

impl Run for SeekWrite {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let data = match self.data {
            Value::Bytes(bytes) => bytes,
            other => other.to_text().into_bytes(),
        };
        let offset = usize::try_from(self.offset).map_err(|_| Fault::execution("[Errno 22] Invalid argument"))?;
        let mut whole = ctx.host.read(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let end = offset + data.len();
        if end > whole.len() {
            check_length(end)?;
            whole.resize(end, 0);
        }
        whole[offset..end].copy_from_slice(&data);
        put(ctx, &path, &whole)?;
        Ok(data.len().into())
    }
}

record! {
    /// Cuts a file, or fills it up with zeros, to a length.
    ///
    ///   salt '*' file.truncate /tmp/file 512
    pub struct Truncate {
        /// The path.
        path: String,
        /// The length in bytes.
        length: i64,
    }
}

impl Run for Truncate {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let length = usize::try_from(self.length).map_err(|_| Fault::execution("[Errno 22] Invalid argument"))?;
        check_length(length)?;
        let mut whole = ctx.host.read(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        whole.resize(length, 0);
        put(ctx, &path, &whole)?;
        Ok(Value::Null.into())
    }
}

/// A file that is replaced whole is in memory meanwhile.
fn check_length(length: usize) -> Result<(), Fault> {
    match length {
        0..=0x4000_0000 => Ok(()),
        _ => Err(Fault::invocation("this version makes no file longer than 1 GiB")),
    }
}

/// The words of a failure, for functions that return them.
pub(super) fn failure(path: &str, error: &std::io::Error) -> String {
    in_python_words(path, error)
}

/// A path for functions whose first check is that it is absolute.
pub(super) fn source(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    absolute(ctx, path, "File path must be absolute.")
}
