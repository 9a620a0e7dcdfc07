//! Options that say what a daemon does by itself, over real processes.

use crate::fleet::{Directory, Fleet, Ran, signal, wait_for};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A fleet of `web1` alone, whose files are these; `@SRV@` in the lines of the configurations is their directory.
fn fleet(master: &str, minion: &str, files: &[(&str, &str)]) -> Fleet {
    let mut fleet = Fleet::prepare(&["web1"], "", "");
    let root = fleet.path("srv");
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("@SRV@", &root.display().to_string())).unwrap();
    }
    let roots = "file_roots: {base: [@SRV@/salt]}\npillar_roots: {base: [@SRV@/pillar]}\n";
    for (file, lines) in [("conf/master", format!("{roots}{master}")), ("web1/conf/minion", minion.to_owned())] {
        let text = fs::read_to_string(fleet.path(file)).unwrap();
        fs::write(fleet.path(file), text + &lines.replace("@SRV@", &root.display().to_string())).unwrap();
    }
    fleet.start_master();
    fleet.start_minion("web1");
    if master.contains("auto_accept: True") {
        fleet.wait_connected(&["web1"]);
    }
    fleet
}

fn call(fleet: &Fleet, args: &[&str]) -> Ran {
    let mut command = fleet.command("salt-call");
    command.args(["-c"]).arg(fleet.path("web1/conf")).args(args);
    Ran::from(command.output().unwrap())
}

#[test]
fn a_minion_runs_its_states_whenever_it_starts() {
    let begin = "@SRV@/began:\n  file.append:\n    - text: {{ pillar['word'] }}\n";
    let files = [("salt/begin.sls", begin), ("pillar/top.sls", "base: {'*': [p]}"), ("pillar/p.sls", "word: began")];
    let mut fleet =
        fleet("auto_accept: True\n", "startup_states: sls\nsls_list: [begin]\nminion_pillar_cache: True\n", &files);
    let began = fleet.path("srv/began");
    let text = || fs::read_to_string(&began).ok().filter(|text| !text.is_empty());
    assert_eq!(wait_for("the states of the start", text).trim(), "began");
    // The master is told what came of them.
    wait_for("the return", || fleet.run("salt-run", &["jobs.list_jobs"]).out.contains("state.sls").then_some(()));
    fs::remove_file(&began).unwrap();
    fleet.kill("web1");
    fleet.start_minion("web1");
    wait_for("the states of the next start", text);
    // The copy of the pillar serves without the master.
    fleet.kill("master");
    let root = fleet.path("web1/cache/pillar").display().to_string();
    let ran = call(&fleet, &["--local", "--pillar-root", &root, "pillar.get", "word", "unmask=True", "--out=txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "local: began\n"), "{}", ran.err);
}

#[test]
fn a_job_sees_the_grains_of_its_moment_where_that_is_wanted() {
    let lines =
        "grains_refresh_pre_exec: True\ngrains_cache: True\nlog_fmt_logfile: '%(minion_id)s%(jid)s %(message)s'\n";
    let fleet = fleet("auto_accept: True\n", lines, &[]);
    let role = || fleet.salt(&["web1", "grains.get", "role", "--out=txt"]).out;
    assert_eq!(role(), "", "an empty answer is no line");
    fs::write(fleet.path("web1/conf/grains"), "role: web\n").unwrap();
    assert_eq!(role(), "web1: web\n");
    assert!(fleet.path("web1/cache/grains.cache.p").exists());
    // In the log of its jobs each line says which job it is of.
    assert_eq!(fleet.salt(&["web1", "cmd.run", "echo to the log; exit 3"]).code, 1);
    let log = fs::read_to_string(fleet.path("web1/log")).unwrap();
    let line = log.lines().find(|line| line.contains("stdout: to the log")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.starts_with("[web1][JID: 2"), "{line}");
}

#[test]
fn a_master_is_told_of_grains_that_have_changed() {
    let fleet = fleet("auto_accept: True\n", "grains_refresh_every: 0.01\n", &[]);
    fs::write(fleet.path("web1/conf/grains"), "role: web\n").unwrap();
    wait_for("the target", || (fleet.salt(&["-G", "role:web", "test.ping"]).code == 0).then_some(()));
}

#[test]
fn a_minion_takes_its_key_back_where_it_may() {
    let key = |fleet: &Fleet, directory: &str| fleet.path("pki/master").join(directory).join("web1").exists();
    let fleet_of = |lines: &str| {
        let fleet = fleet(lines, "", &[]);
        wait_for("the key", || key(&fleet, "minions_pre").then_some(()));
        assert_eq!(fleet.run("salt-key", &["-y", "-a", "web1"]).code, 0);
        fleet.wait_connected(&["web1"]);
        fleet
    };
    let may = fleet_of("");
    let ran = may.salt(&["web1", "saltutil.revoke_auth", "--out=txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "web1: True\n"), "{}", ran.err);
    wait_for("the key to go", || (!key(&may, "minions")).then_some(()));
    wait_for("the minion to ask again", || key(&may, "minions_pre").then_some(()));
    let may_not = fleet_of("allow_minion_key_revoke: False\n");
    let ran = may_not.salt(&["web1", "saltutil.revoke_auth", "--out=txt"]);
    assert_eq!(ran.out, "web1: False\n", "{}", ran.err);
    assert!(key(&may_not, "minions"));
}

#[test]
fn each_function_of_a_job_is_called_by_sudo_where_that_is_wanted() {
    let mut fleet = Fleet::prepare(&["web1"], "auto_accept: True\n", "sudo_user: root\n");
    // It does as sudo(8) does for root, and writes down for whom.
    let (bin, asked) = (fleet.path("bin"), fleet.path("asked"));
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("sudo"), format!("#!/bin/sh\necho \"$3\" >> {}\nshift 4\nexec \"$@\"\n", asked.display()))
        .unwrap();
    fs::set_permissions(bin.join("sudo"), fs::Permissions::from_mode(0o755)).unwrap();
    fleet.set_variable("web1", "PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    let ran = fleet.salt(&["web1", "test.arg", "5", "'5'", "a # b", "k={x: [1]}", "--out=json", "--out-indent=-1"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(r#""args": [5, "5", "a # b"]"#) && ran.out.contains(r#"{"x": [1]}"#), "{}", ran.out);
    assert_eq!(fs::read_to_string(&asked).unwrap(), "root\n");
    let ran = fleet.salt(&["web1", "test.retcode", "7", "--out=txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "web1: True\n"), "{}", ran.err);
}

/// Ends the daemon that a pid file names.
struct Ended(PathBuf);

impl Ended {
    fn pid(&self) -> Option<u32> {
        fs::read_to_string(&self.0).ok()?.trim().parse().ok()
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            signal(pid, Signal::TERM);
            wait_for("the minion to end", || (!Path::new(&format!("/proc/{pid}/exe")).exists()).then_some(()));
        }
    }
}

#[test]
fn a_minion_comes_back_by_the_command_of_its_configuration_and_says_so() {
    let mut fleet = Fleet::prepare(&["web1"], "auto_accept: True\n", "");
    let conf = fleet.path("web1/conf").display().to_string();
    let command = [env!("CARGO_BIN_EXE_halite"), "salt-minion", "-d", "-c", &conf];
    let lines = format!("minion_restart_command: {command:?}\n");
    fleet.configure_minion("web1", fleet.ret_port, &lines);
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    let after = Ended(fleet.path("web1/minion.pid"));
    let before = fleet.pid("web1");
    let ran = fleet.salt(&["web1", "minion.restart", "--out=json", "--out-indent=-1"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(&format!(r#""killed": {before}"#)) && ran.out.contains(r#""retcode": 0"#), "{}", ran.out);
    fleet.wait_connected(&["web1"]);
    assert!(after.pid().is_some_and(|pid| pid != before));
}

#[test]
fn a_returner_that_is_taken_away_is_not_there() {
    let directory = Directory::fresh();
    let returned = |lines: &str| {
        let text = format!("id: web1\nroot_dir: {}\nfile_client: local\n{lines}", directory.0.display());
        fs::write(directory.0.join("minion"), text).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_halite"));
        command.args(["salt-call", "-c"]).arg(&directory.0).args(["test.ping", "--return", "local"]);
        Ran::from(command.output().unwrap())
    };
    assert_eq!(returned("").code, 0);
    let refused = returned("disable_returners: [local]\n");
    assert!(refused.code == 69 && refused.err.contains("disable_returners"), "{refused:?}");
}

#[test]
fn a_job_gets_no_more_memory_than_it_may() {
    let fleet = fleet("auto_accept: True\n", "modules_max_memory: 200000000\n", &[]);
    let kept = |bytes: &str| {
        fleet.salt(&["web1", "cmd.run", &format!("head -c {bytes} /dev/zero | tail -n 1 | wc -c"), "--out=txt"]).out
    };
    assert_eq!(kept("1000000"), "web1: 1000000\n");
    let refused = kept("900000000");
    assert!(refused.contains("memory exhausted"), "{refused}");
}

#[test]
fn a_master_does_not_start_without_any_source_of_files() {
    let directory = Directory::fresh();
    let root = directory.0.display();
    let start = |lines: &str| {
        let port = crate::fleet::free_port();
        let text = format!(
            "interface: 127.0.0.1\npublish_port: {port}\nret_port: {}\nroot_dir: {root}\npki_dir: {root}/pki\n\
             cachedir: {root}/cache\nsock_dir: {root}/run\npidfile: {root}/master.pid\nlog_file: {root}/log\n{lines}",
            crate::fleet::free_port()
        );
        fs::write(directory.0.join("master"), text).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_halite"));
        command.args(["salt-master", "-d", "-c"]).arg(&directory.0);
        Ran::from(command.output().unwrap())
    };
    let refused = start("fileserver_backend: [gitfs]\n");
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("none of gitfs is in this version"), "{}", refused.err);
}

#[test]
fn a_master_that_keeps_no_data_of_minions_has_none_on_its_disk() {
    let lines = "auto_accept: True\nminion_data_cache: False\nmaster_stats: True\nmaster_stats_event_iter: 1\n\
                 minion_data_cache_events: False\nauth_events_autosign_grains: [accept]\nevent_return: local\n";
    let fleet = fleet(lines, "grains: {role: web}\nautosign_grains: [role]\n", &[]);
    wait_for("the grains", || (fleet.salt(&["-G", "id:web1", "test.ping"]).code == 0).then_some(()));
    assert_eq!(fleet.archive().grains("web1").unwrap().unwrap_or_default().len(), 0);
    let told = fleet.run("salt-run", &["state.event", "salt/stats/*", "count=1", "--log-level=quiet"]);
    assert!(told.out.contains("salt/stats/") && told.out.contains("\"stats\""), "{}{}", told.out, told.err);
    // A minion that has started has told its grains.
    wait_for("the start", || (!events(&fleet, "salt/minion/web1/start").is_empty()).then_some(()));
    assert!(events(&fleet, "minion/refresh/web1").is_empty());
    let auth = events(&fleet, "salt/auth");
    assert!(auth.iter().any(|data| data.contains(r#""autosign_grains": {"role": "web"}"#)), "{auth:?}");
}

/// The data of the events with this tag that the master has kept.
fn events(fleet: &Fleet, tag: &str) -> Vec<String> {
    let path = halite_roles::master::database::path_in(&fleet.path("cache"));
    let database = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut found = database.prepare("SELECT data FROM salt_events WHERE tag = ?").unwrap();
    found.query_map([tag], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
