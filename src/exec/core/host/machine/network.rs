//! Names and connections of the real machine, as far as functions look at them.

use crate::host::Protocol;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

pub(super) fn resolve(name: &str) -> io::Result<Vec<IpAddr>> {
    let mut found: Vec<IpAddr> = Vec::new();
    for address in (name, 0).to_socket_addrs()? {
        if !found.contains(&address.ip()) {
            found.push(address.ip());
        }
    }
    Ok(found)
}

pub(super) fn reach(address: SocketAddr, protocol: Protocol, time: Duration) -> io::Result<()> {
    match protocol {
        Protocol::Tcp => TcpStream::connect_timeout(&address, time).map(drop),
        Protocol::Udp => {
            let socket = any(address)?;
            socket.set_read_timeout(Some(time))?;
            socket.connect(address)?;
            socket.send(b"halite")?;
            socket.recv(&mut [0; 255]).map(drop)
        }
    }
}

pub(super) fn send(address: SocketAddr, bytes: &[u8]) -> io::Result<()> {
    let socket = any(address)?;
    socket.set_broadcast(true)?;
    socket.send_to(bytes, address).map(drop)
}

fn any(address: SocketAddr) -> io::Result<UdpSocket> {
    let ip: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    UdpSocket::bind((ip, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn who_listens_is_reached() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let time = Duration::from_secs(5);
        assert!(reach(listener.local_addr().unwrap(), Protocol::Tcp, time).is_ok());
        // A port that is taken, so that no other test comes to listen at it, and that refuses all the same.
        let taken =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
        rustix::net::bind(&taken, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = rustix::net::getsockname(&taken).unwrap().try_into().unwrap();
        assert!(reach(address, Protocol::Tcp, time).is_err());
        assert_eq!(resolve("127.0.0.1").unwrap(), [IpAddr::from([127, 0, 0, 1])]);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        send(socket.local_addr().unwrap(), b"hello").unwrap();
        let mut buffer = [0; 9];
        assert_eq!(socket.recv(&mut buffer).unwrap(), 5);
    }
}
