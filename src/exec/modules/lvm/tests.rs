//! The functions of `lvm` against what LVM 2.03 prints.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_core::{Fault, Reply};
use halite_value::Value;
use halite_value::record::Arguments;

fn run(world: &World, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
    call(&world.ctx(&NoMaster), fun, arguments).map(|returned| returned.value)
}

fn words(words: &[&str]) -> Arguments {
    Arguments::positional(words.iter().copied())
}

fn fails(stderr: &str) -> Finished {
    Finished { code: 5, stderr: stderr.as_bytes().to_vec(), ..Finished::default() }
}

const PV: &str = "  /dev/sdb1:vg0:2097152:-1:8:8:-1:4096:511:383:128:Dzn9tR-x0Yf\n";
const VG: &str = "  vg0:r/w:772:-1:0:1:0:-1:0:1:1:2093056:4096:511:128:383:cRTRHu\n";
const LV: &str = "  /dev/vg0/data:vg0:3:1:-1:0:1048576:128:-1:0:-1:254:0\n";

#[test]
fn volumes_are_shown_by_the_names_of_their_fields() {
    let host = Fake::new()
        .answers(
            ["lvm", "version"],
            "  LVM version:     2.03.16(2) (2022-05-18)\n  Library version: 1.02.185 (2022-05-18)\n",
        )
        .answers(["pvdisplay", "-c", "/dev/sdb1"], PV)
        .answers(["pvdisplay", "-c"], "  \"/dev/sdc\" is a new physical volume of \"1.00 GiB\"\n")
        .answers(["vgdisplay", "-c"], VG)
        .answers(["lvdisplay", "-c"], LV)
        .command(["vgdisplay", "-c", "none"], fails("Volume group \"none\" not found"));
    let world = World::on(host);
    assert_eq!(run(&world, "lvm.version", words(&[])).unwrap(), "2.03.16(2) (2022-05-18)".into());
    assert_eq!(
        run(&world, "lvm.fullversion", words(&[])).unwrap().at("Library version"),
        Some(&"1.02.185 (2022-05-18)".into())
    );
    let pv = run(&world, "lvm.pvdisplay", words(&["/dev/sdb1"]).with("real", true)).unwrap();
    let pv = pv.at("/dev/sdb1").unwrap();
    assert_eq!(
        (pv.at("Free Physical Extents"), pv.at("Real Physical Volume Device")),
        (Some(&"383".into()), Some(&"/dev/sdb1".into()))
    );
    assert_eq!(run(&world, "lvm.pvdisplay", words(&[])).unwrap().to_json(), "{}");
    assert_eq!(run(&world, "lvm.vgdisplay", words(&[])).unwrap().at("vg0").unwrap().at("UUID"), Some(&"cRTRHu".into()));
    assert_eq!(run(&world, "lvm.vgdisplay", words(&["none"])).unwrap().to_json(), "{}");
    let lv = run(&world, "lvm.lvdisplay", words(&[])).unwrap();
    assert_eq!(lv.at("/dev/vg0/data").unwrap().at("Minor Device Number"), Some(&"0".into()));
}

#[test]
fn what_is_made_is_shown_and_what_fails_is_told() {
    let host = Fake::new()
        .file("/dev/sdb1", "")
        .answers(["pvdisplay", "-c", "/dev/sdb1"], PV)
        .answers(["vgcreate", "vg0", "/dev/sdb1", "-qq", "--physicalextentsize", "8M"], "")
        .answers(["vgdisplay", "-c", "vg0"], VG)
        .answers(["lvcreate", "-n", "data", "vg0", "-L", "512M", "--stripes", "2", "-qq"], "")
        .answers(["lvdisplay", "-c", "/dev/vg0/data"], LV)
        .command(["lvremove", "vg0/none", "--yes"], fails("  Failed to find logical volume \"vg0/none\"\n"))
        .answers(["lvextend", "-qq", "--resizefs", "-l", "+100%FREE", "/dev/vg0/data"], "")
        .answers(["pvresize", "--yes", "/dev/sdb1"], "");
    let world = World::on(host);
    assert_eq!(run(&world, "lvm.pvcreate", words(&["/dev/sdb1"])).unwrap(), true.into());
    assert_eq!(run(&world, "lvm.pvcreate", words(&["/dev/none"])).unwrap(), "/dev/none does not exist".into());
    let made = run(
        &world,
        "lvm.vgcreate",
        words(&["vg0", "/dev/sdb1"]).with("physicalextentsize", "8M").with("__pub_jid", "1"),
    );
    assert_eq!(made.unwrap().at("Output from vgcreate"), Some(&"Volume group \"vg0\" successfully created".into()));
    assert_eq!(
        run(&world, "lvm.vgextend", words(&["vg0", ""])).unwrap(),
        "Error: vgname and device(s) are both required".into()
    );
    let made = run(&world, "lvm.lvcreate", words(&["data", "vg0"]).with("size", "512M").with("stripes", 2)).unwrap();
    assert!(
        made.at("/dev/vg0/data").is_some()
            && made.at("Output from lvcreate") == Some(&"Logical volume \"data\" created.".into())
    );
    assert_eq!(
        run(&world, "lvm.lvcreate", words(&["data", "vg0"])).unwrap(),
        "Error: Either size or extents must be specified".into()
    );
    assert_eq!(
        run(&world, "lvm.lvremove", words(&["none", "vg0"])).unwrap(),
        "Failed to find logical volume \"vg0/none\"".into()
    );
    let extended =
        Arguments::default().with("lvpath", "/dev/vg0/data").with("extents", "+100%FREE").with("resizefs", true);
    assert_eq!(
        run(&world, "lvm.lvextend", extended).unwrap().to_json(),
        r#"{"Output from lvextend": "Logical volume \"/dev/vg0/data\" successfully extended."}"#
    );
    assert_eq!(run(&world, "lvm.lvresize", words(&[])).unwrap().to_json(), "{}");
    assert_eq!(run(&world, "lvm.pvresize", words(&["/dev/sdb1"])).unwrap(), true.into());
    let hostile: Reply = call(&world.ctx(&NoMaster), "lvm.vgremove", words(&["--force"]));
    assert!(hostile.is_err());
}
