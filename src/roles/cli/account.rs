//! The account that a program acts as.

use super::Trouble;
use crate::roles::daemon::Failure;
use crate::roles::daemon::privileges::{account, become_user};

/// Acts as the account that was asked for; without one, root acts as the account of the configuration, so that what a
/// program writes belongs to it. To be called before the first thread.
pub fn act_as(asked: Option<&str>, configured: &str) -> Result<(), Trouble> {
    let is_root = rustix::process::geteuid().is_root();
    let Some(name) = asked.or(is_root.then_some(configured)) else {
        return Ok(());
    };
    let trouble = |failure: Failure| Trouble::new(failure.exit, failure.message);
    match account(name, "user").map_err(trouble)? {
        Some(user) => become_user(&user).map_err(trouble),
        None => Ok(()),
    }
}
