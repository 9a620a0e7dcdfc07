//! A view of a host under which nothing can be changed: what a state sees in test mode.

use super::{
    Access, Accounts, Address, Attributes, Command, Content, FileSystem, Fill, Finished, Host, HostFiles, Network,
    Node, Processes, Protocol, Stat, User, web,
};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Looks through to a host; refuses whatever would change it.
pub struct ReadOnly<'a>(pub &'a dyn Host);

impl HostFiles for ReadOnly<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Content>> {
        self.0.open(path)
    }

    fn write(&self, path: &Path, _: &[u8], _: Attributes) -> io::Result<()> {
        refused("write", &path.to_string_lossy())
    }

    fn write_with(&self, path: &Path, _: Attributes, _: Fill) -> io::Result<()> {
        refused("write", &path.to_string_lossy())
    }

    fn append(&self, path: &Path, _: &[u8]) -> io::Result<()> {
        refused("write", &path.to_string_lossy())
    }

    fn place(&self, _: &Path, path: &Path, _: Attributes) -> io::Result<()> {
        refused("write", &path.to_string_lossy())
    }

    /// What is Halite's own is not what a state changes.
    fn copy_out(&self, path: &Path, own: &Path) -> io::Result<()> {
        self.0.copy_out(path, own)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.0.stat(path)
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.real(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.0.list(directory)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        refused("remove", &path.to_string_lossy())
    }

    fn make_directory(&self, path: &Path, _: u32) -> io::Result<()> {
        refused("make", &path.to_string_lossy())
    }

    fn link(&self, _: &Path, path: &Path) -> io::Result<()> {
        refused("link", &path.to_string_lossy())
    }

    fn set(&self, path: &Path, _: Attributes) -> io::Result<()> {
        refused("change", &path.to_string_lossy())
    }

    fn rename(&self, from: &Path, _: &Path) -> io::Result<()> {
        refused("rename", &from.to_string_lossy())
    }

    fn hard_link(&self, _: &Path, to: &Path) -> io::Result<()> {
        refused("link", &to.to_string_lossy())
    }

    fn make_node(&self, path: &Path, _: Node, _: u32) -> io::Result<()> {
        refused("make", &path.to_string_lossy())
    }

    fn umask(&self) -> u32 {
        self.0.umask()
    }

    fn set_times(&self, path: &Path, _: SystemTime, _: SystemTime) -> io::Result<()> {
        refused("touch", &path.to_string_lossy())
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        self.0.file_system(path)
    }

    fn may(&self, path: &Path, access: Access) -> bool {
        self.0.may(path, access)
    }
}

impl Processes for ReadOnly<'_> {
    fn run(&self, command: &Command) -> io::Result<Finished> {
        refused("run", command.argv.first().map_or("", String::as_str))
    }

    fn query(&self, command: &Command) -> io::Result<Finished> {
        self.0.query(command)
    }

    fn which(&self, program: &str) -> Option<PathBuf> {
        self.0.which(program)
    }

    fn pid(&self) -> u32 {
        self.0.pid()
    }

    fn directory(&self) -> io::Result<PathBuf> {
        self.0.directory()
    }

    fn kill(&self, pid: i32, _: i32) -> io::Result<()> {
        refused("signal", &pid.to_string())
    }

    fn env(&self, name: &str) -> Option<String> {
        self.0.env(name)
    }

    fn environment(&self) -> BTreeMap<String, String> {
        self.0.environment()
    }

    fn set_env(&self, name: &str, _: Option<&str>) -> io::Result<()> {
        refused("set the variable", name)
    }

    fn kernel_release(&self) -> String {
        self.0.kernel_release()
    }

    fn page_size(&self) -> u64 {
        self.0.page_size()
    }

    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn sleep(&self, time: Duration) {
        self.0.sleep(time);
    }
}

impl Accounts for ReadOnly<'_> {
    fn uid(&self) -> u32 {
        self.0.uid()
    }

    fn gid(&self) -> u32 {
        self.0.gid()
    }

    fn user(&self, name: &str) -> io::Result<Option<User>> {
        self.0.user(name)
    }

    fn user_by_uid(&self, uid: u32) -> io::Result<Option<User>> {
        self.0.user_by_uid(uid)
    }

    fn group(&self, name: &str) -> io::Result<Option<u32>> {
        self.0.group(name)
    }

    fn group_by_gid(&self, gid: u32) -> io::Result<Option<String>> {
        self.0.group_by_gid(gid)
    }
}

impl Network for ReadOnly<'_> {
    fn host_name(&self) -> String {
        self.0.host_name()
    }

    fn addresses(&self) -> io::Result<Vec<Address>> {
        self.0.addresses()
    }

    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.resolve(name)
    }

    fn reach(&self, address: SocketAddr, protocol: Protocol, time: Duration) -> io::Result<()> {
        self.0.reach(address, protocol, time)
    }

    fn send(&self, address: SocketAddr, _: &[u8]) -> io::Result<()> {
        refused("send to", &address.to_string())
    }

    /// To fetch is to look.
    fn web(&self, request: &web::Request, body: &mut dyn io::Write) -> io::Result<web::Response> {
        match request.method.as_str() {
            "GET" | "HEAD" => self.0.web(request, body),
            method => refused(method, &request.url),
        }
    }
}

fn refused<T>(verb: &str, what: &str) -> io::Result<T> {
    Err(io::Error::new(
        io::ErrorKind::ReadOnlyFilesystem,
        format!("in test mode nothing is changed: would {verb} {what}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Fake;

    #[test]
    fn nothing_changes_through_a_read_only_view() {
        let fake = Fake::new().file("/a", "x").answers(["id"], "root");
        let view = ReadOnly(&fake);
        let command = Command { argv: vec!["id".to_owned()], ..Command::default() };
        assert_eq!(view.query(&command).unwrap().stdout, b"root");
        assert!(view.run(&command).is_err());
        assert!(view.write(Path::new("/a"), b"y", Attributes::default()).is_err());
        assert!(view.write_from(Path::new("/a"), &mut &b"y"[..], Attributes::default()).is_err());
        assert!(view.remove(Path::new("/a")).is_err());
        assert!(view.make_directory(Path::new("/b"), 0o755).is_err());
        assert!(view.kill(1, 15).is_err());
        assert_eq!(view.read(Path::new("/a")).unwrap(), b"x");
    }
}
