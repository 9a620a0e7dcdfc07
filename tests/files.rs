//! Files between a real master and a real minion.

use super::fleet::{Directory, Fleet, Ran, free_port, wait_for};
use super::proxy::Proxy;
use halite_value::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A file of so many bytes that nothing can guess or compress.
fn noise(path: &Path, bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = Vec::with_capacity(bytes + 8);
    while noise.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.extend_from_slice(&state.to_le_bytes());
    }
    noise.truncate(bytes);
    fs::write(path, &noise).unwrap();
    noise
}

/// A fleet whose master serves a directory, which is made.
fn serving(minions: &[&str], master: &str) -> (Fleet, PathBuf) {
    let accept = if master.contains("auto_accept") { "" } else { "auto_accept: True\n" };
    let fleet = Fleet::prepare(minions, &format!("{accept}{master}"), "");
    let root = fleet.path("root");
    fs::create_dir_all(&root).unwrap();
    let config = fleet.path("conf/master");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}\nfile_roots:\n  base: ['{0}']\n  __env__: ['{0}/__env__']\n", root.display()))
        .unwrap();
    (fleet, root)
}

fn start(fleet: &mut Fleet, minions: &[&str]) {
    fleet.start_master();
    for id in minions {
        fleet.start_minion(id);
    }
    fleet.wait_connected(minions);
}

/// The most memory that a process has had, in bytes.
fn most_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// What a function answers on web1, as JSON.
fn json(fleet: &Fleet, words: &[&str]) -> String {
    let ran = fleet.salt(&[&["web1", "--out=json", "--out-indent=-1"], words].concat());
    let answer = ran.out.trim().strip_prefix("{\"web1\": ").and_then(|rest| rest.strip_suffix('}'));
    answer.unwrap_or_else(|| panic!("{words:?}: {ran:?}")).to_owned()
}

#[test]
fn a_large_file_arrives_whole_and_only_when_it_has_changed() {
    let (mut fleet, root) = serving(&["web1"], "");
    start(&mut fleet, &["web1"]);
    let noise = noise(&root.join("big"), 9_000_001);
    let dest = fleet.path("dest");
    let get = || json(&fleet, &["cp.get_file", "salt://big", dest.to_str().unwrap()]);
    assert_eq!(get(), format!("{:?}", dest.display().to_string()));
    assert!(fs::read(&dest).unwrap() == noise);
    let cached = json(&fleet, &["cp.cache_file", "salt://big"]);
    assert_eq!(cached, format!("{:?}", fleet.path("web1/cache/files/base/big").display().to_string()));
    let inode = |path: &str| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(fleet.path(path)).unwrap().ino()
    };
    let before = (inode("dest"), inode("web1/cache/files/base/big"));
    get();
    json(&fleet, &["cp.cache_file", "salt://big"]);
    assert_eq!((inode("dest"), inode("web1/cache/files/base/big")), before, "it was fetched again");
    fs::write(root.join("big"), "small").unwrap();
    get();
    assert_eq!(fs::read(&dest).unwrap(), b"small");
    assert_eq!(fs::read_dir(fleet.path("web1/cache/incoming")).unwrap().count(), 0, "nothing is left over");
}

#[test]
fn what_a_minion_asks_is_answered_as_by_its_own_files() {
    let (mut fleet, root) = serving(&["web1"], "");
    start(&mut fleet, &["web1"]);
    fs::create_dir_all(root.join("sub/empty")).unwrap();
    fs::create_dir_all(root.join("qa")).unwrap();
    for (path, text) in [("a", "a"), ("sub/b.sls", "b"), ("empty-file", ""), ("qa/only", "qa"), ("q?x", "q")] {
        fs::write(root.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("a", root.join("link")).unwrap();
    // The same questions to the file server of the minion's host itself.
    let local = fleet.path("local");
    fs::create_dir_all(&local).unwrap();
    let (here, cache) = (root.display(), fleet.path("web1/cache").display().to_string());
    fs::write(
        local.join("minion"),
        format!(
            "id: web1\nroot_dir: /\ncachedir: {cache}\nfile_roots:\n  base: ['{here}']\n  __env__: ['{here}/__env__']\n"
        ),
    )
    .unwrap();
    for words in [
        &["cp.envs"][..],
        &["cp.list_master"],
        &["cp.list_master", "saltenv=qa"],
        &["cp.list_master", "prefix=sub"],
        &["cp.list_master_dirs"],
        &["cp.list_master_symlinks"],
        &["cp.list_states"],
        &["cp.hash_file", "salt://a"],
        &["cp.hash_file", "salt://none"],
        &["cp.stat_file", "salt://a"],
        &["cp.stat_file", "salt://none"],
        &["cp.cache_file", "salt://empty-file"],
        &["cp.cache_file", "salt://|q?x"],
        &["cp.cache_file", "salt://q?x"],
        &["cp.cache_file", "salt://only?saltenv=qa"],
        &["cp.cache_file", "salt://none"],
        &["cp.cache_dir", "salt://sub"],
        &["cp.get_file_str", "salt://link"],
        &["cp.get_url", "salt://a", "dest=None"],
    ] {
        let asked = json(&fleet, words);
        let own = Ran::from(
            fleet
                .command("salt-call")
                .arg("-c")
                .arg(&local)
                .args(["--local", "--out=json", "--out-indent=-1"])
                .args(words)
                .output()
                .unwrap(),
        );
        assert_eq!(own.out.trim(), format!("{{\"local\": {asked}}}"), "{words:?} {}", own.err);
    }
}

#[test]
fn a_transfer_goes_on_after_a_cut_where_it_was() {
    let (mut fleet, root) = serving(&["web1"], "");
    let proxy = Proxy::start(free_port(), fleet.ret_port);
    fleet.configure_minion("web1", proxy.port, "");
    start(&mut fleet, &["web1"]);
    let noise = noise(&root.join("big"), 40_000_000);
    let dest = fleet.path("dest");
    proxy.cut_after(&[1_000_000, 12_000_000, 25_000_000]);
    let got = json(&fleet, &["cp.get_file", "salt://big", dest.to_str().unwrap()]);
    assert_eq!(got, format!("{:?}", dest.display().to_string()));
    assert_eq!(proxy.cuts_to_come(), 0);
    assert!(fs::read(&dest).unwrap() == noise);
    // Each cut loses what was under way, and no more: eight parts.
    let seen = proxy.seen();
    let carried = seen.len();
    let shows = |bytes: &[u8]| seen.windows(bytes.len()).any(|window| window == bytes);
    assert!(!shows(&noise[..32]) && !shows(&noise[noise.len() - 32..]), "the file is seen on the wire");
    assert!(carried < 40_000_000 + 3 * 9 * 262_144 + 4_000_000, "{carried} bytes for a file of 40,000,000");
}

#[test]
fn several_files_at_once_survive_a_daemon_that_is_killed() {
    let (mut fleet, root) = serving(&["web1"], "");
    start(&mut fleet, &["web1"]);
    let names = ["one", "two", "three", "four"];
    let noises = names.map(|name| noise(&root.join(name), 20_000_000));
    for name in names {
        let dest = fleet.path(format!("dest-{name}"));
        let ran = fleet.salt(&["web1", "--async", "cp.get_file", &format!("salt://{name}"), dest.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let incoming = fleet.path("web1/cache/incoming");
    // A job whose worker has not begun when its daemon is killed is another matter.
    wait_for("the transfers to begin", || {
        let come = names.iter().filter(|name| fleet.path(format!("dest-{name}")).exists()).count();
        fs::read_dir(&incoming).is_ok_and(|all| come + all.count() >= names.len()).then_some(())
    });
    fleet.kill("web1");
    fleet.start_minion("web1");
    for (name, noise) in names.iter().zip(noises) {
        let dest = fleet.path(format!("dest-{name}"));
        wait_for(&format!("the file {name}"), || dest.exists().then_some(()));
        assert!(fs::read(&dest).unwrap() == noise, "{name}");
    }
}

#[test]
fn a_changed_file_is_an_event_where_that_is_asked_for() {
    let (mut fleet, root) = serving(&[], "fileserver_events: True\nroots_update_interval: 1\n");
    fs::write(root.join("a"), "a").unwrap();
    fleet.start_master();
    let listening = fleet
        .command("salt-run")
        .args(["state.event", "tagmatch=salt/fileserver/roots/update", "count=1", "quiet=False"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut number = 0;
    let mut listening = Some(listening);
    let told = wait_for("the event", || {
        number += 1;
        fs::write(root.join(format!("new-{number}")), "new").unwrap();
        // The pace of changes: the master looks once a second.
        std::thread::sleep(Duration::from_millis(200));
        match listening.as_mut()?.try_wait().unwrap() {
            None => None,
            Some(_) => Some(listening.take()?.wait_with_output().unwrap()),
        }
    });
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("salt/fileserver/roots/update") && told.contains("new-"), "{told}");
}

#[test]
fn a_file_that_changes_on_the_way_arrives_as_one_of_its_states() {
    let (mut fleet, root) = serving(&["web1"], "");
    start(&mut fleet, &["web1"]);
    let path = root.join("big");
    fs::write(&path, vec![b'a'; 20_000_000]).unwrap();
    let incoming = fleet.path("web1/cache/incoming");
    let changer = std::thread::spawn(move || {
        let begun = || fs::read_dir(&incoming).is_ok_and(|mut entries| entries.next().is_some());
        wait_for("the transfer to begin", || begun().then_some(()));
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(&vec![b'b'; 20_000_000]).unwrap();
    });
    let dest = fleet.path("dest");
    let dest = dest.to_str().unwrap();
    let told = json(&fleet, &["cp.get_file", "salt://big", dest]);
    changer.join().unwrap();
    // It may have been whole before the change; then the next call brings the change.
    let told_again = json(&fleet, &["cp.get_file", "salt://big", dest]);
    assert_eq!(told_again, format!("{dest:?}"), "first {told}");
    let got = fs::read(dest).unwrap();
    assert_eq!(got.len(), 20_000_000);
    assert!(got.iter().all(|byte| *byte == b'b'));
}

#[test]
fn no_address_of_a_minion_leads_out_of_the_roots() {
    let (mut fleet, root) = serving(&["web1"], "fileserver_followsymlinks: False");
    start(&mut fleet, &["web1"]);
    let secret = fleet.path("secret");
    fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, root.join("link")).unwrap();
    fs::create_dir_all(root.join("qa")).unwrap();
    let absolute = format!("salt://|{}", secret.display());
    for address in ["salt://../secret", "salt://|../secret", "salt://a/../../secret", "salt://link", &absolute] {
        assert_eq!(json(&fleet, &["cp.hash_file", address]), "\"\"", "{address}");
        assert_eq!(json(&fleet, &["cp.cache_file", address]), "false", "{address}");
        assert_eq!(json(&fleet, &["cp.get_file_str", address]), "false", "{address}");
    }
    for saltenv in ["saltenv=..", "saltenv=qa/../..", "saltenv=/", "saltenv=../run"] {
        assert_eq!(json(&fleet, &["cp.cache_file", "salt://secret", saltenv]), "false", "{saltenv}");
        assert_eq!(json(&fleet, &["cp.list_master", saltenv]), "[]", "{saltenv}");
    }
}

#[test]
fn files_are_taken_only_where_that_is_on_and_only_in_bounds() {
    let (mut fleet, _) = serving(&["web1"], "");
    start(&mut fleet, &["web1"]);
    let noise = noise(&fleet.path("mine"), 1_500_000);
    let mine = fleet.path("mine").display().to_string();
    assert_eq!(json(&fleet, &["cp.push", &mine]), "false");
    assert!(!fleet.path("cache/minions").exists(), "off, and something was written");
    fleet.stop("master");
    let config = fleet.path("conf/master");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}\nfile_recv: True\nfile_recv_max_size: 2\n")).unwrap();
    fleet.start_master();
    fleet.wait_connected(&["web1"]);
    assert_eq!(json(&fleet, &["cp.push", &mine, "upload_path=/in/mine"]), "true");
    assert!(fs::read(fleet.path("cache/minions/web1/files/in/mine")).unwrap() == noise);
    assert_eq!(json(&fleet, &["cp.push", &mine, "upload_path=../../../evil"]), "false");
    fs::write(fleet.path("mine"), vec![0; 3_000_000]).unwrap();
    assert_eq!(json(&fleet, &["cp.push", &mine]), "false", "it is longer than file_recv_max_size");
    fs::create_dir_all(fleet.path("directory/sub")).unwrap();
    fs::write(fleet.path("directory/sub/one.conf"), "one").unwrap();
    fs::write(fleet.path("directory/two.txt"), "two").unwrap();
    let directory = fleet.path("directory").display().to_string();
    assert_eq!(json(&fleet, &["cp.push_dir", &directory, "glob=*.conf", "upload_path=/up"]), "true");
    assert_eq!(fs::read(fleet.path("cache/minions/web1/files/up/sub/one.conf")).unwrap(), b"one");
    assert!(!fleet.path("cache/minions/web1/files/up/two.txt").exists());
}

#[test]
fn a_minion_that_is_not_accepted_gets_nothing() {
    let (mut fleet, root) = serving(&["web1"], "auto_accept: False\n");
    fleet.configure_minion("web1", fleet.ret_port, "request_channel_timeout: 1\nrequest_channel_tries: 1\n");
    fs::write(root.join("a"), "a").unwrap();
    fleet.start_master();
    fleet.start_minion("web1");
    let call = || {
        let mut command = fleet.command("salt-call");
        command.arg("-c").arg(fleet.path("web1/conf")).args(["cp.get_file_str", "salt://a", "--out=txt"]);
        Ran::from(command.output().unwrap())
    };
    let refused = |ran: &Ran| ran.code == 1 && ran.err.contains("File client timed out") && ran.out.is_empty();
    wait_for("the daemon of the minion", || fleet.path("web1/run/minion.ipc").exists().then_some(()));
    let ran = call();
    assert!(refused(&ran), "{ran:?}");
    assert_eq!(fleet.run("salt-key", &["-y", "-a", "web1"]).code, 0);
    fleet.wait_connected(&["web1"]);
    assert_eq!(call().out.trim(), "local: a");
    fs::write(root.join("a"), "changed").unwrap();
    assert_eq!(fleet.run("salt-key", &["-y", "-d", "web1"]).code, 0);
    fleet.wait_gone("web1");
    let ran = call();
    assert!(refused(&ran), "{ran:?}");
    assert_eq!(fs::read(fleet.path("web1/cache/files/base/a")).unwrap(), b"a");
}

#[test]
fn jobs_stay_quick_and_memory_small_during_a_transfer() {
    let (mut fleet, root) = serving(&["web1", "web2"], "");
    start(&mut fleet, &["web1", "web2"]);
    noise(&root.join("big"), 120_000_000);
    let dest = fleet.path("dest");
    let child = fleet
        .command("salt")
        .args(["web1", "cp.get_file", "salt://big"])
        .arg(&dest)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let incoming = fleet.path("web1/cache/incoming");
    let begun = || fs::read_dir(&incoming).is_ok_and(|mut entries| entries.next().is_some());
    wait_for("the transfer to begin", || begun().then_some(()));
    let mut times = Vec::new();
    while !dest.exists() && times.len() < 200 {
        let start = Instant::now();
        assert_eq!(fleet.salt(&["*", "test.ping"]).code, 0);
        times.push(start.elapsed());
    }
    let mut child = child;
    assert!(child.wait().unwrap().success());
    for name in ["master", "web1"] {
        let most = most_memory(fleet.pid(name));
        assert!(most < 64 << 20, "{name} took {most} bytes of memory for a file of 120,000,000");
    }
    times.sort();
    assert!(!times.is_empty(), "no job was in time to be measured");
    assert!(times[times.len() / 2] < Duration::from_millis(500), "{times:?}");
}

#[test]
fn salt_cp_copies_files_and_directories() {
    let (mut fleet, _) = serving(&["web1", "web2"], "");
    start(&mut fleet, &["web1", "web2"]);
    let noise = noise(&fleet.path("noise"), 300_000);
    fs::create_dir_all(fleet.path("tree/sub/empty")).unwrap();
    fs::write(fleet.path("tree/sub/text"), "text").unwrap();
    fs::write(fleet.path("tree/nothing"), "").unwrap();
    fs::create_dir_all(fleet.path("out")).unwrap();
    let path = |below: &str| fleet.path(below).display().to_string();
    let cp = |words: &[&str]| fleet.run("salt-cp", &[&["--out=json", "--out-indent=-1"], words].concat());
    let ran = cp(&["*", &path("tree/sub/text"), &path("out/")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.out.trim(),
        format!("{{\"web1\": {{\"{0}\": true}}, \"web2\": {{\"{0}\": true}}}}", path("out/text"))
    );
    assert_eq!(fs::read(fleet.path("out/text")).unwrap(), b"text");
    for more in [&["web1", "-C"][..], &["web1", "-C", "-n"]] {
        let ran = cp(&[more, &[&path("noise"), &path("tree"), &path("out")]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(fs::read(fleet.path("out/noise")).unwrap() == noise);
        assert_eq!(fs::read(fleet.path("out/tree/sub/text")).unwrap(), b"text");
        assert!(fleet.path("out/tree/sub/empty").is_dir() && fleet.path("out/tree/nothing").is_file());
        fs::remove_dir_all(fleet.path("out")).unwrap();
        fs::create_dir_all(fleet.path("out")).unwrap();
    }
    let ran = cp(&["web1", &path("tree"), &path("out")]);
    assert!(ran.code == 1 && ran.err.contains("is a directory"), "{ran:?}");
    let ran = cp(&["web1", &path("none"), &path("out")]);
    assert!(ran.code == 42 && ran.err.contains("does not exist"), "{ran:?}");
    let ran = cp(&["web1", "-C", &path("noise"), &path("noise/x")]);
    assert!(ran.code == 1 && ran.out.contains("Not a directory"), "{ran:?}");
    let ran = cp(&["nobody", &path("noise"), &path("out")]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

/// The tree of files and the calls on it whose answers Salt gave.
#[test]
fn a_minions_own_files_are_answered_as_salt_answers() {
    let table = halite_value::parse_json(include_str!("data/cp.json")).unwrap();
    let directory = Directory::fresh();
    let root = directory.0.display().to_string();
    let pairs = |name: &str| {
        let map = table.at(name).unwrap().as_map().unwrap();
        map.iter().map(|(path, text)| (directory.0.join(path.to_text()), text.to_text())).collect::<Vec<_>>()
    };
    let with_parent = |path: &Path| fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (path, text) in pairs("files") {
        with_parent(&path);
        fs::write(path, text).unwrap();
    }
    for (path, target) in pairs("links") {
        with_parent(&path);
        std::os::unix::fs::symlink(target.replace("@ROOT@", &root), path).unwrap();
    }
    for (path, mode) in pairs("modes") {
        let mode = u32::from_str_radix(&mode, 8).unwrap();
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }
    for name in table.at("directories").unwrap().as_list().unwrap() {
        fs::create_dir_all(directory.0.join(name.to_text())).unwrap();
    }
    for name in ["out", "conf"] {
        fs::create_dir_all(directory.0.join(name)).unwrap();
    }
    let config = "id: m1\nfile_client: local\nroot_dir: @ROOT@\ncachedir: @ROOT@/cache\nlog_level: quiet\n\
                  file_ignore_glob: ['*.swp']\nfile_roots:\n  base: ['@ROOT@/roots/a', '@ROOT@/roots/b']\n  \
                  dev: ['@ROOT@/roots/dev']\n  __env__: ['@ROOT@/roots/envs/__env__']\n";
    fs::write(directory.0.join("conf/minion"), config.replace("@ROOT@", &root)).unwrap();
    let calls = table.at("calls").unwrap().as_list().unwrap();
    let (mut wrong, mut agreeing) = (Vec::new(), 0);
    for call in calls {
        let words = call.at("call").unwrap().as_list().unwrap().iter().map(Value::to_text);
        let words: Vec<String> = words.map(|word| word.replace("@ROOT@", &root)).collect();
        let ran = Command::new(env!("CARGO_BIN_EXE_halite"))
            .args(["salt-call", "-c", "conf", "--local", "--out=json", "--out-indent=-1"])
            .args(&words)
            .current_dir(&directory.0)
            .output();
        let ran = Ran::from(ran.unwrap());
        let answer = halite_value::parse_json(&ran.out.replace(&root, "@ROOT@")).ok();
        let sorted = |value: Option<&Value>| match value.cloned() {
            Some(Value::Map(mut map)) => {
                map.sort_keys();
                Some(Value::Map(map))
            }
            other => other,
        };
        let answer = sorted(answer.as_ref().and_then(|answer| answer.at("local")));
        let wanted = sorted(call.at("answer"));
        let agrees = answer == wanted && call.at("code").and_then(Value::as_int) == Some(i64::from(ran.code));
        agreeing += usize::from(agrees);
        if agrees == call.at("differs").is_some() {
            wrong.push(format!("{words:?}\n  wanted {wanted:?}\n  answer {answer:?} {ran:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(agreeing * 100 >= calls.len() * 95, "{agreeing} of {} calls agree", calls.len());
}
