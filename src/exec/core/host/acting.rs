//! Work that is done as another account.

use super::User;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::io;

/// Does something as this account, with its groups and no more rights than it has. Threads have an identity of their own
/// to the kernel: it is given up in a new one, which never gets it back and ends with the work.
pub fn acting_as<T: Send>(user: &User, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let me = rustix::process::geteuid();
    if !me.is_root() && me.as_raw() == user.uid {
        return Ok(work());
    }
    let acting = || {
        let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
        let groups: Vec<Gid> = user.groups.iter().copied().map(Gid::from_raw).collect();
        // Groups first: without the uid of root they could not be changed any more.
        set_thread_groups(&groups)?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        Ok(work())
    };
    std::thread::scope(|scope| scope.spawn(acting).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Need, host_has};
    use std::fs;

    #[test]
    fn a_thread_acts_as_an_account_and_the_others_stay_who_they_are() {
        if !host_has(&[Need::Root]) {
            return;
        }
        let user = User { uid: 65534, gid: 65533, groups: vec![65533, 12345], ..User::default() };
        let status = acting_as(&user, || fs::read_to_string("/proc/thread-self/status")).unwrap().unwrap();
        for line in ["Uid:\t65534\t65534\t65534\t65534", "Gid:\t65533\t65533\t65533\t65533", "Groups:\t12345 65533"] {
            assert!(status.contains(line), "{line} is not in {status}");
        }
        assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
        assert!(rustix::process::geteuid().is_root());
    }
}
