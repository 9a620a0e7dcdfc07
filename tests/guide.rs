//! `docs/guide.md`: each command of it is run, in its order, and must answer as it says there.
//!
//! Each host of the guide is a directory that stands for its `/`: the directories that a command names are put below it, the
//! configuration lies in it (`SALT_CONFIG_DIR`), and one more file there says what makes three hosts of one: ids, and
//! free ports of loopback. Daemons take a moment, so a command is given again until it answers as the guide says.

use crate::fleet::{Directory, LIMIT, free_port, signal, wait_for};
use crate::transcript::{self, Step};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GUIDE: &str = include_str!("../docs/guide.md");
const HOSTS: [&str; 3] = ["master", "web1", "db1"];
/// Directories of a host that commands name.
const OWN: [&str; 4] = ["/etc/salt", "/usr/local/bin", "/var/", "/srv/"];
/// The address that the master has in the guide.
const ADDRESS: &str = "192.0.2.10";

/// The hosts; what still runs on them ends with the test.
struct Hosts(Directory);

impl Hosts {
    fn make() -> Hosts {
        let (hosts, publish_port, ret_port) = (Hosts(Directory::fresh()), free_port(), free_port());
        for host in HOSTS {
            let root = hosts.root(host);
            let (file, own) = match host {
                "master" => {
                    let ports = format!("publish_port: {publish_port}\nret_port: {ret_port}\n");
                    // `root_dir` is not for these.
                    let directory = |name: &str| format!("{name}_roots: {{base: [{}/srv/{name}]}}\n", root.display());
                    ("master.d", ports + &directory("file").replace("/file]", "/salt]") + &directory("pillar"))
                }
                id => ("minion.d", format!("id: {id}\nmaster_port: {ret_port}\nacceptance_wait_time: 1\n")),
            };
            fs::create_dir_all(root.join("etc/salt").join(file)).unwrap();
            let text = format!("interface: 127.0.0.1\nroot_dir: {}\n{own}", root.display());
            fs::write(root.join("etc/salt").join(file).join("guide.conf"), text).unwrap();
            symlink(env!("CARGO_BIN_EXE_halite"), root.join("halite")).unwrap();
        }
        hosts
    }

    fn root(&self, host: &str) -> PathBuf {
        self.0.0.join(host)
    }

    /// What a command of the guide answers.
    fn answer(&self, step: &Step) -> Vec<String> {
        let host = step.prompt.trim_end_matches('#');
        let root = self.root(host);
        let shown = root.display().to_string();
        let typed = step.command.replace(ADDRESS, "127.0.0.1");
        let typed = OWN.iter().fold(typed, |typed, own| typed.replace(own, &format!("{shown}{own}")));
        let mut command = Command::new("sh");
        command.arg("-c").arg(typed).current_dir(&root).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{shown}/usr/local/bin:/usr/bin:/bin")).env("HOME", &root);
        command.env("SALT_CONFIG_DIR", root.join("etc/salt")).env("LC_ALL", "C.UTF-8");
        transcript::answer(&command.output().unwrap(), &[(&shown, ""), ("127.0.0.1", ADDRESS)])
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in HOSTS {
            let run = self.root(host).join("var/run");
            for pid in fs::read_dir(&run).into_iter().flatten().flatten().filter_map(|file| number_in(&file.path())) {
                signal(pid, rustix::process::Signal::TERM);
                wait_for("a daemon to end", || (!Path::new("/proc").join(pid.to_string()).exists()).then_some(()));
            }
        }
    }
}

/// The process of a pid file.
fn number_in(file: &Path) -> Option<u32> {
    let is_pidfile = file.extension().is_some_and(|end| end == "pid");
    fs::read_to_string(file).ok().filter(|_| is_pidfile)?.trim().parse().ok()
}

/// The lines of the blocks that are called `console`.
fn console(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(move |(_, line)| {
        let begins_or_ends = line.starts_with("```");
        is_inside = if begins_or_ends { *line == "```console" } else { is_inside };
        is_inside && !begins_or_ends
    })
}

/// Minions answer in any order: their blocks, each an id and what is indented below it, in the order of the ids.
fn by_minion(lines: &[String]) -> Vec<String> {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if line.starts_with(' ') => block.push(line.clone()),
            _ => blocks.push(vec![line.clone()]),
        }
    }
    blocks.sort();
    blocks.concat()
}

#[test]
fn every_command_of_the_guide_answers_as_it_says() {
    let prompts = HOSTS.map(|host| format!("{host}# "));
    let steps = transcript::steps(console(GUIDE), &prompts.each_ref().map(String::as_str));
    assert!(steps.len() > 25, "only {} commands", steps.len());
    let hosts = Hosts::make();
    for step in &steps {
        let end = Instant::now() + LIMIT;
        loop {
            let answer = hosts.answer(step);
            if transcript::fits(&step.wanted, &answer)
                || transcript::fits(&by_minion(&step.wanted), &by_minion(&answer))
            {
                break;
            }
            let shown = answer.join("\n");
            assert!(Instant::now() < end, "docs/guide.md:{}: {} {}\n{shown}", step.line, step.prompt, step.command);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
