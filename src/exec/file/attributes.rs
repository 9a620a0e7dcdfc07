//! What lsattr(1) and SELinux know of a file.

use super::access::Checked;
use super::is_test;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, paths};
use halite_value::{Map, Value};
use std::collections::BTreeSet;

/// The letters of chattr(1).
pub const LETTERS: &str = "aAcCdDeijPsStTu";

/// The attributes of a file, or of the files in a directory; nothing without lsattr(1).
pub fn listed(ctx: &Ctx, path: &str) -> Result<Option<Map>, Fault> {
    if ctx.host.which("lsattr").is_none() {
        return Ok(None);
    }
    if !paths::exists(ctx.host, path) {
        return Err(Fault::invocation(format!("File or directory does not exist: {path}")));
    }
    let answer = Program::new(["lsattr", path]).mixed().query(ctx)?;
    let mut shown = Map::new();
    for line in answer.stdout.lines().filter(|line| !line.starts_with("lsattr: ")) {
        if let Some((letters, file)) = line.split_once(char::is_whitespace) {
            let letters = letters.chars().filter(|c| LETTERS.contains(*c)).map(|c| Value::from(c.to_string()));
            shown.insert(file.trim_start(), letters.collect::<Vec<Value>>());
        }
    }
    Ok(Some(shown))
}

/// Whether lsattr(1) shows other attributes than a file should have; nothing without lsattr(1).
pub fn differ(ctx: &Ctx, name: &str, wanted: &str) -> Result<bool, Fault> {
    let Some(listed) = listed(ctx, name)? else { return Ok(false) };
    let had: BTreeSet<char> = listed
        .at(name)
        .and_then(Value::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .flat_map(str::chars)
        .collect();
    let wished: BTreeSet<char> = wanted.chars().chain(had.contains(&'e').then_some('e')).collect();
    Ok(had != wished)
}

/// Makes the attributes of a file those that it should have.
pub fn enforce(ctx: &Ctx, name: &str, wanted: &str, checked: &mut Checked) -> Result<(), Fault> {
    if paths::is_directory(ctx.host, name) || paths::is_link(ctx.host, name) {
        return Ok(());
    }
    let letters = || -> Result<Option<BTreeSet<char>>, Fault> {
        let listed = listed(ctx, name)?;
        let own = listed.and_then(|listed| listed.at(name).and_then(Value::as_list).map(<[Value]>::to_vec));
        Ok(own.map(|own| own.iter().filter_map(Value::as_str).flat_map(str::chars).collect()))
    };
    let Some(had) = letters()? else { return Ok(()) };
    let mut wished: BTreeSet<char> = wanted.chars().collect();
    // Whether a file has extents is not for users to say.
    if had.contains(&'e') {
        wished.insert('e');
    }
    if had == wished {
        return Ok(());
    }
    let mut now = wished.clone();
    if !is_test(ctx) {
        for (sign, from, to) in [("+", &had, &wished), ("-", &wished, &had)] {
            let letters: String = to.difference(from).collect();
            if !letters.is_empty() {
                Program::new(["chattr".to_owned(), format!("{sign}{letters}"), name.to_owned()]).run(ctx)?;
            }
        }
        now = letters()?.unwrap_or_default();
    }
    let new = match now == wished {
        true => wanted.to_owned(),
        false => {
            checked.failures.push(format!("Failed to change attributes to {wanted}"));
            now.iter().collect()
        }
    };
    let old: String = had.iter().collect();
    if old != new {
        checked.changes.insert("attrs", Map::from_iter([("old", old), ("new", new)]));
    }
    Ok(())
}

/// The context of a file, or that there is none.
pub fn context(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let answer = Program::new(["stat", "-c", "%C", path]).query(ctx)?;
    Ok(match answer.is_success() {
        true => answer.stdout,
        false => format!("No selinux context information is available for {path}"),
    })
}

/// What SELinux should know of a file; nothing: as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelinuxContext {
    pub user: Option<String>,
    pub role: Option<String>,
    pub kind: Option<String>,
    pub range: Option<String>,
}

impl SelinuxContext {
    fn parts(&self) -> [(&'static str, Option<&str>); 4] {
        [
            ("user", self.user.as_deref()),
            ("role", self.role.as_deref()),
            ("type", self.kind.as_deref()),
            ("range", self.range.as_deref()),
        ]
    }

    pub fn is_empty(&self) -> bool {
        self.parts().iter().all(|(_, part)| part.is_none_or(str::is_empty))
    }

    /// What of it a file does not have: the part's name, what it is and what it should be. Nothing where SELinux knows no
    /// context of the file.
    pub fn differences(&self, ctx: &Ctx, path: &str) -> Result<Option<Vec<Differing>>, Fault> {
        let context = context(ctx, path)?;
        // The range may have colons in it.
        let now: Vec<&str> = context.splitn(4, ':').collect();
        let ([user, role, kind, range], true) = (now.as_slice(), !context.contains(' ')) else { return Ok(None) };
        let pairs = self.parts().into_iter().zip([user, role, kind, range]);
        let differing = pairs.filter_map(|((part, wished), now)| {
            let wished = wished.filter(|wished| !wished.is_empty() && wished != now)?;
            Some(Differing { part, now: (*now).to_owned(), wished: wished.to_owned() })
        });
        Ok(Some(differing.collect()))
    }

    /// Sets it and tells what it is then; nothing where it could not be set.
    pub fn set(&self, ctx: &Ctx, path: &str, persist: bool) -> Result<Option<String>, Fault> {
        let given = |part: &'_ Option<String>| part.clone().filter(|part| !part.is_empty());
        if persist {
            let mut program = Program::new(["semanage", "fcontext", "--add"]);
            for (flag, part) in [("--type", &self.kind), ("--seuser", &self.user), ("--range", &self.range)] {
                if let Some(part) = given(part) {
                    program = program.args([flag.to_owned(), part]);
                }
            }
            program.arg(path).run(ctx)?.expect_success("Problem setting fcontext")?;
        }
        let mut program = Program::new(["chcon"]);
        for (flag, part) in [("-u", &self.user), ("-r", &self.role), ("-t", &self.kind), ("-l", &self.range)] {
            if let Some(part) = given(part) {
                program = program.args([flag.to_owned(), part]);
            }
        }
        match program.arg(path).run(ctx)?.is_success() {
            true => context(ctx, path).map(Some),
            false => Ok(None),
        }
    }

    /// Makes the context of a file what it should be, for now and for the policy.
    pub fn enforce(&self, ctx: &Ctx, path: &str, checked: &mut Checked) -> Result<(), Fault> {
        if self.is_empty() {
            return Ok(());
        }
        let Some(differing) = self.differences(ctx, path)? else {
            checked.failures.push("Failed to get selinux attributes".to_owned());
            return Ok(());
        };
        if differing.is_empty() {
            return Ok(());
        }
        let list = |of: fn(&Differing) -> &str| {
            let parts = differing.iter().map(|one| format!("{}: {}", capitalized(one.part), of(one)));
            parts.collect::<Vec<_>>().join(" ")
        };
        let change = [("Old", list(|one| &one.now)), ("New", list(|one| &one.wished))];
        checked.changes.insert("selinux", Map::from_iter(change));
        if is_test(ctx) {
            checked.notes = vec![format!("File {path} selinux context to be updated")];
            return Ok(());
        }
        let wished = |part: &str| differing.iter().find(|one| one.part == part).map(|one| one.wished.clone());
        let wish =
            SelinuxContext { user: wished("user"), role: wished("role"), kind: wished("type"), range: wished("range") };
        match wish.set(ctx, path, true)? {
            None => checked.failures.push("Failed to set selinux attributes".to_owned()),
            Some(_) => {
                checked.notes.push(format!("The file {path} is set to be changed"));
                for one in wish.differences(ctx, path)?.unwrap_or_default() {
                    checked.failures.push(format!("Unable to update se{} context", one.part));
                }
            }
        }
        Ok(())
    }
}

/// A part of a context that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// `user`, `role`, `type` or `range`.
    pub part: &'static str,
    pub now: String,
    pub wished: String,
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
