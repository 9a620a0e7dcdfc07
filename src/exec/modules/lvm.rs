//! `lvm.*`: physical volumes, volume groups and logical volumes of LVM2, by its own programs.

mod made;
mod shown;
#[cfg(test)]
mod tests;

use halite_core::module::{Module, function};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "lvm",
    doc: "Physical volumes, volume groups and logical volumes of LVM2.",
    functions: &[
        function::<shown::Fullversion>("fullversion"),
        function::<made::Lvcreate>("lvcreate"),
        function::<shown::Lvdisplay>("lvdisplay"),
        function::<made::Lvextend>("lvextend"),
        function::<made::Lvremove>("lvremove"),
        function::<made::Lvresize>("lvresize"),
        function::<made::Pvcreate>("pvcreate"),
        function::<shown::Pvdisplay>("pvdisplay"),
        function::<made::Pvremove>("pvremove"),
        function::<made::Pvresize>("pvresize"),
        function::<shown::Version>("version"),
        function::<made::Vgcreate>("vgcreate"),
        function::<shown::Vgdisplay>("vgdisplay"),
        function::<made::Vgextend>("vgextend"),
        function::<made::Vgremove>("vgremove"),
    ],
};

/// Devices as they are given: a list, or a text with commas between them.
fn devices(given: &Value) -> Vec<String> {
    match given {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        Value::Null => Vec::new(),
        text => text.to_text().split(',').filter(|device| !device.is_empty()).map(str::to_owned).collect(),
    }
}

/// A name must not be taken for an option.
fn checked(what: &str, name: &str) -> Result<(), Fault> {
    match name.starts_with('-') {
        true => {
            Err(Fault::invocation(format!("{what} '{name}' begins with a hyphen: it would be taken for an option")))
        }
        false => Ok(()),
    }
}

/// What a program says of a volume, by the names of its fields; empty where it fails.
fn listed(ctx: &Ctx, program: &str, name: &str) -> Result<Vec<Vec<String>>, Fault> {
    checked("the volume", name)?;
    let mut program = Program::new([program, "-c"]);
    if !name.is_empty() {
        program = program.arg(name);
    }
    let answer = program.query(ctx)?;
    if !answer.is_success() {
        return Ok(Vec::new());
    }
    let lines = answer.stdout.lines().filter(|line| !line.contains("is a new physical volume"));
    Ok(lines.map(|line| line.trim().split(':').map(str::to_owned).collect()).collect())
}

/// What a program that changes something is answered with: the sentence where it went well, else its complaint.
fn outcome(answer: &Answer, done: String) -> String {
    if answer.is_success() { done } else { answer.stderr.trim().to_owned() }
}

/// Options by name with their values; those that are empty or not known are left out.
fn options(given: &Map, known: &[&str]) -> Vec<String> {
    let mut words = Vec::new();
    for (name, value) in given.iter().filter(|(_, value)| value.truthy()) {
        let name = name.to_text();
        if known.contains(&name.as_str()) {
            words.extend([format!("--{name}"), value.to_text()]);
        }
    }
    words
}
