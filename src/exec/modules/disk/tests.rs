//! Each command answers what it printed on a Debian 12, or in the manual of its package.

use crate::testing::World;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_core::{Fault, NoMaster};
use halite_value::Value;
use halite_value::record::Arguments;

fn run(host: Fake, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
    let programs = ["df", "blkid", "blockdev", "lsblk", "smartctl", "iostat"];
    let host = programs.iter().fold(host, |host, program| host.program(&format!("/usr/bin/{program}")));
    call(&World::on(host).ctx(&NoMaster), fun, arguments).map(|returned| returned.value)
}

const DF: &str = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n\
    /dev/vda         264212084 38804052  56481836      41% /\n\
    //nas/my files      102400     1024    101376       1% /mnt/my files\n\
    proc                     0        0         0       -  /proc\n";

#[test]
fn usage_is_what_df_says_and_names_may_have_blanks() {
    let usage = run(Fake::new().answers(["df", "-P"], DF), "disk.usage", Arguments::default()).unwrap();
    let root = r#"{"filesystem": "/dev/vda", "1K-blocks": "264212084", "used": "38804052", "available": "56481836", "capacity": "41%"}"#;
    assert_eq!(usage.at("/").unwrap().to_json(), root);
    let share = usage.at("/mnt/my files").unwrap();
    assert_eq!(share.at("filesystem"), Some(&"//nas/my files".into()));
    let percent = |words: Arguments| run(Fake::new().answers(["df", "-P"], DF), "disk.percent", words).unwrap();
    assert_eq!(percent(Arguments::default()).to_json(), r#"{"/": "41%", "/mnt/my files": "1%", "/proc": "-"}"#);
    assert_eq!(percent(Arguments::positional(["/"])), "41%".into());
    assert_eq!(percent(Arguments::positional(["/none"])).to_json(), "{}");
}

#[test]
fn flags_are_passed_on_and_others_refused() {
    let text = "Filesystem Type  Size  Used Avail Use% Mounted on\n/dev/vda   ext4  252G   38G   54G  41% /\n";
    let usage = run(Fake::new().answers(["df", "-PhT"], text), "disk.usage", Arguments::positional(["hT"])).unwrap();
    let root = usage.at("/").unwrap();
    assert_eq!((root.at("filesystem"), root.at("used")), (Some(&"/dev/vda ext4".into()), Some(&"38G".into())));
    let inodes = "Filesystem  Inodes IUsed IFree IUse% Mounted on\n/dev/vda  16777216 573026 16204190    4% /\n";
    let usage = run(Fake::new().answers(["df", "-iP"], inodes), "disk.inodeusage", Arguments::default()).unwrap();
    let root = r#"{"inodes": "16777216", "used": "573026", "free": "16204190", "use": "4%", "filesystem": "/dev/vda"}"#;
    assert_eq!(usage.at("/").unwrap().to_json(), root);
    for fun in ["disk.usage", "disk.inodeusage"] {
        let fault = run(Fake::new(), fun, Arguments::positional(["q"])).unwrap_err();
        assert_eq!(fault.to_string(), format!("Invalid flag passed to {fun}"));
    }
}

#[test]
fn a_program_that_fails_or_is_not_there_is_named() {
    let failing =
        Finished { code: 1, stderr: b"df: cannot read table of mounted file systems".to_vec(), ..Finished::default() };
    let fault = run(Fake::new().command(["df", "-P"], failing), "disk.usage", Arguments::default()).unwrap_err();
    assert!(fault.to_string().contains("cannot read table"), "{fault}");
    let fault = call(&World::new().ctx(&NoMaster), "disk.blkid", Arguments::default()).unwrap_err();
    assert_eq!(fault.to_string(), "The 'blkid' binary was not found in $PATH.");
}

#[test]
fn devices_have_tags() {
    let text = "/dev/sda1: LABEL=\"a b\" UUID=\"6a38\" TYPE=\"ext4\"\n/dev/sdb: TYPE=\"swap\"\n";
    let tags = run(Fake::new().answers(["blkid"], text), "disk.blkid", Arguments::default()).unwrap();
    let expected = r#"{"/dev/sda1": {"LABEL": "a b", "UUID": "6a38", "TYPE": "ext4"}, "/dev/sdb": {"TYPE": "swap"}}"#;
    assert_eq!(tags.to_json(), expected);
    let none = Finished { code: 2, ..Finished::default() };
    let token = Arguments::default().with("token", "UUID=1");
    let tags = run(Fake::new().command(["blkid", "-t", "UUID=1"], none), "disk.blkid", token).unwrap();
    assert_eq!(tags.to_json(), "{}");
}

#[test]
fn a_device_is_asked_for_its_sizes() {
    let argv = [
        "blockdev",
        "--getro",
        "--getsz",
        "--getss",
        "--getpbsz",
        "--getiomin",
        "--getioopt",
        "--getalignoff",
        "--getmaxsect",
        "--getsize",
        "--getsize64",
        "--getra",
        "--getfra",
        "/dev/vda",
    ];
    let text = "0\n536870912\n512\n4096\n4096\n0\n0\n2560\n536870912\n274877906944\n256\n256\n";
    let dump = |more: Arguments| run(Fake::new().answers(argv, text), "disk.dump", more);
    let all = dump(Arguments::positional(["/dev/vda"])).unwrap();
    assert_eq!((all.at("getro"), all.at("getsize64")), (Some(&"0".into()), Some(&"274877906944".into())));
    let some = dump(Arguments::positional(["/dev/vda"]).with("args", Value::list(["getss"]))).unwrap();
    assert_eq!(some.to_json(), r#"{"getss": "512"}"#);
    assert!(dump(Arguments::positional(["/dev/vda"]).with("args", Value::list(["getx"]))).is_err());
    let failing = Finished { code: 1, ..Finished::default() };
    let none = run(Fake::new().command(argv, failing), "disk.dump", Arguments::positional(["/dev/vda"])).unwrap();
    assert_eq!(none, false.into());
}

#[test]
fn the_kind_of_a_file_system_comes_from_lsblk_else_from_df() {
    let lsblk = ["lsblk", "-o", "fstype", "--", "/dev/vda"];
    let device = || Arguments::positional(["/dev/vda"]);
    assert_eq!(run(Fake::new().answers(lsblk, "FSTYPE\next4\n"), "disk.fstype", device()).unwrap(), "ext4".into());
    let df = "Filesystem Type 1K-blocks Used Available Use% Mounted on\n/dev/vda ext4 264212084 1 2 41% /\n";
    let host = Fake::new().answers(lsblk, "FSTYPE\n\n").answers(["df", "-T", "--", "/dev/vda"], df);
    assert_eq!(run(host, "disk.fstype", device()).unwrap(), "ext4".into());
    let host = Fake::new().answers(lsblk, "").answers(["df", "-T", "--", "/dev/vda"], "");
    assert_eq!(run(host, "disk.fstype", device()).unwrap(), "".into());
}

#[test]
fn smart_attributes_are_read_by_column() {
    let text = "=== START OF READ SMART DATA SECTION ===\n\
        ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
        \u{20} 5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0\n\
        194 Temperature_Celsius     0x0022   036   047   000    Old_age   Always       -       36 (Min/Max 20/47)\n\n\
        ID# of something else\n";
    let host = || Fake::new().answers(["smartctl", "--attributes", "/dev/sda"], text);
    let all = run(host(), "disk.smart_attributes", Arguments::positional(["sda"])).unwrap();
    let all = all.as_map().unwrap();
    assert_eq!(all.len(), 2);
    let temperature = all.at_value(&194.into()).unwrap();
    assert_eq!(temperature.at("raw_value"), Some(&"36 (Min/Max 20/47)".into()));
    assert_eq!((temperature.at("value"), temperature.at("flag")), (Some(&36.into()), Some(&"0x0022".into())));
    let some = Arguments::positional(["/dev/sda"])
        .with("attributes", Value::list([5]))
        .with("values", Value::list(["raw_value", "worst"]));
    let some = run(host(), "disk.smart_attributes", some).unwrap();
    assert_eq!(some.as_map().unwrap().at_value(&5.into()).unwrap().to_json(), r#"{"worst": 100, "raw_value": 0}"#);
}

#[test]
fn samples_are_averaged() {
    let text = "Linux 6.1 (host)\n\n\
        avg-cpu:  %user   %nice %idle\n           1.00    0.00  99.00\n\n\
        Device            r/s   %util\nvda              1.05    0.10\nvdb              2.00    0.00\n\n\
        avg-cpu:  %user   %nice %idle\n           2.01    0.00  97.99\n\n\
        Device            r/s   %util\nvda              1.06    0.30\nvdb              4.00    0.00\n\n";
    let host = Fake::new().answers(["iostat", "-x", "1", "2"], text);
    let told = run(host, "disk.iostat", Arguments::positional([1, 2])).unwrap();
    // 1.505 and 98.495 are halves; 1.055 too.
    let expected = r#"{"sys": {"%user": 1.5, "%nice": 0.0, "%idle": 98.5}, "vda": {"r/s": 1.06, "%util": 0.2}, "vdb": {"r/s": 3.0, "%util": 0.0}}"#;
    assert_eq!(told.to_json(), expected);
    assert!(run(Fake::new(), "disk.iostat", Arguments::positional([0])).is_err());
    let option = Arguments::default().with("disks", "-z");
    assert!(run(Fake::new(), "disk.iostat", option).is_err());
}

#[test]
fn file_systems_are_made_and_wiped_by_their_programs() {
    let fails = || Finished { code: 1, stderr: b"wipefs: error".to_vec(), ..Finished::default() };
    let host = || {
        Fake::new()
            .answers(["mkfs", "-t", "ext4", "-i", "4096", "-E", "lazy_itable_init=0", "-F", "/dev/vdb"], "")
            .answers(["mkfs", "-t", "vfat", "-F", "32", "/dev/vdb"], "")
            .answers(["sync"], "")
            .answers(["wipefs", "-a", "/dev/vdb"], "")
            .command(["wipefs", "-a", "/dev/none"], fails())
            .command(["resize2fs", "/dev/vdb"], fails())
    };
    let device = || Arguments::positional(["/dev/vdb"]);
    let ext = device().with("inode_size", 4096).with("lazy_itable_init", 0).with("force", true);
    assert_eq!(run(host(), "disk.format", ext).unwrap(), true.into());
    assert_eq!(run(host(), "disk.format", device().with("fs_type", "vfat").with("fat", 32)).unwrap(), true.into());
    assert_eq!(run(host(), "disk.wipe", device()).unwrap(), true.into());
    assert_eq!(run(host(), "disk.wipe", Arguments::positional(["/dev/none"])).unwrap(), false.into());
    assert_eq!(run(host(), "disk.resize2fs", device()).unwrap(), ().into());
    assert!(run(host(), "disk.wipe", Arguments::positional(["-x"])).is_err());
}

#[test]
fn a_device_is_tuned_and_shown() {
    let asked = [
        "blockdev",
        "--getro",
        "--getsz",
        "--getss",
        "--getpbsz",
        "--getiomin",
        "--getioopt",
        "--getalignoff",
        "--getmaxsect",
        "--getsize",
        "--getsize64",
        "--getra",
        "--getfra",
        "/dev/vda",
    ];
    let host = || {
        Fake::new()
            .program("/usr/bin/blockdev")
            .answers(["blockdev", "--setra", "1024", "--setro", "/dev/vda"], "")
            .answers(asked, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n1024\n12\n")
    };
    let tuned = Arguments::positional(["/dev/vda"]).with("read-ahead", 1024).with("read-only", true);
    assert_eq!(run(host(), "disk.tune", tuned).unwrap().to_json(), r#"{"getra": "1024", "getro": "1"}"#);
    let wrong = Arguments::positional(["/dev/vda"]).with("read-ahead", "x; id").with("speed", 1);
    let error = run(host(), "disk.tune", wrong).unwrap_err().to_string();
    assert_eq!(error, "Invalid keyword arguments: read-ahead=x; id, speed=1");
}

#[test]
fn disks_tell_hdparm_of_themselves() {
    let all = "\n/dev/sda:\n multcount     = 16 (on)\n geometry      = 30401/255/63, sectors = 488397168, start = 0\n \
               drive state is:  active/idle\n max sectors   = 390721968/488397168, HPA is enabled\n";
    let area = "\n/dev/sda:\n max sectors   = 390721968/488397168, HPA is enabled\n";
    let host = || {
        Fake::new()
            .program("/usr/bin/hdparm")
            .answers(["hdparm", "-aN", "/dev/sda"], all)
            .answers(["hdparm", "-N", "/dev/sda"], area)
            .answers(["hdparm", "--yes-i-know-what-i-am-doing", "-Np463977279", "/dev/sda"], "")
    };
    assert_eq!(
        run(host(), "disk.hdparms", Arguments::positional(["sda", "aN"])).unwrap().to_json(),
        r#"{"/dev/sda": {"multcount": [16, "on"], "geometry": [30401, 255, 63, {"sectors": "488397168", "start": "0"}], "drive_state": ["active", "idle"], "max_sectors": [390721968, 488397168, "HPA is enabled"]}}"#
    );
    assert_eq!(
        run(host(), "disk.hpa", Arguments::positional(["/dev/sda"])).unwrap().to_json(),
        r#"{"/dev/sda": {"total": 488397168, "visible": 390721968, "hidden": 97675200}}"#
    );
    assert_eq!(run(host(), "disk.hpa", Arguments::positional(["/dev/sda", "24419889"])).unwrap(), ().into());
    assert!(run(host(), "disk.hpa", Arguments::positional(["/dev/sda", "much"])).is_err());
    assert!(run(host(), "disk.hdparms", Arguments::positional(["sda", "a; id"])).is_err());
}
