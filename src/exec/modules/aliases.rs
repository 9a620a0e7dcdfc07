//! `aliases.*`: where mail goes, in `/etc/aliases`.

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, Returned, text_file};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "aliases",
    doc: "Where mail goes, in /etc/aliases or in the file that the option aliases.file names.",
    functions: &[
        function::<GetTarget>("get_target"),
        function::<HasTarget>("has_target"),
        function::<ListAliases>("list_aliases"),
        function::<RmAlias>("rm_alias"),
        function::<SetTarget>("set_target"),
    ],
};

fn path<'c>(ctx: &'c Ctx) -> &'c str {
    ctx.opts.str_at("aliases.file").filter(|path| !path.is_empty()).unwrap_or("/etc/aliases")
}

/// Name, target, and the comment with the blanks before it. A comment alone has no name.
fn parse(line: &str) -> (String, String, String) {
    let sign = line.find('#').map(|at| line[..at].trim_end().len());
    let (rest, comment) = match sign {
        Some(at) => line.split_at(at),
        None => (line.trim_end(), ""),
    };
    let (name, target) = rest.split_once(':').unwrap_or((rest, ""));
    (name.trim_end().to_owned(), target.trim().to_owned(), comment.to_owned())
}

fn lines(ctx: &Ctx) -> Result<Vec<(String, String, String)>, Fault> {
    Ok(text_file::read(ctx.host, path(ctx))?.lines().map(parse).collect())
}

fn target(ctx: &Ctx, alias: &str) -> Result<Option<String>, Fault> {
    Ok(lines(ctx)?.into_iter().rev().find(|(name, ..)| name == alias && !name.is_empty()).map(|(_, target, _)| target))
}

fn store(ctx: &Ctx, lines: &[(String, String, String)]) -> Result<(), Fault> {
    let mut text = String::new();
    for (name, target, comment) in lines {
        match name.is_empty() || target.is_empty() {
            true => text.push_str(comment),
            false => text.push_str(&format!("{name}: {target}{comment}")),
        }
        text.push('\n');
    }
    text_file::write(ctx.host, path(ctx), &text)?;
    if let Some(program) = ctx.host.which("newaliases") {
        Program::new([program.to_string_lossy().into_owned()]).run(ctx)?;
    }
    Ok(())
}

/// A target, or a list of targets.
fn joined(target: &Value) -> String {
    match target {
        Value::List(items) => items.iter().map(Value::to_text).collect::<Vec<String>>().join(", "),
        one => one.to_text(),
    }
}

record! {
    /// Shows all names, with where their mail goes.
    ///
    ///   salt '*' aliases.list_aliases
    pub struct ListAliases {}
}

impl Run for ListAliases {
    fn run(self, ctx: &Ctx) -> Reply {
        let named = lines(ctx)?.into_iter().filter(|(name, ..)| !name.is_empty());
        let shown: Map = named.map(|(name, target, _)| (name, target)).collect();
        Ok(Returned::from(shown).with_out("yaml"))
    }
}

record! {
    /// Shows where the mail of a name goes; an empty text where there is no such name.
    ///
    ///   salt '*' aliases.get_target postmaster
    pub struct GetTarget {
        /// The name.
        alias: String,
    }
}

impl Run for GetTarget {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Returned::from(target(ctx, &self.alias)?.unwrap_or_default()).with_out("txt"))
    }
}

record! {
    /// Shows whether the mail of a name goes there.
    ///
    ///   salt '*' aliases.has_target postmaster root
    pub struct HasTarget {
        /// The name.
        alias: String,
        /// Where it goes: an address, or a list.
        target: Value,
    }
}

impl Run for HasTarget {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.target.as_str() == Some("") {
            return Err(Fault::invocation("target can not be an empty string"));
        }
        let has = target(ctx, &self.alias)?.is_some_and(|own| own == joined(&self.target));
        Ok(Returned::from(has).with_out("txt"))
    }
}

record! {
    /// Sets where the mail of a name goes.
    ///
    ///   salt '*' aliases.set_target postmaster root
    pub struct SetTarget {
        /// The name.
        alias: String,
        /// Where it goes: an address, or a list.
        target: Value,
    }
}

impl Run for SetTarget {
    fn run(self, ctx: &Ctx) -> Reply {
        for (name, is_empty) in [("alias", self.alias.is_empty()), ("target", self.target.as_str() == Some(""))] {
            if is_empty {
                return Err(Fault::invocation(format!("{name} can not be an empty string")));
            }
        }
        let wanted = joined(&self.target);
        if target(ctx, &self.alias)?.as_ref() != Some(&wanted) {
            let mut lines = lines(ctx)?;
            let first = lines.iter().position(|(name, ..)| *name == self.alias);
            let comment = first.map(|at| lines[at].2.clone()).unwrap_or_default();
            let mut at = 0;
            lines.retain(|(name, ..)| {
                at += 1;
                *name != self.alias || first == Some(at - 1)
            });
            let new = (self.alias, wanted, comment);
            match first {
                Some(at) => lines[at] = new,
                None => lines.push(new),
            }
            store(ctx, &lines)?;
        }
        Ok(Returned::from(true).with_out("txt"))
    }
}

record! {
    /// Removes a name.
    ///
    ///   salt '*' aliases.rm_alias postmaster
    pub struct RmAlias {
        /// The name.
        alias: String,
    }
}

impl Run for RmAlias {
    fn run(self, ctx: &Ctx) -> Reply {
        if target(ctx, &self.alias)?.is_some_and(|target| !target.is_empty()) {
            let mut lines = lines(ctx)?;
            lines.retain(|(name, ..)| *name != self.alias);
            store(ctx, &lines)?;
        }
        Ok(Returned::from(true).with_out("txt"))
    }
}
