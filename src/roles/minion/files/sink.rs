//! Where the parts of a file are written and hashed, on a thread that may block.

use halite_lang::digest::HashType;
use smol::Task;
use smol::channel::{Receiver, Sender, bounded};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Parts that wait for the disk.
const AHEAD: usize = 4;

/// A file that grows, and its digest.
pub(super) struct Sink {
    parts: Sender<Vec<u8>>,
    written: Task<io::Result<String>>,
    path: PathBuf,
}

impl Sink {
    /// Opens the file and says how much of it is there already. More than `most` means that it is another one.
    pub async fn open(path: PathBuf, kind: HashType, most: u64) -> io::Result<(Sink, u64)> {
        let (parts, incoming) = bounded(AHEAD);
        let (begun, length) = bounded(1);
        let at = path.clone();
        let written = smol::unblock(move || write(&at, kind, most, &begun, &incoming));
        match length.recv().await {
            Ok(length) => Ok((Sink { parts, written, path }, length)),
            Err(_) => Err(written.await.err().unwrap_or_else(|| io::ErrorKind::Other.into())),
        }
    }

    pub async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        match self.parts.send(bytes).await {
            Ok(()) => Ok(()),
            // It has ended early: it says why.
            Err(_) => Err((&mut self.written).await.err().unwrap_or_else(|| io::ErrorKind::Other.into())),
        }
    }

    /// The digest of all that was written.
    pub async fn finish(self) -> io::Result<String> {
        drop(self.parts);
        self.written.await
    }

    /// Removes the file.
    pub async fn discard(self) {
        let path = self.path.clone();
        let _ = self.finish().await;
        let _ = smol::unblock(move || fs::remove_file(path)).await;
    }
}

fn write(path: &Path, kind: HashType, most: u64, begun: &Sender<u64>, parts: &Receiver<Vec<u8>>) -> io::Result<String> {
    let mut file = open(path)?;
    let mut hasher = kind.hasher();
    let mut length = file.metadata()?.len();
    if length > most {
        file.set_len(0)?;
        length = 0;
    }
    let mut buffer = vec![0; 256 * 1024];
    let mut left = length;
    while left > 0 {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&buffer[..count]);
        left = left.saturating_sub(count as u64);
    }
    file.seek(io::SeekFrom::Start(length))?;
    let _ = begun.try_send(length);
    while let Ok(bytes) = parts.recv_blocking() {
        file.write_all(&bytes)?;
        hasher.update(&bytes);
    }
    Ok(hasher.finish())
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;

    #[test]
    fn a_file_goes_on_where_it_was_and_its_digest_is_that_of_the_whole() {
        let directory = Directory::new();
        let path = directory.path().join("incoming/parts");
        smol::block_on(async {
            let (mut sink, at) = Sink::open(path.clone(), HashType::Sha256, 11).await.unwrap();
            assert_eq!(at, 0);
            sink.write(b"hello ".to_vec()).await.unwrap();
            sink.finish().await.unwrap();
            let (mut sink, at) = Sink::open(path.clone(), HashType::Sha256, 11).await.unwrap();
            assert_eq!(at, 6);
            sink.write(b"world".to_vec()).await.unwrap();
            assert_eq!(sink.finish().await.unwrap(), HashType::Sha256.of(&b"hello world"[..]).unwrap());
            let (sink, at) = Sink::open(path.clone(), HashType::Sha256, 5).await.unwrap();
            assert_eq!(at, 0, "what is too long is another file");
            sink.discard().await;
            assert!(!path.exists());
        });
    }

    #[test]
    fn a_disk_that_takes_nothing_is_said() {
        let path = PathBuf::from("/proc/no/such/directory");
        smol::block_on(async { assert!(Sink::open(path, HashType::Md5, 1).await.is_err()) });
    }
}
