//! `saltutil.update`: another version of the program takes the place of the one that runs.

use crate::daemon::Background;
use crate::fleet::{Fleet, Ran, wait_for};
use halite_core::VERSION;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A master that serves `srv`, and the minion web1 with a supervisor, from a file of its own.
fn fleet() -> (Fleet, Background, PathBuf) {
    let mut fleet = Fleet::prepare(&["web1"], "auto_accept: True\n", "");
    let srv = fleet.path("srv");
    fs::create_dir_all(&srv).unwrap();
    let conf = fleet.path("conf/master");
    let text = fs::read_to_string(&conf).unwrap();
    fs::write(conf, format!("{text}file_roots: {{base: [{}]}}\n", srv.display())).unwrap();
    fleet.start_master();
    let installed = fleet.path("bin/halite");
    fs::create_dir_all(fleet.path("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_halite"), &installed).unwrap();
    let minion = Background::of(&fleet, &installed, "salt-minion");
    fleet.wait_connected(&["web1"]);
    (fleet, minion, installed)
}

/// The version after ours, of the same length.
fn next_version() -> String {
    let (numbers, name) = VERSION.split_once('-').unwrap();
    let (front, _) = numbers.rsplit_once('.').unwrap();
    format!("{front}.9-{name}")
}

/// The same program, which says that it is the next version.
fn write_next_version(path: &Path) {
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_halite")).unwrap();
    let (ours, next) = (VERSION.as_bytes(), next_version());
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(ours.len()).position(|window| window == ours) {
        at += found;
        bytes[at..at + ours.len()].copy_from_slice(next.as_bytes());
    }
    assert!(at > 0, "the version is in the file");
    fs::write(path, bytes).unwrap();
}

fn update(fleet: &Fleet, words: &[&str]) -> Ran {
    fleet.salt(&[&["web1", "saltutil.update", "-t", "120", "--out=json", "source=salt://halite"], words].concat())
}

fn left_beside(installed: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(installed.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_version_takes_over_while_a_hundred_jobs_run() {
    const JOBS: usize = 100;
    let (fleet, minion, installed) = fleet();
    let gate = fleet.path("gate");
    let jids: Vec<String> = (0..JOBS)
        .map(|number| {
            let line = format!("until [ -e {} ]; do sleep 0.5; done; echo job {number}", gate.display());
            let ran = fleet.salt(&["web1", "cmd.run", &line, "--async"]);
            ran.out.split_whitespace().last().unwrap_or_default().to_owned()
        })
        .collect();
    wait_for("the jobs to run", || (fleet.workers("web1").len() == JOBS).then_some(()));
    write_next_version(&fleet.path("srv/halite"));
    let ran = update(&fleet, &["version=0.0.0"]);
    assert!(ran.code != 0 && ran.out.contains("nothing was changed"), "{}{}", ran.out, ran.err);
    let next = next_version();
    let ran = update(&fleet, &[&format!("version={next}")]);
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    assert_eq!(told["web1"], serde_json::json!({"from": VERSION, "to": next, "updated": true}));
    fleet.wait_connected(&["web1"]);
    assert!(fleet.salt(&["web1", "test.ping"]).out.contains("True"));
    let versions = fleet.run("salt-run", &["manage.versions"]);
    assert!(versions.out.contains(&next), "{}", versions.out);
    // The process that the pid file and the init system know is the same, and is of the new file too.
    let runs = fs::read_link(format!("/proc/{}/exe", minion.pid)).unwrap();
    assert_eq!(runs, installed);
    assert_eq!(left_beside(&installed), [".halite-previous", "halite"]);
    fs::write(&gate, "").unwrap();
    for (number, jid) in jids.iter().enumerate() {
        let full = fleet.wait_return(jid, "web1");
        assert_eq!(full.str_at("return"), Some(format!("job {number}").as_str()), "{jid}");
    }
    let ran = update(&fleet, &[]);
    assert!(ran.code == 0 && ran.out.contains("\"updated\": false"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_version_that_does_not_come_up_is_put_back() {
    let (fleet, minion, installed) = fleet();
    let before = fs::read(&installed).unwrap();
    let says = format!("[ \"$1\" = --version ] && echo halite {} && exit\n", next_version());
    for (program, why) in [
        ("no program at all".to_owned(), "does not run here"),
        ("#!/bin/sh\necho 1.2.3\n".to_owned(), "no version of Halite"),
        (format!("#!/bin/sh\n{says}exit 3\n"), "was put back"),
        (format!("#!/bin/sh\n{says}while :; do sleep 0.2; done\n"), "has reached no master within 1 s"),
    ] {
        fs::write(fleet.path("srv/halite"), &program).unwrap();
        let ran = update(&fleet, &["timeout=1"]);
        assert!(ran.code != 0 && ran.out.contains(why), "{program}: {}{}", ran.out, ran.err);
        fleet.wait_connected(&["web1"]);
        assert!(fleet.salt(&["web1", "test.version"]).out.contains(VERSION));
        assert!(fs::read(&installed).unwrap() == before, "{program}");
        assert_eq!(left_beside(&installed), ["halite"], "{program}");
    }
    assert!(fs::metadata(&installed).unwrap().permissions().mode() & 0o111 != 0);
    drop(minion);
}
