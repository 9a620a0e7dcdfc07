//! `alternatives.*`: which of several programs stands under a common name.

use halite_core::module::{Module, Run, function};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault, Reply, Returned, text_file};
use halite_value::Value;
use halite_value::record;
use std::path::Path;

pub const MODULE: Module = Module {
    name: "alternatives",
    doc: "Which of several programs stands under a common name.",
    functions: &[
        function::<Auto>("auto"),
        function::<CheckExists>("check_exists"),
        function::<CheckInstalled>("check_installed"),
        function::<Display>("display"),
        function::<Install>("install"),
        function::<Remove>("remove"),
        function::<Set>("set"),
        function::<ShowCurrent>("show_current"),
        function::<ShowLink>("show_link"),
    ],
};

fn program(ctx: &Ctx) -> Program {
    Program::new([if ctx.grains.str_at("os_family") == Some("RedHat") {
        "alternatives"
    } else {
        "update-alternatives"
    }])
}

/// What it printed, or what it complained about.
fn told(answer: Answer) -> Value {
    match answer.is_success() || answer.stderr.is_empty() {
        true => answer.stdout.into(),
        false => answer.stderr.into(),
    }
}

fn display(ctx: &Ctx, name: &str) -> Result<Answer, Fault> {
    program(ctx).args(["--display", name]).query(ctx)
}

fn current(ctx: &Ctx, name: &str) -> Option<String> {
    let stat = ctx.host.stat(&Path::new("/etc/alternatives").join(name)).ok()?;
    stat.target.map(|target| target.to_string_lossy().into_owned())
}

record! {
    /// Shows all that is known of a name.
    ///
    ///   salt '*' alternatives.display editor
    pub struct Display {
        /// The name.
        name: String,
    }
}

impl Run for Display {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Returned::from(told(display(ctx, &self.name)?)).with_out("txt"))
    }
}

record! {
    /// Shows the path that programs call a name by.
    ///
    ///   salt '*' alternatives.show_link editor
    pub struct ShowLink {
        /// The name.
        name: String,
    }
}

impl Run for ShowLink {
    fn run(self, ctx: &Ctx) -> Reply {
        let directory = match ctx.grains.str_at("os_family") {
            Some("RedHat") => Some("/var/lib/alternatives"),
            Some("Suse") => Some("/var/lib/rpm/alternatives"),
            _ => None,
        };
        if let Some(directory) = directory {
            let text = text_file::read(ctx.host, &format!("{directory}/{}", self.name))?;
            return Ok(text.lines().nth(1).map_or(Value::Bool(false), Value::from).into());
        }
        let answer = program(ctx).args(["--query", &self.name]).query(ctx)?;
        let link =
            answer.stdout.lines().take_while(|line| !line.is_empty()).find_map(|line| line.strip_prefix("Link:"));
        Ok(link.filter(|_| answer.is_success()).map_or(Value::Bool(false), |link| link.trim().into()).into())
    }
}

record! {
    /// Shows the program that stands under a name; False where there is none.
    ///
    ///   salt '*' alternatives.show_current editor
    pub struct ShowCurrent {
        /// The name.
        name: String,
    }
}

impl Run for ShowCurrent {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(current(ctx, &self.name).map_or(Value::Bool(false), Value::from).into())
    }
}

record! {
    /// Shows whether a program may stand under a name.
    ///
    ///   salt '*' alternatives.check_exists name path
    pub struct CheckExists {
        /// The name.
        name: String,
        /// The program.
        path: String,
    }
}

impl Run for CheckExists {
    fn run(self, ctx: &Ctx) -> Reply {
        let answer = display(ctx, &self.name)?;
        Ok(answer.stdout.lines().any(|line| line.starts_with(&self.path)).into())
    }
}

record! {
    /// Shows whether a program stands under a name.
    ///
    ///   salt '*' alternatives.check_installed name path
    pub struct CheckInstalled {
        /// The name.
        name: String,
        /// The program.
        path: String,
    }
}

impl Run for CheckInstalled {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok((current(ctx, &self.name) == Some(self.path)).into())
    }
}

record! {
    /// Lets a program stand under a name.
    ///
    ///   salt '*' alternatives.install editor /usr/bin/editor /usr/bin/emacs23 50
    pub struct Install {
        /// The name.
        name: String,
        /// The path that programs call it by.
        link: String,
        /// The program.
        path: String,
        /// Of several the one with the highest is taken.
        priority: Value,
    }
}

impl Run for Install {
    fn run(self, ctx: &Ctx) -> Reply {
        let words = ["--install", &self.link, &self.name, &self.path, &self.priority.to_text()];
        Ok(Returned::from(told(program(ctx).args(words).run(ctx)?)).with_out("txt"))
    }
}

record! {
    /// Lets a program not stand under a name any more.
    ///
    ///   salt '*' alternatives.remove name path
    pub struct Remove {
        /// The name.
        name: String,
        /// The program.
        path: String,
    }
}

impl Run for Remove {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Returned::from(told(program(ctx).args(["--remove", &self.name, &self.path]).run(ctx)?)).with_out("txt"))
    }
}

record! {
    /// Lets the program with the highest priority stand under a name.
    ///
    ///   salt '*' alternatives.auto name
    pub struct Auto {
        /// The name.
        name: String,
    }
}

impl Run for Auto {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(told(program(ctx).args(["--auto", &self.name]).run(ctx)?).into())
    }
}

record! {
    /// Chooses the program that stands under a name.
    ///
    ///   salt '*' alternatives.set name path
    pub struct Set {
        /// The name.
        name: String,
        /// The program.
        path: String,
    }
}

impl Run for Set {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(told(program(ctx).args(["--set", &self.name, &self.path]).run(ctx)?).into())
    }
}
