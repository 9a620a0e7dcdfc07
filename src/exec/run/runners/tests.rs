//! The laws of runners, and a master made up for their tests.

use super::fleet::{Answer, Change, Gathered, Heard, Order, Presence};
use super::*;
use halite_core::host::fake::Fake;
use halite_value::record::{Field, Kind};
use std::cell::RefCell;
use std::collections::VecDeque;

/// A master made up: what it answers, and what it was told.
#[derive(Default)]
pub struct Made {
    pub host: Fake,
    pub opts: Map,
    pub presence: Presence,
    /// What each job that is started gives: the minions that are targets, and the answers.
    pub gathered: Gathered,
    pub states: Map,
    pub batches: Vec<Map>,
    pub stopped: RefCell<Vec<String>>,
    pub changed: RefCell<Vec<Change>>,
    pub kept: Vec<(String, Value)>,
    pub heard: RefCell<VecDeque<Heard>>,
    pub jobs: Vec<(String, Map)>,
    pub returns: Vec<(String, Map)>,
    pub ends: Vec<(String, String)>,
    pub grains: Vec<(String, Map)>,
    pub started: RefCell<Vec<Order>>,
    pub fired: RefCell<Vec<(String, Map)>>,
    pub said: RefCell<String>,
}

impl Made {
    pub fn call(&self, fun: &str, arguments: Arguments) -> Reply {
        let say = |text: &str| {
            self.said.borrow_mut().push_str(text);
            Ok(())
        };
        let ctx = Ctx {
            host: &self.host,
            functions: &crate::modules::FUNCTIONS,
            fleet: self,
            archive: self,
            opts: &self.opts,
            jid: "20261129205033700833",
            say: &say,
        };
        call(&ctx, fun, arguments)
    }

    pub fn value(&self, fun: &str, arguments: Arguments) -> Value {
        self.call(fun, arguments).unwrap().value
    }

    pub fn answering(answers: &[(&str, Value)], silent: &[&str]) -> Made {
        let answers: Vec<Answer> = answers
            .iter()
            .map(|(id, value)| Answer { id: (*id).to_owned(), value: value.clone(), retcode: 0 })
            .collect();
        let mut minions: Vec<String> = answers.iter().map(|answer| answer.id.clone()).collect();
        minions.extend(silent.iter().map(|id| (*id).to_owned()));
        minions.sort();
        Made { gathered: Gathered { jid: "20261129205033700834".to_owned(), minions, answers }, ..Made::default() }
    }
}

impl Fleet for Made {
    fn presence(&self) -> Result<Presence, Fault> {
        Ok(self.presence.clone())
    }

    fn expand(&self, _: &Value, _: &str) -> Result<Vec<String>, Fault> {
        Ok(self.gathered.minions.clone())
    }

    fn publish(&self, order: Order) -> Result<Gathered, Fault> {
        self.started.borrow_mut().push(order);
        Ok(self.gathered.clone())
    }

    fn states(&self, _: &str) -> Result<Map, Fault> {
        Ok(self.states.clone())
    }

    fn batches(&self) -> Result<Vec<Map>, Fault> {
        Ok(self.batches.clone())
    }

    fn stop_batch(&self, jid: &str) -> Result<bool, Fault> {
        let is_there = self.batches.iter().any(|batch| batch.str_at("jid") == Some(jid));
        self.stopped.borrow_mut().push(jid.to_owned());
        Ok(is_there)
    }

    fn keep(&self, change: Change) -> Result<(), Fault> {
        self.changed.borrow_mut().push(change);
        Ok(())
    }

    fn fire(&self, tag: &str, data: Map) -> Result<(), Fault> {
        self.fired.borrow_mut().push((tag.to_owned(), data));
        Ok(())
    }

    fn listen(&self) -> Result<Box<dyn Bus + '_>, Fault> {
        Ok(Box::new(Heard1(self)))
    }
}

struct Heard1<'a>(&'a Made);

impl Bus for Heard1<'_> {
    fn next(&mut self) -> Result<Heard, Fault> {
        self.0.heard.borrow_mut().pop_front().ok_or_else(|| Fault::execution("the bus has ended"))
    }
}

impl Archive for Made {
    fn jobs(&self) -> Result<Vec<(String, Map)>, Fault> {
        Ok(self.jobs.clone())
    }

    fn job(&self, jid: &str) -> Result<Option<Map>, Fault> {
        Ok(self.jobs.iter().find(|(kept, _)| kept == jid).map(|(_, load)| load.clone()))
    }

    fn returns(&self, _: &str) -> Result<Vec<(String, Map)>, Fault> {
        Ok(self.returns.clone())
    }

    fn ends(&self, _: &str) -> Result<Vec<(String, String)>, Fault> {
        Ok(self.ends.clone())
    }

    fn grains(&self) -> Result<Vec<(String, Map)>, Fault> {
        Ok(self.grains.clone())
    }

    fn kept(&self, _: &str) -> Result<Vec<(String, Value)>, Fault> {
        Ok(self.kept.clone())
    }
}

#[test]
fn runners_are_sorted_unique_and_documented() {
    halite_core::testing::assert_sorted_and_documented(RUNNERS);
}

#[test]
fn each_runner_has_an_example_that_binds() {
    for name in names() {
        let function = find(&name).unwrap();
        let lines = function.info.doc.iter().filter_map(|line| line.trim().strip_prefix("salt-run "));
        let calls: Vec<(&str, &str)> = lines.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
        // Several names of one function share its examples.
        let module = name.split_once('.').unwrap().0;
        let own =
            calls.iter().filter(|(fun, _)| find(fun).is_some_and(|found| std::ptr::eq(found.info, function.info)));
        assert!(own.clone().count() > 0, "{name} has no line that begins with: salt-run {module}.");
        for (_, words) in own {
            let words = halite_lang::words::split(words).unwrap();
            assert_eq!(function.check(bound(words)).err(), None, "{name}");
        }
    }
}

/// As the command line reads arguments, near enough.
fn bound(words: Vec<String>) -> Arguments {
    let value = |text: &str| halite_lang::yaml::load(text).unwrap_or_else(|_| text.into());
    words.iter().fold(Arguments::default(), |mut arguments, word| {
        match word.split_once('=') {
            Some((name, text)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                arguments.keywords.insert(name, value(text));
            }
            _ => arguments.positional.push(value(word)),
        }
        arguments
    })
}

#[test]
fn unknown_runners_and_wrong_arguments_are_faults() {
    let made = Made::default();
    assert!(matches!(made.call("test.nosuch", Arguments::default()), Err(Fault::Unknown { .. })));
    assert!(matches!(made.call("nosuch", Arguments::default()), Err(Fault::Unknown { .. })));
    let wrong = made.call("jobs.lookup_jid", Arguments::default());
    assert!(matches!(wrong, Err(Fault::Arguments { .. })));
    assert!(made.call("manage.bootstrap", Arguments::default()).is_err());
    assert!(made.call("manage.down", Arguments::default().with("removekeys", true)).is_err());
}

#[test]
fn documentation_is_found_by_module_and_by_function() {
    let of = |wanted: &str| docs(Some(wanted)).keys().map(Value::to_text).collect::<Vec<_>>();
    assert_eq!(of("test.arg"), ["test.arg"]);
    assert_eq!(of("error"), ["error.error"]);
    assert!(of("tes").is_empty());
    assert_eq!(docs(None).len(), names().count());
}

#[test]
fn who_answers_is_up_and_who_does_not_is_down() {
    let made = Made::answering(&[("web2", true.into()), ("db1", true.into())], &["web1"]);
    assert_eq!(made.value("manage.up", Arguments::default()), Value::list(["db1", "web2"]));
    assert_eq!(made.value("manage.down", Arguments::default()), Value::list(["web1"]));
    let both = made.value("manage.status", Arguments::default().with("tgt", "w*"));
    assert_eq!(both.to_json(), r#"{"up": ["db1", "web2"], "down": ["web1"]}"#);
    assert_eq!(made.started.borrow()[2].tgt, "w*".into());
}

#[test]
fn presence_is_known_without_asking() {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let presence = Presence {
        accepted: ids(&["a", "b", "c"]),
        connected: ids(&["a", "c"]),
        addresses: Map::from_iter([("a", "10.0.0.1")]),
    };
    let made = Made { presence, ..Made::default() };
    assert_eq!(made.value("manage.present", Arguments::default()), Value::list(["a", "c"]));
    assert_eq!(made.value("manage.not_present", Arguments::default()), Value::list(["b"]));
    let some = Arguments::default().with("subset", Value::list(["c", "x"]));
    assert_eq!(made.value("manage.alived", some), Value::list(["c"]));
    let addresses = made.value("manage.joined", Arguments::default().with("show_ip", true));
    assert_eq!(addresses.to_json(), r#"{"a": "10.0.0.1", "c": null}"#);
    assert!(made.started.borrow().is_empty());
}

#[test]
fn versions_are_sorted_by_age() {
    let mut made = Made::answering(
        &[("new", "99.0.0".into()), ("old", "0.0.1".into()), ("same", halite_core::VERSION.into())],
        &["gone"],
    );
    made.gathered.answers.push(Answer { id: "broken".to_owned(), value: "x".into(), retcode: 1 });
    made.gathered.minions.push("broken".to_owned());
    let shown = made.value("manage.versions", Arguments::default());
    let has = |label: &str, id: &str| shown.at(label).and_then(|group| group.at(id)).is_some();
    assert!(
        has("Minion newer than master", "new") && has("Minion requires update", "old") && has("Up to date", "same")
    );
    assert!(has("Minion offline", "gone") && has("Minion offline", "broken"));
}

#[test]
fn grains_are_shown_and_matched_from_what_is_kept() {
    let grains = |os: &str| Map::from_iter([("os", os)]);
    let made = Made {
        grains: vec![("web1".to_owned(), grains("Debian")), ("db1".to_owned(), grains("Fedora"))],
        ..Made::default()
    };
    assert_eq!(made.value("cache.list", Arguments::positional(["grains"])), Value::list(["db1", "web1"]));
    let debian = Arguments::positional(["os:Deb*", "grain"]);
    assert_eq!(made.value("cache.grains", debian).to_json(), r#"{"web1": {"os": "Debian"}}"#);
    assert_eq!(made.value("cache.fetch", Arguments::positional(["grains", "db1"])).to_json(), r#"{"os": "Fedora"}"#);
    let matches = |expression: &str, id: &str| {
        made.value("match.compound_matches", Arguments::positional([expression, id])).at("res").cloned().unwrap()
    };
    assert_eq!(matches("G@os:Debian and web*", "web1"), "web1".into());
    assert_eq!(matches("G@os:Debian", "db1"), false.into());
    assert_eq!(matches("*", "nobody"), false.into());
    assert!(made.call("match.compound_matches", Arguments::positional(["( a", "b"])).is_err());
}

#[test]
fn events_are_shown_until_enough_have_come() {
    let heard = |number, tag: &str| Heard { number, tag: tag.to_owned(), data: Map::from_iter([("n", number)]) };
    let events = [heard(1, "a/1"), heard(2, "b/1"), heard(5, "a/2"), heard(6, "a/3")];
    let made = Made { heard: RefCell::new(events.into()), ..Made::default() };
    made.value("state.event", Arguments::positional(["a/*"]).with("count", 2));
    assert_eq!(*made.said.borrow(), "a/1\t{\"n\": 1}\na/2\t{\"n\": 5}\n");
    assert_eq!(made.heard.borrow().len(), 1);
    let ended = made.call("state.event", Arguments::default().with("quiet", true));
    assert!(ended.is_err() && made.said.borrow().lines().count() == 2);
}

#[test]
fn small_runners_do_what_they_say() {
    let made = Made { opts: Map::from_iter([("a", Map::from_iter([("b", 1)]))]), ..Made::default() };
    assert_eq!(made.value("config.get", Arguments::positional(["a:b"])), 1.into());
    assert_eq!(made.value("config.get", Arguments::positional(["a,b"]).with("delimiter", ",")), 1.into());
    assert_eq!(made.value("config.get", Arguments::positional(["x"])), "".into());
    assert_eq!(made.value("test.stdout_print", Arguments::default()), "bar".into());
    assert_eq!(*made.said.borrow(), "foo\n");
    let shown = made.value("test.arg", Arguments::positional(["a"]).with("b", "c").with("__x", 1));
    assert_eq!(shown.to_json(), r#"{"args": ["a"], "kwargs": {"b": "c"}}"#);
    made.value("event.send", Arguments::positional(["t".into(), Value::from(Map::from_iter([("k", 1)]))]));
    assert_eq!(made.fired.borrow()[0].0, "t");
    let raised = made.call("error.error", Arguments::default().with("name", "E").with("message", "m"));
    assert_eq!(raised, Err(Fault::Raised { kind: "E".to_owned(), message: "m".to_owned() }));
    assert_eq!(made.value("salt.cmd", Arguments::positional(["test.echo", "x"])), "x".into());
    assert!(matches!(made.call("salt.cmd", Arguments::positional(["test.nosuch"])), Err(Fault::Unknown { .. })));
}

#[test]
fn functions_run_on_minions_with_their_arguments() {
    let made = Made::answering(&[("web2", 2.into()), ("web1", 1.into())], &[]);
    let arguments = Arguments::positional(["web*", "test.arg"]).with("arg", Value::list(["a"])).with("k", 1);
    assert_eq!(made.value("salt.execute", arguments).to_json(), r#"{"web1": 1, "web2": 2}"#);
    let started = &made.started.borrow()[0];
    assert_eq!(Value::List(started.arg.clone()).to_json(), r#"["a", {"k": 1, "__kwarg__": true}]"#);
}

#[test]
fn the_cache_is_read_and_changed() {
    let grains = |os: &str| Map::from_iter([("os", os)]);
    let made = Made {
        grains: vec![("a".into(), grains("Debian")), ("b".into(), grains("Fedora")), ("c".into(), Map::new())],
        kept: vec![("k".to_owned(), 5.into())],
        ..Made::default()
    };
    let value = |fun: &str, words: &[&str]| made.value(fun, Arguments::positional(words.iter().copied()));
    assert_eq!(value("cache.list", &["grains"]), Value::list(["a", "b"]), "nothing is known of c");
    assert_eq!((value("cache.list", &["mine"]), value("cache.fetch", &["mine", "k"])), (Value::list(["k"]), 5.into()));
    assert_eq!(value("cache.fetch", &["mine", "x"]), Map::new().into());
    assert_eq!(value("cache.store", &["mine", "k", "v"]), Value::Null);
    assert_eq!(value("cache.flush", &["mine"]), true.into());
    assert_eq!(value("cache.flush", &["grains"]), true.into());
    let debian = Arguments::keywords(Map::from_iter([("tgt", "os:Debian"), ("tgt_type", "grain")]));
    assert_eq!(made.value("cache.clear_grains", debian), true.into());
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        *made.changed.borrow(),
        [
            Change::Store { bank: "mine".into(), key: "k".into(), data: "v".into() },
            Change::Flush { bank: "mine".into(), key: None },
            Change::ForgetGrains(owned(&["a", "b"])),
            Change::ForgetGrains(owned(&["a"])),
        ]
    );
    for (fun, words) in [("cache.store", &["grains", "a", "b"][..]), ("cache.clear_all", &[]), ("cache.cloud", &["x"])]
    {
        assert!(made.call(fun, Arguments::positional(words.iter().copied())).is_err(), "{fun}");
    }
}

/// Functions of Salt that are not there yet, and what brings them.
const LACKING: [(&str, &str); 4] = [
    ("cache.mine", "the mine"),
    ("cache.pillar", "pillar"),
    ("doc.wheel", "wheel functions"),
    ("state.", "the state engine: orchestration"),
];

#[test]
fn every_function_of_salts_runners_is_there_with_its_arguments() {
    let table = include_str!("../../../../tests/data/salt-runners.txt");
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let Some(function) = find(name) else {
            assert!(LACKING.iter().any(|(prefix, _)| name.starts_with(prefix)), "{name} is lacking");
            continue;
        };
        let fields = function.info.fields;
        let takes_any = fields.iter().any(|field| field.kind == Kind::Keywords);
        let names: Vec<&str> = fields.iter().filter(|field| !field.name().ends_with("args")).map(Field::name).collect();
        for word in words.filter(|word| !word.starts_with('*')) {
            assert!(takes_any || names.contains(&word), "{name} does not take {word}");
        }
    }
}
