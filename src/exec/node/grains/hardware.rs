//! Processors, memory and firmware.

use super::Look;
use halite_core::host::Command;
use halite_value::{Map, Value};
use std::time::Duration;

pub(super) fn grains(look: &Look) -> Map {
    let mut grains = Map::new();
    if let Some(text) = look.text("/proc/cpuinfo") {
        grains.extend(processors(&text));
    }
    if let Some(text) = look.text("/proc/meminfo") {
        grains.extend(memory(&text));
    }
    grains.extend(firmware(look));
    grains.extend(graphics(look));
    grains.insert("fibre_channel_host", look.exists("/sys/class/fc_host"));
    grains
}

const VENDORS: [&str; 8] = ["nvidia", "amd", "ati", "intel", "cirrus logic", "vmware", "matrox", "aspeed"];
const CLASSES: [&str; 4] =
    ["3d controller", "display controller", "processing accelerators", "vga compatible controller"];

/// Graphics cards. lspci knows their names; it is asked only where the kernel has such a device.
fn graphics(look: &Look) -> Map {
    let is_off = |name: &str| look.opts.at(name) == Some(&Value::Bool(false));
    let Some(lspci) = look.host.which("lspci").filter(|_| !is_off("enable_lspci") && !is_off("enable_gpu_grains"))
    else {
        return shown(Vec::new());
    };
    let has_one = look.names("/sys/bus/pci/devices").iter().any(|name| {
        let class = look.line(&format!("/sys/bus/pci/devices/{name}/class")).unwrap_or_default();
        class.starts_with("0x03") || class.starts_with("0x12")
    });
    let mut found = Vec::new();
    if has_one {
        let argv = vec![lspci.to_string_lossy().into_owned(), "-vmm".to_owned()];
        let timeout = Some(Duration::from_secs(5));
        match look.host.query(&Command { argv, timeout, ..Command::default() }) {
            Ok(told) => found = cards(&String::from_utf8_lossy(&told.stdout)),
            Err(error) => log::warn!("lspci cannot be asked for graphics cards: {error}"),
        }
    }
    shown(found)
}

fn shown(cards: Vec<Map>) -> Map {
    Map::from_iter([("num_gpus", Value::from(cards.len())), ("gpus", Value::list(cards))])
}

fn cards(told: &str) -> Vec<Map> {
    let card = |device: &str| {
        let field = |name: &str| {
            let value = device.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.unwrap_or_default().trim()
        };
        let vendor = field("Vendor").to_lowercase();
        let words: Vec<&str> = vendor.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let vendor = VENDORS.into_iter().find(|known| words.contains(known)).unwrap_or("unknown");
        let is_card = CLASSES.contains(&field("Class").to_lowercase().as_str());
        is_card.then(|| Map::from_iter([("vendor", vendor), ("model", field("Device"))]))
    };
    told.split("\n\n").filter_map(card).collect()
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
    fn graphics_cards_are_those_of_lspci() {
        let told = "Slot:\t00:02.0\nClass:\tVGA compatible controller\nVendor:\tIntel Corporation\nDevice:\tUHD\n\n\
                    Slot:\t00:1f.0\nClass:\tISA bridge\nVendor:\tIntel Corporation\nDevice:\tX\n";
        assert_eq!(cards(told), [Map::from_iter([("vendor", "intel"), ("model", "UHD")])]);
        assert!(cards("").is_empty());
    }

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
