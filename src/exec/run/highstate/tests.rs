//! What Salt 3008.4 makes of the tree in `tests/data/highstate`, and of SLS files with faults in them.

use super::*;
use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::fake::Directory;
use halite_core::module::call;
use halite_lang::yaml;
use halite_value::parse_json;
use halite_value::record::Arguments;
use std::fs;
use std::path::Path;

fn map(text: &str) -> Map {
    yaml::load(text).unwrap().as_map().unwrap().clone()
}

/// A minion without a master whose `base` and `dev` are directories below `root`; its clock and commands are the machine's.
fn world(root: &Path, options: &str) -> World {
    let root = root.display();
    let mut opts = map(&format!(
        "{{id: m1, file_client: local, local: true, cachedir: {root}/cache, renderer: jinja|yaml, failhard: false, \
         file_roots: {{base: [{root}/base], dev: [{root}/dev]}}}}"
    ));
    opts.extend(map(options));
    World { opts, grains: map("{id: m1, os: Debian, os_family: Debian}"), ..World::new() }
}

fn answer(world: &World, fun: &str, arguments: Arguments) -> Value {
    let host = halite_core::host::Machine;
    let returned = call(&world.ctx_on(&host, &NoMaster), fun, arguments);
    returned.map_or_else(|fault| fault.to_string().into(), |returned| returned.value)
}

#[test]
fn the_tree_comes_to_what_salt_makes_of_it() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../..")).join("tests/data/highstate");
    let world = world(&data, "{}");
    for (fun, mods, expected) in [
        ("state.show_low_sls", Some("app"), "low_sls.json"),
        ("state.show_lowstate", None, "lowstate.json"),
        ("state.show_highstate", None, "highstate.json"),
        ("state.show_top", None, "top.json"),
    ] {
        let salt = parse_json(&fs::read_to_string(data.join(expected)).unwrap()).unwrap();
        let ours = answer(&world, fun, Arguments::positional(mods));
        // As text: the order of keys counts too.
        assert_eq!(ours.to_json(), salt.at("local").unwrap().to_json(), "{fun}");
    }
}

/// The answer of a function for the SLS `main`, which is among some files.
fn of_files(files: &Map, fun: &str, arguments: Arguments) -> Value {
    let directory = Directory::new();
    fs::create_dir(directory.path().join("base")).unwrap();
    for (name, text) in files {
        fs::write(directory.path().join("base").join(name.to_text()), text.to_text()).unwrap();
    }
    answer(&world(directory.path(), "{}"), fun, arguments)
}

#[test]
fn faults_are_told_in_the_words_of_salt() {
    let cases = parse_json(include_str!("../../../../tests/data/highstate/faults.json")).unwrap();
    for (name, case) in cases.as_map().unwrap() {
        let files = case.at("files").unwrap().as_map().unwrap();
        let ours = of_files(files, "state.apply", Arguments::positional(["main"]).with("test", true));
        assert_eq!(&without_place(&ours), case.at("answer").unwrap(), "{}", name.to_text());
    }
}

#[test]
fn test_mode_calls_no_failure_what_a_state_before_might_mend() {
    let replace = "file.replace: [{pattern: a}, {repl: b}";
    let sls = format!(
        "first: test.succeed_with_changes\n/made: {{{replace}, {{require: [{{test: first}}]}}]}}\n/lost: {{{replace}]}}\n"
    );
    let files = Map::from_iter([("main.sls", sls)]);
    let ours = of_files(&files, "state.apply", Arguments::positional(["main"]).with("test", true));
    let result = |path: &str| ours.at(&format!("file_|-{path}_|-{path}_|-replace")).unwrap().clone();
    assert_eq!(result("/made").at("result"), Some(&Value::Null));
    assert_eq!(
        result("/made").at("comment").unwrap().to_text(),
        "/made: file not found\nTest mode cannot tell what would be done: first would change before."
    );
    assert_eq!(result("/lost").at("result"), Some(&Value::Bool(false)));
}

/// The errors without the line behind an excerpt, which says where the fault is: Salt has no such line.
fn without_place(errors: &Value) -> Value {
    let shorter = |error: &Value| {
        let text = error.as_str()?;
        let (told, place) = text.rsplit_once("\n---\n")?;
        place.contains(", column ").then(|| Value::from(format!("{told}\n---")))
    };
    match errors {
        Value::List(items) => Value::list(items.iter().map(|item| shorter(item).unwrap_or_else(|| item.clone()))),
        other => other.clone(),
    }
}

#[test]
fn the_log_says_where_faults_stand() {
    let directory = Directory::new();
    fs::create_dir(directory.path().join("base")).unwrap();
    let (main, other) = (directory.path().join("base/main.sls"), directory.path().join("base/other.sls"));
    fs::write(
        &main,
        "include: [other]\n\nsame:\n  test.nop: []\nlost:\n  test.nop:\n    - require: [{test: nobody}]\n",
    )
    .unwrap();
    fs::write(&other, "same:\n  test.fail_without_changes: []\n").unwrap();
    let world = world(directory.path(), "{}");
    let host = halite_core::host::Machine;
    let ctx = world.ctx_on(&host, &NoMaster);
    let compiler = Compiler::new(&ctx).unwrap();
    let (high, errors) = compiler.render(&Matches::from_iter([("base".to_owned(), vec!["main".to_owned()])]));
    let (main, other) = (main.display(), other.display());
    assert_eq!(compiler.places(&errors[0]), [format!("{main}, line 3"), format!("{other}, line 1")], "{}", errors[0]);
    let errors = low::compile(high, ctx.opts, ctx.grains).unwrap_err();
    assert_eq!(compiler.places(&errors[0]), [format!("{main}, line 5")], "{}", errors[0]);
}

/// The results of the SLS `main`: ID, result, comment.
fn results(sls: &str, test: bool) -> Vec<(String, Option<bool>, String)> {
    let ours = of_files(
        &Map::from_iter([("main.sls", sls)]),
        "state.apply",
        Arguments::positional(["main"]).with("test", test),
    );
    let mut all: Vec<&Value> = ours.as_map().unwrap_or_else(|| panic!("{ours}")).values().collect();
    all.sort_by_key(|result| result.at("__run_num__").and_then(Value::as_int));
    let text = |result: &Value, key: &str| result.at(key).map(Value::to_text).unwrap_or_default();
    let result = |result: &&Value| {
        (text(result, "__id__"), result.at("result").and_then(Value::as_bool), text(result, "comment"))
    };
    all.iter().map(result).collect()
}

fn ids(sls: &str) -> Vec<String> {
    results(sls, false).into_iter().map(|(id, ..)| id).collect()
}

#[test]
fn requisites_decide_what_runs() {
    let sls = "bad: test.fail_without_changes\ngood: test.succeed_with_changes\nsame: test.nop\n\
        after-bad: {test.nop: [{require: [{test: bad}]}]}\n\
        any: {test.nop: [{require_any: [{test: bad}, {test: good}]}]}\n\
        on-fail: {test.nop: [{onfail: [{test: bad}]}]}\n\
        on-fail-not: {test.nop: [{onfail: [{test: good}]}]}\n\
        on-change: {test.nop: [{onchanges: [{test: good}]}]}\n\
        on-change-not: {test.nop: [{onchanges: [{test: same}]}]}\n\
        watching: {test.nop: [{watch: [{test: good}]}]}\n";
    let told = [
        ("bad", Some(false), "Failure!"),
        ("good", Some(true), "Success!"),
        ("same", Some(true), "Success!"),
        ("after-bad", Some(false), "One or more requisite failed: main.bad"),
        ("any", Some(true), "Success!"),
        ("on-fail", Some(true), "Success!"),
        ("on-fail-not", Some(true), "State was not run because onfail req did not change"),
        ("on-change", Some(true), "Success!"),
        ("on-change-not", Some(true), "State was not run because none of the onchanges reqs changed"),
        ("watching", Some(true), "Watch statement fired."),
    ];
    let told = told.map(|(id, result, comment)| (id.to_owned(), result, comment.to_owned())).to_vec();
    assert_eq!(results(sls, false), told);
}

#[test]
fn a_prereq_runs_before_what_would_change_and_not_otherwise() {
    let sls = |wanted: &str| format!("before: {{test.nop: [{{prereq: [{{test: it}}]}}]}}\nit: {wanted}\n");
    let told = |wanted: &str| results(&sls(wanted), false);
    let before = |results: Vec<(String, Option<bool>, String)>| results[0].clone();
    let run = ("before".to_owned(), Some(true), "Success!".to_owned());
    assert_eq!(before(told("test.succeed_with_changes")), run);
    assert_eq!(before(told("test.nop")), ("before".to_owned(), Some(true), "No changes detected".to_owned()));
}

#[test]
fn conditions_listeners_and_failhard_are_obeyed() {
    assert_eq!(ids("a: {test.fail_without_changes: [{failhard: true}]}\nb: test.nop\n"), ["a"]);
    let told = results("a: {test.nop: [{unless: ['true'], onlyif: ['true']}]}\nb: {test.nop: [{creates: /}]}\n", false);
    assert_eq!(told[0].2, "onlyif condition is true\nunless condition is true");
    assert_eq!(told[1].2, "/ exists");
    let told = results("a: {test.nop: [{check_cmd: ['false']}]}\n", false);
    assert_eq!((told[0].1, told[0].2.as_str()), (Some(false), "check_cmd determined the state failed"));
    let told = results("a: {test.nop: [{unless: [{fun: test.echo, args: ['']}]}]}\n", false);
    assert_eq!(told[0].2, "Success!");
    assert_eq!(
        ids("l: {test.nop: [{listen: [{test: c}]}]}\nc: test.succeed_with_changes\nz: test.nop\n"),
        ["l", "c", "z", "listener_l"]
    );
}

#[test]
fn test_mode_changes_nothing() {
    let directory = Directory::new();
    let path = directory.path().join("made");
    let sls = format!("touch {}:\n  cmd.run: []\n", path.display());
    let told = results(&sls, true);
    assert_eq!(told[0].1, None);
    assert!(told[0].2.ends_with("would have been executed") && !path.exists());
    assert_eq!(results(&sls, false)[0].1, Some(true));
    assert!(path.exists());
}

/// Two states of which each waits for the other: they end because they run at the same time.
const MEETING: &str = "
a: {cmd.run: [{name: 'echo a > x; cat y'}, {cwd: DIRECTORY}, {parallel: true}, {timeout: 20}]}
b: {cmd.run: [{name: 'cat x; echo b > y'}, {cwd: DIRECTORY}, {parallel: true}, {timeout: 20}]}
c: {test.nop: [{require: [{cmd: a}]}]}
d: {cmd.run: [{name: 'test -e made-by-e'}, {cwd: DIRECTORY}, {parallel: true}, {require: [{cmd: e}]}]}
e: {cmd.run: [{name: touch made-by-e}, {cwd: DIRECTORY}, {parallel: true}, {require: [{test: c}]}]}
";

fn meeting(options: &str) -> Value {
    let directory = Directory::new();
    for name in ["x", "y"] {
        let path = directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    fs::create_dir(directory.path().join("base")).unwrap();
    let sls = MEETING.replace("DIRECTORY", directory.path().to_str().unwrap());
    fs::write(directory.path().join("base/main.sls"), sls).unwrap();
    answer(&world(directory.path(), options), "state.apply", Arguments::positional(["main"]))
}

#[test]
fn parallel_states_run_at_the_same_time_and_are_waited_for() {
    let told = meeting("{}");
    let of = |id: &str| told.as_map().unwrap().values().find(|result| result.at("__id__") == Some(&id.into())).unwrap();
    for id in ["a", "b", "c", "d", "e"] {
        assert_eq!(of(id).at("result"), Some(&true.into()), "{id}: {}", of(id));
    }
    assert_eq!(of("a").at("__parallel__"), Some(&true.into()));
    assert_eq!(of("a").at("changes").and_then(|changes| changes.at("stdout")), Some(&"b".into()));
    assert_eq!(of("c").at("__parallel__"), None);
}

#[test]
fn no_more_run_at_once_than_the_configuration_allows() {
    let sls: String = (0..6)
        .map(|at| {
            format!(
                "s{at}: {{cmd.run: [{{name: 'mkdir lock && rmdir lock'}}, {{cwd: DIRECTORY}}, {{parallel: true}}]}}\n"
            )
        })
        .collect();
    let directory = Directory::new();
    fs::create_dir(directory.path().join("base")).unwrap();
    fs::write(directory.path().join("base/main.sls"), sls.replace("DIRECTORY", directory.path().to_str().unwrap()))
        .unwrap();
    let world = world(directory.path(), "{state_max_parallel: 1}");
    let told = answer(&world, "state.apply", Arguments::positional(["main"]));
    assert_eq!(told.as_map().unwrap().len(), 6);
    for result in told.as_map().unwrap().values() {
        assert_eq!(result.at("result"), Some(&true.into()), "{result}");
    }
}

#[test]
fn a_parallel_state_that_fails_hard_ends_the_run() {
    let sls = "a: {cmd.run: [{name: 'false'}, {parallel: true}, {failhard: true}]}\n\
               b: {test.nop: [{require_any: [{cmd: a}, {test: c}]}]}\nc: test.nop\nd: test.nop\n";
    let told = results(sls, false);
    assert!(told.iter().any(|(id, result, _)| id == "a" && *result == Some(false)));
    assert!(!told.iter().any(|(id, ..)| id == "d"), "{told:?}");
}

#[test]
fn slots_are_filled_when_the_state_runs() {
    let directory = Directory::new();
    let sls = "make:\n  cmd.run:\n  - name: echo -n here > MADE\nsay:\n  test.configurable_test_state:\n  \
               - changes: false\n  - result: true\n  - comment: '__slot__:salt:cmd.run(\"cat MADE\") ~ \" and there\"'\n  \
               - require: [{cmd: make}]\n";
    let sls = sls.replace("MADE", directory.path().join("made").to_str().unwrap());
    assert_eq!(results(&sls, false)[1].2, "here and there");
}

#[test]
fn what_a_state_changes_can_be_read_again() {
    let directory = Directory::new();
    fs::create_dir_all(directory.path().join("base")).unwrap();
    fs::create_dir_all(directory.path().join("pillar")).unwrap();
    let root = directory.path().display();
    let sls = format!(
        "before: {{cmd.run: [{{name: 'echo seen'}}, {{onlyif: [{{fun: pillar.get, args: [color]}}]}}]}}\n\
         change: {{cmd.run: [{{name: 'echo \"color: red\" > {root}/pillar/a.sls'}}, {{reload_pillar: true}}]}}\n\
         after: {{cmd.run: [{{name: 'echo seen'}}, {{onlyif: [{{fun: pillar.get, args: [color]}}]}}]}}\n"
    );
    fs::write(directory.path().join("base/main.sls"), sls).unwrap();
    fs::write(directory.path().join("pillar/top.sls"), "base: {'*': [a]}").unwrap();
    fs::write(directory.path().join("pillar/a.sls"), "{}").unwrap();
    let world = world(directory.path(), &format!("{{pillar_roots: {{base: [{root}/pillar]}}}}"));
    let told = answer(&world, "state.apply", Arguments::positional(["main"]));
    let comments: Vec<String> =
        told.as_map().unwrap().values().map(|result| result.at("comment").unwrap().to_text()).collect();
    assert_eq!(
        (comments[0].as_str(), comments[2].as_str()),
        ("onlyif condition is false", "Command \"echo seen\" run")
    );
}

#[test]
fn a_run_can_be_asked_for_and_started_later() {
    let directory = Directory::new();
    fs::create_dir_all(directory.path().join("base")).unwrap();
    fs::create_dir_all(directory.path().join("cache")).unwrap();
    fs::write(directory.path().join("base/main.sls"), "a: test.succeed_with_changes\n").unwrap();
    let world = world(directory.path(), "{}");
    let call = |fun: &str, arguments: &[&str]| answer(&world, fun, Arguments::positional(arguments.to_vec()));
    let result = |told: &Value| told.as_map().unwrap().values().next().unwrap().at("result").cloned().unwrap();
    assert_eq!(result(&call("state.request", &["main"])), Value::Null);
    let kept = call("state.check_request", &["default"]);
    assert_eq!(kept.at("mods"), Some(&"main".into()));
    assert_eq!(call("state.clear_request", &["other"]), false.into());
    assert_eq!(result(&call("state.run_request", &[])), true.into());
    assert_eq!(call("state.check_request", &[]), Map::new().into());
    assert_eq!(call("state.run_request", &[]), Map::new().into());
}

#[test]
fn states_without_a_tree_are_compiled_and_run() {
    let directory = Directory::new();
    fs::create_dir_all(directory.path().join("base")).unwrap();
    let file = directory.path().join("own.sls");
    fs::write(&file, "a: {test.nop: [{require: [{test: b}]}]}\nb: test.nop\n").unwrap();
    let world = world(directory.path(), "{}");
    let call = |fun: &str, argument: &str| answer(&world, fun, Arguments::positional([argument]));
    let ids = |told: Value| -> Vec<String> {
        told.as_map().unwrap().values().map(|result| result.at("__id__").unwrap().to_text()).collect()
    };
    assert_eq!(ids(call("state.template", file.to_str().unwrap().trim_end_matches(".sls"))), ["b", "a"]);
    assert_eq!(ids(call("state.template_str", "{% for x in 'ab' %}{{ x }}: test.nop\n{% endfor %}")), ["a", "b"]);
    let refused = call("state.template_str", "include: [x]");
    assert!(refused.to_text().contains("invalid when rendering single templates"), "{refused}");
    let missing = call("state.template", "/nowhere");
    assert!(missing.to_text().contains("/nowhere.sls on local filesystem cannot be found"), "{missing}");
}

/// How many steps the low chunks of high data have.
fn steps(sls: &str) -> usize {
    let high = complete(map(sls), &Map::new()).unwrap();
    low::compile(high, &Map::new(), &Map::new()).unwrap().steps.len()
}

#[test]
fn thousands_of_requisites_are_no_square() {
    let count = 5000;
    let state = |id: String, requisite: String| {
        format!("{id}: {{test: [nop, {requisite}], __sls__: {}, __env__: base}}\n", &id[..1])
    };
    let chain: String =
        (1..count).map(|at| state(format!("s{at}"), format!("{{require: [{{test: s{}}}]}}", at - 1))).collect();
    assert_eq!(steps(&(state("s0".to_owned(), "{text: x}".to_owned()) + &chain)), count);
    let members: String = (0..count).map(|at| state(format!("m{at}"), "{text: x}".to_owned())).collect();
    let wanting: String = (0..count).map(|at| state(format!("w{at}"), "{require: [{sls: m}]}".to_owned())).collect();
    assert_eq!(steps(&(members + &wanting)), 2 * count);
}

#[test]
fn a_state_has_the_umask_that_it_names() {
    let directory = Directory::new();
    fs::create_dir(directory.path().join("base")).unwrap();
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    let sls = format!(
        "{}: {{file.managed: [{{contents: x}}, {{umask: '077'}}]}}\n'touch {}': {{cmd.run: [{{umask: 27}}]}}\n\
         wrong: {{test.nop: [{{umask: 9}}]}}\n",
        one.display(),
        two.display()
    );
    fs::write(directory.path().join("base/main.sls"), sls).unwrap();
    let ours = answer(&world(directory.path(), "{}"), "state.apply", Arguments::positional(["main"]));
    let mode =
        |path: &Path| std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777;
    assert_eq!((mode(&one), mode(&two)), (0o600, 0o640), "{ours}");
    assert!(ours.to_json().contains("Invalid umask: 9"), "{ours}");
}

#[test]
fn the_configuration_keeps_states_from_other_minions() {
    let directory = Directory::new();
    fs::create_dir(directory.path().join("base")).unwrap();
    fs::write(directory.path().join("base/main.sls"), "a: {test.nop: []}\nb: {cmd.run: [{name: 'true'}]}\n").unwrap();
    let called = |conditions: &str| {
        let world = world(directory.path(), &format!("{{global_state_conditions: {conditions}}}"));
        let ours = answer(&world, "state.apply", Arguments::positional(["main"]));
        let results = ours.as_map().unwrap_or_else(|| panic!("{ours}")).values();
        results.map(|result| result.at("result").and_then(Value::as_bool).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(called("{test: 'G@os:Debian'}"), [true, true]);
    assert_eq!(called("{test.nop: [other, m2]}"), [false, true]);
    assert_eq!(called("{'*': [other, m1], cmd: m2}"), [true, true]);
    assert_eq!(called("{'*': other, cmd: m1}"), [false, true]);
    assert_eq!(called("{'*': other}"), [false, false]);
}
