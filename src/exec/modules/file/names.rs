//! Paths as text: nothing is looked at but by `path_exists_glob`.

use halite_core::module::Run;
use halite_core::{Ctx, Reply, paths};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Rest;

record! {
    /// Shows the last part of a path.
    ///
    ///   salt '*' file.basename /etc/hosts
    pub struct Basename {
        /// The path.
        path: String,
    }
}

impl Run for Basename {
    fn run(self, _: &Ctx) -> Reply {
        Ok(paths::name_of(&self.path).into())
    }
}

record! {
    /// Shows a path without its last part.
    ///
    ///   salt '*' file.dirname /etc/hosts
    pub struct Dirname {
        /// The path.
        path: String,
    }
}

impl Run for Dirname {
    fn run(self, _: &Ctx) -> Reply {
        Ok(paths::directory_of(&self.path).into())
    }
}

record! {
    /// Joins parts to a path. An absolute part begins it anew.
    ///
    ///   salt '*' file.join / usr local bin
    pub struct Join {
        /// The parts.
        args: Rest,
    }
}

impl Run for Join {
    fn run(self, _: &Ctx) -> Reply {
        let parts: Vec<String> = self.args.0.iter().map(Value::to_text).collect();
        match parts.is_empty() {
            true => Err(halite_core::Fault::invocation("join() needs a part of a path at least")),
            false => Ok(paths::join(&parts).into()),
        }
    }
}

record! {
    /// Shows a path without `.`, `..` and doubled slashes. Links are not looked at.
    ///
    ///   salt '*' file.normpath /a/b/c/..
    pub struct Normpath {
        /// The path.
        path: String,
    }
}

impl Run for Normpath {
    fn run(self, _: &Ctx) -> Reply {
        Ok(paths::normal(&self.path).into())
    }
}

record! {
    /// Shows what the directory above is called: `..`.
    ///
    ///   salt '*' file.pardir
    pub struct Pardir {}
}

impl Run for Pardir {
    fn run(self, _: &Ctx) -> Reply {
        Ok("..".into())
    }
}

record! {
    /// Shows whether a pattern matches any path.
    ///
    ///   salt '*' file.path_exists_glob '/etc/pam*/pass*'
    pub struct PathExistsGlob {
        /// The pattern: `*`, `?` and `[...]`.
        path: String,
    }
}

impl Run for PathExistsGlob {
    fn run(self, ctx: &Ctx) -> Reply {
        let pattern = paths::expand_user(ctx.host, &self.path);
        Ok((!paths::glob(ctx.host, &pattern).is_empty()).into())
    }
}
