//! Names, addresses and connections, as a machine has them.

use super::web;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The network that a machine is in.
pub trait Network {
    /// The name that the machine has for itself.
    fn host_name(&self) -> String;
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
