//! The account that a daemon runs as.

use super::Failure;
use crate::cli::Exit;
use halite_core::host::{Accounts, Machine, User};
use rustix::process::{Gid, Uid, geteuid, getgroups};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// The account to change to; nothing where none is named or this process has it already. `asker` is the option that
/// names it, for messages.
pub fn account(name: &str, asker: &str) -> Result<Option<User>, Failure> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = Machine.user(name).map_err(|error| {
        Failure::new(Exit::NoUser, format!("the account '{name}' ({asker}) cannot be looked up: {error}"))
    })?;
    let Some(user) = found else {
        return Err(Failure::new(
            Exit::NoUser,
            format!("the account '{name}' does not exist: make it, or change {asker}"),
        ));
    };
    let own = geteuid().as_raw();
    if user.uid == own {
        return Ok(None);
    }
    if own != 0 {
        return Err(Failure::new(
            Exit::NotAllowed,
            format!("{asker} is '{name}': only root or '{name}' itself can start this"),
        ));
    }
    Ok(Some(user))
}

/// Gives up all rights but those of the account, for good.
///
/// The kernel changes one thread, so there must be only one. (glibc would change all of them, but is not asked: the
/// system calls are made directly.)
pub fn become_user(user: &User) -> Result<(), Failure> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        Failure::new(Exit::NotAllowed, format!("this process cannot become '{}': {what}: {error}", user.name))
    };
    let threads = std::fs::read_dir("/proc/self/task").map(Iterator::count);
    match threads {
        Ok(1) => {}
        Ok(number) => return Err(failed("it has threads", &number)),
        Err(error) => return Err(failed("/proc is needed to be sure of it", &error)),
    }
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    let groups: Vec<Gid> = user.groups.iter().map(|group| Gid::from_raw(*group)).collect();
    set_thread_groups(&groups).map_err(|error| failed("its groups", &error))?;
    set_thread_res_gid(gid, gid, gid).map_err(|error| failed("its group", &error))?;
    set_thread_res_uid(uid, uid, uid).map_err(|error| failed("its number", &error))?;
    let left = getgroups().map_err(|error| failed("its groups", &error))?;
    if left.iter().any(|group| !groups.contains(group)) {
        return Err(failed("its groups", &"some of ours are left"));
    }
    let root = Uid::from_raw(0);
    if user.uid != 0 && set_thread_res_uid(root, root, root).is_ok() {
        return Err(failed("its number", &"the way back is open"));
    }
    let home = user.home.to_string_lossy();
    // An account without a shell of its own (`nologin`) must still be able to run commands: in the usual one.
    let shell = user.shell.file_name().and_then(|name| name.to_str());
    let shell = shell.filter(|name| !matches!(*name, "nologin" | "false")).map(|_| user.shell.to_string_lossy());
    let variables = [
        ("HOME", Some(home)),
        ("SHELL", shell),
        ("USER", Some(user.name.as_str().into())),
        ("LOGNAME", Some(user.name.as_str().into())),
    ];
    for (name, value) in variables {
        // SAFETY: no other thread reads the environment: it was seen above that there is none.
        unsafe {
            match value {
                Some(value) => std::env::set_var(name, value.as_ref()),
                None => std::env::remove_var(name),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_changed_to_only_where_it_is_another() {
        assert_eq!(account("", "user"), Ok(None));
        assert_eq!(account("no such account", "user").unwrap_err().exit, Exit::NoUser);
        let own = Machine.user_by_uid(geteuid().as_raw()).unwrap().unwrap();
        assert_eq!(account(&own.name, "user"), Ok(None));
    }

    #[test]
    fn rights_are_not_given_up_beside_other_threads() {
        // Test programs have several.
        let refused = become_user(&User { name: "x".to_owned(), uid: 4242, gid: 4242, ..User::default() });
        assert!(refused.unwrap_err().message.contains("threads"));
        assert_ne!(geteuid().as_raw(), 4242);
    }
}
