//! Connections that there are.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Reply, text_file};
use halite_value::record;
use halite_value::{Map, Value};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

record! {
    /// Lists the connections by TCP.
    ///
    ///   salt '*' network.active_tcp
    pub struct ActiveTcp {}
}

impl Run for ActiveTcp {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in text_file::read(ctx.host, file)?.lines().skip(1) {
                let words: Vec<&str> = line.split_whitespace().collect();
                // 01: established.
                let [_, local, remote, "01", ..] = words.as_slice() else { continue };
                let (Some((local, local_port)), Some((remote, remote_port))) = (end(local), end(remote)) else {
                    continue;
                };
                let entry = [
                    ("local_addr", Value::from(local.to_string())),
                    ("local_port", local_port.into()),
                    ("remote_addr", remote.to_string().into()),
                    ("remote_port", remote_port.into()),
                ];
                shown.insert(shown.len(), Map::from_iter(entry));
            }
        }
        Ok(shown.into())
    }
}

/// Address and port as /proc has them: words of 32 bits in the host's order.
fn end(text: &str) -> Option<(IpAddr, u32)> {
    let (address, port) = text.split_once(':')?;
    let port = u32::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    let address: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let mut bytes = [0; 16];
            bytes.iter_mut().zip(words.concat()).for_each(|(byte, own)| *byte = own);
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some((address, port))
}

record! {
    /// Lists all sockets of the network, with who has them.
    ///
    ///   salt '*' network.netstat
    pub struct Netstat {}
}

impl Run for Netstat {
    fn run(self, ctx: &Ctx) -> Reply {
        let keys =
            ["proto", "recv-q", "send-q", "local-address", "remote-address", "state", "user", "inode", "program"];
        let mut shown = Vec::new();
        if ctx.host.which("netstat").is_some() {
            for line in Program::new(["netstat", "-tulpnea"]).mixed().query(ctx)?.stdout.lines() {
                let mut words: Vec<&str> = line.split_whitespace().collect();
                let is_udp = line.starts_with("udp");
                if !is_udp && !line.starts_with("tcp") {
                    continue;
                }
                if is_udp && words.get(5).is_none_or(|word| word.parse::<u32>().is_err()) && words.len() > 8 {
                    words.remove(5);
                }
                let own = keys.iter().filter(|key| !is_udp || **key != "state");
                shown.push(own.zip(&words).map(|(key, word)| (*key, *word)).collect::<Map>());
            }
            return Ok(Value::list(shown).into());
        }
        for line in Program::new(["ss", "-tulpnea"]).mixed().query(ctx)?.stdout.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [proto @ ("tcp" | "udp"), state, receive, send, local, remote, rest @ ..] = words.as_slice() else {
                continue;
            };
            let field = |name: &str| rest.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
            let program = field("users").and_then(|users| users.split('"').nth(1)).unwrap_or_default();
            let number = |name: &str| field(name).map_or(Value::Int(0), Value::from);
            let mut entry = Map::from_iter([
                ("proto", *proto),
                ("recv-q", receive),
                ("send-q", send),
                ("local-address", local),
                ("remote-address", remote),
            ]);
            if *proto == "tcp" {
                entry.insert("state", if *state == "ESTAB" { "ESTABLISHED" } else { *state });
            }
            entry.insert("user", number("uid"));
            entry.insert("inode", number("ino"));
            entry.insert("program", program);
            shown.push(entry);
        }
        Ok(Value::list(shown).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_of_proc_are_read() {
        assert_eq!(end("0100007F:1F90"), Some(("127.0.0.1".parse().unwrap(), 8080)));
        assert_eq!(end("00000000000000000000000001000000:0016"), Some(("::1".parse().unwrap(), 22)));
        assert_eq!(end("x:1"), None);
    }
}
