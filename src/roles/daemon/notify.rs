//! Word for the service manager (systemd's `sd_notify`), where one listens.

use std::ffi::OsString;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable that names the socket. Children must not inherit it: they would speak for the daemon.
pub const VARIABLE: &str = "NOTIFY_SOCKET";

/// Where to say it; nowhere by default.
#[derive(Debug, Default)]
pub struct Notify(Option<OsString>);

impl Notify {
    pub fn from_environment() -> Notify {
        Notify(std::env::var_os(VARIABLE).filter(|path| !path.is_empty()))
    }

    /// The daemon serves, and this process is the one that stands for it.
    pub fn ready(&self) {
        self.say(&format!("READY=1\nMAINPID={}\nSTATUS=Serving", std::process::id()));
    }

    pub fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1_000_000 + now.tv_nsec / 1000));
    }

    pub fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// A manager that does not listen is no reason to do anything else.
    fn say(&self, what: &str) {
        let Some(path) = &self.0 else {
            return;
        };
        let address = match path.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
            _ => SocketAddr::from_pathname(path),
        };
        let said = address.and_then(|address| {
            let socket = UnixDatagram::unbound()?;
            socket.set_nonblocking(true)?;
            socket.send_to_addr(what.as_bytes(), &address)
        });
        if let Err(error) = said {
            log::debug!("the service manager at {} is not told: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 256];
        socket.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[test]
    fn the_manager_is_told_by_path_and_by_abstract_name() {
        let path = std::env::temp_dir().join(format!("halite-notify-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let name = format!("halite-notify-{}", std::process::id());
        let by_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let by_path = UnixDatagram::bind(&path).unwrap();
        for (given, socket) in [(path.clone().into_os_string(), by_path), (format!("@{name}").into(), by_name)] {
            let notify = Notify(Some(given));
            notify.ready();
            assert_eq!(received(&socket), format!("READY=1\nMAINPID={}\nSTATUS=Serving", std::process::id()));
            notify.stopping();
            assert_eq!(received(&socket), "STOPPING=1");
        }
        std::fs::remove_file(&path).unwrap();
        Notify(Some(path.into_os_string())).ready();
    }
}
