//! A file of this host for the master (`cp.push`).

use super::{FileChannel, PART, WINDOW, unexpected};
use halite_lang::digest::HashType;
use halite_wire::cbor::{ByteString, Bytes};
use halite_wire::message::{FileAnswer, FileAsk};
use smol::Task;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// How often a file is sent anew that changes while it is sent.
const TRIES: usize = 3;

/// A file, open, with what it is known by.
struct Whole {
    file: Arc<File>,
    size: u64,
    digest: Bytes<32>,
}

impl FileChannel {
    /// Sends a file to the master, under these names. The error is a sentence: why it cannot be read, or is not taken.
    pub async fn push(self: &Rc<Self>, from: &Path, names: &[String]) -> Result<(), String> {
        let mut refused = String::new();
        for _ in 0..TRIES {
            let path = from.to_owned();
            let whole = smol::unblock(move || open(&path)).await;
            let whole = whole.map_err(|error| format!("{}: {error}", from.display()))?;
            match self.send(&whole, names).await? {
                FileAnswer::Done => return Ok(()),
                other => refused = unexpected(other),
            }
            let now = std::fs::metadata(from).map(|data| data.len()).unwrap_or_default();
            if now == whole.size {
                break;
            }
        }
        Err(refused)
    }

    async fn send(self: &Rc<Self>, whole: &Whole, names: &[String]) -> Result<FileAnswer, String> {
        let mut window: VecDeque<Task<Result<FileAnswer, String>>> = VecDeque::new();
        let mut at = 0;
        loop {
            while at < whole.size && window.len() < WINDOW {
                let (file, offset, length) = (whole.file.clone(), at, PART.min(whole.size - at) as usize);
                let bytes =
                    smol::unblock(move || read(&file, offset, length)).await.map_err(|error| error.to_string())?;
                window.push_back(self.spawn(FileAsk::Put { digest: whole.digest, offset, bytes: ByteString(bytes) }));
                at += length as u64;
            }
            let Some(part) = window.pop_front() else {
                break;
            };
            match part.await? {
                FileAnswer::Done => {}
                other => return Ok(other),
            }
        }
        self.ask(FileAsk::PutWhole { digest: whole.digest, size: whole.size, names: names.to_vec() }).await
    }
}

fn open(path: &Path) -> io::Result<Whole> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let text = HashType::Sha256.of(io::Read::take(&file, size))?;
    let mut digest = [0; 32];
    for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
        *byte = text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()).unwrap_or(0);
    }
    Ok(Whole { file: Arc::new(file), size, digest: Bytes(digest) })
}

fn read(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}
