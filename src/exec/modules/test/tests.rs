//! What `test.*` answers.

use crate::testing::World;
use halite_core::context::{Call, NoMaster};
use halite_core::module::call;
use halite_core::{Fault, VERSION};
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};

fn value(fun: &str, arguments: Arguments) -> Value {
    call(&World::new().ctx(&NoMaster), fun, arguments).unwrap().value
}

fn json(text: &str) -> Value {
    parse_json(text).unwrap()
}

#[test]
fn data_comes_back_as_it_was_sent() {
    assert_eq!(value("test.echo", Arguments::positional([json("[1, {\"a\": null}]")])), json("[1, {\"a\": null}]"));
    let arguments = Arguments::positional([Value::from(1), "two".into()]).with("k", "v");
    assert_eq!(value("test.arg", arguments.clone()), json(r#"{"args": [1, "two"], "kwargs": {"k": "v"}}"#));
    let repr = value("test.arg_repr", arguments);
    assert_eq!((repr.at("args"), repr.at("kwargs")), (Some(&"(1, 'two')".into()), Some(&"{'k': 'v'}".into())));
    assert_eq!(value("test.arg_repr", Arguments::positional([1])).at("args"), Some(&"(1,)".into()));
    let types = value("test.arg_type", Arguments::positional([json("[]"), json("null"), json("1.5")]));
    assert_eq!(
        types.at("args").unwrap().to_text(),
        "[\"<class 'list'>\", \"<class 'NoneType'>\", \"<class 'float'>\"]"
    );
}

#[test]
fn what_is_published_is_seen_by_functions_that_take_any_keyword() {
    let call = Call { fun: "test.kwarg".to_owned(), jid: "2026".to_owned(), tgt: "*".into(), ..Call::default() };
    let own = call.published(Arguments::default()).keywords;
    assert_eq!(own.len(), 4, "salt-call publishes nothing: {own:?}");
    let call = Call { user: "root".to_owned(), ..call };
    let world = World { call, ..World::new() };
    let ctx = world.ctx(&NoMaster);
    let arguments = Arguments::positional(Vec::<Value>::new()).with("num", 1);
    let keywords = halite_core::module::call_published(&ctx, arguments).unwrap().value;
    assert_eq!(keywords.at("__pub_arg"), Some(&json(r#"[{"__kwarg__": true, "num": 1}]"#)));
    assert_eq!((keywords.at("__pub_jid"), keywords.at("num")), (Some(&"2026".into()), Some(&1.into())));
    let clean = value("test.arg_clean", ctx.call.published(Arguments::default()));
    assert_eq!(clean, json(r#"{"args": [], "kwargs": {}}"#));
}

#[test]
fn numbers_are_right_however_large() {
    let first = |value: Value| value.as_list().unwrap()[0].to_text();
    assert_eq!(first(value("test.fib", Arguments::positional([10]))), "55");
    assert_eq!(first(value("test.fib", Arguments::positional([0]))), "0");
    assert_eq!(first(value("test.fib", Arguments::positional([100]))), "354224848179261915075");
    assert_eq!(first(value("test.collatz", Arguments::positional([3]))), "[3, 10, 5.0, 16.0, 8.0, 4.0, 2.0]");
    let world = World::new();
    assert!(call(&world.ctx(&NoMaster), "test.fib", Arguments::positional([-1])).is_err());
    assert!(call(&world.ctx(&NoMaster), "test.collatz", Arguments::positional([0])).is_err());
    assert!(call(&world.ctx(&NoMaster), "test.sleep", Arguments::positional([-1])).is_err());
}

#[test]
fn sleep_takes_its_time() {
    let world = World::new();
    call(&world.ctx(&NoMaster), "test.sleep", Arguments::positional([1])).unwrap();
    assert_eq!(world.host.slept().as_secs(), 1);
}

#[test]
fn outcomes_are_those_asked_for() {
    let world = World::new();
    let ctx = world.ctx(&NoMaster);
    assert_eq!(call(&ctx, "test.retcode", Arguments::default()).unwrap().retcode, 42);
    let raised = |name: &str| call(&ctx, "test.raise_exception", Arguments::positional([name, "text"]));
    assert_eq!(raised("TypeError"), Err(Fault::Raised { kind: "TypeError".into(), message: "text".into() }));
    assert_eq!(raised("salt.exceptions.CommandExecutionError"), Err(Fault::Execution("text".into())));
    assert_eq!(raised("print").unwrap().value, false.into());
    assert!(call(&ctx, "test.assertion", Arguments::positional([false])).is_err());
    assert_eq!(value("test.try", Arguments::positional(["test.exception"])), Value::Null);
    let told = Arguments::positional(["test.exception"]).with("return_try_exception", true).with("message", "oops");
    assert_eq!(value("test.try", told), "Exception: oops".into());
    let nested = Arguments::positional([Value::from("test.echo"), Value::list(["x"])]);
    assert_eq!(value("test.cross_test", nested), "x".into());
}

#[test]
fn versions_are_reported() {
    assert_eq!(value("test.version", Arguments::default()), VERSION.into());
    let report = value("test.versions_report", Arguments::default()).to_text();
    assert!(report.starts_with("Salt Version:\n") && report.contains(&format!("Halite: {VERSION}\n")), "{report}");
    assert!(value("test.versions_information", Arguments::default()).at("System Versions").is_some());
}

#[test]
fn options_and_modules_can_be_seen() {
    let world = World { opts: Map::from_iter([("id", "m1")]), grains: Map::from_iter([("os", "X")]), ..World::new() };
    let package = call(&world.ctx(&NoMaster), "test.opts_pkg", Arguments::default()).unwrap().value;
    assert_eq!((package.traverse("grains:os", ":"), package.at("id")), (Some(&"X".into()), Some(&"m1".into())));
    assert_eq!(value("test.provider", Arguments::positional(["cmd"])), "cmd".into());
    assert_eq!(value("test.provider", Arguments::positional(["no"])), "".into());
    let report = value("test.module_report", Arguments::default());
    assert_eq!(report.at("missing_attrs"), Some(&Value::List(Vec::new())));
}
