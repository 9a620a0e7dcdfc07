//! The real machine.

mod accounts;
mod files;
mod network;
mod nodes;
mod pipeline;
mod process;

use super::{
    Access, Accounts, Address, Attributes, Command, Content, FileSystem, Fill, Finished, HostFiles, Network, Node,
    Processes, Protocol, Stat, User, environment, umask, web,
};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The machine that this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl HostFiles for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Content>> {
        Ok(Box::new(std::fs::File::open(path)?))
    }

    fn write(&self, path: &Path, bytes: &[u8], attributes: Attributes) -> io::Result<()> {
        files::write(path, bytes, attributes)
    }

    fn write_with(&self, path: &Path, attributes: Attributes, fill: Fill) -> io::Result<()> {
        files::write_with(path, attributes, fill)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        files::append(path, bytes)
    }

    fn place(&self, from: &Path, path: &Path, attributes: Attributes) -> io::Result<()> {
        files::place(from, path, attributes)
    }

    fn copy_out(&self, path: &Path, own: &Path) -> io::Result<()> {
        std::fs::copy(path, own).map(drop)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        files::stat(path)
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        files::list(directory)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        files::remove(path)
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        files::make_directory(path, mode)
    }

    fn link(&self, target: &Path, path: &Path) -> io::Result<()> {
        files::link(target, path)
    }

    fn set(&self, path: &Path, attributes: Attributes) -> io::Result<()> {
        files::set(path, attributes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn make_node(&self, path: &Path, node: Node, mode: u32) -> io::Result<()> {
        nodes::make(path, node, mode)
    }

    fn umask(&self) -> u32 {
        umask::current()
    }

    fn set_times(&self, path: &Path, accessed: SystemTime, modified: SystemTime) -> io::Result<()> {
        nodes::set_times(path, accessed, modified)
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        nodes::file_system(path)
    }

    fn may(&self, path: &Path, access: Access) -> bool {
        nodes::may(path, access)
    }
}

impl Processes for Machine {
    fn run(&self, command: &Command) -> io::Result<Finished> {
        process::run(command)
    }

    fn query(&self, command: &Command) -> io::Result<Finished> {
        process::run(command)
    }

    fn which(&self, program: &str) -> Option<PathBuf> {
        let executable = |path: &Path| {
            std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        };
        if program.contains('/') {
            let path = PathBuf::from(program);
            return executable(&path).then_some(path);
        }
        if program.is_empty() {
            return None;
        }
        let path = self.env("PATH").unwrap_or_else(|| DEFAULT_PATH.to_owned());
        path.split(':').map(|directory| Path::new(directory).join(program)).find(|candidate| executable(candidate))
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn directory(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    fn kill(&self, pid: i32, signal: i32) -> io::Result<()> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        // 0 and negative numbers would mean whole groups.
        let pid = Some(pid).filter(|pid| *pid > 0).and_then(rustix::process::Pid::from_raw).ok_or_else(invalid)?;
        if signal == 0 {
            return Ok(rustix::process::test_kill_process(pid)?);
        }
        let signal = rustix::process::Signal::from_named_raw(signal).ok_or_else(invalid)?;
        Ok(rustix::process::kill_process(pid, signal)?)
    }

    fn env(&self, name: &str) -> Option<String> {
        environment::variable(name)
    }

    fn environment(&self) -> BTreeMap<String, String> {
        environment::all()
    }

    fn set_env(&self, name: &str, value: Option<&str>) -> io::Result<()> {
        environment::set(name, value)
    }

    fn say(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        io::Write::write_all(&mut out, text.as_bytes())?;
        io::Write::flush(&mut out)
    }

    fn kernel_release(&self) -> String {
        rustix::system::uname().release().to_string_lossy().into_owned()
    }

    fn page_size(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Accounts for Machine {
    fn uid(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn gid(&self) -> u32 {
        rustix::process::getegid().as_raw()
    }

    fn user(&self, name: &str) -> io::Result<Option<User>> {
        accounts::user(name)
    }

    fn user_by_uid(&self, uid: u32) -> io::Result<Option<User>> {
        accounts::user_by_uid(uid)
    }

    fn group(&self, name: &str) -> io::Result<Option<u32>> {
        accounts::group(name)
    }

    fn group_by_gid(&self, gid: u32) -> io::Result<Option<String>> {
        accounts::group_by_gid(gid)
    }
}

impl Network for Machine {
    fn host_name(&self) -> String {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }

    fn addresses(&self) -> io::Result<Vec<Address>> {
        let interfaces = if_addrs::get_if_addrs()?;
        Ok(interfaces.into_iter().map(|entry| Address { ip: entry.ip(), interface: entry.name }).collect())
    }

    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        network::resolve(name)
    }

    fn reach(&self, address: SocketAddr, protocol: Protocol, time: Duration) -> io::Result<()> {
        network::reach(address, protocol, time)
    }

    fn send(&self, address: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        network::send(address, bytes)
    }

    fn web(&self, request: &web::Request, body: &mut dyn io::Write) -> io::Result<web::Response> {
        web::ask(request, body)
    }
}

/// Where programs are when the environment does not say.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_path() {
        assert!(Machine.which("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(Machine.which("/bin/sh"), Some(PathBuf::from("/bin/sh")));
        assert_eq!(Machine.which("no-such-program"), None);
        assert_eq!(Machine.which("/etc/passwd"), None);
    }

    #[test]
    fn a_signal_never_goes_to_a_group() {
        assert_eq!(Machine.kill(0, 0).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(Machine.kill(-1, 15).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(Machine.kill(std::process::id() as i32, 0).is_ok());
    }
}
