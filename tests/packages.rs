//! What `packaging/package.sh` makes: each file in its place, and what a package manager does with it. Into roots of
//! their own, in which nothing is run: `packaging/check-packages.sh` tries the packages with daemons in a root of Debian.

use crate::fleet::{Directory, Ran};
use halite_core::testing::{Need, host_has};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes packages of our own build, without packing them hard.
fn make(kind: &str, revision: &str, out: &Path) -> Vec<PathBuf> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/package.sh");
    let mut command = Command::new("sh");
    command.args([script, kind]).arg(out).envs([
        ("HALITE", env!("CARGO_BIN_EXE_halite")),
        ("REVISION", revision),
        ("COMPRESSION", "none"),
    ]);
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out.lines().map(PathBuf::from).filter(|path| path.is_file()).collect()
}

fn ran(command: &mut Command) -> Ran {
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.out, ran.err);
    ran
}

fn files_below(root: &Path, directory: &str) -> Vec<String> {
    let listed = ran(Command::new("find").current_dir(root).args([directory, "!", "-type", "d"]));
    let mut files: Vec<String> = listed.out.lines().map(str::to_owned).collect();
    files.sort();
    files
}

#[test]
fn dpkg_installs_upgrades_removes_and_purges() {
    if !host_has(&[Need::Root, Need::Program("dpkg"), Need::Program("dpkg-deb")]) {
        return;
    }
    let directory = Directory::fresh();
    let root = directory.0.join("root");
    fs::create_dir_all(root.join("var/lib/dpkg/info")).unwrap();
    fs::create_dir_all(root.join("etc/salt")).unwrap();
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    // What is there before stays, as when Salt's own package was removed.
    fs::write(root.join("etc/salt/master"), "# mine\n").unwrap();
    let dpkg = |words: &[&str], packages: &[PathBuf]| {
        let mut command = Command::new("dpkg");
        command.arg(format!("--root={}", root.display()));
        command.args(["--force-script-chrootless", "--force-depends", "--log=/dev/null"]);
        ran(command.args(words).args(packages));
    };
    dpkg(&["-i"], &make("deb", "1", &directory.0.join("first")));
    let links = files_below(&root, "usr/bin");
    assert_eq!(links.len(), 8, "{links:?}");
    let version = ran(Command::new(root.join("usr/bin/salt-minion")).arg("--version"));
    assert!(version.out.starts_with("salt-minion "), "{}", version.out);
    for file in [
        "etc/init.d/salt-minion",
        "etc/salt/minion",
        "usr/lib/systemd/system/salt-master.service",
        "usr/share/man/man1/salt-call.1.gz",
        "usr/share/bash-completion/completions/salt",
    ] {
        assert!(root.join(file).exists(), "{file}");
    }
    assert_eq!(fs::read_to_string(root.join("etc/salt/master")).unwrap(), "# mine\n");
    fs::write(root.join("etc/default/salt-minion"), "# mine\n").unwrap();
    dpkg(&["-i"], &make("deb", "2", &directory.0.join("second")));
    assert_eq!(fs::read_to_string(root.join("etc/default/salt-minion")).unwrap(), "# mine\n");
    let names = ["halite-minion", "halite-master", "halite"].map(PathBuf::from);
    dpkg(&["-r"], &names);
    assert!(!root.join("usr/bin/halite").exists() && root.join("etc/salt/minion").exists());
    fs::create_dir_all(root.join("etc/salt/pki/master")).unwrap();
    fs::write(root.join("etc/salt/pki/master/master.pem"), "key").unwrap();
    dpkg(&["-P"], &names);
    assert_eq!(files_below(&root, "etc"), ["etc/salt/pki/master/master.pem"]);
    assert!(!root.join("usr").exists());
}

#[test]
fn rpm_fills_an_empty_root() {
    if !host_has(&[Need::Root, Need::Program("rpm"), Need::Program("rpmbuild")]) {
        return;
    }
    let directory = Directory::fresh();
    let root = directory.0.join("root");
    fs::create_dir_all(&root).unwrap();
    let rpm = |words: &[&str]| ran(Command::new("rpm").arg("--root").arg(&root).args(words));
    let packages = make("rpm", "1", &directory.0.join("out"));
    let packages: Vec<&str> = packages.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(packages.len(), 3, "{packages:?}");
    rpm(&[&["-i"], &packages[..]].concat());
    rpm(&["-V", "halite", "halite-master", "halite-minion"]);
    assert!(root.join("usr/lib/systemd/system/salt-minion.service").exists());
    assert!(rpm(&["-q", "--conflicts", "halite"]).out.contains("salt-minion"));
    fs::write(root.join("etc/salt/minion"), "# mine\n").unwrap();
    rpm(&["-e", "halite-minion", "halite-master", "halite"]);
    assert_eq!(files_below(&root, "etc"), ["etc/salt/minion.rpmsave"]);
    assert_eq!(files_below(&root, "usr/bin"), [""; 0]);
}

#[test]
fn the_archive_has_all_and_alpine_makes_a_package_of_it() {
    if !host_has(&["tar", "sha512sum", "bash"].map(Need::Program)) {
        return;
    }
    let directory = Directory::fresh();
    let made = make("tar", "1", &directory.0);
    let archive = made.iter().find(|path| path.to_string_lossy().ends_with(".tar.gz")).unwrap();
    ran(Command::new("tar").current_dir(&directory.0).arg("-xf").arg(archive));
    // What abuild does, as far as it touches this package.
    let script = "set -eu
        CARCH=$(uname -m) srcdir=$PWD pkgdir=$PWD/package
        . ./APKBUILD
        printf '%s' \"$sha512sums\" | sed '/^$/d' | sha512sum --check --quiet -
        build && package";
    ran(Command::new("bash").current_dir(&directory.0).args(["-c", script]));
    let package = directory.0.join("package");
    let files = files_below(&package, ".");
    for file in ["./usr/bin/salt-minion", "./etc/init.d/salt-minion", "./etc/conf.d/salt-master", "./etc/salt/minion"] {
        assert!(files.iter().any(|there| there == file), "{file} is not in {files:?}");
    }
}
