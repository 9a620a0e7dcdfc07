//! `file.mknod`.

use super::own_name;
use halite_core::host::FileKind;
use halite_core::state::{Outcome, Plan, PlanContext, State, failed};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

record! {
    /// Makes sure that there is a device or a named pipe.
    ///
    ///   /dev/chr:
    ///     file.mknod:
    ///       - ntype: c
    ///       - major: 180
    ///       - minor: 31
    ///       - user: root
    ///       - group: root
    ///       - mode: '0660'
    pub struct Mknod {
        /// The path.
        name: String,
        /// `c`: character device, `b`: block device, `p`: named pipe.
        ntype: String,
        /// The major number.
        major: i64 = 0,
        /// The minor number.
        minor: i64 = 0,
        /// The owner.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// The mode.
        mode: Value = "0600",
    }
}

impl State for Mknod {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        if name.is_empty() {
            return Ok(failed("Must provide name to file.mknod"));
        }
        let (kind, words, article) = match self.ntype.as_str() {
            "c" => (FileKind::CharDevice, "Character device", "a character device"),
            "b" => (FileKind::BlockDevice, "Block device", "a block device"),
            "p" => (FileKind::Fifo, "Fifo pipe", "a fifo pipe"),
            other => {
                return Ok(failed(format!(
                    "Node type unavailable: '{other}'. Available node types are character ('c'), block ('b'), and pipe ('p')"
                )));
            }
        };
        let stat = paths::followed(ctx.host, name.as_ref()).ok();
        let Some(stat) = stat.filter(|stat| stat.kind == kind) else {
            if paths::is_file(ctx.host, &name) {
                return Ok(failed(format!("File {name} exists and is not {article}. Refusing to continue")));
            }
            let would = Outcome::new(None, format!("{words} {name} is set to be created"));
            return Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.make(ctx, &name)) });
        };
        let own = (i64::from(stat.node.0), i64::from(stat.node.1));
        if kind != FileKind::Fifo && own != (self.major, self.minor) {
            return Ok(failed(format!(
                "{words} {name} exists and has a different major/minor {}/{}. Refusing to continue",
                own.0, own.1
            )));
        }
        let mode = match super::mode(&self.mode) {
            Ok(mode) => mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let changes = Owner::new(ctx, &self.user, &self.group, mode).differences(&stat);
        if changes.is_empty() {
            return Ok(halite_core::state::already(format!("{words} {name} is in the correct state")));
        }
        let would = Outcome::new(None, "").with_changes(changes);
        let apply = move |ctx: &Ctx| {
            let arguments = [("ret", Value::Null), ("user", self.user), ("group", self.group), ("mode", self.mode)];
            let arguments = Arguments::keywords(Map::from_iter(arguments)).with("name", name);
            let answer = ctx.run("file.check_perms", arguments)?;
            Ok(outcome_of(answer.as_list().and_then(<[Value]>::first).unwrap_or(&Value::Null)))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl Mknod {
    fn make(self, ctx: &Ctx, name: &str) -> Result<Outcome, Fault> {
        let arguments = Arguments::positional([Value::from(name), self.ntype.into(), self.major.into()]);
        let arguments = arguments.with("minor", self.minor).with("user", self.user).with("group", self.group);
        Ok(outcome_of(&ctx.run("file.mknod", arguments.with("mode", self.mode))?))
    }
}

/// What a function answers in the form of a state's result.
fn outcome_of(answer: &Value) -> Outcome {
    let comment = match answer.at("comment") {
        Some(Value::List(lines)) => lines.iter().map(Value::to_text).collect::<Vec<String>>().join("; "),
        other => other.map(Value::to_text).unwrap_or_default(),
    };
    let result = answer.at("result").and_then(Value::as_bool);
    Outcome::new(result, comment)
        .with_changes(answer.at("changes").and_then(Value::as_map).cloned().unwrap_or_default())
}
