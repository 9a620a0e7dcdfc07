//! `shadow.*`: passwords of accounts and how long they are good, as `/etc/shadow` has them.

use halite_core::accounts::{account, below, read};
use halite_core::host::Attributes;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::time::UNIX_EPOCH;

pub const MODULE: Module = Module {
    name: "shadow",
    doc: "Passwords of accounts, and how long they are good.",
    functions: &[
        function::<DefaultHash>("default_hash").inline(),
        function::<DelPassword>("del_password"),
        function::<GenPassword>("gen_password"),
        function::<Info>("info"),
        function::<ListUsers>("list_users"),
        function::<LockPassword>("lock_password"),
        function::<SetDate>("set_date"),
        function::<SetExpire>("set_expire"),
        function::<SetInactdays>("set_inactdays"),
        function::<SetMaxdays>("set_maxdays"),
        function::<SetMindays>("set_mindays"),
        function::<SetPassword>("set_password"),
        function::<SetWarndays>("set_warndays"),
        function::<UnlockPassword>("unlock_password"),
    ],
};

const FILE: &str = "etc/shadow";
const KEYS: [&str; 8] = ["name", "passwd", "lstchg", "min", "max", "warn", "inact", "expire"];

/// What the file says of an account. All empty: nothing.
fn info(ctx: &Ctx, name: &str, root: Option<&str>) -> Map {
    let text = read(ctx, root, FILE).unwrap_or_default();
    let line = text.lines().map(|line| line.split(':').collect::<Vec<&str>>()).find(|fields| fields[0] == name);
    let Some(fields) = line.filter(|fields| fields.len() > 7 && !name.is_empty()) else {
        return KEYS.iter().map(|key| (*key, "")).collect();
    };
    let days = |field: &str| field.trim().parse::<i64>().unwrap_or(-1);
    let value = |at: usize| if at < 2 { Value::from(fields[at]) } else { days(fields[at]).into() };
    KEYS.iter().enumerate().map(|(at, key)| (*key, value(at))).collect()
}

fn is_known(info: &Map) -> bool {
    info.str_at("name").is_some_and(|name| !name.is_empty())
}

fn is_locked(info: &Map) -> bool {
    info.str_at("passwd").is_some_and(|hash| hash.starts_with('!'))
}

/// A program of passwd's kin, with `-R ROOT`.
fn program(name: &str, root: Option<&str>) -> Program {
    let program = Program::new([name]);
    match root {
        Some(root) => program.args(["-R", root]),
        None => program,
    }
}

record! {
    /// Shows what stands for a password that there is not: `!`.
    ///
    ///   salt '*' shadow.default_hash
    pub struct DefaultHash {}
}

impl Run for DefaultHash {
    fn run(self, _: &Ctx) -> Reply {
        Ok("!".into())
    }
}

record! {
    /// Shows what `/etc/shadow` has of an account; -1 where it has nothing.
    ///
    ///   salt '*' shadow.info root
    pub struct Info {
        /// The account.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Info {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(info(ctx, &self.name, self.root.as_deref()).into())
    }
}

record! {
    /// Lists the accounts that `/etc/shadow` has.
    ///
    ///   salt '*' shadow.list_users
    pub struct ListUsers {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for ListUsers {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = read(ctx, self.root.as_deref(), FILE)?;
        let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
        names.sort_unstable();
        Ok(Value::list(names).into())
    }
}

record! {
    /// Makes the hash of a password, as `shadow.set_password` takes it.
    ///
    ///   salt '*' shadow.gen_password 'I_am_password'
    ///   salt '*' shadow.gen_password 'I_am_password' crypt_salt='I_am_salt' algorithm=sha256
    pub struct GenPassword {
        /// The password.
        password: Value,
        /// The salt; without it a random one.
        crypt_salt: Value = (),
        /// The kind: sha512, sha256, blowfish, md5 or crypt.
        algorithm: String = "sha512",
    }
}

impl Run for GenPassword {
    fn run(self, ctx: &Ctx) -> Reply {
        let arguments = Arguments::positional([self.crypt_salt, self.password, self.algorithm.into()]);
        Ok(ctx.run("random.shadow_hash", arguments)?.into())
    }
}

record! {
    /// Takes the password of an account away: whoever asks may log in without one. Returns whether it is so.
    ///
    ///   salt '*' shadow.del_password username
    pub struct DelPassword {
        /// The account.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for DelPassword {
    fn run(self, ctx: &Ctx) -> Reply {
        program("passwd", self.root.as_deref()).args(["-d", &self.name]).run(ctx)?;
        let now = info(ctx, &self.name, self.root.as_deref());
        Ok((is_known(&now) && now.str_at("passwd") == Some("")).into())
    }
}

record! {
    /// Locks the password of an account. Returns whether it is locked.
    ///
    ///   salt '*' shadow.lock_password username
    pub struct LockPassword {
        /// The account.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for LockPassword {
    fn run(self, ctx: &Ctx) -> Reply {
        switch(ctx, &self.name, self.root.as_deref(), "-l")
    }
}

record! {
    /// Unlocks the password of an account. Returns whether it is unlocked.
    ///
    ///   salt '*' shadow.unlock_password username
    pub struct UnlockPassword {
        /// The account.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for UnlockPassword {
    fn run(self, ctx: &Ctx) -> Reply {
        switch(ctx, &self.name, self.root.as_deref(), "-u")
    }
}

fn switch(ctx: &Ctx, name: &str, root: Option<&str>, flag: &str) -> Reply {
    let wanted = flag == "-l";
    let had = info(ctx, name, root);
    if !is_known(&had) {
        return Ok(false.into());
    }
    if is_locked(&had) != wanted {
        program("passwd", root).args([flag, name]).run(ctx)?;
    }
    Ok((is_locked(&info(ctx, name, root)) == wanted).into())
}

record! {
    /// Sets the hash of an account's password. Returns whether it has it.
    ///
    ///   salt '*' shadow.set_password root '$1$UYCIxa628.9qXjpQCjM4a'
    pub struct SetPassword {
        /// The account.
        name: String,
        /// The hash; see `shadow.gen_password`.
        password: String,
        /// Let usermod set it, which shows it to whoever lists processes.
        use_usermod: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetPassword {
    fn run(self, ctx: &Ctx) -> Reply {
        let root = self.root.as_deref();
        if account(ctx, &self.name, None)?.is_none() {
            return Ok(false.into());
        }
        if self.password.contains([':', '\n']) {
            return Err(Fault::invocation("a hash has no colon and no line end: see shadow.gen_password"));
        }
        if self.use_usermod {
            program("usermod", root).args(["-p", &self.password, &self.name]).run(ctx)?;
            return Ok((info(ctx, &self.name, root).str_at("passwd") == Some(self.password.as_str())).into());
        }
        let path = below(root, FILE);
        if ctx.host.stat(&path).is_err() {
            return Ok(Map::new().into());
        }
        let today = ctx.host.now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400).to_string();
        let mut found = false;
        let mut whole = String::new();
        for line in read(ctx, root, FILE)?.lines() {
            let mut fields: Vec<&str> = line.split(':').take(9).collect();
            if fields[0] == self.name {
                found = true;
                fields.resize(9, "");
                (fields[1], fields[2]) = (&self.password, &today);
                whole.push_str(&fields.join(":"));
            } else {
                whole.push_str(line);
            }
            whole.push('\n');
        }
        if !found {
            whole.push_str(&format!("{}:{}:{today}::::::\n", self.name, self.password));
        }
        ctx.host
            .write(&path, whole.as_bytes(), Attributes::default())
            .map_err(|error| Fault::execution(format!("{}: {error}", path.display())))?;
        Ok((info(ctx, &self.name, root).str_at("passwd") == Some(self.password.as_str())).into())
    }
}

/// What chage sets.
struct Setting<'a> {
    name: &'a str,
    key: &'a str,
    value: &'a Value,
    flag: &'a str,
    /// Whether the file has what was given, and not a date in other words.
    as_given: bool,
}

impl Setting<'_> {
    fn set(self, ctx: &Ctx, root: Option<&str>) -> Reply {
        let is_so = |info: &Map| info.at(self.key).is_some_and(|had| had.to_text() == self.value.to_text());
        let had = info(ctx, self.name, root);
        if !is_known(&had) {
            return Ok(false.into());
        }
        if is_so(&had) {
            return Ok(true.into());
        }
        let value = self.value.to_text();
        let answer = program("chage", root).args([self.flag, &value, self.name]).run(ctx)?;
        match self.as_given {
            true => Ok(is_so(&info(ctx, self.name, root)).into()),
            false => Ok(answer.is_success().into()),
        }
    }
}

record! {
    /// Sets after how many days without a new password an account is closed.
    ///
    ///   salt '*' shadow.set_inactdays username 7
    pub struct SetInactdays {
        /// The account.
        name: String,
        /// The days; -1: never.
        inactdays: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetInactdays {
    fn run(self, ctx: &Ctx) -> Reply {
        let setting = Setting { name: &self.name, key: "inact", value: &self.inactdays, flag: "-I", as_given: true };
        setting.set(ctx, self.root.as_deref())
    }
}

record! {
    /// Sets for how many days a password is good.
    ///
    ///   salt '*' shadow.set_maxdays username 90
    pub struct SetMaxdays {
        /// The account.
        name: String,
        /// The days.
        maxdays: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetMaxdays {
    fn run(self, ctx: &Ctx) -> Reply {
        let setting = Setting { name: &self.name, key: "max", value: &self.maxdays, flag: "-M", as_given: true };
        setting.set(ctx, self.root.as_deref())
    }
}

record! {
    /// Sets for how many days a new password stays.
    ///
    ///   salt '*' shadow.set_mindays username 7
    pub struct SetMindays {
        /// The account.
        name: String,
        /// The days.
        mindays: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetMindays {
    fn run(self, ctx: &Ctx) -> Reply {
        let setting = Setting { name: &self.name, key: "min", value: &self.mindays, flag: "-m", as_given: true };
        setting.set(ctx, self.root.as_deref())
    }
}

record! {
    /// Sets how many days before its end the user of a password is warned.
    ///
    ///   salt '*' shadow.set_warndays username 7
    pub struct SetWarndays {
        /// The account.
        name: String,
        /// The days.
        warndays: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetWarndays {
    fn run(self, ctx: &Ctx) -> Reply {
        let setting = Setting { name: &self.name, key: "warn", value: &self.warndays, flag: "-W", as_given: true };
        setting.set(ctx, self.root.as_deref())
    }
}

record! {
    /// Sets when a password was last changed.
    ///
    ///   salt '*' shadow.set_date username 2024-01-31
    pub struct SetDate {
        /// The account.
        name: String,
        /// The date, or days since 1970; 0: it has to be changed.
        date: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetDate {
    fn run(self, ctx: &Ctx) -> Reply {
        let setting = Setting { name: &self.name, key: "lstchg", value: &self.date, flag: "-d", as_given: false };
        setting.set(ctx, self.root.as_deref())
    }
}

record! {
    /// Sets when an account is closed.
    ///
    ///   salt '*' shadow.set_expire username 2030-01-31
    pub struct SetExpire {
        /// The account.
        name: String,
        /// The date, or days since 1970; -1: never.
        expire: Value,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for SetExpire {
    fn run(self, ctx: &Ctx) -> Reply {
        let setting = Setting { name: &self.name, key: "expire", value: &self.expire, flag: "-E", as_given: false };
        setting.set(ctx, self.root.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    #[test]
    fn a_hash_takes_the_place_of_another_and_nothing_else_changes() {
        let host = Fake::new().file("/etc/passwd", "bob:x:1:1:::\neve:x:2:2:::\n");
        let world = World::on(host.file("/etc/shadow", "root:*:1:0:99999:7:::\nbob:!:1::::::\n"));
        let run = |fun: &str, words: &[&str]| {
            call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().copied())).map(|told| told.value)
        };
        assert_eq!(run("shadow.set_password", &["bob", "$6$x"]).unwrap(), true.into());
        assert_eq!(run("shadow.set_password", &["eve", "$6$y"]).unwrap(), true.into());
        assert_eq!(run("shadow.set_password", &["none", "$6$y"]).unwrap(), false.into());
        assert!(run("shadow.set_password", &["bob", "x:0:\nroot2"]).is_err());
        let text = world.host.text("/etc/shadow").unwrap();
        assert_eq!(text, "root:*:1:0:99999:7:::\nbob:$6$x:19675::::::\neve:$6$y:19675::::::\n");
        assert_eq!(run("shadow.info", &["root"]).unwrap().at("max"), Some(&99999.into()));
        assert_eq!(run("shadow.set_maxdays", &["root", "99999"]).unwrap(), true.into(), "it is so: nothing is run");
    }
}
