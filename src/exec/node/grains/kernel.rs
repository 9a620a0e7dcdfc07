//! The kernel: its name, release and boot parameters, and the machine's name in it.

use super::Look;
use halite_lang::words;
use halite_value::{Map, Value};

pub(super) fn grains(look: &Look) -> Map {
    let mut grains = Map::new();
    for (grain, file) in [
        ("kernel", "/proc/sys/kernel/ostype"),
        ("nodename", "/proc/sys/kernel/hostname"),
        ("kernelrelease", "/proc/sys/kernel/osrelease"),
        ("kernelversion", "/proc/sys/kernel/version"),
    ] {
        grains.insert(grain, look.line(file).unwrap_or_default());
    }
    let machine = look.line("/proc/sys/kernel/arch").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    grains.insert("cpuarch", machine);
    if let Some(line) = look.line("/proc/cmdline") {
        grains.insert("kernelparams", parameters(&line));
    }
    grains
}

/// Pairs of name and value. As in Salt one with several `=` counts as having none.
fn parameters(line: &str) -> Value {
    let words = words::split(line).unwrap_or_else(|_| line.split_whitespace().map(str::to_owned).collect());
    Value::list(words.iter().map(|word| {
        let (name, value) = match word.split('=').collect::<Vec<&str>>().as_slice() {
            [name, value] => (name.to_string(), Some(value.trim_matches('"').to_owned())),
            [name, ..] => (name.to_string(), None),
            [] => (String::new(), None),
        };
        Value::List(vec![name.into(), value.into()])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_parameters_are_pairs() {
        assert_eq!(
            parameters("quiet console=ttyS0 root=UUID=1 x=\"a b\"").to_json(),
            r#"[["quiet", null], ["console", "ttyS0"], ["root", null], ["x", "a b"]]"#
        );
    }
}
