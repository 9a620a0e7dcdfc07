//! The only unsafe code of `exec`: what happens in a child between fork and exec, the handle that a worker is given by
//! number, a thread that has a umask of its own, and the name of a function of libc that the standard library wants to
//! find.

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// Who a child becomes before it executes its program.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// All supplementary groups; an account's own when `uid` is set.
    pub groups: Option<Vec<u32>>,
    pub umask: Option<u32>,
}

impl Identity {
    fn is_ours(&self) -> bool {
        self.uid.is_none() && self.gid.is_none() && self.groups.is_none() && self.umask.is_none()
    }
}

// A program that is to run in another directory can be started without a copy of this process's memory map, which costs
// more the more is in memory: the standard library does so where libc has this function. It looks for it by a weak
// reference, which takes nothing out of a static libc, so here is a strong one. Nobody calls it by this name.
#[cfg(target_env = "gnu")]
unsafe extern "C" {
    fn posix_spawn_file_actions_addchdir_np();
}
#[cfg(target_env = "gnu")]
#[used]
static TAKE_FROM_LIBC: unsafe extern "C" fn() = posix_spawn_file_actions_addchdir_np;

/// Makes the child give up our identity for its own.
pub(super) fn become_user(command: &mut Command, identity: Identity) {
    if identity.is_ours() {
        return;
    }
    let groups: Option<Vec<rustix::process::Gid>> =
        identity.groups.map(|groups| groups.into_iter().map(rustix::process::Gid::from_raw).collect());
    let gid = identity.gid.map(rustix::process::Gid::from_raw);
    let uid = identity.uid.map(rustix::process::Uid::from_raw);
    let umask = identity.umask.map(rustix::fs::Mode::from_raw_mode);
    let change = move || -> io::Result<()> {
        // Groups first: without the uid of root they could not be changed any more. The calls act on a thread; after
        // fork there is only one.
        if let Some(groups) = &groups {
            rustix::thread::set_thread_groups(groups)?;
        }
        if let Some(gid) = gid {
            rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        }
        if let Some(uid) = uid {
            rustix::thread::set_thread_res_uid(uid, uid, uid)?;
        }
        if let Some(mask) = umask {
            rustix::process::umask(mask);
        }
        Ok(())
    };
    // SAFETY: the closure runs in the forked child, where only async-signal-safe work is allowed. It makes four system
    // calls on memory allocated before the fork; it takes no lock and allocates nothing (an error is a plain number).
    unsafe {
        command.pre_exec(change);
    }
}

/// Leaves `handle` open in the program that `command` starts, under the number it has here. No other child that is
/// started meanwhile sees it.
pub fn keep_open(command: &mut Command, handle: Arc<OwnedFd>) {
    // SAFETY: one system call on a handle that the closure owns; no lock, no allocation.
    unsafe {
        command.pre_exec(move || Ok(rustix::io::fcntl_setfd(handle.as_fd(), rustix::io::FdFlags::empty())?));
    }
}

/// Takes over a handle that [`keep_open`] of the parent left open, so that our own children do not get it. A number
/// that no open handle has is an error.
pub fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    if number < 3 || !std::path::Path::new(&format!("/proc/self/fd/{number}")).exists() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("handle {number} was not passed to us")));
    }
    // SAFETY: the number is an open handle, seen just above, which was made for us by our parent and which nothing in
    // this process has an owner for: called once, at the start of a worker.
    let handle = unsafe { OwnedFd::from_raw_fd(number) };
    rustix::io::fcntl_setfd(&handle, rustix::io::FdFlags::CLOEXEC)?;
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::IntoRawFd;

    #[test]
    fn an_adopted_handle_does_not_reach_our_children() {
        let handle = std::fs::File::open("/proc/self/stat").unwrap();
        rustix::io::fcntl_setfd(&handle, rustix::io::FdFlags::empty()).unwrap();
        let handle = adopt(handle.into_raw_fd()).unwrap();
        assert!(rustix::io::fcntl_getfd(&handle).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    }

    #[test]
    fn a_number_that_is_no_handle_is_refused() {
        assert!(adopt(0).is_err());
        assert!(adopt(-1).is_err());
        assert!(adopt(1_000_000).is_err());
    }
}
