//! The process of the minion and its user.

use super::Look;
use halite_value::{Map, Value};

pub(super) fn grains(look: &Look) -> Map {
    let mut grains = Map::new();
    let path = look.host.env("PATH").unwrap_or_default();
    grains.insert("systempath", Value::list(path.split(':').filter(|directory| !directory.is_empty())));
    grains.insert("path", path);
    grains.insert("ps", "ps -efHww");
    grains.insert("shell", look.host.env("SHELL").unwrap_or_else(|| "/bin/sh".to_owned()));
    if let Ok(directory) = look.host.directory() {
        grains.insert("cwd", directory.to_string_lossy().as_ref());
    }
    let (uid, gid) = (look.host.uid(), look.host.gid());
    grains.insert("uid", uid);
    grains.insert("gid", gid);
    grains.insert("pid", look.host.pid());
    if let Ok(Some(user)) = look.host.user_by_uid(uid) {
        grains.insert("username", user.name);
    }
    let groups = look.text("/etc/group").unwrap_or_default();
    let name = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == gid.to_string()).then(|| name.to_owned())
    });
    grains.insert("groupname", name);
    grains
}
