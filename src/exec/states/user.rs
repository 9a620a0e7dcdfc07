//! `user.*`: accounts of the host.

mod create;
mod differences;
mod update;

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, failed, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "user", doc: "Accounts of the host.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Present>("present")];

record! {
    /// Makes sure that there is an account, and what it is like.
    ///
    ///   fred:
    ///     user.present:
    ///       - fullname: Fred Jones
    ///       - shell: /bin/zsh
    ///       - home: /home/fred
    ///       - uid: 4000
    ///       - groups:
    ///         - wheel
    pub struct Present {
        /// The account.
        name: String,
        /// Its number.
        uid: Option<i64> = (),
        /// Its first group, by name or number.
        gid: Value = (),
        /// Whether it has a group of its own name; nothing: as the host does it.
        usergroup: Option<bool> = (),
        /// Further groups, which must be there.
        groups: Option<Vec<String>> = (),
        /// Further groups that count only where they are there.
        optional_groups: Option<Vec<String>> = (),
        /// Whether it leaves groups that are not named.
        remove_groups: bool = true,
        /// Its home.
        home: Option<String> = (),
        /// Whether the home is made.
        createhome: bool = true,
        /// Whether what is in the old home moves to a new one.
        persist_home: bool = false,
        /// The hash of its password, as it stands in /etc/shadow.
        password: Option<String> = (),
        /// The password is none, but clear text, which is hashed.
        hash_password: bool = false,
        /// Whether another password that it has is replaced.
        enforce_password: bool = true,
        /// It needs no password.
        empty_password: bool = false,
        /// Its shell.
        shell: Option<String> = (),
        /// Whether its number must be its own alone.
        unique: bool = true,
        /// A new account is one of the system.
        system: bool = false,
        /// The name of whoever it belongs to.
        fullname: Value = (),
        /// The room.
        roomnumber: Value = (),
        /// The phone at work.
        workphone: Value = (),
        /// The phone at home.
        homephone: Value = (),
        /// What else is known.
        other: Value = (),
        /// Taken, not used: for OpenBSD and FreeBSD.
        loginclass: Value = (),
        /// When the password was last changed, in days since 1970.
        date: Option<i64> = (),
        /// Days before it may be changed again.
        mindays: Option<i64> = (),
        /// Days after which it must be changed.
        maxdays: Option<i64> = (),
        /// Days behind that until the account is locked.
        inactdays: Option<i64> = (),
        /// Days before that from which on there is a warning.
        warndays: Option<i64> = (),
        /// When the account ends, in days since 1970.
        expire: Option<i64> = (),
        /// Leave a new account out of lastlog and faillog.
        nologinit: bool = false,
        /// Whether the number of an account that is there may change.
        allow_uid_change: bool = false,
        /// Whether its first group may change.
        allow_gid_change: bool = false,
        /// Whether the password is locked; nothing: as it is.
        password_lock: Option<bool> = (),
        /// Whether only the files of this host count.
        local: bool = false,
        /// Taken, not used: for Windows, as those that follow.
        win_homedrive: Value = (),
        win_profile: Value = (),
        win_logonscript: Value = (),
        win_description: Value = (),
    }
}

impl State for Present {
    fn plan(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        self.hash(ctx)?;
        for field in [&self.fullname, &self.roomnumber, &self.workphone] {
            let text = field.to_text();
            if text.contains(',') {
                return Ok(failed(format!("Unsupported char ',' in {text}")));
            }
        }
        let missing = missing_groups(ctx, self.groups.as_deref().unwrap_or_default())?;
        if let Some(groups) = &mut self.groups {
            groups.retain(|group| !missing.contains(group));
        }
        if let Some(groups) = self.optional_groups.take() {
            let missing = missing_groups(ctx, &groups)?;
            self.optional_groups = Some(groups.into_iter().filter(|group| !missing.contains(group)).collect());
        }
        let pending = missing.join(",");
        let wanted_gid = self.gid(ctx);
        let found = match self.differences(ctx, &wanted_gid)? {
            Ok(found) => found,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let name = self.name.clone();
        let mut would = match &found {
            None => Outcome::new(None, format!("User {name} set to be added")),
            Some(changes) if changes.is_empty() => Outcome::done(format!("User {name} is present and up to date")),
            Some(changes) => {
                let mut comment = TO_CHANGE.to_owned();
                for (key, value) in changes.iter() {
                    let shown = if key.as_str() == Some("passwd") { HIDDEN.to_owned() } else { value.to_text() };
                    comment.push_str(&format!("{}: {shown}\n", key.to_text()));
                }
                Outcome::new(None, comment)
            }
        };
        if !pending.is_empty() {
            match &found {
                None => would.comment.push_str(&format!(" (pending groups: {pending})")),
                Some(changes) if !changes.is_empty() => {
                    would.comment.push_str(&format!("groups (pending creation): {pending}\n"));
                }
                Some(_) => {
                    would = Outcome::new(None, format!("{TO_CHANGE}groups (pending creation): {pending}\n"));
                }
            }
            let done = format!("The following group(s) are not present: {pending}");
            return Ok(halite_core::state::stands(would, Outcome::failed(done)));
        }
        Ok(match found {
            None => Plan::Changes { would, apply: Box::new(move |ctx| self.create(ctx)) },
            Some(changes) if changes.is_empty() => Plan::Stands(would),
            Some(changes) => Plan::Changes { would, apply: Box::new(move |ctx| self.update(ctx, changes)) },
        })
    }
}

const TO_CHANGE: &str = "The following user attributes are set to be changed:\n";

/// What stands for a password in all that is shown.
const HIDDEN: &str = "XXX-REDACTED-XXX";

impl Present {
    /// Hashes a password that is given as clear text, with the salt of the one that is there, so that the same password
    /// is no change.
    fn hash(&mut self, ctx: &Ctx) -> Result<(), Fault> {
        let Some(password) = self.password.clone().filter(|password| self.hash_password && !password.is_empty()) else {
            return Ok(());
        };
        let own = shadow(ctx, &self.name)?;
        let own = own.str_at("passwd").unwrap_or_default().to_owned();
        let parts: Vec<&str> = own.splitn(4, '$').collect();
        let algorithm = |id: &str| match id {
            "1" => Some("md5"),
            "2a" => Some("blowfish"),
            "5" => Some("sha256"),
            "6" => Some("sha512"),
            _ => None,
        };
        let (salt, algorithm) = match parts.as_slice() {
            [_, id, salt, _] if algorithm(id).is_some() => (Some(*salt), algorithm(id)),
            _ => (None, None),
        };
        let arguments = [
            ("password", Value::from(password)),
            ("crypt_salt", salt.map(Value::from).into()),
            ("algorithm", algorithm.map(Value::from).into()),
        ];
        self.password = Some(ask(ctx, "shadow.gen_password", arguments)?.to_text());
        Ok(())
    }

    /// The first group: the one of the account's name where it has one, else the one that is given.
    fn gid(&self, ctx: &Ctx) -> Value {
        match self.usergroup == Some(true) && ctx.host.group(&self.name).ok().flatten().is_some() {
            true => self.name.as_str().into(),
            false => self.gid.clone(),
        }
    }

    fn info(&self, ctx: &Ctx) -> Result<Map, Fault> {
        let root = if self.local { Value::from("/") } else { Value::Null };
        let info = ask(ctx, "user.info", [("name", self.name.as_str().into()), ("root", root)])?;
        Ok(info.as_map().cloned().unwrap_or_default())
    }
}

fn missing_groups(ctx: &Ctx, groups: &[String]) -> Result<Vec<String>, Fault> {
    let mut missing = Vec::new();
    for group in groups {
        if !ask(ctx, "group.info", [("name", group.as_str().into())])?.truthy() {
            missing.push(group.clone());
        }
    }
    Ok(missing)
}

fn shadow(ctx: &Ctx, name: &str) -> Result<Map, Fault> {
    let info = ask(ctx, "shadow.info", [("name", name.into())])?;
    Ok(info.as_map().cloned().unwrap_or_default())
}

record! {
    /// Makes sure that there is no such account.
    ///
    ///   fred:
    ///     user.absent:
    ///       - purge: True
    pub struct Absent {
        /// The account.
        name: String,
        /// Remove its home too.
        purge: bool = false,
        /// Remove it also where it is logged in.
        force: bool = false,
        /// Whether only the files of this host count.
        local: bool = false,
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let root = if self.local { Value::from("/") } else { Value::Null };
        let info = ask(context.ctx, "user.info", [("name", name.as_str().into()), ("root", root)])?;
        if !info.truthy() {
            return Ok(already(format!("User {name} is not present")));
        }
        let groups: Vec<String> =
            info.at("groups").and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect();
        let would = Outcome::new(None, format!("User {name} set for removal"));
        let apply = move |ctx: &Ctx| {
            let arguments = [
                ("name", Value::from(name.as_str())),
                ("remove", self.purge.into()),
                ("force", self.force.into()),
                ("local", self.local.into()),
            ];
            if !ask(ctx, "user.delete", arguments)?.truthy() {
                return Ok(Outcome::failed(format!("Failed to remove user {name}")));
            }
            let mut changes = Map::new();
            for group in missing_groups(ctx, &groups)? {
                changes.insert(format!("{group} group"), "removed");
            }
            changes.extend(single(&name, "removed"));
            Ok(Outcome::done(format!("Removed user {name}")).with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
