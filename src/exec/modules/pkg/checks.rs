//! Whether the files of packages are as they were installed: `pkg.verify`, `pkg.modified`.

use super::dnf::split;
use super::manager::Manager;
use super::{check_names, rpm};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

const WITH_RPM: [Manager; 2] = [Manager::Dnf, Manager::Zypper];

record! {
    /// Shows what is not as it was in packages, or in all, by file, with rpm.
    ///
    ///   salt '*' pkg.verify httpd
    ///   salt '*' pkg.verify httpd ignore_types='["config","doc"]'
    ///   salt '*' pkg.verify httpd verify_options='["nodeps","nosize"]'
    pub struct Verify {
        /// The packages.
        names: Rest,
        /// `ignore_types`: kinds of files that do not count (config, doc, ghost, license, readme); `verify_options`: options
        /// of rpm, without their hyphens; `root`: another root.
        kwargs: Keywords,
    }
}

impl Run for Verify {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "verify", &WITH_RPM)?;
        let more = &self.kwargs.0;
        let list = |name: &str| match more.at(name) {
            None | Some(Value::Null | Value::Str(_) | Value::List(_)) => Ok(split(more.at(name))),
            Some(_) => Err(Fault::invocation(format!("{name} must be a list or a comma-separated string"))),
        };
        let names: Vec<String> = self.names.0.iter().map(Value::to_text).collect();
        check_names(&names)?;
        Ok(rpm::verify(ctx, &names, &list("ignore_types")?, &list("verify_options")?, more.str_at("root"))?.into())
    }
}

record! {
    /// Lists the files of packages, or of all, that were changed, with what has changed of each, with rpm.
    ///
    ///   salt '*' pkg.modified
    ///   salt '*' pkg.modified httpd size=True mode=False
    pub struct Modified {
        /// The packages.
        packages: Rest,
        /// `size`, `mode`, `checksum`, `device`, `symlink`, `owner`, `group`, `time`, `capabilities`, `config`: only files of
        /// which that has changed (True) or has not (False); `root`: another root.
        flags: Keywords,
    }
}

impl Run for Modified {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "modified", &WITH_RPM)?;
        let names: Vec<String> = self.packages.0.iter().map(Value::to_text).collect();
        check_names(&names)?;
        let mut flags: Map = self.flags.0;
        let root = flags.remove("root").filter(Value::truthy).map(|root| root.to_text());
        Ok(rpm::modified(ctx, &names, &flags, root.as_deref())?.into())
    }
}
