//! The binary as users meet it: its names, its exit codes, and what stands on which stream.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Root {
        let path = std::env::temp_dir().join(format!("halite-programs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("conf")).unwrap();
        fs::write(path.join("conf/master"), format!("root_dir: {0}\npki_dir: {0}/pki\n", path.display())).unwrap();
        Root(path)
    }

    fn salt_key(&self, args: &[&str], input: &str) -> Output {
        let conf = self.0.join("conf");
        run("salt-key", [OsStr::new("-c"), conf.as_os_str()].into_iter().chain(args.iter().map(OsStr::new)), input)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn halite() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_halite"))
}

fn run<'a>(program: &str, args: impl IntoIterator<Item = &'a OsStr>, input: &str) -> Output {
    let mut command = Command::new(halite());
    command.arg(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read has gone before this is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn links_are_programs() {
    let root = Root::new("links");
    let bin = root.0.join("bin");
    let listed = Command::new(halite()).arg("--list").output().unwrap();
    assert!(Command::new(halite()).arg("install").arg(&bin).status().unwrap().success());
    let programs: Vec<&str> = text(&listed.stdout).lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(programs.contains(&"salt-key"), "{programs:?}");
    // What is ours alone has no link: it is run as `halite NAME`.
    for program in programs.into_iter().filter(|program| program.starts_with("salt")) {
        let version = Command::new(bin.join(program)).arg("--version").output().unwrap();
        assert_eq!(text(&version.stdout), format!("{program} {}-halite\n", env!("CARGO_PKG_VERSION")));
        let help = Command::new(bin.join(program)).arg("--help").output().unwrap();
        assert!(help.status.success() && text(&help.stdout).starts_with(&format!("Usage: {program} ")));
    }
}

#[test]
fn what_is_wrong_takes_one_line_of_standard_error() {
    for (program, args, code, sentence) in [
        ("salt-key", &["--bogus"][..], 64, "salt-key: error: no such option: --bogus"),
        ("salt-key", &["-l", "bogus"], 64, "salt-key: error: 'bogus' is not a valid argument to '--list'"),
        ("salt-keys", &[], 64, "halite: error: there is no program 'salt-keys'; halite --list names all"),
        ("salt-api", &["-d"], 69, "salt-api: this version of Halite does not have this program yet"),
    ] {
        let root = Root::new(&format!("wrong-{code}-{}", args.len() + sentence.len()));
        let conf = format!("-c{}", root.0.join("conf").display());
        let all = args.iter().map(|arg| OsStr::new(*arg)).chain((program == "salt-key").then_some(OsStr::new(&conf)));
        let output = run(program, all, "");
        assert_eq!(output.status.code(), Some(code), "{program} {args:?}");
        assert_eq!(text(&output.stderr), format!("{sentence}\n"));
        assert_eq!(text(&output.stdout), "");
    }
    let output = run("salt-key", [OsStr::from_bytes(b"-a\xff")], "");
    assert_eq!(output.status.code(), Some(64));
    assert!(text(&output.stderr).contains("is not UTF-8"));
}

#[test]
fn keys_are_accepted_by_hand_and_shown() {
    let root = Root::new("keys");
    let made =
        root.salt_key(&["--gen-keys=web1", "--gen-keys-dir", root.0.join("pki/minions_pre").to_str().unwrap()], "");
    assert!(made.status.success(), "{}", text(&made.stderr));
    fs::rename(root.0.join("pki/minions_pre/web1.pub"), root.0.join("pki/minions_pre/web1")).unwrap();
    fs::remove_file(root.0.join("pki/minions_pre/web1.pem")).unwrap();
    let question = "The following keys are going to be accepted:\nUnaccepted Keys:\nweb1\nProceed? [n/Y] ";
    let refused = root.salt_key(&["-a", "web*"], "n\n");
    assert_eq!((text(&refused.stdout), text(&refused.stderr)), (question, ""));
    let accepted = root.salt_key(&["-a", "web*"], "\n");
    assert_eq!(text(&accepted.stdout), format!("{question}Key for minion web1 accepted.\n"));
    let listed = root.salt_key(&["--out=txt"], "");
    assert!(text(&listed.stdout).contains("minions: ['web1']\n"), "{}", text(&listed.stdout));
}

#[test]
fn an_answer_that_is_lost_is_no_success() {
    let root = Root::new("full");
    let conf = root.0.join("conf");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(halite()).args(["salt-key", "-c"]).arg(&conf).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(73));
    assert!(text(&output.stderr).starts_with("salt-key: error: standard output: "), "{}", text(&output.stderr));
    let gone =
        Command::new("sh").arg("-c").arg("\"$0\" salt-key -c \"$1\" | true; exit 0").arg(halite()).arg(&conf).output();
    assert_eq!(text(&gone.unwrap().stderr), "");
    fs::write(conf.join("master"), "a: [").unwrap();
    assert_eq!(root.salt_key(&[], "").status.code(), Some(78));
}

/// What a program prints to a terminal.
fn on_a_terminal(program: &str, args: &[&str]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_halite"));
    command.arg(program).args(args).stdin(std::process::Stdio::null());
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // When the last one on the other side has gone, reading is an error.
    let _ = std::io::Read::read_to_end(&mut std::fs::File::from(ours), &mut shown);
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap()
}

#[test]
fn answers_are_coloured_on_a_terminal_and_nowhere_else() {
    let directory = crate::fleet::Directory::fresh();
    let conf = directory.0.to_str().unwrap();
    std::fs::write(directory.0.join("minion"), format!("id: web1\nroot_dir: {conf}\n")).unwrap();
    let call = ["-c", conf, "--local", "test.ping"];
    let coloured = "\u{1b}[0;36mlocal\u{1b}[0;0m:\r\n    \u{1b}[0;1;33mTrue\u{1b}[0;0m\r\n";
    assert_eq!(on_a_terminal("salt-call", &call), coloured);
    assert_eq!(on_a_terminal("salt-call", &[&call[..], &["--no-color"]].concat()), "local:\r\n    True\r\n");
    std::fs::write(directory.0.join("minion"), format!("id: web1\nroot_dir: {conf}\ncolor: False\n")).unwrap();
    assert_eq!(on_a_terminal("salt-call", &call), "local:\r\n    True\r\n");
}
