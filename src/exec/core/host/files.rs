//! What may be done to the files of a machine, and what is told of them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files of a machine.
pub trait HostFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Opens a file, for what may be too long to be read whole.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Content>>;
    /// Replaces a file whole: written beside it, owned and moded, then renamed. Never seen half-written.
    fn write(&self, path: &Path, bytes: &[u8], attributes: Attributes) -> io::Result<()>;
    /// As [`write`](HostFiles::write), by somebody who writes it piece by piece, however long it becomes.
    fn write_with(&self, path: &Path, attributes: Attributes, fill: Fill) -> io::Result<()>;
    /// The same with what a reader gives, to its end. Where the reader fails, what was there stays.
    fn write_from(&self, path: &Path, content: &mut dyn io::Read, attributes: Attributes) -> io::Result<()> {
        self.write_with(path, attributes, &mut |file| io::copy(content, file).map(drop))
    }
    /// Adds to the end of a file, which is made where it is missing.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Moves a whole file of Halite's own (from its cache) where it belongs, as [`write`](HostFiles::write) would put it.
    fn place(&self, from: &Path, path: &Path, attributes: Attributes) -> io::Result<()>;
    /// Copies a file, with its mode, to where it becomes one of Halite's own.
    fn copy_out(&self, path: &Path, own: &Path) -> io::Result<()>;
    /// Without following a link at the end of the path.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The path with every link in it resolved; there must be something.
    fn real(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a directory, sorted.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Removes a file, a link or an empty directory.
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Makes a symbolic link, or replaces the one that is there.
    fn link(&self, target: &Path, path: &Path) -> io::Result<()>;
    /// Sets owner and mode of a file or directory; those that are not given stay. Of a link it is the owner alone.
    fn set(&self, path: &Path, attributes: Attributes) -> io::Result<()>;
    /// Gives a file or directory another name on the same file system; what has that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes a named pipe or a device.
    fn make_node(&self, path: &Path, node: Node, mode: u32) -> io::Result<()>;
    /// The mode that new files do not get.
    fn umask(&self) -> u32;
    /// Sets when a file was last read and written, links followed.
    fn set_times(&self, path: &Path, accessed: SystemTime, modified: SystemTime) -> io::Result<()>;
    /// The file system that a path is on.
    fn file_system(&self, path: &Path) -> io::Result<FileSystem>;
    /// Whether this process may do that with a file, links followed.
    fn may(&self, path: &Path, access: Access) -> bool;
}

/// Writes what a file is to hold.
pub type Fill<'a> = &'a mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>;

/// What is in a file that is open: it is read from wherever one likes.
pub trait Content: io::Read + io::Seek {}

impl<T: io::Read + io::Seek> Content for T {}

/// Owner and mode of a file that is written; nothing: as the file had, else the process's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attributes {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    pub kind: FileKind,
    /// Permission bits, with setuid, setgid and sticky.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub modified: SystemTime,
    pub accessed: SystemTime,
    /// When owner, mode or content last changed.
    pub changed: SystemTime,
    pub inode: u64,
    pub device: u64,
    pub links: u64,
    /// Major and minor number of a device.
    pub node: (u32, u32),
    /// Where a symbolic link points.
    pub target: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Link,
    Fifo,
    Socket,
    CharDevice,
    BlockDevice,
}

/// What can be made beside files, directories and links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    Fifo,
    /// Major and minor number.
    CharDevice(u32, u32),
    BlockDevice(u32, u32),
}

/// What a process may want to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Exist,
    Read,
    Write,
    Execute,
}

/// Size and state of a file system, in the words of statvfs(3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// Bytes of a block that is best for reading and writing, and of one that the counts below mean.
    pub block_size: u64,
    pub fragment_size: u64,
    pub blocks: u64,
    pub blocks_free: u64,
    /// What others than root may have of the free ones.
    pub blocks_available: u64,
    pub files: u64,
    pub files_free: u64,
    pub files_available: u64,
    pub flags: u64,
    pub name_max: u64,
}
