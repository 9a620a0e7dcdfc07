//! Who may do what: users of the master's host, and keys that come under a name that is taken.

use crate::fleet::{Fleet, Ran, wait_for};
use halite_core::testing::{Need, host_has};
use halite_keys::PublicKey;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// The user `nobody` of every system.
const NOBODY: u32 = 65_534;

fn as_nobody(fleet: &Fleet, args: &[&str]) -> Ran {
    Ran::from(fleet.command("salt").args(args).uid(NOBODY).gid(NOBODY).output().unwrap())
}

#[test]
fn another_user_may_what_the_acl_says_and_nothing_else() {
    if !host_has(&[Need::Root]) {
        return;
    }
    let lines = "auto_accept: True\npublisher_acl:\n  nobody:\n    - test.ping\n    - web1:\n      - cmd.run\n";
    let mut fleet = Fleet::prepare(&["web1", "web2"], lines, "");
    for open in ["conf", "conf/master", "."] {
        fs::set_permissions(fleet.path(open), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.start_minion("web2");
    fleet.wait_connected(&["web1", "web2"]);
    let ran = as_nobody(&fleet, &["*", "test.ping", "--out=txt"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2), "{}", ran.err);
    let ran = as_nobody(&fleet, &["web1", "cmd.run", "echo mine", "--out=txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "web1: mine\n"), "{}", ran.err);
    for args in [
        &["web2", "cmd.run", "echo not mine"][..],
        &["*", "cmd.run", "echo not mine"],
        &["web1", "test.ping,cmd.shell", ",", "echo not mine"],
        &["web1", "test.echo", "not listed"],
    ] {
        let ran = as_nobody(&fleet, args);
        assert_eq!((ran.code, ran.out.as_str()), (77, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("publisher_acl") && ran.err.contains("nobody"), "{}", ran.err);
    }
    // Keys are for root and the master's user alone, whatever the files allow.
    let ran = Ran::from(fleet.command("salt-key").args(["-y", "-d", "web1"]).uid(NOBODY).gid(NOBODY).output().unwrap());
    assert_ne!(ran.code, 0);
    assert_eq!(fleet.connected(), ["web1", "web2"]);
}

#[test]
fn a_second_key_for_a_known_id_is_denied_and_kept_for_the_admin() {
    let mut fleet = Fleet::start(&["web1"]);
    let first = PublicKey::load(&fleet.path("web1/pki/minion.pub")).unwrap();
    fleet.kill("web1");
    fs::remove_dir_all(fleet.path("web1/pki")).unwrap();
    fleet.start_minion("web1");
    let denied = fleet.path("pki/master/minions_denied/web1");
    let second = wait_for("the second key", || PublicKey::load(&denied).ok());
    assert_ne!(first, second);
    assert_eq!(PublicKey::load(&fleet.path("pki/master/minions/web1")).unwrap(), first, "the first one stays");
    assert!(fleet.connected().is_empty(), "auto_accept does not accept a second key");
    let ran = fleet.run("salt-key", &["-l", "den"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Denied Keys:\nweb1\n"));
    // The admin takes the first one away: the host has been installed anew.
    assert_eq!(fleet.run("salt-key", &["-y", "-d", "web1"]).code, 0);
    fleet.wait_connected(&["web1"]);
}
