//! `salt-run` and `salt-call` beside a real master and minions.

use crate::fleet::{Fleet, LIMIT, Ran, signal, wait_for};
use halite_value::{Map, Value, parse_json};
use halite_wire::message::{Event, LocalAsk};
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

fn json(ran: &Ran) -> Value {
    parse_json(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
}

fn runner(fleet: &Fleet, args: &[&str]) -> Ran {
    fleet.run("salt-run", &[args, &["--out=json"]].concat())
}

/// `salt-call` on the host of a minion.
fn call(fleet: &Fleet, id: &str, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.arg("salt-call").arg("-c").arg(fleet.path(id).join("conf")).args(args).stdin(Stdio::null());
    Ran::from(command.output().unwrap())
}

/// The tag of what is fired until a watcher hears.
const READY: &str = "test/ready";

/// `state.event` of a fleet's master, from when on it hears: what is started then is not started again and again.
struct Watcher {
    child: Child,
    lines: Receiver<String>,
}

impl Watcher {
    /// The tags are a regular expression.
    fn start(fleet: &Fleet, tags: &str) -> Watcher {
        let mut command = fleet.command("salt-run");
        command.args(["state.event", &format!("{tags}|{READY}")]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let shown = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            shown.map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        let watcher = Watcher { child, lines };
        wait_for("the watcher to hear", || {
            fleet.ask(&LocalAsk::Fire(Event { tag: READY.to_owned(), data: Map::new() }));
            watcher.lines.try_recv().ok()
        });
        watcher
    }

    /// The data of the next event.
    fn next(&self) -> Value {
        loop {
            let line = self.lines.recv_timeout(LIMIT).expect("waited in vain for an event");
            let (tag, data) = line.split_once('\t').unwrap();
            if tag != READY {
                return parse_json(data).unwrap();
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn jid_of(ran: &Ran) -> String {
    let jid = ran.out.lines().find_map(|line| line.strip_prefix("jid: ")).unwrap_or_default();
    assert_eq!(jid.len(), 20, "{}{}", ran.out, ran.err);
    jid.to_owned()
}

#[test]
fn runners_show_who_is_there_and_what_became_of_jobs() {
    let mut fleet = Fleet::start(&["web1", "web2"]);
    fleet.stop("web2");
    fleet.wait_gone("web2");
    let status = runner(&fleet, &["manage.status"]);
    assert_eq!((status.code, json(&status).to_json()), (0, r#"{"up": ["web1"], "down": ["web2"]}"#.to_owned()));
    assert_eq!(json(&runner(&fleet, &["manage.present"])), Value::list(["web1"]));
    assert_eq!(json(&runner(&fleet, &["manage.not_present"])), Value::list(["web2"]));
    let shown = json(&runner(&fleet, &["manage.alived", "show_ip=True"]));
    assert_eq!(shown.to_json(), r#"{"web1": "127.0.0.1"}"#);

    let ran = fleet.salt(&["*", "test.arg", "look", "x=1", "--show-jid", "--metadata={who: me}"]);
    let jid = jid_of(&ran);
    fleet.wait_return(&jid, "web1");
    let looked = json(&runner(&fleet, &["jobs.lookup_jid", &jid]));
    assert_eq!(looked.at("web2"), Some(&Value::from("Minion did not return. [absent]")));
    assert_eq!(looked.at("web1").and_then(|answer| answer.at("args")), Some(&Value::list(["look"])));
    let found = json(&runner(&fleet, &["jobs.list_jobs", "search_function=test.a*", "search_metadata={who: me}"]));
    assert_eq!(found.at(&jid).and_then(|job| job.at("Target")), Some(&Value::from("*")));
    let nothing = runner(&fleet, &["jobs.list_jobs", "search_target=nobody"]);
    assert_eq!((nothing.code, nothing.out.trim()), (0, "{}"));
    let grains = json(&runner(&fleet, &["cache.fetch", "grains", "web1"]));
    assert_eq!(grains.at("id"), Some(&Value::from("web1")));
    let executed = json(&runner(&fleet, &["salt.execute", "*", "test.echo", "arg=[hi]"]));
    assert_eq!(executed.to_json(), r#"{"web1": "hi"}"#);
}

#[test]
fn a_running_job_is_active_and_its_target_has_taken_it() {
    let fleet = Fleet::start(&["web1"]);
    let ran = fleet.salt(&["web1", "test.sleep", "300", "--async"]);
    let jid = ran.out.trim().rsplit(' ').next().unwrap().to_owned();
    let active = wait_for("the job to run", || {
        let active = json(&runner(&fleet, &["jobs.active"]));
        active.at(&jid).cloned()
    });
    assert_eq!(active.at("Function"), Some(&Value::from("test.sleep")));
    assert!(active.at("Running").is_some_and(|running| running.to_json().contains("web1")));
    let looked = json(&runner(&fleet, &["jobs.lookup_jid", &jid]));
    assert_eq!(looked.to_json(), r#"{"web1": "Minion did not return. [taken]"}"#);
    assert_eq!(fleet.salt(&["web1", "saltutil.kill_job", &jid]).code, 0);
    fleet.wait_return(&jid, "web1");
}

#[test]
fn events_are_watched_as_they_come() {
    let fleet = Fleet::start(&["web1"]);
    let mut command = fleet.command("salt-run");
    command.args(["state.event", "my/*", "count=2"]).stdout(Stdio::piped());
    let mut watcher = command.spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    // When the watcher hears is its own affair: events are fired until it has ended.
    wait_for("the watcher to end", || {
        assert_eq!(fleet.run("salt-run", &["event.send", "other/tag", "{n: 0}"]).code, 0);
        assert_eq!(fleet.run("salt-run", &["event.send", "my/tag", "{n: 1}"]).code, 0);
        watcher.try_wait().unwrap()
    });
    for _ in 0..2 {
        let line = lines.next().unwrap().unwrap();
        let (tag, data) = line.split_once('\t').unwrap();
        assert_eq!((tag, parse_json(data).unwrap().at("n")), ("my/tag", Some(&Value::from(1))));
    }
}

#[test]
fn a_minion_tells_that_it_starts_where_it_is_asked_to() {
    let fleet = Fleet::start(&["web1"]);
    let mut command = fleet.command("salt-run");
    command.args(["state.event", "salt/job/*/start/web1", "count=2"]).stdout(Stdio::piped());
    let mut watcher = command.spawn().unwrap();
    wait_for("the watcher to end", || {
        assert_eq!(fleet.salt(&["web1", "test.true", "--metadata", "{a: 1}"]).code, 0);
        assert_eq!(fleet.salt(&["--start-event", "web1", "test.ping", "--metadata", "{a: 1}"]).code, 0);
        assert_eq!(fleet.salt(&["--start-event", "web1", "cmd.run", "echo", "--metadata", "{a: 1}"]).code, 0);
        watcher.try_wait().unwrap()
    });
    let lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    for line in lines.take(2) {
        let event = parse_json(line.unwrap().split_once('\t').unwrap().1).unwrap();
        let data = event.at("data").unwrap();
        assert!(["test.ping", "cmd.run"].contains(&data.at("fun").unwrap().to_text().as_str()), "{data}");
        assert_eq!(data.at("metadata").map(Value::to_json).as_deref(), Some(r#"{"a": 1}"#));
    }
}

#[test]
fn what_is_kept_of_a_minion_goes_with_its_key_unless_it_is_to_stay() {
    let fleet = Fleet::start(&["web1", "web2"]);
    let known = || json(&runner(&fleet, &["cache.list", "grains"]));
    wait_for("the grains", || (known() == Value::list(["web1", "web2"])).then_some(()));
    assert_eq!(fleet.run("salt-key", &["-y", "-d", "web1", "--preserve-minions", "True"]).code, 0);
    assert_eq!(fleet.run("salt-key", &["-y", "-d", "web2"]).code, 0);
    wait_for("web2 to be forgotten", || (known() == Value::list(["web1"])).then_some(()));
}

#[test]
fn what_the_master_keeps_is_changed_by_its_runners() {
    let fleet = Fleet::start(&["web1"]);
    wait_for("the grains", || fleet.salt(&["-G", "id:web1", "test.ping"]).out.contains("True").then_some(()));
    assert_eq!(json(&runner(&fleet, &["cache.clear_grains", "tgt=web1"])), Value::Bool(true));
    assert_eq!(fleet.salt(&["-G", "id:web1", "test.ping"]).code, 2, "nobody matches");
    assert_eq!(fleet.salt(&["web1", "saltutil.refresh_grains"]).code, 0);
    wait_for("the grains", || fleet.salt(&["-G", "id:web1", "test.ping"]).out.contains("True").then_some(()));
    assert_eq!(json(&runner(&fleet, &["cache.store", "bank", "key", "[1, 2]"])), Value::Null);
    assert_eq!(json(&runner(&fleet, &["cache.fetch", "bank", "key"])).to_json(), "[1, 2]");
    assert_eq!(json(&runner(&fleet, &["cache.flush", "bank"])), Value::Bool(true));
    assert_eq!(json(&runner(&fleet, &["cache.list", "bank"])).to_json(), "[]");
    let runs = json(&runner(&fleet, &["jobs.master"]));
    assert_eq!(runs.as_list().unwrap()[0].at("fun"), Some(&Value::from("runner.jobs.master")));
    assert!(!fleet.path("cache/proc").read_dir().unwrap().any(|entry| entry.is_ok()), "nothing is left of it");
}

#[test]
fn a_runner_apart_answers_on_the_bus() {
    let fleet = Fleet::start(&[]);
    let watcher = Watcher::start(&fleet, "salt/run/.*/ret");
    let ran = fleet.run("salt-run", &["--async", "test.arg", "a", "b=c"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let data = watcher.next();
    // The bus tells of a return before the disk has it.
    let answer = wait_for("the return to be kept", || {
        let kept = json(&runner(&fleet, &["jobs.lookup_jid", &data.at("jid").unwrap().to_text()]));
        let answer = kept.as_map().unwrap().first().map(|(_, answer)| answer.clone());
        (answer != Some(Value::Null)).then_some(answer)
    });
    assert_eq!(answer.as_ref(), data.at("return"), "it is kept like the return of a job");
    assert_eq!(data.at("fun"), Some(&Value::from("runner.test.arg")));
    assert_eq!(data.at("return").map(Value::to_json).as_deref(), Some(r#"{"args": ["a"], "kwargs": {"b": "c"}}"#));
}

#[test]
fn the_answer_of_a_runner_apart_was_lost_when_the_master_was_busy_as_it_began() {
    let fleet = Fleet::start(&[]);
    let watcher = Watcher::start(&fleet, "salt/run/.*/ret");
    signal(fleet.pid("master"), Signal::STOP);
    let ran = fleet.run("salt-run", &["--async", "test.sleep", "s_time=1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // It works, beside the watcher, when it has given up to tell the master that it begins.
    let runs = || fleet.path("cache/proc").read_dir().map_or(0, Iterator::count);
    wait_for("the runner to work", || (runs() > 1).then_some(()));
    signal(fleet.pid("master"), Signal::CONT);
    let data = watcher.next();
    assert_eq!((data.at("fun"), data.at("return")), (Some(&"runner.test.sleep".into()), Some(&true.into())), "{data}");
}

#[test]
fn a_master_that_hangs_holds_up_no_runner_that_needs_none() {
    let fleet = Fleet::start(&[]);
    signal(fleet.pid("master"), Signal::STOP);
    let ran = fleet.run("salt-run", &["test.arg", "a", "--out=json"]);
    signal(fleet.pid("master"), Signal::CONT);
    assert_eq!((ran.code, json(&ran).at("args")), (0, Some(&Value::list(["a"]))), "{}", ran.err);
}

#[test]
fn runners_that_fail_say_so_and_exit_with_a_failure() {
    let fleet = Fleet::prepare(&[], "", "");
    for (args, code, stdout, stderr) in [
        (&["test.nosuch"][..], 1, "", "'test.nosuch' is not available."),
        (&["jobs.lookup_jid"], 1, "Shows what came back", "lookup_jid() missing 1 required positional argument: 'jid'"),
        (&["test.metasyntactic", "bogus=1"], 1, "", "The following keyword arguments are not valid: bogus=1"),
        (&["jobs.lookup_jid", "xyz"], 1, "", "'xyz' is not a jid"),
        (&["jobs.lookup_jid", "20200101000000000000"], 1, "", "no job 20200101000000000000 is kept"),
        (&["error.error", "name=Exception", "message=boom"], 1, "Exception occurred in runner error.error", ""),
        (&["manage.up"], 69, "", "the salt-master is not running"),
        (&["state.event"], 69, "", "the event bus of the master cannot be reached"),
        (&["manage.bootstrap", "hosts=a"], 1, "", "runs a script from the internet"),
        (&[], 64, "", "there is no function"),
        (&["--doc", "nosuch"], 1, "", "there is no runner 'nosuch'"),
        (&["--jid", "5", "test.arg"], 64, "", "'5' is not a jid"),
    ] {
        let ran = fleet.run("salt-run", args);
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(stdout) && ran.err.contains(stderr), "{args:?}: {}{}", ran.out, ran.err);
        assert!(!stdout.is_empty() || ran.out.is_empty(), "{args:?}: {}", ran.out);
    }
    let ran = fleet.run("salt-run", &["test.stdout_print"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "foo\nbar\n"));
    assert!(fleet.run("salt-run", &["-d", "test"]).out.starts_with("test.arg:\n\nShows the arguments"));
}

#[test]
fn a_call_needs_no_master_and_tells_it_where_the_daemon_runs() {
    let mut fleet = Fleet::start(&["web1"]);
    let ran = call(&fleet, "web1", &["test.echo", "hello", "--out=json"]);
    assert_eq!((ran.code, json(&ran).to_json()), (0, r#"{"local": "hello"}"#.to_owned()), "{}", ran.err);
    let (jid, job) = wait_for("the master to keep it", || {
        let found = json(&runner(&fleet, &["jobs.list_jobs", "search_function=test.echo"]));
        found.as_map().and_then(|jobs| jobs.first()).map(|(jid, job)| (jid.clone(), job.clone()))
    });
    assert_eq!(job.at("Target"), Some(&Value::from("web1")));
    let looked = json(&runner(&fleet, &["jobs.lookup_jid", &jid.to_text()]));
    assert_eq!(looked.to_json(), r#"{"web1": "hello"}"#);
    let ran = call(&fleet, "web1", &["event.send", "my/tag", "a=1"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "local:\n    True\n"), "{}", ran.err);
    let ran = call(&fleet, "web1", &["--local", "event.send", "my/tag"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no master"), "{}", ran.err);
    assert_eq!(call(&fleet, "web1", &["test.ping", "--no-return-event"]).code, 0);
    assert_eq!(call(&fleet, "web1", &["test.true"]).code, 0);
    wait_for("the last one to be kept", || keeps(&fleet, "test.true").then_some(()));
    assert!(!keeps(&fleet, "test.ping"), "it was not to be sent");
    // A master that is away holds up no call, and is told when it is back.
    fleet.kill("master");
    assert_eq!(call(&fleet, "web1", &["test.false"]).code, 0);
    fleet.start_master();
    wait_for("the return to be sent", || keeps(&fleet, "test.false").then_some(()));
}

#[test]
fn a_call_without_the_daemon_has_a_session_of_its_own() {
    let mut fleet = Fleet::prepare(&["web1"], "auto_accept: True\n", "");
    fleet.start_master();
    let ran = call(&fleet, "web1", &["test.true"]);
    assert!(ran.code == 0 && !ran.err.contains("WARNING"), "{}", ran.err);
    assert!(keeps(&fleet, "test.true"), "it was delivered before the call ended");
    let mut command = fleet.command("salt-run");
    command.args(["state.event", "my/tag", "count=1"]).stdout(Stdio::piped());
    let mut watcher = command.spawn().unwrap();
    wait_for("the event", || {
        assert_eq!(call(&fleet, "web1", &["event.send", "my/tag", "{a: 1}", "--no-return-event"]).code, 0);
        watcher.try_wait().unwrap()
    });
    let line = BufReader::new(watcher.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let event = parse_json(line.split_once('\t').unwrap().1).unwrap();
    assert_eq!((event.at("id"), event.at("data").unwrap().at("a")), (Some(&"web1".into()), Some(&1.into())), "{event}");
    for key in ["cmd", "pretag", "tag", "ts"] {
        assert!(event.as_map().unwrap().contains(key), "{event} lacks {key}");
    }
    assert_eq!(fleet.connected(), Vec::<String>::new(), "it takes no jobs");
    let ran = fleet.salt(&["web1", "test.ping"]);
    assert!(ran.out.contains("[Not connected]"), "{}", ran.out);
    // What could not be sent is sent by the daemon, when it starts.
    fleet.kill("master");
    assert_eq!(call(&fleet, "web1", &["test.false"]).code, 0);
    fleet.start_master();
    assert!(!keeps(&fleet, "test.false"));
    fleet.start_minion("web1");
    wait_for("the return to be sent", || keeps(&fleet, "test.false").then_some(()));
}

#[test]
fn a_call_without_the_daemon_reaches_the_masters_files() {
    let mut fleet = Fleet::prepare(&["web1"], "auto_accept: True\n", "");
    let roots = fleet.path("srv");
    std::fs::create_dir(&roots).unwrap();
    std::fs::write(roots.join("note"), "from the master").unwrap();
    std::fs::create_dir(fleet.path("conf/master.d")).unwrap();
    let conf = format!("file_roots: {{base: ['{}']}}\n", roots.display());
    std::fs::write(fleet.path("conf/master.d/roots.conf"), conf).unwrap();
    fleet.start_master();
    let ran = call(&fleet, "web1", &["cp.get_file_str", "salt://note", "--out=json"]);
    assert_eq!((ran.code, json(&ran).at("local")), (0, Some(&Value::from("from the master"))), "{}", ran.err);
    let into = fleet.path("note-here");
    let ran = call(&fleet, "web1", &["cp.get_file", "salt://note", into.to_str().unwrap()]);
    assert_eq!((ran.code, std::fs::read_to_string(&into).unwrap().as_str()), (0, "from the master"), "{}", ran.err);
    fleet.kill("master");
    let ran = call(&fleet, "web1", &["cp.get_file_str", "salt://note"]);
    assert!(ran.code == 1 && ran.err.contains("is not reached"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_call_whose_key_waits_says_so() {
    let mut fleet = Fleet::prepare(&["web1"], "", "");
    fleet.start_master();
    let ran = call(&fleet, "web1", &["-t", "1", "event.send", "my/tag"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("has not answered in 1 s"), "{}", ran.err);
    assert!(fleet.run("salt-key", &["-l", "pre"]).out.contains("web1"));
}

/// Whether the master keeps a job of this function.
fn keeps(fleet: &Fleet, fun: &str) -> bool {
    let found = json(&runner(fleet, &["jobs.list_jobs", &format!("search_function={fun}")]));
    found.as_map().is_some_and(|jobs| !jobs.is_empty())
}

#[test]
fn the_exit_code_of_a_call_tells_the_truth() {
    let fleet = Fleet::prepare(&["web1"], "", "");
    for (args, code, stdout, stderr) in [
        (&["--local", "test.ping"][..], 0, "local:\n    True\n", ""),
        (&["--local", "--id", "foo", "grains.get", "id"], 0, "local:\n    foo\n", ""),
        (&["--local", "cmd.run", "exit 3"], 1, "local:", "failed with return code: 3"),
        (&["--local", "--retcode-passthrough", "cmd.run", "exit 3"], 3, "local:", ""),
        (&["--local", "test.false"], 0, "local:\n    False\n", ""),
        (&["--local", "test.nosuch"], 255, "", "'test.nosuch' is not available."),
        (&["--local", "test.ping", "bogus"], 1, "salt '*' test.ping", "Passed invalid arguments: ping() takes 0"),
        (&["--local", "test.exception", "message=oops"], 1, "", "Exception: oops"),
        (&["--local", "--return", "local", "test.ping"], 0, "'fun': 'test.ping'", ""),
        (&["--local", "--return", "nosuch", "test.ping"], 69, "local:\n    True\n", "no such returner"),
        (&["--local", "--metadata", "test.ping"], 0, "fun:\n        test.ping", ""),
        (&["-g", "--local", "--out=json"], 0, "\"id\": \"web1\"", ""),
        (&["--local"], 64, "", "there is no function"),
        (&["--local", "-d", "test.ping"], 0, "test.ping:", ""),
        (&["event.send", "tag"], 1, "", "is not reached"),
        (&["test.ping"], 0, "local:\n    True\n", "the master is not told of this call now"),
        (&["test.ping", "--no-return-event"], 0, "local:\n    True\n", ""),
    ] {
        let ran = call(&fleet, "web1", args);
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(stdout) && ran.err.contains(stderr), "{args:?}: {}{}", ran.out, ran.err);
    }
    let file = fleet.path("answer");
    let ran = call(&fleet, "web1", &["--local", "test.ping", "--out-file", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "local:\n    True\n");
}

#[test]
fn salt_says_what_is_wrong_before_anybody_is_asked() {
    let fleet = Fleet::start(&["web1"]);
    for (args, code, stdout, stderr) in [
        (&["-E", "web[", "test.ping"][..], 64, "", "is not a regular expression"),
        (&["-C", "web1 and and", "test.ping"], 64, "", "character"),
        (&["-N", "nope", "test.ping"], 64, "", "nope"),
        (&["-I", "a:b", "test.ping"], 2, "No minions matched the target.", ""),
        (&["-J", "a:[", "test.ping"], 64, "", "is not a regular expression"),
        (&["-C", "web1 or I@a:b", "test.ping"], 0, "web1:", ""),
        (&["--return", "mysql", "*", "test.ping"], 69, "", "returners are not part of this version: nothing was sent"),
        (&["--return", "local_cache", "*", "test.ping"], 0, "web1:", ""),
        (&["web1", "test.pnig"], 1, "'test.pnig' is not available.\n", "did you mean test.ping?"),
        (&["--return_config", "x", "*", "test.ping"], 69, "", "--return_config: returners are not part"),
        (&["*"], 42, "", "there is no function"),
        (&["zzz*", "test.ping", "--out=json"], 2, "{}\n", "ERROR: No return received"),
        (&["-L", "web1,nope", "test.ping"], 1, "nope:\n    Minion did not return. [No such minion]", "non-zero"),
        (&["--preview-target", "*"], 0, "- web1\n", ""),
        (&["--subset", "1", "*", "test.ping"], 0, "web1:\n    True\n", ""),
        (&["-d", "*", "test.ping"], 0, "test.ping:\n\nAnswers True", ""),
        (&["web1", "test.ping", "--summary", "-v"], 0, "# of minions returned: 1", ""),
        (&["-G", "--delimiter", "|", "id|web1", "test.ping"], 0, "web1:", ""),
        (&["--config-dump"], 0, "root_dir:", ""),
        (&["web1", "test.ping,test.echo", ",", "hi", "--out=txt"], 0, "'test.echo': 'hi'", ""),
    ] {
        let ran = fleet.salt(args);
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(stdout) && ran.err.contains(stderr), "{args:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn options_of_the_configuration_act_as_those_of_the_command_line() {
    let mut fleet = Fleet::prepare(&["web1", "web2"], "auto_accept: True\nshow_jid: True\ncli_summary: True\n", "");
    let more = "start_event_grains: [id]\nenable_legacy_startup_events: False\nprocess_count_max: 1\n";
    let port = fleet.ret_port;
    fleet.configure_minion("web1", port, &format!("{more}disable_modules: [cmd]\n"));
    // A master with a port of its own, behind one that is not there.
    fleet.configure_minion("web2", 1, more);
    std::fs::create_dir(fleet.path("web2/conf/minion.d")).unwrap();
    let masters = format!("master: ['127.0.0.1:1', '127.0.0.1:{port}']\n");
    std::fs::write(fleet.path("web2/conf/minion.d/masters.conf"), masters).unwrap();
    fleet.start_master();
    let mut command = fleet.command("salt-run");
    command.args(["state.event", "salt/minion/*/start", "count=1"]).stdout(Stdio::piped());
    let mut watcher = command.spawn().unwrap();
    wait_for("the start event", || {
        fleet.start_minion("web1");
        fleet.wait_connected(&["web1"]);
        let heard = watcher.try_wait().unwrap();
        if heard.is_none() {
            fleet.kill("web1");
        }
        heard
    });
    let line = BufReader::new(watcher.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let data = parse_json(line.split_once('\t').unwrap().1).unwrap();
    assert_eq!(data.at("grains").map(Value::to_json).as_deref(), Some(r#"{"id": "web1"}"#), "{data}");
    let ran = fleet.salt(&["web1", "test.ping"]);
    assert!(ran.out.starts_with("jid: ") && ran.out.contains("# of minions returned: 1"), "{}", ran.out);
    let ran = fleet.salt(&["web1", "cmd.run", "echo"]);
    assert!(ran.out.contains("'cmd.run' is not available."), "{}", ran.out);
    fleet.start_minion("web2");
    fleet.wait_connected(&["web2"]);
    // One job at a time: the second begins when the first is over.
    let log = fleet.path("log-of-jobs");
    let command = format!("echo start >> {0}; sleep 0.5; echo end >> {0}", log.display());
    let jids: Vec<String> = (0..2)
        .map(|_| {
            let ran = fleet.salt(&["--async", "web2", "cmd.run", &command]);
            ran.out.trim().rsplit(' ').next().unwrap().to_owned()
        })
        .collect();
    jids.iter().for_each(|jid| drop(fleet.wait_return(jid, "web2")));
    assert_eq!(std::fs::read_to_string(log).unwrap(), "start\nend\nstart\nend\n");
}

#[test]
fn no_more_minions_are_connected_than_the_master_may_have() {
    let mut fleet = Fleet::prepare(&["web1", "web2"], "auto_accept: True\nmax_minions: 1\n", "");
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    fleet.start_minion("web2");
    let log = fleet.path("log");
    wait_for("web2 to be sent away", || {
        std::fs::read_to_string(&log).ok().filter(|text| text.contains("as max_minions allows"))
    });
    assert_eq!(fleet.connected(), ["web1"]);
    assert_eq!(fleet.salt(&["web1", "test.ping"]).code, 0);
}

#[test]
fn who_listens_on_a_minion_hears_what_is_told_to_it() {
    let fleet = Fleet::start(&["web1"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.arg("salt-call").arg("-c").arg(fleet.path("web1/conf")).args(["state.event", "my/*", "count=2"]);
    let mut listener = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(listener.stdout.take().unwrap()).lines();
    // Whoever begins to listen has missed what was before: so it is told until it is heard.
    let (tell, told) = std::sync::mpsc::channel();
    let hears = std::thread::spawn(move || {
        let first = lines.next().unwrap().unwrap();
        tell.send(()).unwrap();
        (first, lines.next().unwrap().unwrap())
    });
    wait_for("the listener", || {
        assert_eq!(call(&fleet, "web1", &["event.fire", "{a: 1}", "my/first"]).code, 0);
        told.try_recv().ok()
    });
    assert_eq!(call(&fleet, "web1", &["event.fire", "{b: 2}", "other"]).code, 0);
    assert_eq!(call(&fleet, "web1", &["event.fire", "{b: 2}", "my/second"]).code, 0);
    let (first, second) = hears.join().unwrap();
    assert_eq!(first, "my/first\t{\"a\": 1}");
    assert!(second.starts_with("my/"), "{second}");
    assert!(listener.wait().unwrap().success());
}
