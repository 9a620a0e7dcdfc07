//! The machine below a function: processes, files, users and the clock.
//!
//! [`Host`] has three kinds: the real machine, a fake for tests in which a command that nobody scripted fails loudly,
//! and a read-only view under which a state in test mode cannot change anything.

mod accounts;
mod acting;
mod child;
mod environment;
#[cfg(any(test, feature = "testing"))]
pub mod fake;
mod files;
mod machine;
mod network;
mod nodes;
mod pipeline;
mod process;
mod read_only;
mod umask;
pub mod web;

pub use acting::acting_as;
pub use child::{adopt, keep_open};
pub use machine::Machine;
pub use read_only::ReadOnly;
pub use umask::with_umask;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a function may do to the machine it runs on.
pub trait Host: Sync {
    /// Runs a command that may change the machine, to its end or to its timeout.
    fn run(&self, command: &Command) -> io::Result<Finished>;
    /// Runs a command that only asks; a read-only host allows it.
    fn query(&self, command: &Command) -> io::Result<Finished>;
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Opens a file, for what may be too long to be read whole.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Content>>;
    /// Replaces a file whole: written beside it, owned and moded, then renamed. Never seen half-written.
    fn write(&self, path: &Path, bytes: &[u8], attributes: Attributes) -> io::Result<()>;
    /// As [`write`](Host::write), by somebody who writes it piece by piece, however long it becomes.
    fn write_with(&self, path: &Path, attributes: Attributes, fill: Fill) -> io::Result<()>;
    /// The same with what a reader gives, to its end. Where the reader fails, what was there stays.
    fn write_from(&self, path: &Path, content: &mut dyn io::Read, attributes: Attributes) -> io::Result<()> {
        self.write_with(path, attributes, &mut |file| io::copy(content, file).map(drop))
    }
    /// Adds to the end of a file, which is made where it is missing.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Moves a whole file of Halite's own (from its cache) where it belongs, as [`write`](Host::write) would put it.
    fn place(&self, from: &Path, path: &Path, attributes: Attributes) -> io::Result<()>;
    /// Without following a link at the end of the path.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The names in a folder, sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Removes a file, a link or an empty folder.
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn make_folder(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Makes a symbolic link, or replaces the one that is there.
    fn link(&self, target: &Path, path: &Path) -> io::Result<()>;
    /// Sets owner and mode of a file or folder; those that are not given stay. Of a link it is the owner alone.
    fn set(&self, path: &Path, attributes: Attributes) -> io::Result<()>;
    /// Gives a file or folder another name on the same file system; what has that name is replaced.
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
    /// Shows a text to whoever runs this program, before it has come to its end; a daemon has nobody to show it to.
    fn say(&self, _text: &str) -> io::Result<()> {
        Ok(())
    }
    /// Bytes of a page of memory, in which the kernel counts some of it.
    fn page_size(&self) -> u64;
    fn now(&self) -> SystemTime;
    fn sleep(&self, time: Duration);
    fn env(&self, name: &str) -> Option<String>;
    /// All variables of the environment.
    fn environment(&self) -> BTreeMap<String, String>;
    /// Sets a variable for this process and the commands that it runs from now on; `None` removes it. Names that no
    /// process can have are refused.
    fn set_env(&self, name: &str, value: Option<&str>) -> io::Result<()>;
    /// The account that this process acts as.
    fn uid(&self) -> u32;
    /// The account with this name.
    fn user(&self, name: &str) -> io::Result<Option<User>>;
    /// The account with this number.
    fn user_by_uid(&self, uid: u32) -> io::Result<Option<User>>;
    fn group(&self, name: &str) -> io::Result<Option<u32>>;
    /// The name of the group with this number.
    fn group_by_gid(&self, gid: u32) -> io::Result<Option<String>>;
    /// The first executable with this name in PATH.
    fn which(&self, program: &str) -> Option<PathBuf>;
    fn kill(&self, pid: i32, signal: i32) -> io::Result<()>;
    /// The addresses of its network interfaces.
    fn addresses(&self) -> io::Result<Vec<Address>>;
    /// The addresses of a name, as the resolver gives them.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
    /// Whether something listens at an address: connects and hangs up.
    fn reach(&self, address: SocketAddr, protocol: Protocol, time: Duration) -> io::Result<()>;
    /// Sends one datagram; to everybody in a network if the address means that.
    fn send(&self, address: SocketAddr, bytes: &[u8]) -> io::Result<()>;
    /// Asks a web server; the body of a success is written as it comes.
    fn web(&self, request: &web::Request, body: &mut dyn io::Write) -> io::Result<web::Response>;
}

/// Writes what a file is to hold.
pub type Fill<'a> = &'a mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>;

/// What is in a file that is open: it is read from wherever one likes.
pub trait Content: io::Read + io::Seek {}

impl<T: io::Read + io::Seek> Content for T {}

/// How a host is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Udp,
}

/// An address of a network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub interface: String,
    pub ip: IpAddr,
}

/// A process to run: an argument list, never a line for a shell (who wants a shell names it).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pub argv: Vec<String>,
    pub cwd: Option<PathBuf>,
    /// Set on top of the inherited environment; `None` removes.
    pub env: BTreeMap<String, Option<String>>,
    /// Start from an empty environment.
    pub clean_env: Choice,
    pub stdin: Option<Vec<u8>>,
    /// The command whose output this one reads in place of `stdin`, through a pipe: however much it is, nobody holds it.
    /// Only the first in such a line may have a `stdin`. Its errors go where those of this one go; its exit code does
    /// not matter, as in a shell. Time, background and the mixing of errors are those of the last.
    pub fed_by: Option<Box<Command>>,
    /// Run as this user: uid, gid, its supplementary groups.
    pub runas: Option<User>,
    /// Overrides the gid and groups of `runas`.
    pub group: Option<u32>,
    pub umask: Option<u32>,
    /// Past it the whole process group is killed and `Finished::timed_out` says so.
    pub timeout: Option<Duration>,
    /// Standard error goes where standard output goes, in order.
    pub merge_stderr: Choice,
    /// Left to itself: not waited for, its output dropped.
    pub background: Choice,
}

/// A yes or no that says which at the place where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    #[default]
    No,
    Yes,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    pub pid: u32,
    /// The exit code, or minus the signal that ended it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// How many bytes behind the end of `stdout` and of `stderr` were too many to keep.
    pub stdout_cut: u64,
    pub stderr_cut: u64,
    pub timed_out: Choice,
}

/// What people are told of bytes that were too many to keep; nothing if there were none.
pub fn words_of_cut(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format!("\n[{bytes} more bytes were not kept]"))
}

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
    Folder,
    Link,
    Fifo,
    Socket,
    CharDevice,
    BlockDevice,
}

/// What can be made beside files, folders and links.
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

/// An account of the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    pub home: PathBuf,
    pub shell: PathBuf,
    /// All groups it is in, the first one too.
    pub groups: Vec<u32>,
}
