//! Users and groups with all that their files say of them: `/etc/passwd`, `/etc/group`, `/etc/shadow`, here or below
//! another root.

use super::program::Program;
use super::{Ctx, Fault};
use std::io;
use std::path::{Path, PathBuf};

/// A line of `/etc/passwd`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub passwd: String,
    pub uid: u32,
    pub gid: u32,
    pub gecos: String,
    pub home: String,
    pub shell: String,
}

/// A line of `/etc/group`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub passwd: String,
    pub gid: u32,
    pub members: Vec<String>,
}

impl Account {
    /// Lines that are no account (comments, `+` of NIS) are none.
    fn parse(line: &str) -> Option<Account> {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, passwd, uid, gid, gecos, home, shell, ..] = fields.as_slice() else { return None };
        Some(Account {
            name: name.to_string(),
            passwd: passwd.to_string(),
            uid: uid.parse().ok()?,
            gid: gid.parse().ok()?,
            gecos: gecos.to_string(),
            home: home.to_string(),
            shell: shell.to_string(),
        })
    }

    /// Full name, room, phone at work, phone at home, the rest.
    pub fn gecos(&self) -> [String; 5] {
        let mut parts = self.gecos.splitn(5, ',').map(str::to_owned);
        std::array::from_fn(|_| parts.next().unwrap_or_default())
    }
}

impl Group {
    fn parse(line: &str) -> Option<Group> {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, passwd, gid, members, ..] = fields.as_slice() else { return None };
        let members = members.split(',').filter(|member| !member.is_empty()).map(str::to_owned).collect();
        Some(Group { name: name.to_string(), passwd: passwd.to_string(), gid: gid.parse().ok()?, members })
    }
}

/// All accounts that are in the file.
pub fn accounts(ctx: &Ctx, root: Option<&str>) -> Result<Vec<Account>, Fault> {
    Ok(read(ctx, root, "etc/passwd")?.lines().filter_map(Account::parse).collect())
}

pub fn groups(ctx: &Ctx, root: Option<&str>) -> Result<Vec<Group>, Fault> {
    Ok(read(ctx, root, "etc/group")?.lines().filter_map(Group::parse).collect())
}

/// An account by name. Where it is not in the file, the host's `getent` is asked, which knows LDAP and its like.
pub fn account(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<Option<Account>, Fault> {
    let found = accounts(ctx, root)?.into_iter().find(|account| account.name == name);
    if found.is_some() || root.is_some() {
        return Ok(found);
    }
    Ok(getent(ctx, "passwd", name)?.and_then(|line| Account::parse(&line)))
}

pub fn group(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<Option<Group>, Fault> {
    let found = groups(ctx, root)?.into_iter().find(|group| group.name == name);
    if found.is_some() || root.is_some() {
        return Ok(found);
    }
    Ok(getent(ctx, "group", name)?.and_then(|line| Group::parse(&line)))
}

/// The names of the groups that an account is in, its own too, sorted.
pub fn groups_of(ctx: &Ctx, account: &Account) -> Result<Vec<String>, Fault> {
    let all = groups(ctx, None)?;
    let is_in = |group: &&Group| group.gid == account.gid || group.members.contains(&account.name);
    let mut names: Vec<String> = all.iter().filter(is_in).map(|group| group.name.clone()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn getent(ctx: &Ctx, database: &str, name: &str) -> Result<Option<String>, Fault> {
    let askable = !name.is_empty() && !name.starts_with('-') && !name.contains([':', '\n', '/']);
    if !askable || ctx.host.which("getent").is_none() {
        return Ok(None);
    }
    let answer = Program::new(["getent", database, name]).query(ctx)?;
    Ok(answer.is_success().then_some(answer.stdout))
}

/// A file of accounts; one that is not there has none.
pub fn read(ctx: &Ctx, root: Option<&str>, file: &str) -> Result<String, Fault> {
    let path = below(root, file);
    match ctx.host.read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Fault::execution(format!("{}: {error}", path.display()))),
    }
}

/// A file below another root, or here.
pub fn below(root: Option<&str>, file: &str) -> PathBuf {
    Path::new(root.filter(|root| !root.is_empty()).unwrap_or("/")).join(file)
}

/// The path of a program that a function cannot do without.
pub fn tool(ctx: &Ctx, name: &str) -> Result<String, Fault> {
    match ctx.host.which(name) {
        Some(path) => Ok(path.to_string_lossy().into_owned()),
        None => Err(Fault::execution(format!("Command '{name}' cannot be found"))),
    }
}
