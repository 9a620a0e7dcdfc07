//! Users and groups: from `/etc/passwd` and `/etc/group`, else from the host's `getent`, since a static program has no
//! NSS and does not see LDAP or sssd itself.

use super::User;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

static PASSWD: Kept = Kept::new("/etc/passwd");
static GROUP: Kept = Kept::new("/etc/group");

pub(super) fn user(name: &str) -> io::Result<Option<User>> {
    let passwd = PASSWD.read()?;
    let found = parse_users(&passwd).find(|user| user.name == name);
    match found {
        Some(user) => with_groups(user).map(Some),
        None => asked_user(name),
    }
}

pub(super) fn user_by_uid(uid: u32) -> io::Result<Option<User>> {
    let passwd = PASSWD.read()?;
    let found = parse_users(&passwd).find(|user| user.uid == uid);
    match found {
        Some(user) => with_groups(user).map(Some),
        None => asked_user(&uid.to_string()),
    }
}

pub(super) fn group(name: &str) -> io::Result<Option<u32>> {
    let groups = GROUP.read()?;
    let found = parse_groups(&groups).find(|group| group.name == name).map(|group| group.gid);
    if found.is_some() || !askable(name) {
        return Ok(found);
    }
    Ok(getent(&["group", name]).and_then(|line| parse_groups(&line).next().map(|group| group.gid)))
}

pub(super) fn group_by_gid(gid: u32) -> io::Result<Option<String>> {
    let groups = GROUP.read()?;
    let found = parse_groups(&groups).find(|group| group.gid == gid).map(|group| group.name.to_owned());
    if found.is_some() {
        return Ok(found);
    }
    let line = getent(&["group", &gid.to_string()]);
    Ok(line.and_then(|line| parse_groups(&line).next().map(|group| group.name.to_owned())))
}

fn with_groups(mut user: User) -> io::Result<User> {
    let groups = GROUP.read()?;
    user.groups = groups_of(&user, &groups);
    Ok(user)
}

fn asked_user(name: &str) -> io::Result<Option<User>> {
    if !askable(name) {
        return Ok(None);
    }
    let Some(mut user) = getent(&["passwd", name]).and_then(|line| parse_users(&line).next()) else {
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
struct Kept {
    path: &'static str,
    last: Mutex<Option<(Stamp, Arc<str>)>>,
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

impl Kept {
    const fn new(path: &'static str) -> Kept {
        Kept { path, last: Mutex::new(None) }
    }

    /// A missing file is a host without accounts (an empty chroot), not an error.
    fn read(&self) -> io::Result<Arc<str>> {
        let stamp = match fs::metadata(self.path) {
            Ok(data) => Stamp::of(&data),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::from("")),
            Err(error) => return Err(error),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = last.as_ref().filter(|(kept, _)| *kept == stamp) {
            return Ok(text.clone());
        }
        // The stamp is older than the text: what changes in between is read again the next time.
        let text: Arc<str> = String::from_utf8_lossy(&fs::read(self.path)?).into();
        *last = stamp.is_settled().then(|| (stamp, text.clone()));
        Ok(text)
    }
}

struct Group<'a> {
    name: &'a str,
    gid: u32,
    members: &'a str,
}

/// Lines that are no account (comments, `+` of NIS) are passed over.
fn parse_users(text: &str) -> impl Iterator<Item = User> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        let home = PathBuf::from(fields.nth(1)?);
        let shell = PathBuf::from(fields.next().unwrap_or_default());
        Some(User { name: name.to_owned(), uid, gid, home, shell, groups: Vec::new() })
    })
}

fn parse_groups(text: &str) -> impl Iterator<Item = Group<'_>> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let gid = fields.nth(1)?.parse().ok()?;
        Some(Group { name, gid, members: fields.next().unwrap_or_default() })
    })
}

fn groups_of(user: &User, groups: &str) -> Vec<u32> {
    let mut all = vec![user.gid];
    for group in parse_groups(groups) {
        if group.members.split(',').any(|member| member.trim() == user.name) && !all.contains(&group.gid) {
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
        let users: Vec<User> = parse_users(PASSWD).collect();
        let names: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
        assert_eq!(names, ["root", "bob", "bare"]);
        assert_eq!((users[1].uid, users[1].gid, users[1].home.to_str()), (1001, 100, Some("/home/bob")));
        assert_eq!(users[1].shell, PathBuf::from("/bin/sh"));
    }

    #[test]
    fn the_groups_of_a_user_are_its_own_and_those_that_name_it() {
        let bob = parse_users(PASSWD).nth(1).unwrap();
        assert_eq!(groups_of(&bob, GROUP), [100, 4]);
    }

    #[test]
    fn a_file_is_read_again_when_it_has_changed() {
        let folder = crate::exec::host::fake::Folder::new();
        let path = folder.path().join("passwd");
        let kept = Kept::new(path.to_str().unwrap().to_owned().leak());
        assert_eq!(&*kept.read().unwrap(), "");
        for text in ["a:x:1:1::/:", "b:x:1:1::/:"] {
            fs::write(&path, text).unwrap();
            assert_eq!(&*kept.read().unwrap(), text);
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
