//! Connections over TCP, their names resolved anew for each.

use super::super::link::{Link, LinkError, Local, Subscription, Transport};
use super::{Connection, Subscriber};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Connections over TCP.
#[derive(Clone)]
pub struct Tcp {
    /// How long a connection may take to be made.
    pub timeout: Duration,
    pub family: Family,
    pub keepalive: Keepalive,
}

/// Which addresses of a name are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Those that there are, IPv4 first.
    Any,
    V4,
    V6,
}

/// Whether TCP asks a silent peer. How often is the system's to say: NNG has no option for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keepalive {
    On,
    Off,
}

impl Transport for Tcp {
    fn connect(&self, host: &str, port: u16) -> Local<Result<Rc<dyn Link>, LinkError>> {
        let (host, timeout, family, keepalive) = (host.to_owned(), self.timeout, self.family, self.keepalive);
        Box::pin(async move {
            let address = resolve(host, port, family).await?;
            let connection = Connection::tcp(address, timeout, keepalive).await?;
            Ok(Rc::new(connection) as Rc<dyn Link>)
        })
    }

    fn subscribe(&self, host: &str, port: u16) -> Local<Result<Box<dyn Subscription>, LinkError>> {
        let (host, family, keepalive) = (host.to_owned(), self.family, self.keepalive);
        Box::pin(async move {
            let address = resolve(host, port, family).await?;
            let subscriber = Subscriber::dial(&format!("tcp://{address}"), keepalive)?;
            Ok(Box::new(subscriber) as Box<dyn Subscription>)
        })
    }
}

/// Asks the system for the name's addresses, each time anew: a name may move. An address needs no system.
async fn resolve(host: String, port: u16, family: Family) -> Result<SocketAddr, LinkError> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    let name = host.clone();
    let found = smol::unblock(move || (name.as_str(), port).to_socket_addrs().map(Vec::from_iter)).await;
    let mut addresses = found.map_err(|error| {
        let hint = if Path::new("/etc/hosts").exists() || Path::new("/etc/resolv.conf").exists() {
            ""
        } else {
            " (there is neither /etc/hosts nor /etc/resolv.conf: give an address)"
        };
        LinkError::Unreachable(format!("the name '{host}' does not resolve: {error}{hint}"))
    })?;
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let (fits, kind): (fn(&SocketAddr) -> bool, _) = match family {
        Family::Any => (|_| true, "address"),
        Family::V4 => (SocketAddr::is_ipv4, "IPv4 address"),
        Family::V6 => (SocketAddr::is_ipv6, "IPv6 address"),
    };
    let found = addresses.into_iter().find(fits);
    found.ok_or_else(|| LinkError::Unreachable(format!("the name '{host}' has no {kind}")))
}
