//! A host for tests: files in memory, commands that were scripted beforehand, a clock that only moves by `sleep`.
//!
//! A command that nobody scripted ends the test with its name.

use super::{
    Access, Accounts, Address, Attributes, Command, Content, FileKind, FileSystem, Fill, Finished, HostFiles, Network,
    Node as NodeKind, Processes, Protocol, Stat, User, web,
};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// A machine that exists in a test only.
#[derive(Default)]
pub struct Fake {
    state: Mutex<State>,
    users: Vec<User>,
    groups: BTreeMap<String, u32>,
    addresses: Vec<Address>,
    pages: Vec<(String, String)>,
    page: Option<u64>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Node>,
    scripts: Vec<(Vec<String>, Finished)>,
    ran: Vec<Command>,
    killed: Vec<(i32, i32)>,
    slept: Duration,
    env: BTreeMap<String, String>,
}

struct Node {
    kind: FileKind,
    bytes: Vec<u8>,
    attributes: Attributes,
}

impl Fake {
    pub fn new() -> Fake {
        Fake::default()
    }

    /// A file that is there.
    pub fn file(self, path: &str, text: &str) -> Fake {
        self.node(path, FileKind::File, text, 0o644)
    }

    /// A program that can be found in PATH.
    pub fn program(self, path: &str) -> Fake {
        self.node(path, FileKind::File, "", 0o755)
    }

    pub fn directory(self, path: &str) -> Fake {
        self.node(path, FileKind::Directory, "", 0o755)
    }

    pub fn env(self, name: &str, value: &str) -> Fake {
        self.state.lock().unwrap().env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn user(mut self, user: User) -> Fake {
        self.users.push(user);
        self
    }

    pub fn group(mut self, name: &str, gid: u32) -> Fake {
        self.groups.insert(name.to_owned(), gid);
        self
    }

    pub fn address(mut self, interface: &str, ip: &str) -> Fake {
        self.addresses.push(Address { interface: interface.to_owned(), ip: ip.parse().unwrap() });
        self
    }

    /// How large a page of its memory is.
    pub fn memory_page(mut self, bytes: u64) -> Fake {
        self.page = Some(bytes);
        self
    }

    /// What a web server gives under an address.
    pub fn page(mut self, url: &str, text: &str) -> Fake {
        self.pages.push((url.to_owned(), text.to_owned()));
        self
    }

    /// What a command gives each time it is run with exactly these arguments.
    pub fn command<const N: usize>(self, argv: [&str; N], finished: Finished) -> Fake {
        self.scripted(argv.map(str::to_owned).to_vec(), finished)
    }

    /// As `command`, for arguments that come from a file.
    pub fn scripted(self, argv: Vec<String>, finished: Finished) -> Fake {
        self.state.lock().unwrap().scripts.push((argv, finished));
        self
    }

    /// A command that succeeds and prints a text.
    pub fn answers<const N: usize>(self, argv: [&str; N], stdout: &str) -> Fake {
        self.command(argv, Finished { pid: 4242, stdout: stdout.as_bytes().to_vec(), ..Finished::default() })
    }

    /// The commands that were run, in order.
    pub fn ran(&self) -> Vec<Command> {
        self.state.lock().unwrap().ran.clone()
    }

    /// The signals that were sent: pid and number.
    pub fn killed(&self) -> Vec<(i32, i32)> {
        self.state.lock().unwrap().killed.clone()
    }

    pub fn slept(&self) -> Duration {
        self.state.lock().unwrap().slept
    }

    /// A file's text as it is now.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(Path::new(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn node(self, path: &str, kind: FileKind, text: &str, mode: u32) -> Fake {
        let attributes = Attributes { mode: Some(mode), uid: Some(0), gid: Some(0) };
        let node = Node { kind, bytes: text.as_bytes().to_vec(), attributes };
        self.state.lock().unwrap().files.insert(PathBuf::from(path), node);
        self
    }
}

fn missing<T>() -> io::Result<T> {
    Err(io::Error::from(io::ErrorKind::NotFound))
}

impl HostFiles for Fake {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.state.lock().unwrap().files.get(path) {
            Some(node) if node.kind == FileKind::File => Ok(node.bytes.clone()),
            Some(_) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            None => missing(),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Content>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    fn write(&self, path: &Path, bytes: &[u8], attributes: Attributes) -> io::Result<()> {
        let node = Node { kind: FileKind::File, bytes: bytes.to_vec(), attributes };
        self.state.lock().unwrap().files.insert(path.to_owned(), node);
        Ok(())
    }

    fn write_with(&self, path: &Path, attributes: Attributes, fill: Fill) -> io::Result<()> {
        let mut bytes = Vec::new();
        fill(&mut bytes)?;
        self.write(path, &bytes, attributes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let new = || Node { kind: FileKind::File, bytes: Vec::new(), attributes: Attributes::default() };
        state.files.entry(path.to_owned()).or_insert_with(new).bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The file comes from the real machine, where caches are.
    fn place(&self, from: &Path, path: &Path, attributes: Attributes) -> io::Result<()> {
        self.write(path, &std::fs::read(from)?, attributes)?;
        std::fs::remove_file(from)
    }

    /// To the real machine, where caches are.
    fn copy_out(&self, path: &Path, own: &Path) -> io::Result<()> {
        std::fs::write(own, self.read(path)?)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let state = self.state.lock().unwrap();
        let implied = state.files.keys().any(|file| file != path && file.starts_with(path));
        let target = |node: &Node| String::from_utf8_lossy(&node.bytes).into_owned().into();
        let target = state.files.get(path).filter(|node| node.kind == FileKind::Link).map(target);
        let (kind, size, attributes) = match state.files.get(path) {
            Some(node) => (node.kind, node.bytes.len(), node.attributes),
            None if implied => (FileKind::Directory, 0, Attributes { mode: Some(0o755), uid: Some(0), gid: Some(0) }),
            None => return missing(),
        };
        Ok(Stat {
            kind,
            mode: attributes.mode.unwrap_or(0o644),
            uid: attributes.uid.unwrap_or(0),
            gid: attributes.gid.unwrap_or(0),
            size: size as u64,
            modified: SystemTime::UNIX_EPOCH,
            accessed: SystemTime::UNIX_EPOCH,
            changed: SystemTime::UNIX_EPOCH,
            inode: 1,
            device: 1,
            links: 1,
            node: (0, 0),
            target,
        })
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        let real = PathBuf::from(crate::paths::real(self, &path.to_string_lossy()));
        self.stat(&real).map(|_| real)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let state = self.state.lock().unwrap();
        let mut names: Vec<String> = state
            .files
            .keys()
            .filter_map(|file| file.strip_prefix(directory).ok()?.iter().next()?.to_str().map(str::to_owned))
            .collect();
        names.dedup();
        if names.is_empty() && !state.files.contains_key(directory) { missing() } else { Ok(names) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state.lock().unwrap().files.remove(path).map_or_else(missing, |_| Ok(()))
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        let attributes = Attributes { mode: Some(mode), ..Attributes::default() };
        let node = Node { kind: FileKind::Directory, bytes: Vec::new(), attributes };
        self.state.lock().unwrap().files.insert(path.to_owned(), node);
        Ok(())
    }

    fn link(&self, target: &Path, path: &Path) -> io::Result<()> {
        let bytes = target.to_string_lossy().into_owned().into_bytes();
        let node = Node { kind: FileKind::Link, bytes, attributes: Attributes::default() };
        self.state.lock().unwrap().files.insert(path.to_owned(), node);
        Ok(())
    }

    fn set(&self, path: &Path, attributes: Attributes) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let Some(node) = state.files.get_mut(path) else {
            return missing();
        };
        let had = node.attributes;
        node.attributes = Attributes {
            mode: attributes.mode.or(had.mode),
            uid: attributes.uid.or(had.uid),
            gid: attributes.gid.or(had.gid),
        };
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let files = &mut self.state.lock().unwrap().files;
        let moved: Vec<PathBuf> = files.keys().filter(|path| path.starts_with(from)).cloned().collect();
        if moved.is_empty() {
            return missing();
        }
        for path in moved {
            let below = path.strip_prefix(from).unwrap();
            let new = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
            let node = files.remove(&path).unwrap();
            files.insert(new, node);
        }
        Ok(())
    }

    /// A second file with the same content.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.write(to, &self.read(from)?, Attributes::default())
    }

    fn make_node(&self, path: &Path, node: NodeKind, mode: u32) -> io::Result<()> {
        let kind = match node {
            NodeKind::Fifo => FileKind::Fifo,
            NodeKind::CharDevice(..) => FileKind::CharDevice,
            NodeKind::BlockDevice(..) => FileKind::BlockDevice,
        };
        let attributes = Attributes { mode: Some(mode), ..Attributes::default() };
        let node = Node { kind, bytes: Vec::new(), attributes };
        self.state.lock().unwrap().files.insert(path.to_owned(), node);
        Ok(())
    }

    fn umask(&self) -> u32 {
        0o022
    }

    /// Times are not kept.
    fn set_times(&self, path: &Path, _: SystemTime, _: SystemTime) -> io::Result<()> {
        self.stat(path).map(drop)
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        self.stat(path).map(|_| FileSystem { block_size: 4096, blocks: 100, blocks_free: 40, ..FileSystem::default() })
    }

    /// As root may.
    fn may(&self, path: &Path, access: Access) -> bool {
        self.stat(path).is_ok_and(|stat| access != Access::Execute || stat.mode & 0o111 != 0)
    }
}

impl Processes for Fake {
    fn run(&self, command: &Command) -> io::Result<Finished> {
        if let Some(feeding) = &command.fed_by {
            self.run(feeding)?;
        }
        let mut state = self.state.lock().unwrap();
        state.ran.push(command.clone());
        match state.scripts.iter().find(|(argv, _)| *argv == command.argv) {
            Some((_, finished)) => Ok(finished.clone()),
            None => panic!("nobody scripted the command {:?}", command.argv),
        }
    }

    fn query(&self, command: &Command) -> io::Result<Finished> {
        self.run(command)
    }

    fn which(&self, program: &str) -> Option<PathBuf> {
        let path = self.env("PATH").unwrap_or_else(|| "/usr/bin:/bin".to_owned());
        let found =
            |file: &PathBuf| self.stat(file).is_ok_and(|stat| stat.kind == FileKind::File && stat.mode & 0o111 != 0);
        path.split(':').map(|directory| Path::new(directory).join(program)).find(found)
    }

    /// That of the test.
    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn directory(&self) -> io::Result<PathBuf> {
        Ok(PathBuf::from("/"))
    }

    fn kill(&self, pid: i32, signal: i32) -> io::Result<()> {
        self.state.lock().unwrap().killed.push((pid, signal));
        Ok(())
    }

    fn env(&self, name: &str) -> Option<String> {
        self.state.lock().unwrap().env.get(name).cloned()
    }

    fn environment(&self) -> BTreeMap<String, String> {
        self.state.lock().unwrap().env.clone()
    }

    fn set_env(&self, name: &str, value: Option<&str>) -> io::Result<()> {
        if !super::environment::is_possible(name, value) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let env = &mut self.state.lock().unwrap().env;
        match value {
            Some(value) => env.insert(name.to_owned(), value.to_owned()),
            None => env.remove(name),
        };
        Ok(())
    }

    fn kernel_release(&self) -> String {
        "6.1.0-fake".to_owned()
    }

    fn page_size(&self) -> u64 {
        self.page.unwrap_or(4096)
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) + self.slept()
    }

    fn sleep(&self, time: Duration) {
        self.state.lock().unwrap().slept += time;
    }
}

impl Accounts for Fake {
    fn uid(&self) -> u32 {
        // Tests act as root, whoever runs them.
        0
    }

    fn gid(&self) -> u32 {
        0
    }

    fn user(&self, name: &str) -> io::Result<Option<User>> {
        Ok(self.users.iter().find(|user| user.name == name).cloned())
    }

    fn user_by_uid(&self, uid: u32) -> io::Result<Option<User>> {
        Ok(self.users.iter().find(|user| user.uid == uid).cloned())
    }

    fn group(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(self.groups.get(name).copied())
    }

    fn group_by_gid(&self, gid: u32) -> io::Result<Option<String>> {
        Ok(self.groups.iter().find(|(_, known)| **known == gid).map(|(name, _)| name.clone()))
    }
}

impl Network for Fake {
    fn host_name(&self) -> String {
        "fake".to_owned()
    }

    fn addresses(&self) -> io::Result<Vec<Address>> {
        Ok(self.addresses.clone())
    }

    /// The addresses of this host have its name; others are not known.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match name.parse() {
            Ok(ip) => Ok(vec![ip]),
            Err(_) if name == "localhost" => Ok(vec![IpAddr::from([127, 0, 0, 1])]),
            Err(_) => missing(),
        }
    }

    /// Port 22 is open, everywhere.
    fn reach(&self, address: SocketAddr, _: Protocol, _: Duration) -> io::Result<()> {
        if address.port() == 22 { Ok(()) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
    }

    fn send(&self, _: SocketAddr, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn web(&self, request: &web::Request, body: &mut dyn io::Write) -> io::Result<web::Response> {
        match self.pages.iter().find(|(url, _)| *url == request.url) {
            Some((_, text)) => {
                body.write_all(text.as_bytes())?;
                Ok(web::Response { status: 200, reason: "OK".to_owned(), headers: Vec::new() })
            }
            None => panic!("nobody scripted the page {}", request.url),
        }
    }
}

/// A directory of one test, gone at its end.
pub struct Directory(PathBuf);

impl Default for Directory {
    fn default() -> Directory {
        Directory::new()
    }
}

impl Directory {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Directory {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("halite-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Directory(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
