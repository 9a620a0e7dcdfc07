//! The names of addresses, as the host's resolver gives them: its program `getent` knows what the host is configured
//! with, which a static binary does not.

use super::host::{Command, Host};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

/// Addresses that are asked for at the same time: one without a name may cost seconds.
const AT_ONCE: usize = 8;
const PATIENCE: Duration = Duration::from_secs(10);

/// The full names of these addresses, sorted. One without a name, or a host without the program, has none.
pub fn of(host: &dyn Host, addresses: impl Iterator<Item = IpAddr>) -> Vec<String> {
    if host.which("getent").is_none() {
        return Vec::new();
    }
    let addresses: Vec<IpAddr> = addresses.collect();
    let mut names = BTreeSet::new();
    for some in addresses.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let asked: Vec<_> = some.iter().map(|ip| scope.spawn(|| name(host, *ip))).collect();
            names.extend(asked.into_iter().filter_map(|asked| asked.join().ok().flatten()));
        });
    }
    names.into_iter().collect()
}

fn name(host: &dyn Host, ip: IpAddr) -> Option<String> {
    let argv = ["getent".to_owned(), "hosts".to_owned(), ip.to_string()].to_vec();
    let told = host.query(&Command { argv, timeout: Some(PATIENCE), ..Command::default() }).ok()?;
    String::from_utf8_lossy(&told.stdout).split_whitespace().nth(1).map(str::to_owned)
}
