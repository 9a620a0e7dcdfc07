//! `cmd.*` on the real machine, where the shell decides what is right, and on a fake one for who runs what.

use super::*;
use crate::testing::World;
use halite_core::context::{Call, NoMaster};
use halite_core::host::fake::Fake;
use halite_core::host::{Choice, Finished, Machine, User};
use halite_core::module::{call, call_published};
use halite_value::Map;
use halite_value::record::Arguments;

fn published(fun: &str, arguments: Arguments) -> Reply {
    let mut world = World::new();
    world.call = Call { fun: fun.to_owned(), jid: "20261129205033700833".to_owned(), ..Call::default() };
    call_published(&world.ctx_on(&Machine, &NoMaster), arguments)
}

fn line(line: &str) -> Arguments {
    Arguments::positional([line]).with("shell", "/bin/sh")
}

fn text(fun: &str, arguments: Arguments) -> (String, i32) {
    let returned = published(fun, arguments).unwrap();
    (returned.value.to_text(), returned.retcode)
}

#[test]
fn output_and_exit_code_are_the_commands() {
    let both = "echo hi; echo err >&2; exit 3";
    assert_eq!(text("cmd.run", line(both)), ("hi\nerr".to_owned(), 3));
    assert_eq!(text("cmd.run_stdout", line(both)), ("hi".to_owned(), 3));
    assert_eq!(text("cmd.run_stderr", line(both)), ("err".to_owned(), 3));
    assert_eq!(text("cmd.retcode", line(both)), ("3".to_owned(), 3));
    assert_eq!(text("cmd.run", line(both).with("ignore_retcode", true)).1, 0);
    assert_eq!(text("cmd.run", line(both).with("hide_output", true)).0, "");
    assert_eq!(text("cmd.run", line("printf ' a \\n\\n'").with("rstrip", false)).0, " a \n\n");
    let all = published("cmd.run_all", line(both)).unwrap();
    let keys: Vec<String> = all.value.as_map().unwrap().keys().map(Value::to_text).collect();
    assert_eq!(keys, ["pid", "retcode", "stdout", "stderr"]);
    assert_eq!((all.value.at("stderr"), all.retcode), (Some(&"err".into()), 3));
}

#[test]
fn success_is_what_the_caller_says_it_is() {
    let failing = "echo out; echo err >&2; exit 3";
    assert_eq!(text("cmd.retcode", line(failing).with("success_retcodes", "2,3")), ("0".to_owned(), 0));
    assert_eq!(text("cmd.run", line(failing).with("success_stdout", "out")).1, 0);
    assert_eq!(published("cmd.run_all", line(failing).with("success_stderr", "err")).unwrap().retcode, 0);
    assert_eq!(text("cmd.run", line(failing).with("success_stdout", "else")).1, 3);
    let raised = published("cmd.run", line(failing).with("raise_err", true)).unwrap_err();
    assert_eq!(raised, Fault::Execution("out\nerr".to_owned()));
}

#[test]
fn environment_input_and_directory_reach_the_command() {
    let env = Map::from_iter([("FOO", "bar")]);
    let arguments = line("echo $FOO $PWD $LC_TIME").with("env", env).with("cwd", "/usr");
    assert_eq!(text("cmd.run", arguments).0, "bar /usr C");
    assert_eq!(text("cmd.run", line("cat").with("stdin", "one\\ntwo")).0, "one\ntwo");
    assert_eq!(text("cmd.run", line("cat").with("stdin", "a\\nb").with("stdin_raw_newlines", true)).0, "a\\nb");
    assert_eq!(text("cmd.run", line("umask").with("umask", "027")).0, "0027");
    let arguments = line("echo ${HOME-none} ${NOTIFY_SOCKET-none}").with("clean_env", true);
    assert_eq!(text("cmd.run", arguments).0, "none none");
    assert!(text("cmd.run", line("echo $PATH").with("prepend_path", "/first")).0.starts_with("/first:/"));
    let latin = line("printf '\\344'").with("output_encoding", "latin-1");
    assert_eq!(text("cmd.run", latin).0, "ä");
}

#[test]
fn a_timeout_is_told_in_the_output() {
    let (text, retcode) = text("cmd.run", line("sleep 1000").with("timeout", 0.2));
    assert_eq!((text.as_str(), retcode), ("sleep 1000 : Timed out after 0.2 seconds", 1));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let fault = |arguments: Arguments| published("cmd.run", arguments).unwrap_err().to_string();
    assert_eq!(
        fault(line("x").with("cwd", "/no/such")),
        "Specified cwd '/no/such' either not absolute or does not exist"
    );
    assert_eq!(fault(line("x").with("runas", "no such user")), "User 'no such user' is not available");
    assert_eq!(fault(line("x").with("group", "no such group")), "Group 'no such group' is not available");
    assert_eq!(fault(Arguments::positional(["x"]).with("shell", "/no/sh")), "The shell /no/sh is not available");
    assert_eq!(fault(line("x").with("umask", "9")), "Invalid umask: '9'");
    assert_eq!(fault(line("x").with("umask", "0")), "Zero umask is not allowed.");
    assert!(fault(line("x").with("timeout", -1)).contains("timeout"));
    assert!(fault(line("x 'y").with("python_shell", false)).contains("never closed"));
    assert!(
        fault(line("/no/program secret").with("python_shell", false))
            .ends_with("'/no/program': there is no such program")
    );
    assert!(fault(line("x").with("output_encoding", "klingon")).contains("klingon"));
}

#[test]
fn only_what_is_published_gets_a_shell_unasked() {
    let host = || {
        Fake::new()
            .directory("/")
            .program("/bin/sh")
            .answers(["/bin/sh", "-c", "a|b"], "shell")
            .answers(["a|b"], "none")
    };
    let run = |world: &World, arguments: Arguments| call(&world.ctx(&NoMaster), "cmd.run", arguments).unwrap().value;
    let mut world = World::on(host());
    assert_eq!(run(&world, Arguments::positional(["a|b"])), "none".into());
    assert_eq!(run(&world, Arguments::positional(["a|b"]).with("python_shell", true)), "shell".into());
    assert_eq!(run(&world, Arguments::positional(["a|b"]).with("__pub_jid", "2026")), "shell".into());
    world.opts.insert("cmd_safe", false);
    assert_eq!(run(&world, Arguments::positional(["a|b"])), "shell".into());
}

#[test]
fn lists_of_the_configuration_bind_what_is_published() {
    let mut world = World::on(Fake::new().directory("/").program("/bin/sh").answers(["/bin/sh", "-c", "rm x"], ""));
    world.opts.insert("cmd_blacklist_glob", Value::list(["rm *"]));
    let published = Arguments::positional(["rm x"]).with("__pub_jid", "2026");
    let fault = call(&world.ctx(&NoMaster), "cmd.run", published.clone()).unwrap_err();
    assert_eq!(fault.to_string(), "The shell command \"rm x\" is not permitted");
    world.opts.remove("cmd_blacklist_glob");
    assert!(call(&world.ctx(&NoMaster), "cmd.run", published.clone()).is_ok());
    world.opts.insert("cmd_whitelist_glob", Value::list(["ls *"]));
    assert!(call(&world.ctx(&NoMaster), "cmd.run", published).is_err());
}

#[test]
fn another_user_brings_its_home_and_environment() {
    let user = User { name: "bob".into(), uid: 1001, gid: 100, home: "/home/bob".into(), ..User::default() };
    let host =
        Fake::new().directory("/home/bob").program("/bin/sh").user(user.clone()).group("adm", 4).answers(["id"], "bob");
    let world = World::on(host);
    let arguments = Arguments::positional(["id"]).with("runas", "bob").with("group", "adm");
    call(&world.ctx(&NoMaster), "cmd.run", arguments).unwrap();
    let ran = world.host.ran().pop().unwrap();
    assert_eq!((ran.runas, ran.group, ran.cwd), (Some(user), Some(4), Some("/home/bob".into())));
    assert_eq!((ran.env["USER"].as_deref(), ran.env["HOME"].as_deref()), (Some("bob"), Some("/home/bob")));
    assert_eq!(ran.merge_stderr, Choice::Yes);
}

#[test]
fn scripts_and_code_run_from_a_private_file_that_does_not_stay() {
    let directory = halite_core::host::fake::Directory::new();
    let path = directory.path().join("s.sh");
    std::fs::write(&path, "#!/bin/sh\necho script $1 $#\nexit 2\n").unwrap();
    let arguments = Arguments::positional([path.to_str().unwrap(), "'a b' c"]);
    let returned = published("cmd.script", arguments.clone()).unwrap();
    assert_eq!((returned.value.at("stdout"), returned.retcode), (Some(&"script a b 2".into()), 2));
    assert_eq!(published("cmd.script_retcode", arguments).unwrap().value, 2.into());
    let code = Arguments::positional(["/bin/sh", "echo $0 $1"]).with("args", "x");
    let stdout = published("cmd.exec_code", code).unwrap().value.to_text();
    let (file, argument) = stdout.split_once(' ').unwrap();
    assert_eq!(argument, "x");
    assert!(!Path::new(file).exists());
    let absent = published("cmd.script", Arguments::positional(["/no/such.sh"])).unwrap();
    assert_eq!((absent.value.at("cache_error"), absent.retcode), (Some(&true.into()), 1));
    assert!(published("cmd.script", Arguments::positional(["salt://x.sh"])).is_err(), "there is no master");
}

#[test]
fn scripts_come_from_the_file_server_and_lines_and_scripts_are_rendered() {
    let directory = halite_core::host::fake::Directory::new();
    std::fs::write(directory.path().join("s.sh"), "#!/bin/sh\necho {{ grains.os }} $1\n").unwrap();
    let here = Value::from(directory.path().display().to_string());
    let roots = Map::from_iter([("base", Value::List(vec![here.clone()]))]);
    let opts = Map::from_iter([("file_client", "local".into()), ("file_roots", roots.into()), ("cachedir", here)]);
    let world = World { opts, grains: Map::from_iter([("os", "Linux")]), ..World::new() };
    let ctx = world.ctx_on(&Machine, &NoMaster);
    let run = |fun: &str, arguments: Arguments| call(&ctx, fun, arguments).unwrap().value;
    let script = Arguments::positional(["salt://s.sh", "one"]).with("template", "jinja");
    assert_eq!(run("cmd.script", script).at("stdout"), Some(&"Linux one".into()));
    let absent = run("cmd.script", Arguments::positional(["salt://none.sh"]));
    assert_eq!(absent.at("cache_error"), Some(&true.into()));
    let line = Arguments::positional(["echo {{ grains.os }} {{ saltenv }}"]).with("template", "jinja");
    assert_eq!(run("cmd.run", line), "Linux base".into());
}

#[test]
fn programs_are_found() {
    assert_eq!(text("cmd.has_exec", Arguments::positional(["sh"])).0, "True");
    assert_eq!(text("cmd.which", Arguments::positional(["no-such-program"])).0, "None");
    let arguments = Arguments::positional([Value::list(["no-such-program", "sh"])]);
    assert!(text("cmd.which_bin", arguments).0.ends_with("/sh"));
}

#[test]
fn a_terminal_is_one_of_the_hosts() {
    for bad in ["../etc/passwd", "ttyS0/../../x", "disk"] {
        let (text, _) = text("cmd.tty", Arguments::positional([bad, "x"]));
        assert!(text.contains("not a valid TTY"), "{bad}");
    }
}

#[test]
fn what_a_chroot_needs_is_mounted_and_unmounted() {
    let host = Fake::new()
        .directory("/srv/root")
        .program("/bin/sh")
        .file("/proc/self/mounts", "proc /srv/root/proc proc rw 0 0\n")
        .answers(["mount", "-t", "devtmpfs", "devtmpfs", "/srv/root/dev"], "")
        .answers(["mount", "-t", "sysfs", "sysfs", "/srv/root/sys"], "")
        .command(["chroot", "/srv/root", "/bin/sh", "-c", "x y"], Finished { code: 4, ..Finished::default() })
        .answers(["umount", "/srv/root/sys"], "")
        .answers(["umount", "/srv/root/dev"], "");
    let world = World::on(host);
    let arguments = Arguments::positional(["/srv/root", "x y"]);
    let returned = call(&world.ctx(&NoMaster), "cmd.run_chroot", arguments).unwrap();
    assert_eq!(returned.retcode, 4);
    let programs: Vec<String> = world.host.ran().iter().map(|command| command.argv[0].clone()).collect();
    assert_eq!(programs, ["mount", "mount", "chroot", "umount", "umount"]);
}
