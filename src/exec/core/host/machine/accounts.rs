//! Users and groups: from `/etc/passwd` and `/etc/group`, else from the host's `getent`, since a static program has no
//! NSS and does not see LDAP or sssd itself.

use crate::host::User;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

static PASSWD: Kept<User> = Kept::new("/etc/passwd", parse_users);
static GROUP: Kept<Group> = Kept::new("/etc/group", parse_groups);

pub(super) fn user(name: &str) -> io::Result<Option<User>> {
    match PASSWD.read()?.iter().find(|user| user.name == name) {
        Some(user) => with_groups(user).map(Some),
        None => asked_user(name),
    }
}

pub(super) fn user_by_uid(uid: u32) -> io::Result<Option<User>> {
    match PASSWD.read()?.iter().find(|user| user.uid == uid) {
        Some(user) => with_groups(user).map(Some),
        None => asked_user(&uid.to_string()),
    }
}

pub(super) fn group(name: &str) -> io::Result<Option<u32>> {
    let found = GROUP.read()?.iter().find(|group| group.name == name).map(|group| group.gid);
    if found.is_some() || !askable(name) {
        return Ok(found);
    }
    Ok(asked_group(name).map(|group| group.gid))
}

pub(super) fn group_by_gid(gid: u32) -> io::Result<Option<String>> {
    let found = GROUP.read()?.iter().find(|group| group.gid == gid).map(|group| group.name.clone());
    Ok(found.or_else(|| asked_group(&gid.to_string()).map(|group| group.name)))
}

fn with_groups(user: &User) -> io::Result<User> {
    Ok(User { groups: groups_of(user, &GROUP.read()?), ..user.clone() })
}

fn asked_user(name: &str) -> io::Result<Option<User>> {
    if !askable(name) {
        return Ok(None);
    }
    let Some(mut user) = getent(&["passwd", name]).and_then(|line| parse_users(&line).pop()) else {
        return Ok(None);
    };
    user.groups = match getent(&["initgroups", &user.name]) {
        Some(line) => line.split_whitespace().skip(1).filter_map(|gid| gid.parse().ok()).collect(),
        None => Vec::new(),
    };
    if !user.groups.contains(&user.gid) {
        user.groups.insert(0, user.gid);
    }
    Ok(Some(user))
}

fn asked_group(name: &str) -> Option<Group> {
    getent(&["group", name]).and_then(|line| parse_groups(&line).pop())
}

/// Whether a text may be a name at all, and not an option of `getent`.
fn askable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && !name.contains([':', '\n', '/', '\0'])
}

/// What `getent` prints; nothing when it is not there or knows nothing.
fn getent(arguments: &[&str]) -> Option<String> {
    let output = std::process::Command::new("getent")
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A file of accounts, kept until it changes: states ask for the owner of each of a thousand files.
struct Kept<T: 'static> {
    path: &'static str,
    parse: fn(&str) -> Vec<T>,
    last: Mutex<Option<(Stamp, Arc<[T]>)>>,
}

/// What is another when a file is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: SystemTime,
}

impl Stamp {
    fn of(data: &fs::Metadata) -> Stamp {
        let changed = super::nodes::moment(data.ctime(), data.ctime_nsec());
        Stamp { device: data.dev(), inode: data.ino(), size: data.size(), changed }
    }

    /// Whether a later change has another time: clocks of file systems go in steps of some milliseconds.
    fn is_settled(self) -> bool {
        self.changed.elapsed().is_ok_and(|age| age > Duration::from_secs(1))
    }
}

impl<T> Kept<T> {
    const fn new(path: &'static str, parse: fn(&str) -> Vec<T>) -> Kept<T> {
        Kept { path, parse, last: Mutex::new(None) }
    }

    /// A missing file is a host without accounts (an empty chroot), not an error.
    fn read(&self) -> io::Result<Arc<[T]>> {
        let stamp = match fs::metadata(self.path) {
            Ok(data) => Stamp::of(&data),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::from([])),
            Err(error) => return Err(error),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, accounts)) = last.as_ref().filter(|(kept, _)| *kept == stamp) {
            return Ok(accounts.clone());
        }
        // The stamp is older than the text: what changes in between is read again the next time.
        let text = fs::read(self.path)?;
        let accounts: Arc<[T]> = (self.parse)(&String::from_utf8_lossy(&text)).into();
        *last = stamp.is_settled().then(|| (stamp, accounts.clone()));
        Ok(accounts)
    }
}

struct Group {
    name: String,
    gid: u32,
    members: Vec<String>,
}

/// Lines that are no account (comments, `+` of NIS) are passed over.
fn parse_users(text: &str) -> Vec<User> {
    let user = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        let home = PathBuf::from(fields.nth(1)?);
        let shell = PathBuf::from(fields.next().unwrap_or_default());
        Some(User { name: name.to_owned(), uid, gid, home, shell, groups: Vec::new() })
    };
    text.lines().filter_map(user).collect()
}

fn parse_groups(text: &str) -> Vec<Group> {
    let group = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let gid = fields.nth(1)?.parse().ok()?;
        let members = fields.next().unwrap_or_default().split(',').map(str::trim).filter(|member| !member.is_empty());
        Some(Group { name: name.to_owned(), gid, members: members.map(str::to_owned).collect() })
    };
    text.lines().filter_map(group).collect()
}

fn groups_of(user: &User, groups: &[Group]) -> Vec<u32> {
    let mut all = vec![user.gid];
    for group in groups {
        if group.members.contains(&user.name) && !all.contains(&group.gid) {
            all.push(group.gid);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n# none\n+::::::\nbob:x:1001:100:Bob,,,:/home/bob:/bin/sh\nodd:x:7\nbare:x:5:6:::\n";
    const GROUP: &str = "root:x:0:\nusers:x:100:bob\nadm:x:4:alice,bob\nwheel:x:10:bobby\n";

    #[test]
    fn passwd_lines_are_accounts() {
        let users = parse_users(PASSWD);
        let names: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
        assert_eq!(names, ["root", "bob", "bare"]);
        assert_eq!((users[1].uid, users[1].gid, users[1].home.to_str()), (1001, 100, Some("/home/bob")));
        assert_eq!(users[1].shell, PathBuf::from("/bin/sh"));
    }

    #[test]
    fn the_groups_of_a_user_are_its_own_and_those_that_name_it() {
        assert_eq!(groups_of(&parse_users(PASSWD)[1], &parse_groups(GROUP)), [100, 4]);
    }

    #[test]
    fn a_file_is_read_again_when_it_has_changed() {
        let directory = crate::host::fake::Directory::new();
        let path = directory.path().join("passwd");
        let kept = Kept::new(path.to_str().unwrap().to_owned().leak(), parse_users);
        assert!(kept.read().unwrap().is_empty());
        for name in ["a", "b"] {
            fs::write(&path, format!("{name}:x:1:1::/:")).unwrap();
            assert_eq!(kept.read().unwrap()[0].name, name);
        }
        // A file that has just changed may change again without being told apart, and is not kept.
        assert!(kept.last.lock().unwrap().is_none());
    }

    #[test]
    fn root_is_an_account_everywhere() {
        let root = user_by_uid(0).unwrap().unwrap();
        assert_eq!((root.name.as_str(), root.gid), ("root", 0));
        assert_eq!(user("root").unwrap(), Some(root));
        assert_eq!(group("root").unwrap(), Some(0));
        assert_eq!(user("--help").unwrap(), None);
        assert_eq!(user("no such user").unwrap(), None);
    }
}
