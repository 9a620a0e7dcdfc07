//! `salt-key` against what Salt answered (`tests/data/salt-key`), and where it does better.

use super::*;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("halite-key-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn store(&self) -> KeyStore {
        KeyStore::open(&self.0, 100)
    }

    fn pending(&self, id: &str) -> PublicKey {
        let key = Identity::generate().public();
        self.store().put_pending(id, &key).unwrap();
        key
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
struct Told(RefCell<Vec<Change>>);

impl Notify for Told {
    fn changed(&self, changes: &[Change]) -> Result<(), String> {
        self.0.borrow_mut().extend_from_slice(changes);
        Ok(())
    }
}

struct Answer {
    exit: Exit,
    stdout: String,
    told: Vec<Change>,
}

fn run(directory: &Directory, args: &[&str], mut input: &[u8]) -> Answer {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let line = KeyLine::read(&args).unwrap();
    let (config, told) = (Map::new(), Told::default());
    let display = Display::in_memory(&line.output, &config);
    let mut key = SaltKey {
        store: directory.store(),
        config: &config,
        display,
        input: &mut input,
        notify: &told,
        troubles: Troubles::Told,
    };
    let exit = key.run(&line);
    Answer { exit, stdout: key.display.into_text(), told: told.0.into_inner() }
}

/// One recorded command.
struct Transcript {
    args: Vec<String>,
    input: String,
    exit: u8,
    stdout: String,
}

impl Transcript {
    fn read(path: &Path) -> Transcript {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (head, rest) = text.split_once("--- stdout\n").unwrap();
        let (stdout, _) = rest.split_once("--- stderr\n").unwrap();
        let mut lines = head.lines();
        let mut args = shell_words(lines.next().unwrap().strip_prefix("cmd: ").unwrap());
        let exit = lines.next().unwrap().strip_prefix("rc: ").unwrap().parse().unwrap();
        let mut input = String::new();
        if args[0] == "sh" {
            let (echo, command) = args[2].split_once(" | ").unwrap();
            input = format!("{}\n", echo.strip_prefix("echo ").unwrap());
            args = shell_words(command);
        }
        args.remove(0);
        Transcript { args, input, exit, stdout: stdout.to_owned() }
    }
}

fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.push(String::new()),
            '\\' => words.last_mut().unwrap().extend(chars.next()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Leaves out what differs from key to key.
fn normal(text: &str) -> String {
    let mut out = String::new();
    let mut in_key = false;
    for line in text.lines() {
        let line = line.trim_end();
        match line.rsplit_once(":  ") {
            Some((name, "-----BEGIN PUBLIC KEY-----")) => {
                in_key = true;
                out.push_str(&format!("{name}: KEY\n"));
            }
            Some((name, finger)) if finger.len() == 95 && finger.split(':').count() == 32 => {
                out.push_str(&format!("{name}: FINGER\n"));
            }
            _ if in_key => in_key = line != "-----END PUBLIC KEY-----",
            _ => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

#[test]
fn every_recorded_command_answers_as_salt_did() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/data/salt-key");
    let directory = Directory::new("transcripts");
    // The master of the recording called its own pair so.
    Identity::load_or_make(&directory.0, "vm").unwrap();
    let mut seen = 0;
    for step in fs::read_to_string(data.join("plan.txt")).unwrap().lines() {
        match step.split_once(' ').unwrap() {
            ("pending", ids) => {
                ids.split(' ').for_each(|id| {
                    directory.pending(id);
                });
            }
            ("run", name) => {
                // Behind a name stands the exit code that is ours where Salt's does not tell the truth.
                let (name, exit) = name.split_once(' ').map_or((name, None), |(name, exit)| (name, Some(exit)));
                let wanted = Transcript::read(&data.join(format!("{name}.txt")));
                let exit = exit.map_or(wanted.exit, |exit| exit.parse().unwrap());
                let base = directory.0.to_string_lossy();
                let args: Vec<String> = wanted.args.iter().map(|arg| arg.replace("@BASE@", &base)).collect();
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let answer = run(&directory, &args, wanted.input.as_bytes());
                assert_eq!(answer.exit.code(), exit, "{name}");
                assert_eq!(normal(&answer.stdout), normal(&wanted.stdout), "{name}");
                seen += 1;
            }
            _ => assert!(step.starts_with('#'), "{step}"),
        }
    }
    assert!(seen >= 30, "only {seen} commands");
    assert!(directory.0.join("gen/node9.pem").is_file() && directory.0.join("gen/node9.pub").is_file());
}

#[test]
fn a_running_master_is_told_each_change_once() {
    let directory = Directory::new("told");
    let keys = [directory.pending("web1"), directory.pending("web2")];
    let answer = run(&directory, &["-y", "-a", "web1,web*"], b"");
    let change = |id: &str, act, from| {
        let key = Some(keys[usize::from(id == "web2")]);
        Change { id: id.to_owned(), act, from, key }
    };
    let from = KeyStatus::Pending;
    assert_eq!(answer.told, [change("web1", Act::Accepted, from), change("web2", Act::Accepted, from)]);
    assert_eq!(run(&directory, &["-y", "-a", "*"], b"").told, []);
    let answer = run(&directory, &["-d", "web2"], b"yes\n");
    assert_eq!(answer.told, [change("web2", Act::Deleted, KeyStatus::Accepted)]);
    assert_eq!(run(&directory, &["-d", "web1"], b"\n").told, []);
    assert_eq!(run(&directory, &["-y", "-r", "web1"], b"").told, []);
    let answer = run(&directory, &["-y", "-r", "web1", "--include-accepted"], b"");
    assert_eq!(answer.told, [change("web1", Act::Rejected, KeyStatus::Accepted)]);
}

#[test]
fn a_key_can_be_denied_and_accepted_at_once() {
    let directory = Directory::new("denied");
    directory.pending("web1");
    run(&directory, &["-yA"], b"");
    let second = Identity::generate().public();
    directory.store().deny("web1", &second).unwrap();
    let shown = run(&directory, &["-L"], b"").stdout;
    assert_eq!(shown, "Accepted Keys:\nweb1\nDenied Keys:\nweb1\nUnaccepted Keys:\nRejected Keys:\n");
    let answer = run(&directory, &["-y", "-a", "web1", "--include-denied"], b"");
    assert_eq!(
        answer.stdout,
        "The following keys are going to be accepted:\nDenied Keys:\nweb1\nKey for minion web1 accepted.\n"
    );
    assert_eq!(directory.store().key(KeyStatus::Accepted, "web1").unwrap(), second);
}

#[test]
fn a_broken_key_is_not_accepted_and_the_others_are() {
    let directory = Directory::new("broken");
    directory.pending("web1");
    fs::write(directory.0.join("minions_pre/aaa"), "no key").unwrap();
    let answer = run(&directory, &["-y", "-A"], b"");
    assert_eq!(answer.exit, Exit::Failed);
    assert_eq!(directory.store().list(KeyStatus::Accepted).unwrap(), ["web1"]);
    assert_eq!(directory.store().list(KeyStatus::Pending).unwrap(), ["aaa"]);
    assert_eq!(run(&directory, &["-F"], b"").exit, Exit::Failed);
}

#[test]
fn the_masters_key_is_signed_by_a_signing_key() {
    let directory = Directory::new("signature");
    let master = Identity::load_or_make(&directory.0, "master").unwrap();
    assert_eq!(run(&directory, &["--gen-signature"], b"").exit, Exit::Failed);
    assert_eq!(run(&directory, &["--gen-signature", "--auto-create"], b"").exit, Exit::Ok);
    let signing = Identity::load(&directory.0.join("master_sign.pem")).unwrap();
    let written = fs::read_to_string(directory.0.join("master_pubkey_signature")).unwrap();
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(written.trim()).unwrap();
    assert_eq!(bytes, halite_wire::handshake::vouch(&signing, master.public()));
}
