//! The account that a program acts as. To be changed before the first thread.

use super::Trouble;
use crate::daemon::privileges::{account, become_user};

/// All that follows is done, and may be done, as somebody else. `asker` is the option that names them.
pub fn act_as(name: &str, asker: &str) -> Result<(), Trouble> {
    let changed = account(name, asker).and_then(|user| match user {
        Some(user) => become_user(&user),
        None => Ok(()),
    });
    changed.map_err(|failure| Trouble::new(failure.exit, failure.message))
}

/// Root acts as the account of the configuration, so that what a program writes belongs to it.
pub fn act_as_configured(name: &str) -> Result<(), Trouble> {
    match rustix::process::geteuid().is_root() {
        true => act_as(name, "the option 'user'"),
        false => Ok(()),
    }
}
