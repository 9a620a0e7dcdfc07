//! `cp.recv*`: what `salt-cp` sends.

use super::Run;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;
use halite_core::host::{Attributes, FileKind};
use halite_core::paths::{self, make_directories};
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::record;
use halite_value::{Map, Value};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What a compressed part may become: salt-cp sends parts of 64 KiB.
const UNPACKED: u64 = 64 << 20;

record! {
    /// Puts files that salt-cp has sent where they belong. Not for the command line.
    ///
    ///   salt '*' cp.recv '{/etc/motd: hello}' /tmp
    pub struct Recv {
        /// What is in each file, by its path on the master.
        files: Map,
        /// A path, or a directory in which each file keeps its name.
        dest: String,
    }
}

impl Run for Recv {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut done = Map::new();
        let dest = Path::new(&self.dest);
        let is_directory = |path: &Path| paths::is_directory(ctx.host, &path.to_string_lossy());
        for (path, data) in &self.files {
            let name = Path::new(path.as_str().unwrap_or_default()).file_name().unwrap_or_default().to_owned();
            let above = dest.parent().filter(|above| !above.as_os_str().is_empty());
            let place: PathBuf = match is_directory(dest) {
                true => dest.join(name),
                false if Some(name.as_os_str()) == dest.file_name() || above.is_some_and(is_directory) => {
                    dest.to_owned()
                }
                false => return Ok("Destination unavailable".into()),
            };
            let bytes = match data {
                Value::Bytes(bytes) => bytes.clone(),
                other => other.to_text().into_bytes(),
            };
            let written = ctx.host.write(&place, &bytes, Attributes::default());
            if let Err(error) = &written {
                log::error!("{}: {error}", place.display());
            }
            done.insert(place.to_string_lossy().into_owned(), written.is_ok());
        }
        Ok(done.into())
    }
}

record! {
    /// Puts a part of a file that salt-cp --chunked has sent where it belongs. Not for the command line.
    ///
    ///   salt '*' cp.recv_chunked /tmp/dest aGVsbG8K compressed=False
    pub struct RecvChunked {
        /// The path.
        dest: String,
        /// The part, in base64; None: dest is a directory to be made.
        chunk: Value,
        /// The part is not the first one.
        append: bool = false,
        /// The part is compressed, by gzip.
        compressed: bool = true,
        /// The mode of the file.
        mode: Option<i64> = (),
    }
}

impl Run for RecvChunked {
    fn run(self, ctx: &Ctx) -> Reply {
        let dest = Path::new(&self.dest);
        if self.chunk.is_null() {
            return Ok(match make_directories(ctx.host, dest) {
                Ok(()) => true.into(),
                Err(_) if ctx.host.stat(dest).is_ok_and(|stat| stat.kind == FileKind::File) => {
                    "Path exists and is a file".into()
                }
                Err(error) => failed(&error, dest),
            });
        }
        let text: String = match &self.chunk {
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => other.to_text(),
        };
        // As Python reads base64: what does not belong there is passed over.
        let known = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        let decoded = STANDARD.decode(text.chars().filter(known).collect::<String>());
        let chunk = decoded.map_err(|_| Fault::Raised {
            kind: "binascii.Error".to_owned(),
            message: "Incorrect padding".to_owned(),
        })?;
        let bytes = match self.compressed {
            true => match unpacked(&chunk) {
                Ok(bytes) => bytes,
                Err(message) => return Ok(Returned::from(message).with_retcode(1)),
            },
            false => chunk,
        };
        let written = match self.append {
            true => ctx.host.append(dest, &bytes),
            false => {
                let mode = self.mode.and_then(|mode| u32::try_from(mode).ok()).map(|mode| mode & 0o7777);
                begin(ctx, dest, &bytes, Attributes { mode, ..Attributes::default() })
            }
        };
        Ok(written.map_or_else(|error| failed(&error, dest), |()| true.into()))
    }
}

/// The first part makes the file, and the directories above it.
fn begin(ctx: &Ctx, dest: &Path, bytes: &[u8], attributes: Attributes) -> io::Result<()> {
    if let Some(above) = dest.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_directories(ctx.host, above)?;
    }
    ctx.host.write(dest, bytes, attributes)
}

fn unpacked(chunk: &[u8]) -> Result<Vec<u8>, String> {
    if !chunk.is_empty() && !chunk.starts_with(&[0x1f, 0x8b]) {
        let start = Value::Bytes(chunk[..chunk.len().min(2)].to_vec());
        return Err(format!("Not a gzipped file ({})", start.repr()));
    }
    let mut bytes = Vec::new();
    let read = MultiGzDecoder::new(chunk).take(UNPACKED + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match bytes.len() as u64 > UNPACKED {
        true => Err(format!("a part of more than {UNPACKED} bytes")),
        false => Ok(bytes),
    }
}

/// The error as Python words it, and a failed job.
fn failed(error: &io::Error, path: &Path) -> Returned {
    let text = error.to_string();
    let reason = text.split(" (os error").next().unwrap_or(&text);
    let message = match error.raw_os_error() {
        Some(number) => format!("[Errno {number}] {reason}: '{}'", path.display()),
        None => format!("{reason}: '{}'", path.display()),
    };
    Returned::from(message).with_retcode(1)
}
