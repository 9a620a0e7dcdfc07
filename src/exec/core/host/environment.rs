//! The environment of this process, with what was changed in it.
//!
//! A process cannot change its own while other threads may read it. So changes are noted here, and whoever reads a
//! variable or starts a command asks here.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `None`: removed.
static CHANGED: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());

fn noted() -> MutexGuard<'static, BTreeMap<String, Option<String>>> {
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn variable(name: &str) -> Option<String> {
    match noted().get(name) {
        Some(value) => value.clone(),
        None => std::env::var(name).ok(),
    }
}

/// Those that are text.
pub(super) fn all() -> BTreeMap<String, String> {
    let inherited =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut all: BTreeMap<String, String> = inherited.collect();
    for (name, value) in changes() {
        match value {
            Some(value) => all.insert(name, value),
            None => all.remove(&name),
        };
    }
    all
}

/// What differs from the environment that this process was started with.
pub(super) fn changes() -> BTreeMap<String, Option<String>> {
    noted().clone()
}

pub(super) fn set(name: &str, value: Option<&str>) -> io::Result<()> {
    if !is_possible(name, value) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no environment can hold it"));
    }
    noted().insert(name.to_owned(), value.map(str::to_owned));
    Ok(())
}

pub(super) fn is_possible(name: &str, value: Option<&str>) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.is_some_and(|value| value.contains('\0'))
}

#[cfg(test)]
mod tests {
    use crate::host::{Choice, Command, Machine, Processes};

    #[test]
    fn a_change_is_seen_by_this_process_and_by_its_commands() {
        const NAME: &str = "HALITE_TEST_OF_A_CHANGED_ENVIRONMENT";
        let shown = |clean_env| {
            let argv = ["/bin/sh", "-c", &format!("echo ${NAME}")].map(str::to_owned).to_vec();
            let finished = Machine.run(&Command { argv, clean_env, ..Command::default() }).unwrap();
            String::from_utf8(finished.stdout).unwrap()
        };
        Machine.set_env(NAME, Some("a b")).unwrap();
        assert_eq!(Machine.env(NAME).as_deref(), Some("a b"));
        assert_eq!(Machine.environment().get(NAME).map(String::as_str), Some("a b"));
        assert_eq!((shown(Choice::No).as_str(), shown(Choice::Yes).as_str()), ("a b\n", "\n"));
        Machine.set_env(NAME, None).unwrap();
        assert_eq!((Machine.env(NAME), shown(Choice::No).as_str()), (None, "\n"));
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            assert!(Machine.set_env(name, Some(value)).is_err(), "{name:?}");
        }
    }
}
