//! How many files a process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of open files to `wanted`, or as far as this process may. What is allowed then.
pub fn allow_open_files(wanted: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= wanted);
    if enough(now.current) {
        return now.current.unwrap_or(u64::MAX);
    }
    // Raising the upper limit is for root; up to it, for everybody.
    let most = if enough(now.maximum) { now.maximum } else { Some(wanted) };
    if setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: most }).is_ok() {
        return wanted;
    }
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_never_lowered() {
        let before = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        assert!(allow_open_files(1) >= before);
        assert!(allow_open_files(before) >= before);
    }
}
