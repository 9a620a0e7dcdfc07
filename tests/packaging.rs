//! What packages ship beside the file: the tools that read it find no fault, as far as they are installed here.

use halite_core::testing::{Need, host_has};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(directory);
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn shells_and_man_read_what_was_made() {
    for (tool, args, directory) in [
        ("bash", &["-n"][..], "completions/bash"),
        ("zsh", &["-n"], "completions/zsh"),
        ("fish", &["-n"], "completions/fish"),
        ("mandoc", &["-T", "lint", "-W", "error"], "man"),
    ] {
        if !host_has(&[Need::Program(tool)]) {
            continue;
        }
        for file in files(directory) {
            let output = Command::new(tool).args(args).arg(&file).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", file.display());
        }
    }
}

#[test]
fn bash_completes_options_values_and_functions() {
    if !host_has(&[Need::Program("bash")]) {
        return;
    }
    let script = "for file in \"$0\"/*; do source \"$file\"; done
        try() {
            COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            $(complete -p \"$1\" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
            echo \"${COMPREPLY[*]}\"
        }
        salt-key() { printf '%s\\n' 'Accepted Keys:' web1 '$(echo >&2 HACKED)'; }
        try salt --out = js
        try salt -l de
        try salt --stat
        try salt -l debug --log-file-level = info web1 test.pi
        try salt-call test.pin
        try salt-run jobs.look
        try salt-key --rotate-aes-key T
        try salt-key -d web
        try salt-key -d ''
        try halite generate m";
    let directory = files("completions/bash")[0].parent().unwrap().to_owned();
    let output = Command::new("bash").arg("-c").arg(script).arg(directory).output().unwrap();
    let wanted = "json\ndebug\n--static --state-output --state-verbose\ntest.ping\ntest.ping\njobs.lookup_jid\nTrue\n\
        web1\nweb1 \\$\\(echo\\ \\>\\&2\\ HACKED\\)\nman\n";
    // The id of the second key is a command, which nobody may run.
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.stderr.as_slice()), (wanted, &b""[..]));
}

/// The paths of a unit lead to the file that the tests run: systemd wants programs that are there.
#[test]
fn systemd_finds_no_fault_with_the_units() {
    if !host_has(&[Need::Program("systemd-analyze")]) {
        return;
    }
    let directory = std::env::temp_dir().join(format!("halite-units-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let mut units = Vec::new();
    for unit in files("services/systemd") {
        let text = fs::read_to_string(&unit).unwrap();
        let copy = directory.join(unit.file_name().unwrap());
        let text = text.replace("=/usr/bin/salt-", &format!("={} salt-", env!("CARGO_BIN_EXE_halite")));
        fs::write(&copy, text).unwrap();
        units.push(copy);
    }
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&units).output();
    fs::remove_dir_all(&directory).unwrap();
    let output = output.unwrap();
    assert_eq!(units.len(), 2);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn shells_read_the_scripts() {
    for directory in ["services/init.d", "services/openrc"] {
        for file in files(directory) {
            let output = Command::new("sh").arg("-n").arg(&file).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", file.display());
        }
    }
}
