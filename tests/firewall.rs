//! A network of its own, with a firewall that can take packets and say nothing.

use halite_core::testing::{Need, host_has, left_out};
use std::process::{Command, Stdio};

/// The network of the calling thread, and of all that it starts from then on. It is gone with them.
pub struct Firewall(());

impl Firewall {
    /// Leaves this host's network for a new one, which has a loopback alone. Nothing where that is not to be had: it takes
    /// root, `ip` and `nft` (packages iproute2 and nftables), and a kernel that lets root have it, as not in each container.
    #[track_caller]
    pub fn enter() -> Option<Firewall> {
        if !host_has(&[Need::Root, Need::Program("ip"), Need::Program("nft")]) {
            return None;
        }
        // SAFETY: no file descriptor or memory is unshared, the thread only gets another network.
        let entered = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) };
        let made = entered.is_ok()
            && run("ip", &["link", "set", "lo", "up"])
            && run("nft", &["add table ip halite; add chain ip halite in { type filter hook input priority 0; }"]);
        if !made {
            left_out("a network with a firewall of its own is not to be had here");
        }
        made.then_some(Firewall(()))
    }

    /// Drops all packets to a port and from it: nobody is told.
    pub fn block(&self, port: u16) {
        let rules = format!("add rule ip halite in tcp dport {port} drop; add rule ip halite in tcp sport {port} drop");
        assert!(run("nft", &[&rules]), "nft {rules}");
    }

    /// Lets everything through again.
    pub fn heal(&self) {
        assert!(run("nft", &["flush chain ip halite in"]));
    }
}

fn run(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Administrators' programs are not in everybody's path.
    command.env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").status().is_ok_and(|status| status.success())
}
