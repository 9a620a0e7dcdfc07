//! The users and groups of a machine.

use std::io;
use std::path::PathBuf;

/// The accounts of a machine.
pub trait Accounts {
    /// The account that this process acts as.
    fn uid(&self) -> u32;
    /// The group that it acts as.
    fn gid(&self) -> u32;
    /// The account with this name.
    fn user(&self, name: &str) -> io::Result<Option<User>>;
    /// The account with this number.
    fn user_by_uid(&self, uid: u32) -> io::Result<Option<User>>;
    fn group(&self, name: &str) -> io::Result<Option<u32>>;
    /// The name of the group with this number.
    fn group_by_gid(&self, gid: u32) -> io::Result<Option<String>>;
}

/// An account of the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    pub home: PathBuf,
    pub shell: PathBuf,
    /// All groups it is in, the first one too.
    pub groups: Vec<u32>,
}
