//! Swap.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_value::record;
use halite_value::{Map, Value};

fn swaps(ctx: &Ctx) -> Result<Map, Fault> {
    let text = text_file::read(ctx.host, "/proc/swaps")?;
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, kind, size, used, priority] = words.as_slice() else { return None };
        let entry = [("type", *kind), ("size", size), ("used", used), ("priority", priority)];
        (*name != "Filename").then(|| (name.to_string(), Map::from_iter(entry)))
    };
    Ok(text.lines().filter_map(line).collect())
}

record! {
    /// Shows the devices and files that are swapped to.
    ///
    ///   salt '*' mount.swaps
    pub struct Swaps {}
}

impl Run for Swaps {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(swaps(ctx)?.into())
    }
}

record! {
    /// Swaps to a device or a file. Returns what is known of it, and whether it is new.
    ///
    ///   salt '*' mount.swapon /root/swapfile
    pub struct Swapon {
        /// The device or file.
        name: String,
        /// Those with a higher one are filled first.
        priority: Value = (),
    }
}

impl Run for Swapon {
    fn run(self, ctx: &Ctx) -> Reply {
        super::check(&self.name)?;
        let told = |swaps: &Map, new: bool| {
            let stats = swaps.at(&self.name)?.clone();
            Some(Map::from_iter([("stats", stats), ("new", new.into())]))
        };
        if let Some(known) = told(&swaps(ctx)?, false) {
            return Ok(known.into());
        }
        let mut program = Program::new(["swapon", &self.name]);
        if self.priority.truthy() {
            program = program.args(["-p".to_owned(), self.priority.to_text()]);
        }
        program.run(ctx)?;
        Ok(told(&swaps(ctx)?, true).unwrap_or_default().into())
    }
}

record! {
    /// Swaps to a device or a file no more. Returns whether it is so; None: it was not swapped to.
    ///
    ///   salt '*' mount.swapoff /root/swapfile
    pub struct Swapoff {
        /// The device or file.
        name: String,
    }
}

impl Run for Swapoff {
    fn run(self, ctx: &Ctx) -> Reply {
        super::check(&self.name)?;
        if !swaps(ctx)?.contains(&self.name) {
            return Ok(Value::Null.into());
        }
        Program::new(["swapoff", &self.name]).run(ctx)?;
        Ok((!swaps(ctx)?.contains(&self.name)).into())
    }
}
