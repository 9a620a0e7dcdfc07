//! What the machine runs on: a hypervisor, a container, or nothing.

use super::Look;
use halite_value::Map;

pub(super) fn grains(look: &Look) -> Map {
    let (kind, subtype) = container(look).or_else(|| hypervisor(look)).unwrap_or(("physical", None));
    let mut grains = Map::new();
    grains.insert("virtual", kind);
    if let Some(subtype) = subtype {
        grains.insert("virtual_subtype", subtype);
    }
    grains
}

type Found = (&'static str, Option<&'static str>);

/// A container hides what is below it, so it is looked for first.
fn container(look: &Look) -> Option<Found> {
    let group = look.text("/proc/1/cgroup").unwrap_or_default();
    let environment = look.text("/proc/1/environ").unwrap_or_default();
    let told = environment.split('\0').find_map(|variable| variable.strip_prefix("container=")).map(str::to_owned);
    let told = told.or_else(|| look.line("/run/systemd/container")).unwrap_or_default();
    let holds = |words: &[&str]| words.iter().any(|word| group.contains(word));
    if look.exists("/run/.containerenv") || told == "podman" || holds(&["libpod"]) {
        Some(("container", Some("Podman")))
    } else if look.exists("/.dockerenv")
        || told == "docker"
        || holds(&[":/docker", "/docker/", ":/kubepods", "kubepods.slice"])
    {
        Some(("container", Some("Docker")))
    } else if told == "lxc" || holds(&[":/lxc", "lxc.payload"]) {
        Some(("container", Some("LXC")))
    } else if told == "systemd-nspawn" {
        Some(("container", Some("systemd-nspawn")))
    } else if look.exists("/proc/vz/version") {
        Some(("openvzhn", None))
    } else if look.exists("/proc/vz/veinfo") {
        Some(("openvzve", None))
    } else {
        None
    }
}

fn hypervisor(look: &Look) -> Option<Found> {
    let (product, vendor, bios) = (look.found("productname"), look.found("manufacturer"), look.found("biosvendor"));
    let table: [(bool, Found); 16] = [
        (product.contains("VirtualBox"), ("VirtualBox", None)),
        (product.contains("VMware") || vendor.contains("VMware"), ("VMware", None)),
        (product.contains("RHEV Hypervisor"), ("kvm", Some("rhev"))),
        (product.contains("oVirt"), ("kvm", Some("ovirt"))),
        (product.contains("Google"), ("gce", None)),
        (product.contains("BHYVE"), ("bhyve", None)),
        (vendor.contains("Microsoft") && product.contains("Virtual Machine"), ("HyperV", None)),
        (vendor.contains("Amazon EC2"), ("Nitro", Some("Amazon EC2"))),
        (product == "HVM domU", ("xen", Some("Xen HVM DomU"))),
        (vendor.contains("Parallels"), ("Parallels", None)),
        (vendor.contains("Nutanix") && product.contains("AHV"), ("kvm", Some("Nutanix AHV"))),
        (product.contains("CloudStack KVM Hypervisor"), ("kvm", Some("cloudstack"))),
        (vendor.contains("OpenStack") || product.contains("OpenStack"), ("OpenStack", None)),
        (vendor.contains("QEMU") || product.contains("KVM") || vendor.contains("Bochs"), ("kvm", None)),
        (bios.contains("SeaBIOS"), ("kvm", None)),
        (look.found("cpu_model").contains("QEMU Virtual CPU"), ("kvm", None)),
    ];
    let found = table.into_iter().find(|(is_this, _)| *is_this).map(|(_, found)| found);
    found.or_else(|| xen(look))
}

fn xen(look: &Look) -> Option<Found> {
    if let Some(abilities) = look.text("/proc/xen/capabilities") {
        let subtype = if abilities.contains("control_d") { "Xen Dom0" } else { "Xen PV DomU" };
        return Some(("xen", Some(subtype)));
    }
    look.exists("/sys/bus/xen/drivers/xenconsole").then_some(("xen", Some("Xen PV DomU")))
}

#[cfg(test)]
mod tests {
    use crate::grains::collect;
    use halite_core::host::fake::Fake;
    use halite_value::Map;

    fn seen(host: Fake) -> String {
        let grains = collect(&host, &Map::new());
        format!("{}/{}", grains.str_at("virtual").unwrap(), grains.str_at("virtual_subtype").unwrap_or("-"))
    }

    #[test]
    fn what_is_below_is_named_as_salt_names_it() {
        let firmware = |vendor: &str, product: &str| {
            Fake::new().file("/sys/class/dmi/id/sys_vendor", vendor).file("/sys/class/dmi/id/product_name", product)
        };
        assert_eq!(seen(Fake::new()), "physical/-");
        assert_eq!(seen(firmware("Dell Inc.", "PowerEdge R740")), "physical/-");
        assert_eq!(seen(firmware("QEMU", "Standard PC (Q35 + ICH9, 2009)")), "kvm/-");
        assert_eq!(seen(firmware("VMware, Inc.", "VMware7,1")), "VMware/-");
        assert_eq!(seen(firmware("Amazon EC2", "t3.micro")), "Nitro/Amazon EC2");
        assert_eq!(seen(firmware("QEMU", "x").file("/.dockerenv", "")), "container/Docker");
        assert_eq!(seen(Fake::new().file("/proc/1/environ", "A=b\0container=lxc\0")), "container/LXC");
        assert_eq!(seen(Fake::new().file("/proc/xen/capabilities", "control_d\n")), "xen/Xen Dom0");
    }
}
