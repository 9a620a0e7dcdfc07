//! Command lines as they are typed, right and wrong, with all that comes back and the exit code: the tables in
//! `tests/data/commands/`, against a master with two minions that are there and one that is not.
//!
//! Each runs in a shell, in a directory of its own (`@HERE@`) with nothing in it but the configuration `keys`: that of a
//! master that does not run and knows six keys.

use crate::fleet::{Fleet, wait_for};
use crate::transcript::{self, Step};
use halite_keys::Identity;
use halite_wire::message::{LocalAnswer, LocalAsk};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const TABLES: [(&str, &str); 7] = [
    ("salt", include_str!("data/commands/salt.txt")),
    ("salt-call", include_str!("data/commands/salt-call.txt")),
    ("salt-cp", include_str!("data/commands/salt-cp.txt")),
    ("salt-run", include_str!("data/commands/salt-run.txt")),
    ("salt-key", include_str!("data/commands/salt-key.txt")),
    ("daemons", include_str!("data/commands/daemons.txt")),
    ("halite", include_str!("data/commands/halite.txt")),
];

/// The keys of the master that does not run, by directory.
const KEYS: [(&str, &[&str]); 4] = [
    ("minions", &["web1", "db1"]),
    ("minions_pre", &["new1", "new2"]),
    ("minions_rejected", &["bad1"]),
    ("minions_denied", &["dup1"]),
];

#[test]
fn every_command_line_is_answered_as_its_table_says() {
    let steps: Vec<(&str, Step)> = TABLES
        .iter()
        .flat_map(|(name, table)| {
            let lines = table.lines().enumerate().map(|(at, line)| (at + 1, line));
            transcript::steps(lines, &["$ "]).into_iter().map(|step| (*name, step))
        })
        .collect();
    let failing = steps.iter().filter(|(_, step)| step.wanted.iter().any(|line| line.starts_with("? "))).count();
    assert!(steps.len() >= 200 && failing >= 100, "{} lines, {failing} of them wrong", steps.len());

    let fleet = start_fleet();
    let key = Identity::generate().public().to_pem();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((table, step)) = steps.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let here = fleet.path(format!("{table}-{}", step.line));
                    furnish(&here, &key);
                    if let Err(answer) = try_step(&fleet, &here, step) {
                        let place = format!("tests/data/commands/{table}.txt:{}", step.line);
                        wrong.lock().unwrap().push(format!("{place}:\n$ {}\n{}\n", step.command, answer.join("\n")));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} came back otherwise:\n\n{}", wrong.len(), wrong.join("\n"));
}

/// web1 and web2 serve, db1 is down. `cli` holds the configuration for whoever types: of the master, and of web1.
fn start_fleet() -> Fleet {
    let groups = "auto_accept: True\nnodegroups:\n  web: 'web*'\n";
    let mut fleet = Fleet::prepare(&[], groups, "");
    for (id, role) in [("web1", "web"), ("web2", "web"), ("db1", "db")] {
        let grains = format!("grains:\n  role: {role}\n  site: {{rack: [r1, r2]}}\n");
        fleet.configure_minion(id, fleet.ret_port, &grains);
    }
    fleet.start_master();
    for id in ["web1", "web2", "db1"] {
        fleet.start_minion(id);
    }
    fleet.wait_connected(&["web1", "web2", "db1"]);
    // The grains come a moment after the connection, and those of db1 must be known when it is away.
    for id in ["web1", "web2", "db1"] {
        let ask = LocalAsk::Expand { tgt: format!("id:{id}").into(), tgt_type: "grain".to_owned(), delimiter: None };
        wait_for(&format!("the grains of {id}"), || {
            matches!(fleet.ask(&ask), Some(LocalAnswer::Minions(ids)) if ids.len() == 1).then_some(())
        });
    }
    fleet.stop("db1");
    fleet.wait_gone("db1");
    fs::create_dir_all(fleet.path("cli")).unwrap();
    for (from, to) in [("conf/master", "cli/master"), ("web1/conf/minion", "cli/minion")] {
        let text = fs::read_to_string(fleet.path(from)).unwrap();
        fs::write(fleet.path(to), text.replace("log_level: info\n", "")).unwrap();
    }
    fs::create_dir_all(fleet.path("bin")).unwrap();
    for program in ["halite", "salt", "salt-call", "salt-cp", "salt-key", "salt-master", "salt-minion", "salt-run"] {
        symlink(env!("CARGO_BIN_EXE_halite"), fleet.path("bin").join(program)).unwrap();
    }
    fleet
}

/// The directory of one command line.
fn furnish(here: &Path, key: &str) {
    let keys = here.join("keys");
    for (directory, ids) in KEYS {
        fs::create_dir_all(keys.join("pki").join(directory)).unwrap();
        ids.iter().for_each(|id| fs::write(keys.join("pki").join(directory).join(id), key).unwrap());
    }
    let text = format!("root_dir: {0}\npki_dir: {0}/pki\n", keys.display());
    fs::write(keys.join("master"), text).unwrap();
}

/// What came back, where it is not what is wanted.
fn try_step(fleet: &Fleet, here: &Path, step: &Step) -> Result<(), Vec<String>> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(&step.command).current_dir(here).env_clear().stdin(Stdio::null());
    command.env("PATH", format!("{}:/usr/bin:/bin", fleet.path("bin").display()));
    command.env("SALT_CONFIG_DIR", fleet.path("cli")).env("HOME", here).env("LC_ALL", "C.UTF-8");
    let output = command.output().unwrap();
    let version = halite_roles::cli::VERSION;
    let here = here.display().to_string();
    let answer = transcript::answer(&output, &[(&here, "@HERE@"), (version, "@VERSION@")]);
    if transcript::fits(&step.wanted, &answer) { Ok(()) } else { Err(answer) }
}
