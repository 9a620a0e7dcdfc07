//! Another boot of the host, for one program alone: a mount namespace in which the kernel tells another boot id.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the kernel tells it.
const TOLD: &str = "/proc/sys/kernel/random/boot_id";
const ANOTHER: &str = "00000000-0000-0000-0000-000000000002";

/// A boot that this host is not in.
pub struct Boot {
    /// What is laid over the kernel's file.
    file: PathBuf,
}

impl Boot {
    /// Nothing where that is not to be had: it takes root, `unshare` and `mount` (package util-linux).
    pub fn another(directory: &Path) -> Option<Boot> {
        let boot = Boot { file: directory.join("boot_id") };
        fs::write(&boot.file, format!("{ANOTHER}\n")).unwrap();
        let told = boot.command(&["cat", TOLD]).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let is_told = told.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).trim() == ANOTHER);
        if !is_told {
            println!("no mount namespace, unshare or mount here: a crash of the host is left out");
        }
        is_told.then_some(boot)
    }

    /// Runs a command in it, which has the process that is started for its own.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        let line = format!("file=$1 && shift && mount --bind \"$file\" {TOLD} && exec \"$@\"");
        command.args(["--mount", "sh", "-c", &line, "sh"]).arg(&self.file).args(words);
        command
    }
}
