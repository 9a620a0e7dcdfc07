//! The mode that new files do not get.

use std::cell::Cell;
use std::fs;
use std::io;
use std::sync::LazyLock;

thread_local! {
    /// That of a thread that has one of its own.
    static OWN: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Does something with a umask that holds for it alone, and for the programs that it starts, whatever other threads do.
pub fn with_umask<T: Send>(mask: u32, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let masked = || {
        // SAFETY: the thread shares no file handle table with others any less than before; it only gets its own umask,
        // root and current directory, and ends with this function.
        unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FS) }?;
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
        OWN.set(Some(mask));
        Ok(work())
    };
    std::thread::scope(|scope| scope.spawn(masked).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// That of this thread. The process's is read once: a daemon sets it before it does anything else.
pub(super) fn current() -> u32 {
    static OF_PROCESS: LazyLock<u32> = LazyLock::new(of_process);
    OWN.get().unwrap_or_else(|| *OF_PROCESS)
}

/// Read from /proc: the system call that reads it also sets it, for all threads.
fn of_process() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_umask_that_it_was_given_and_the_others_keep_theirs() {
        let before = current();
        assert_eq!(with_umask(0o077, current).unwrap(), 0o077);
        let inside = with_umask(0o031, || fs::read_to_string("/proc/thread-self/status").unwrap()).unwrap();
        assert!(inside.contains("Umask:\t0031"));
        assert_eq!((current(), of_process()), (before, before));
    }
}
