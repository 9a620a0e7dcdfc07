//! Notices changes of a directory of keys without looking at the disk: the kernel puts a word for each into a queue.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

/// A directory that is watched. What other hosts do to it over a network is not seen.
#[derive(Debug)]
pub struct Watch {
    queue: OwnedFd,
}

/// What has happened in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    Nothing,
    /// A key may have come, gone, moved or changed.
    Changed,
    /// The directory itself is gone or was moved: from now on nothing is noticed.
    Lost,
}

impl Watch {
    /// Begins to watch a directory. It looks at the disk.
    pub fn on(directory: &Path) -> io::Result<Watch> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let changes = WatchFlags::CREATE | WatchFlags::CLOSE_WRITE | WatchFlags::DELETE | WatchFlags::MOVE;
        let itself = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
        inotify::add_watch(&queue, directory, changes | itself)?;
        Ok(Watch { queue })
    }

    /// What has happened since this was asked last. Reads memory of the kernel alone.
    pub fn news(&self) -> News {
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut news = News::Nothing;
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return news,
                Err(_) => return News::Lost,
            };
            // A directory that is unmounted or deleted tells so with `IGNORED` at the latest.
            if event.events().intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED) {
                return News::Lost;
            }
            // No id begins with a dot: such a file is one that is being written.
            if event.file_name().is_none_or(|name| !name.to_bytes().starts_with(b".")) {
                news = News::Changed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_happens_in_a_directory_is_told_once() {
        let directory = std::env::temp_dir().join(format!("halite-watch-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let watch = Watch::on(&directory).unwrap();
        assert_eq!(watch.news(), News::Nothing);
        fs::write(directory.join(".new.1"), "x").unwrap();
        assert_eq!(watch.news(), News::Nothing, "it is no key yet");
        fs::rename(directory.join(".new.1"), directory.join("web1")).unwrap();
        assert_eq!((watch.news(), watch.news()), (News::Changed, News::Nothing));
        fs::write(directory.join("web1"), "y").unwrap();
        assert_eq!(watch.news(), News::Changed, "one that is overwritten in its place");
        fs::remove_file(directory.join("web1")).unwrap();
        assert_eq!(watch.news(), News::Changed);
        fs::remove_dir(&directory).unwrap();
        assert_eq!(watch.news(), News::Lost);
        assert!(Watch::on(&directory).is_err());
    }
}
