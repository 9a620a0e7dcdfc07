//! Pillar over real processes: compiled on the master, for its minion alone.

use crate::fleet::{Fleet, Ran, wait_for};
use std::fs;
use std::path::Path;

const SECRET: &str = "hunter2-of-web1";

/// A fleet whose pillar files are these; `lines` are more of the master's configuration.
fn fleet(minions: &[&str], lines: &str, files: &[(&str, &str)]) -> Fleet {
    let mut fleet = Fleet::prepare(minions, "", "");
    let root = fleet.path("srv");
    let at = root.display();
    let path = fleet.path("conf/master");
    let text = fs::read_to_string(&path).unwrap();
    let more = format!(
        "auto_accept: True\nfile_roots: {{base: [{at}/salt]}}\npillar_roots: {{base: [{at}/pillar], dev: [{at}/dev]}}\n\
         {}",
        lines.replace("@SRV@", &at.to_string())
    );
    fs::write(path, text + &more).unwrap();
    for (name, text) in files {
        write(&root.join(name), text);
    }
    fleet.start_master();
    for id in minions {
        fleet.start_minion(id);
    }
    fleet.wait_connected(minions);
    fleet
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn json(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
}

const TOP: (&str, &str) = ("pillar/top.sls", "base:\n  '*': [common]\n  web1: [secret]\n");

#[test]
fn each_minion_gets_its_own_and_targets_mean_it() {
    let files = [
        TOP,
        ("pillar/common.sls", "color: red\nport: 80\n"),
        ("pillar/secret.sls", &format!("key: {SECRET}\nrole: {{a: web}}\n")),
    ];
    let fleet = fleet(&["web1", "db1"], "", &files);
    let of = |id: &str| json(&fleet.salt(&[id, "pillar.items", "unmask=True", "--out=json"]))[id].clone();
    assert_eq!(of("web1"), serde_json::json!({"color": "red", "port": 80, "key": SECRET, "role": {"a": "web"}}));
    assert_eq!(of("db1"), serde_json::json!({"color": "red", "port": 80}));
    for (words, expected) in [
        (vec!["-I", "role:a:web"], vec!["web1"]),
        (vec!["-I", "color:r*"], vec!["db1", "web1"]),
        (vec!["-J", "role:a:w.b$"], vec!["web1"]),
        (vec!["-C", "I@color:red and not I@role:a:web"], vec!["db1"]),
        (vec!["-C", "J@key:hunter.* or db9"], vec!["web1"]),
    ] {
        let ran = fleet.salt(&[&words[..], &["test.ping", "--static", "--out=json"]].concat());
        let answered: Vec<String> = json(&ran).as_object().unwrap().keys().cloned().collect();
        assert_eq!((ran.code, answered), (0, expected.iter().map(|id| id.to_string()).collect()), "{words:?}");
    }
    assert_eq!(fleet.salt(&["-I", "role:a:db", "test.ping"]).code, 2, "nobody has it");
    let shown = json(&fleet.run("salt-run", &["pillar.show_pillar", "web1", "--out=json"]));
    assert_eq!(shown["key"], SECRET);
    let shown = json(&fleet.run("salt-run", &["cache.pillar", "db1", "--out=json"]));
    assert_eq!(shown, serde_json::json!({"db1": {"color": "red", "port": 80}}));
    let top = json(&fleet.run("salt-run", &["pillar.show_top", "--out=json"]));
    assert_eq!(top, serde_json::json!({"base": {"*": ["common"], "web1": ["secret"]}}));
    for log in ["log", "web1/log", "db1/log", "master.console", "web1.console"] {
        let text = fs::read_to_string(fleet.path(log)).unwrap_or_default();
        assert!(!text.contains(SECRET), "{log} tells a secret");
    }
}

#[test]
fn a_change_of_a_file_is_seen_by_the_next_question_and_a_refresh_by_memory() {
    let fleet = fleet(&["web1"], "", &[TOP, ("pillar/common.sls", "color: red\n"), ("pillar/secret.sls", "{}")]);
    let value = |fun: &[&str]| json(&fleet.salt(&[&["web1"], fun, &["--out=json"]].concat()))["web1"].clone();
    assert_eq!(value(&["pillar.get", "color", "unmask=True"]), "red");
    for color in ["green", "blue", "grey"] {
        write(&fleet.path("srv/pillar/common.sls"), &format!("color: {color}\n"));
        assert_eq!(value(&["pillar.items", "unmask=True"])["color"], color);
        assert_ne!(value(&["pillar.get", "color", "unmask=True"]), color, "what is in memory is older");
        assert_eq!(fleet.salt(&["web1", "saltutil.refresh_pillar", "wait=True"]).code, 0);
        assert_eq!(value(&["pillar.get", "color", "unmask=True"]), color);
        let ran = fleet.salt(&["-I", &format!("color:{color}"), "test.ping"]);
        assert_eq!(ran.code, 0, "{}", ran.out);
    }
    assert_eq!(
        value(&["pillar.items", "pillar={color: mine, x: 1}", "unmask=True"]),
        serde_json::json!({"color": "mine", "x": 1})
    );
    write(&fleet.path("srv/dev/top.sls"), "dev: {'*': [only]}");
    write(&fleet.path("srv/dev/only.sls"), "env: {{ opts.pillarenv }}");
    assert_eq!(value(&["pillar.items", "pillarenv=dev", "unmask=True"]), serde_json::json!({"env": "dev"}));
    let ran = fleet.salt(&["web1", "pillar.items", "pillarenv=../../etc", "unmask=True"]);
    assert!(ran.out.contains("no name of an environment"), "{}", ran.out);
}

#[test]
fn states_see_the_pillar_of_now_and_do_not_run_with_a_broken_one() {
    let files = [
        TOP,
        ("pillar/common.sls", "color: red\n"),
        ("pillar/secret.sls", "{}"),
        (
            "salt/show.sls",
            "shown:\n  test.configurable_test_state:\n    - result: True\n    - changes: False\n    - comment: it is {{ pillar.color }}\n",
        ),
    ];
    let fleet = fleet(&["web1"], "", &files);
    let comment = |more: &[&str]| fleet.salt(&[&["web1", "state.apply", "show"], more].concat()).out;
    assert!(comment(&[]).contains("it is red"), "{}", comment(&[]));
    write(&fleet.path("srv/pillar/common.sls"), "color: green\n");
    assert!(comment(&[]).contains("it is green"), "{}", comment(&[]));
    assert!(comment(&["pillar={color: own}"]).contains("it is own"));
    write(&fleet.path("srv/pillar/common.sls"), &format!("color: {{{{ salt['nope.nope']('{SECRET}') }}}}\n"));
    let ran = fleet.salt(&["web1", "state.apply", "show"]);
    assert!(ran.code != 0 && ran.out.contains("Pillar failed to render with the following messages:"), "{}", ran.out);
    assert!(ran.out.contains("Rendering SLS 'common' failed. Please see master log for details."), "{}", ran.out);
    assert!(!ran.out.contains(SECRET));
    let conf = fleet.path("web1/conf");
    let mut call = fleet.command("salt-call");
    let ran =
        Ran::from(call.arg("-c").arg(&conf).args(["state.apply", "show", "--retcode-passthrough"]).output().unwrap());
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
}

#[test]
fn salt_call_gets_it_with_and_without_the_daemon_however_long_it_is() {
    let long = format!("long: {}\n", "x".repeat(2_500_000));
    let files = [TOP, ("pillar/common.sls", long.as_str()), ("pillar/secret.sls", "last: here")];
    let mut fleet = fleet(&["web1"], "", &files);
    let call = |fleet: &Fleet| {
        let conf = fleet.path("web1/conf");
        let mut call = fleet.command("salt-call");
        let ran =
            Ran::from(call.arg("-c").arg(&conf).args(["pillar.items", "unmask=True", "--out=json"]).output().unwrap());
        let items = json(&ran)["local"].clone();
        (items["long"].as_str().map(str::len), items["last"].as_str().map(str::to_owned))
    };
    let expected = (Some(2_500_000), Some("here".to_owned()));
    assert_eq!(call(&fleet), expected);
    wait_for("the minion to have it", || {
        fleet.salt(&["web1", "pillar.get", "last", "unmask=True"]).out.contains("here").then_some(())
    });
    fleet.stop("web1");
    assert_eq!(call(&fleet), expected);
}

#[test]
fn external_pillars_are_put_on_top() {
    let lines = "nodegroups: {webs: 'web*', dbs: 'G@id:db1'}\next_pillar:\n  - cmd_yaml: 'echo \"from: %s\"'\n  \
                 - cmd_json: \"echo '{\\\"json\\\": [1, 2]}'\"\n  - nodegroups: {pillar_name: groups}\n  \
                 - file_tree: {root_dir: '@SRV@/tree'}\n  - stack: '@SRV@/stack/stack.cfg'\n";
    let files = [
        TOP,
        ("pillar/common.sls", "color: red\nfrom: file\n"),
        ("pillar/secret.sls", "{}"),
        ("tree/hosts/web1/ssl/key.pem", "KEY\n"),
        ("tree/nodegroups/webs/motd", "hello\n"),
        ("stack/stack.cfg", "common/*.yml\n{{ minion_id }}.yml\n"),
        ("stack/common/a.yml", "stacked: {id: {{ minion_id }}, os: {{ __grains__['kernel'] }}, list: [1]}\n"),
        ("stack/web1.yml", "stacked: {list: [2], seen: {{ stack.stacked.id }}}\n"),
    ];
    let fleet = fleet(&["web1"], lines, &files);
    let items =
        |fleet: &Fleet| json(&fleet.salt(&["web1", "pillar.items", "unmask=True", "--out=json"]))["web1"].clone();
    let expected = serde_json::json!({
        "color": "red", "from": "web1", "json": [1, 2], "groups": ["webs"],
        "motd": "hello", "ssl": {"key.pem": "KEY"},
        "stacked": {"id": "web1", "os": "Linux", "list": [1, 2], "seen": "web1"},
    });
    assert_eq!(items(&fleet), expected);
    write(&fleet.path("srv/tree/hosts/web1/ssl/key.pem"), "NEW\n");
    assert_eq!(items(&fleet)["ssl"]["key.pem"], "NEW");
}

#[test]
fn after_a_start_of_the_master_targets_mean_the_environment_that_the_minion_asks_for() {
    let mut fleet = Fleet::prepare(&["web1"], "", "pillarenv: dev\n");
    let root = fleet.path("srv");
    let at = root.display();
    let path = fleet.path("conf/master");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, format!("{text}auto_accept: True\npillar_roots: {{base: [{at}/base], dev: [{at}/dev]}}\n"))
        .unwrap();
    for name in ["base", "dev"] {
        write(&root.join(name).join("top.sls"), &format!("{name}: {{'*': [own]}}"));
        write(&root.join(name).join("own.sls"), &format!("of: {name}"));
    }
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    let code = |fleet: &Fleet, name: &str| fleet.salt(&["-I", &format!("of:{name}"), "test.ping"]).code;
    wait_for("the pillar of the minion's own environment", || (code(&fleet, "dev") == 0).then_some(()));
    fleet.kill("master");
    fleet.start_master();
    fleet.wait_connected(&["web1"]);
    assert_eq!((code(&fleet, "dev"), code(&fleet, "base")), (0, 2));
}
