//! The contexts that SELinux's policy has for files.

use super::{line_that, part};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::regex::escaped;
use halite_value::record;
use halite_value::{Map, Value};

/// The kinds of files by their letters.
const KINDS: [(&str, &str); 8] = [
    ("a", "all files"),
    ("f", "regular file"),
    ("d", "directory"),
    ("c", "character device"),
    ("b", "block device"),
    ("s", "socket"),
    ("l", "symbolic link"),
    ("p", "named pipe"),
];

fn kind(letter: &str) -> Result<&'static str, Fault> {
    let known = KINDS.iter().find(|(known, _)| *known == letter).map(|(_, name)| *name);
    let valid = || KINDS.map(|(letter, _)| letter).join(", ");
    known.ok_or_else(|| Fault::invocation(format!("Invalid file type code '{letter}'; expected one of: {}", valid())))
}

record! {
    /// Shows what a letter means that stands for a kind of files.
    ///
    ///   salt '*' selinux.filetype_id_to_string f
    pub struct FiletypeIdToString {
        /// The letter.
        filetype: String = "a",
    }
}

impl Run for FiletypeIdToString {
    fn run(self, _: &Ctx) -> Reply {
        Ok(kind(&self.filetype)?.into())
    }
}

record! {
    /// Shows what the policy says of a path; None where it says nothing.
    ///
    ///   salt '*' selinux.fcontext_get_policy '/srv/web(/.*)?'
    pub struct FcontextGetPolicy {
        /// The path, as the policy has it: a regular expression.
        name: String,
        /// Of this kind of files.
        filetype: Option<String> = (),
        /// With this type.
        sel_type: Option<String> = (),
        /// With this user.
        sel_user: Option<String> = (),
        /// With this range.
        sel_level: Option<String> = (),
    }
}

impl Run for FcontextGetPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let kind = self.filetype.as_deref().filter(|letter| !letter.is_empty()).map(kind).transpose()?;
        let pattern = format!(
            "^({}) +({}) +({}):([^: ]+):({}):({})[ |\\t]*$",
            escaped(&self.name),
            kind.map_or_else(|| "[a-z ]+?".to_owned(), escaped),
            part(self.sel_user.as_deref(), "[^: ]+"),
            part(self.sel_type.as_deref(), "[^: ]+"),
            part(self.sel_level.as_deref(), ".+?"),
        );
        let text = contexts(ctx)?;
        let Some((_, found)) = line_that(&text, &pattern)? else { return Ok(().into()) };
        let names = ["filespec", "filetype", "sel_user", "sel_role", "sel_type", "sel_level"];
        let shown = names.iter().enumerate().map(|(at, name)| (*name, found.group(at + 1).unwrap_or_default().trim()));
        Ok(Map::from_iter(shown).into())
    }
}

fn contexts(ctx: &Ctx) -> Result<String, Fault> {
    Ok(Program::new(["semanage", "fcontext", "--list"]).query(ctx)?.stdout)
}

record! {
    /// Says in the policy what context a path should have.
    ///
    ///   salt '*' selinux.fcontext_add_policy my-policy
    pub struct FcontextAddPolicy {
        /// The path: a regular expression.
        name: String,
        /// Of this kind of files.
        filetype: Option<String> = (),
        /// The type.
        sel_type: Option<String> = (),
        /// The user.
        sel_user: Option<String> = (),
        /// The range.
        sel_level: Option<String> = (),
    }
}

record! {
    /// Says in the policy no more what context a path should have.
    ///
    ///   salt '*' selinux.fcontext_delete_policy my-policy
    pub struct FcontextDeletePolicy {
        /// The path: a regular expression.
        name: String,
        /// Of this kind of files.
        filetype: Option<String> = (),
        /// The type.
        sel_type: Option<String> = (),
        /// The user.
        sel_user: Option<String> = (),
        /// The range.
        sel_level: Option<String> = (),
    }
}

impl Run for FcontextAddPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = contexts(ctx)?;
        let is_known = line_that(&text, &format!("{} ", escaped(&self.name)))?.is_some();
        let action = if is_known { "--modify" } else { "--add" };
        managed(ctx, action, &self.name, [self.filetype, self.sel_type, self.sel_user, self.sel_level])
    }
}

impl Run for FcontextDeletePolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        managed(ctx, "--delete", &self.name, [self.filetype, self.sel_type, self.sel_user, self.sel_level])
    }
}

fn managed(ctx: &Ctx, action: &str, name: &str, given: [Option<String>; 4]) -> Reply {
    let [filetype, kind_of_context, user, level] = given;
    let mut program = Program::new(["semanage", "fcontext", action]);
    let filetype = filetype.filter(|letter| letter != "a");
    if let Some(letter) = &filetype {
        kind(letter)?;
    }
    let options = [("--ftype", filetype), ("--type", kind_of_context), ("--seuser", user), ("--range", level)];
    for (option, value) in options {
        if let Some(value) = value {
            program = program.args([option.to_owned(), value]);
        }
    }
    Ok(program.args(["--", name]).run(ctx)?.shown().into())
}

record! {
    /// Shows what would be changed if a path got the context that the policy has for it; empty: nothing.
    ///
    ///   salt '*' selinux.fcontext_policy_is_applied /srv/web
    pub struct FcontextPolicyIsApplied {
        /// The path.
        name: String,
        /// All that is below it too.
        recursive: bool = false,
    }
}

impl Run for FcontextPolicyIsApplied {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(would_change(ctx, &self.name, self.recursive)?.into())
    }
}

fn would_change(ctx: &Ctx, path: &str, recursive: bool) -> Result<String, Fault> {
    Ok(restorecon(&["-n", "-v"], path, recursive).query(ctx)?.stdout)
}

fn restorecon(flags: &[&str], path: &str, recursive: bool) -> Program {
    let program = Program::new(["restorecon"]).args(flags.iter().copied());
    let program = if recursive { program.arg("-R") } else { program };
    program.args(["--", path])
}

record! {
    /// Gives a path the context that the policy has for it, and shows what was changed.
    ///
    ///   salt '*' selinux.fcontext_apply_policy /srv/web
    pub struct FcontextApplyPolicy {
        /// The path.
        name: String,
        /// All that is below it too.
        recursive: bool = false,
    }
}

impl Run for FcontextApplyPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let listed = would_change(ctx, &self.name, self.recursive)?;
        let answer = restorecon(&["-v", "-F"], &self.name, self.recursive).run(ctx)?;
        let is_success = answer.is_success();
        let mut shown = answer.shown();
        if !is_success {
            return Ok(shown.into());
        }
        if !listed.starts_with("Would relabel") && !listed.starts_with("restorecon reset") {
            shown.insert("retcode", 1);
            shown.insert("error", "Unrecognized response from restorecon command.");
            return Ok(shown.into());
        }
        let mut changes = Map::new();
        for line in listed.lines() {
            if let Some((path, old, new)) = relabelled(line) {
                changes.insert(path, differing(old, new)?);
            }
        }
        if !changes.is_empty() {
            shown.insert("changes", changes);
        }
        Ok(shown.into())
    }
}

/// A path with its contexts before and after, from a line in one of the two forms that versions of restorecon(8) have.
fn relabelled(line: &str) -> Option<(&str, &str, &str)> {
    if let Some(rest) = line.strip_prefix("Would relabel ") {
        let (rest, new) = rest.rsplit_once(" to ")?;
        let (path, old) = rest.rsplit_once(" from ")?;
        return Some((path, old, new));
    }
    let (path, contexts) = line.strip_prefix("restorecon reset ")?.rsplit_once(" context ")?;
    let (old, new) = contexts.split_once("->")?;
    Some((path, old, new))
}

fn differing(old: &str, new: &str) -> Result<Value, Fault> {
    let names = ["sel_user", "sel_role", "sel_type", "sel_level"];
    let parts = |context: &str| -> Result<Vec<String>, Fault> {
        let parts: Vec<String> = context.splitn(4, ':').map(str::to_owned).collect();
        match parts.len() {
            4 => Ok(parts),
            _ => Err(Fault::invocation(format!(
                "Invalid SELinux context string: {context}. Expected \"sel_user:sel_role:sel_type:sel_level\""
            ))),
        }
    };
    let (old, new) = (parts(old)?, parts(new)?);
    let (mut before, mut after) = (Map::new(), Map::new());
    for ((name, old), new) in names.into_iter().zip(&old).zip(&new) {
        if old != new {
            before.insert(name, old.as_str());
            after.insert(name, new.as_str());
        }
    }
    Ok(Map::from_iter([("old", before), ("new", after)]).into())
}
