//! Processors, memory and firmware.

use super::Look;
use crate::wire::value::{Map, Value};

pub(super) fn grains(look: &Look) -> Map {
    let mut grains = Map::new();
    if let Some(text) = look.text("/proc/cpuinfo") {
        grains.extend(processors(&text));
    }
    if let Some(text) = look.text("/proc/meminfo") {
        grains.extend(memory(&text));
    }
    grains.extend(firmware(look));
    grains
}

fn processors(text: &str) -> Map {
    let (mut count, mut model, mut flags) = (0, String::new(), Vec::new());
    for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name.trim() {
            "processor" => count += 1,
            "# processors" => count = value.parse().unwrap_or(count),
            "vendor_id" | "model name" | "cpu" => model = value.to_owned(),
            "Processor" => model = value.split('-').next().unwrap_or_default().to_owned(),
            "flags" | "Features" => flags = value.split_whitespace().map(str::to_owned).collect(),
            _ => {}
        }
    }
    let mut grains = Map::new();
    grains.insert("num_cpus", count);
    grains.insert("cpu_model", if model.is_empty() { "Unknown".to_owned() } else { model });
    grains.insert("cpu_flags", flags);
    grains
}

/// In MiB, rounded down.
fn memory(text: &str) -> Map {
    let mib = |name: &str| -> i64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).map_or(0, |kib: i64| kib / 1024)
    };
    Map::from_iter([("mem_total", mib("MemTotal")), ("swap_total", mib("SwapTotal"))])
}

fn firmware(look: &Look) -> Map {
    let mut grains = Map::new();
    for (grain, file) in [
        ("biosversion", "bios_version"),
        ("biosvendor", "bios_vendor"),
        ("boardname", "board_name"),
        ("productname", "product_name"),
        ("manufacturer", "sys_vendor"),
        ("biosreleasedate", "bios_date"),
        ("uuid", "product_uuid"),
        ("serialnumber", "product_serial"),
    ] {
        if let Some(value) = look.line(&format!("/sys/class/dmi/id/{file}")) {
            grains.insert(grain, if grain == "uuid" { value.to_lowercase() } else { value });
        }
    }
    let is_efi = look.exists("/sys/firmware/efi");
    grains.insert("efi", is_efi);
    // Four bytes of attributes, then the value.
    let variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    let is_secure = is_efi && look.host.read(variable.as_ref()).is_ok_and(|bytes| bytes.last() == Some(&1));
    grains.insert("efi-secure-boot", Value::Bool(is_secure));
    grains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted() {
        let text =
            "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme\n\nprocessor\t: 1\n";
        let grains = processors(text);
        assert_eq!((grains.at("num_cpus"), grains.str_at("cpu_model")), (Some(&2.into()), Some("AMD EPYC")));
        assert_eq!(grains.at("cpu_flags"), Some(&Value::list(["fpu", "vme"])));
    }

    #[test]
    fn memory_is_told_in_mebibytes() {
        let grains = memory("MemTotal:       24683888 kB\nMemFree: 1 kB\nSwapTotal:  2047 kB\n");
        assert_eq!((grains.at("mem_total"), grains.at("swap_total")), (Some(&24105.into()), Some(&1.into())));
        assert_eq!(memory("").at("mem_total"), Some(&0.into()));
    }
}
