//! Small files of the host that are edited whole, such as `/etc/hosts`.

use super::Fault;
use super::host::{Attributes, Host};
use super::paths;
use std::io;
use std::path::Path;

/// A file's text; empty where there is no file. Bytes that are no text are shown as such.
pub fn read(host: &dyn Host, path: &str) -> Result<String, Fault> {
    match host.read(Path::new(path)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Fault::execution(format!("{path}: {error}"))),
    }
}

/// Puts a text in the place of a file, which keeps owner and mode; a new one is for all to read. Links are followed, and
/// directories above that are missing are made.
pub fn write(host: &dyn Host, path: &str, text: &str) -> Result<(), Fault> {
    let real = paths::real(host, path);
    let real = Path::new(&real);
    let refused = |error: io::Error| Fault::execution(format!("{path}: {error}"));
    if let Some(directory) = real.parent().filter(|directory| host.stat(directory).is_err()) {
        super::paths::make_directories(host, directory).map_err(refused)?;
    }
    let mode = host.stat(real).is_err().then_some(0o644);
    host.write(real, text.as_bytes(), Attributes { mode, ..Attributes::default() }).map_err(refused)
}

/// Puts a line in the place of the first one that begins so, else at the end.
pub fn set_line(host: &dyn Host, path: &str, begins: &str, line: &str) -> Result<(), Fault> {
    let mut text = String::new();
    let mut found = false;
    for old in read(host, path)?.lines() {
        let replaces = old.starts_with(begins);
        text.push_str(if replaces { line } else { old });
        text.push('\n');
        found |= replaces;
    }
    if !found {
        text.push_str(line);
        text.push('\n');
    }
    write(host, path, &text)
}
