//! Files that are larger than the memory that may be used for them: 256 MiB, or 4 GiB with `HALITE_BIG_FILES=1`.
//!
//! The memory is a limit and not a measurement: what is read in between may miss a peak, and the highest RSS that the
//! kernel tells of a child begins with that of the process it was made by. `RLIMIT_DATA` counts what a process may
//! write to and nobody else sees, used or not: all of its heap and stacks. With less there is no memory, and what asks for
//! more fails; that it does is the first thing that is tried. Daemons, whose threads have stacks that they do not use, are
//! asked for the most that they have had, which is exact while they live.

use crate::fleet::{Directory, Fleet, Ran};
use halite_value::{Value, parse_json};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The memory that a file may cost, whatever its size.
const MEMORY: u64 = 64 << 20;
/// What stands at the end of the files, behind zeros that take no space.
const END: &[u8] = b"the end";

fn size() -> u64 {
    if std::env::var_os("HALITE_BIG_FILES").is_some() { 4 << 30 } else { 256 << 20 }
}

/// A large file that takes no space.
fn big(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(path).unwrap();
    file.set_len(size() - END.len() as u64).unwrap();
    file.write_all_at(END, size() - END.len() as u64).unwrap();
}

/// Changes a file at its end.
fn change(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(b"THE END", size() - END.len() as u64).unwrap();
}

/// That a file is the whole of the large one; it is removed then.
fn assert_whole(path: &Path) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut end = [0; END.len()];
    file.read_exact_at(&mut end, size() - END.len() as u64).unwrap();
    assert_eq!((file.metadata().unwrap().len(), &end.to_ascii_lowercase()[..]), (size(), END));
    fs::remove_file(path).unwrap();
}

/// `salt-call` with as much memory as a file may cost.
fn call(conf: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -d {} && exec \"$@\"", MEMORY / 1024)).arg("sh");
    command.arg(env!("CARGO_BIN_EXE_halite")).arg("salt-call").arg("-c").arg(conf);
    Ran::from(command.args(["--out=json", "-lquiet"]).args(args).stdin(Stdio::null()).output().unwrap())
}

/// What a function answers.
fn answer(conf: &Path, args: &[&str]) -> Value {
    let ran = call(conf, args);
    let told = parse_json(&ran.out).unwrap_or_else(|error| panic!("{args:?}: {error}: {ran:?}"));
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    told.at("local").unwrap_or_else(|| panic!("{args:?}: {ran:?}")).clone()
}

/// Result and changes of the one state that ran.
fn state(conf: &Path, args: &[&str]) -> (Value, Value) {
    let told = answer(conf, &[args, &["concurrent=True"]].concat());
    let one = told.as_map().and_then(|map| map.iter().next().map(|(_, one)| one.clone())).unwrap_or_default();
    let part = |key: &str| one.at(key).cloned().unwrap_or_else(|| panic!("{args:?}: {}", told.to_json()));
    (part("result"), part("changes"))
}

/// A host with a large file at `root/tree/sub/big` of its own file server.
struct Bare {
    directory: Directory,
}

impl Bare {
    fn new() -> Bare {
        let bare = Bare { directory: Directory::fresh() };
        big(&bare.source());
        let root = bare.directory.0.display();
        let text = format!("id: bare\nroot_dir: {root}/host\nfile_roots:\n  base: ['{root}/root']\n");
        fs::write(bare.directory.0.join("minion"), text).unwrap();
        bare
    }

    fn source(&self) -> PathBuf {
        self.directory.0.join("root/tree/sub/big")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.0.join(name)
    }

    fn state(&self, args: &[&str]) -> (Value, Value) {
        state(&self.directory.0, &[&["--local", "state.single"], args].concat())
    }

    fn answer(&self, args: &[&str]) -> Value {
        answer(&self.directory.0, &[&["--local"], args].concat())
    }
}

#[test]
fn what_holds_a_large_file_whole_does_not_get_the_memory() {
    let bare = Bare::new();
    let ran = call(&bare.directory.0, &["--local", "file.read", bare.source().to_str().unwrap()]);
    assert!(ran.code != 0 && ran.out.len() < 1 << 20, "the limit is none: {}", ran.code);
}

#[test]
fn a_state_brings_compares_and_replaces_a_large_file() {
    let bare = Bare::new();
    let (own, dest) = (bare.source(), bare.path("dest"));
    let hash = bare.answer(&["file.get_hash", own.to_str().unwrap(), "md5"]).to_text();
    let (name, local) = (format!("name={}", dest.display()), format!("source={}", own.display()));
    let hash = format!("source_hash=md5={hash}");
    for words in [&["source=salt://tree/sub/big"][..], &[&local], &[&local, &hash]] {
        let managed = || bare.state(&[&["file.managed", &name], words].concat());
        let (result, changes) = managed();
        assert_eq!((result, changes.at("diff")), (true.into(), Some(&"New file".into())), "{words:?}");
        assert_eq!(managed().1.to_json(), "{}", "{words:?}");
        change(&dest);
        let (result, changes) = managed();
        let (result, changes) = (result, changes.to_json());
        assert_eq!((result, changes.as_str()), (true.into(), r#"{"diff": "Replace binary file"}"#), "{words:?}");
        assert_whole(&dest);
    }
    // A copy of what is replaced is kept, and what stands in the SLS is little.
    big(&dest);
    let (result, changes) = bare.state(&["file.managed", &name, "contents=small", "backup=minion"]);
    let told = changes.at("diff").map(Value::to_text);
    assert_eq!((result, told.as_deref()), (true.into(), Some("Replace binary file with text file")));
    assert_eq!(fs::read_to_string(&dest).unwrap(), "small\n");
}

#[test]
fn a_state_brings_a_directory_with_a_large_file() {
    let bare = Bare::new();
    let name = format!("name={}", bare.path("dest").display());
    let recurse = || bare.state(&["file.recurse", &name, "source=salt://tree"]);
    assert_eq!(recurse().0, true.into());
    assert_eq!(recurse().1.to_json(), "{}");
    change(&bare.path("dest/sub/big"));
    assert!(recurse().1.to_json().contains("Replace binary file"));
    assert_whole(&bare.path("dest/sub/big"));
}

#[test]
fn functions_bring_check_and_put_a_large_file() {
    let bare = Bare::new();
    let (own, dest) = (bare.source(), bare.path("dest"));
    let (own, to) = (own.to_str().unwrap(), dest.to_str().unwrap());
    for source in [own, "salt://tree/sub/big"] {
        let brought = bare.answer(&[
            "file.get_managed",
            to,
            "None",
            source,
            "None",
            "None",
            "root",
            "root",
            "0644",
            "None",
            "base",
            "{}",
            "{}",
        ]);
        let Some([path, sum, complaint]) = brought.as_list() else { panic!("{}", brought.to_json()) };
        assert_eq!(complaint, &"".into());
        assert_eq!(sum.at("hash_type"), Some(&"sha256".into()));
        let sum = sum.to_json();
        let manage = |more: &[&str]| {
            let words = [
                "file.manage_file",
                to,
                &path.to_text(),
                "{}",
                source,
                &sum,
                "None",
                "None",
                "0640",
                "None",
                "base",
                "",
            ];
            bare.answer(&[&words, more].concat())
        };
        assert_eq!(manage(&[]).at("changes").unwrap().to_json(), r#"{"diff": "New file", "mode": "0640"}"#);
        assert_eq!(manage(&[]).at("changes").unwrap().to_json(), "{}");
        change(&dest);
        assert_eq!(manage(&[]).at("changes").unwrap().to_json(), r#"{"diff": "Replace binary file"}"#);
        let checked = bare.answer(&[
            "file.check_managed_changes",
            to,
            source,
            "None",
            "None",
            "None",
            "None",
            "0640",
            "None",
            "None",
            "{}",
            "{}",
            "base",
        ]);
        assert_eq!(checked.to_json(), "{}");
        assert_whole(&dest);
    }
    assert_eq!(bare.answer(&["cp.get_file", "salt://tree/sub/big", to]), to.into());
    assert_whole(&dest);
    assert_eq!(bare.answer(&["file.copy", own, to]), true.into());
    assert_whole(&dest);
}

#[test]
fn a_large_file_comes_from_a_master_and_costs_nobody_more() {
    let mut fleet = Fleet::prepare(&["web1"], "", "");
    let root = fleet.path("root");
    let config = fleet.path("conf/master");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}auto_accept: True\nfile_roots:\n  base: ['{}']\n", root.display())).unwrap();
    big(&root.join("tree/big"));
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    let (conf, dest) = (fleet.path("web1/conf"), fleet.path("dest"));
    let to = dest.to_str().unwrap();
    assert_eq!(answer(&conf, &["cp.get_file", "salt://tree/big", to]), to.into());
    assert_whole(&dest);
    let name = format!("name={to}");
    let managed = || state(&conf, &["state.single", "file.managed", &name, "source=salt://tree/big"]);
    assert_eq!(managed().1.at("diff"), Some(&"New file".into()));
    assert_eq!(managed().1.to_json(), "{}");
    assert_whole(&dest);
    for name in ["master", "web1"] {
        let most = most_memory(fleet.pid(name));
        assert!(most < MEMORY, "{name} has had {} MiB", most >> 20);
    }
}

/// The most memory that a process has had, in bytes.
fn most_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
