use super::*;
use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::fake::Directory;
use halite_core::testing::{Need, host_has};
use halite_lang::yaml;
use std::fs;

fn options_of(options: &str) -> Map {
    yaml::load(options).unwrap().as_map().cloned().unwrap_or_default()
}

/// Does something for the minion `web1`, whose pillar has these files, each a name and its text; `options` are YAML.
fn with_world<T>(files: &[(&str, &str)], options: &str, does: impl FnOnce(&World) -> T) -> T {
    let directory = Directory::new();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = directory.path().display();
    let mut opts = options_of(&format!(
        "{{id: web1, file_client: local, cachedir: {root}/cache, renderer: jinja|yaml, \
         pillar_roots: {{base: [{root}/base], dev: [{root}/dev]}}}}"
    ));
    opts.extend(options_of(options));
    let grains = Map::from_iter([("os", "Debian"), ("id", "web1")]);
    does(&World { opts, grains, ..World::new() })
}

/// The pillar of `web1`.
fn pillar(files: &[(&str, &str)], options: &str, asked: &Asked) -> Value {
    with_world(files, options, |world| compile(&world.ctx(&NoMaster), asked).unwrap().into())
}

fn compiled_on(host: &dyn halite_core::host::Host, files: &[(&str, &str)], options: &str) -> Value {
    with_world(files, options, |world| compile(&world.ctx_on(host, &NoMaster), &Asked::default()).unwrap().into())
}

fn compiled(files: &[(&str, &str)], options: &str) -> Value {
    pillar(files, options, &Asked::default())
}

fn value(text: &str) -> Value {
    yaml::load(text).unwrap()
}

#[test]
fn targets_of_each_kind_give_their_sls() {
    let top = "base:\n  'web*': [a]\n  'os:Debian': [{match: grain}, b]\n  'db|web1': [{match: pcre}, c]\n  \
               'G@os:Debian and not E@x': [d]\n  'db*': [e]\n";
    let files = [
        ("base/top.sls", top),
        ("base/a.sls", "a: 1"),
        ("base/b.sls", "b: {{ grains.os }}"),
        ("base/c/init.sls", "c: {{ sls }}"),
        ("base/d.sls", "#!json\n{\"d\": 4}"),
        ("base/e.sls", "e: 5"),
    ];
    assert_eq!(compiled(&files, "{}"), value("{a: 1, b: Debian, c: c, d: 4}"));
}

#[test]
fn includes_are_below_a_key_with_defaults_and_do_not_win() {
    let files = [
        ("base/top.sls", "base: {'*': [app.main]}"),
        ("base/app/main.sls", "include: [{app.sub: {key: 'x:y', defaults: {color: red}}}, .near]\nown: 1\n"),
        ("base/app/sub.sls", "color: {{ color }}"),
        ("base/app/near.sls", "include: [app.far]\nown: 2\nnear: 3"),
        ("base/app/far.sls", "include: [app.near]\nfar: 4"),
    ];
    assert_eq!(compiled(&files, "{}"), value("{x: {y: {color: red}}, far: 4, own: 1, near: 3}"));
    let over = compiled(&files, "{pillar_includes_override_sls: true}");
    assert_eq!(over.at("own"), Some(&Value::from(2)));
}

#[test]
fn what_is_wrong_is_told_without_what_it_holds() {
    let files = [
        (
            "base/top.sls",
            "base: {'*': [bad, none, list, {ignore_missing: false}], 'web*': [{ignore_missing: true}, may]}",
        ),
        ("base/bad.sls", "secret: [hunter2"),
        ("base/list.sls", "[1]"),
    ];
    let errors = [
        "Rendering SLS 'bad' failed. Please see master log for details.",
        "Specified SLS 'none' in environment 'base' is not available on the salt master",
        "SLS 'list' does not render to a dictionary",
    ];
    assert_eq!(compiled(&files, "{}"), Map::from_iter([(ERRORS, Value::list(errors))]).into());
    let open = compiled(&files, "{pillar_safe_render_error: false}").at(ERRORS).unwrap().to_text();
    assert!(open.contains("did not find expected"), "{open}");
}

#[test]
fn an_environment_can_be_chosen_and_data_put_on_top() {
    let files = [
        ("base/top.sls", "base: {'*': [a]}\ndev: {'*': [a]}"),
        ("base/a.sls", "{a: base, b: {x: 1}}"),
        ("dev/top.sls", "dev: {'*': [a]}"),
        ("dev/a.sls", "{a: dev, b: {y: 2}}"),
    ];
    assert_eq!(compiled(&files, "{}"), value("{a: dev, b: {x: 1, y: 2}}"));
    assert_eq!(compiled(&files, "{env_order: [dev, base]}"), value("{a: base, b: {y: 2, x: 1}}"));
    let dev = Asked { pillarenv: Some("dev".to_owned()), ..Asked::default() };
    assert_eq!(pillar(&files, "{}", &dev), value("{a: dev, b: {y: 2}}"));
    let over = Asked { over: Map::from_iter([("a", 5)]), ..Asked::default() };
    assert_eq!(pillar(&files, "{}", &over).at("a"), Some(&Value::from(5)));
    let none = compiled(&files, "{pillar_source_merging_strategy: none}");
    assert_eq!(none.at("a"), Some(&Value::from("dev")), "the top file of base alone is read, with both its sections");
}

#[test]
fn without_files_there_is_no_pillar() {
    assert_eq!(compiled(&[], "{}"), value("{}"));
    assert_eq!(compiled(&[], "{pillar_roots: {}}"), value("{}"));
}

/// A message that only whoever has the key can read: `the secret of halite`.
const MESSAGE: &str = include_str!("../../../../tests/data/gpg/message.asc");

#[test]
fn what_is_encrypted_is_decrypted_or_told() {
    let directory = Directory::new();
    let keys = directory.path().join("keys");
    fs::create_dir(&keys).unwrap();
    fs::write(keys.join("pillar.asc"), include_str!("../../../../tests/data/gpg/secret-key.asc")).unwrap();
    let data =
        Value::Map(Map::from_iter([("open", Value::from("x")), ("deep", Map::from_iter([("key", MESSAGE)]).into())]));
    let sls = format!("#!json\n{}", data.to_json());
    let files = [("base/top.sls", "base: {'*': [a]}"), ("base/a.sls", sls.as_str())];
    let options = format!("{{gpg_keydir: {}, decrypt_pillar: ['deep:key', 'no:such']}}", keys.display());
    let world = World { opts: options_of(&options), ..World::new() };
    let host = halite_core::host::Machine;
    let ctx = world.ctx_on(&host, &NoMaster);
    let given = decrypted(&ctx, Map::from_iter([("a", MESSAGE)]).into(), &"gpg".into());
    let compiled = compiled_on(&host, &files, &options);
    if host_has(&[Need::Program("gpg")]) {
        assert_eq!(compiled.at("deep").and_then(|deep| deep.at("key")), Some(&"the secret of halite".into()));
        assert_eq!(given, Ok(Map::from_iter([("a", "the secret of halite")])));
    } else {
        assert!(compiled.at(ERRORS).unwrap().to_text().contains("Failed to decrypt deep:key"), "{compiled}");
        assert!(given.is_err());
    }
    assert!(decrypted(&ctx, Map::new().into(), &"rot13".into()).is_err());
}

#[test]
fn only_the_renderers_that_may_decrypt_do() {
    let files = [("base/top.sls", "base: {'*': [a]}"), ("base/a.sls", "a: x")];
    let told = |options: &str| compiled(&files, options).at(ERRORS).map(Value::to_text).unwrap_or_default();
    let other = told("{decrypt_pillar: [a], decrypt_pillar_default: rot13}");
    assert!(other.contains("Failed to decrypt a: 'rot13' is no renderer that decrypts"), "{other}");
    for one in [
        "{decrypt_pillar: [a], decrypt_pillar_renderers: []}",
        "{decrypt_pillar: [{a: gpg}], decrypt_pillar_renderers: [x]}",
    ] {
        assert!(told(one).contains("Failed to decrypt a: 'gpg' is not among decrypt_pillar_renderers"), "{one}");
    }
    assert_eq!(told("{decrypt_pillar: [not:there], decrypt_pillar_default: rot13}"), "");
    let world = World { opts: options_of("{decrypt_pillar_renderers: []}"), ..World::new() };
    assert!(decrypted(&world.ctx(&NoMaster), Map::new().into(), &"gpg".into()).is_err());
}

#[test]
fn a_minion_asks_for_no_other_external_pillar_than_it_may() {
    let ext = |options: &str| {
        let asked = Asked { ext: options_of("{nodegroups: groups}"), ..Asked::default() };
        pillar(&[], options, &asked)
    };
    let refused = ext("{}").at(ERRORS).unwrap().to_text();
    assert!(refused.contains("ext_pillar nodegroups cannot be asked for"), "{refused}");
    assert_eq!(ext("{on_demand_ext_pillar: [stack, nodegroups]}"), value("{groups: []}"));
}

#[test]
fn external_pillars_are_told_what_the_minion_is_to_tell() {
    let told = |minion: &str, options: &str| pillar(&[], options, &Asked::of(&options_of(minion)));
    let minion = "{pass_to_ext_pillars: ['site:city', none, role], site: {city: x, code: 7}, role: web, other: 1}";
    let all = "{ext_pillar: [{extra_minion_data_in_pillar: '*'}]}";
    assert_eq!(told(minion, all), value("{site: {city: x}, role: web}"));
    assert_eq!(told("{role: web}", all), value("{}"));
    let some = "{ext_pillar: [{extra_minion_data_in_pillar: {include: ['site:city', 'no:such']}}]}";
    assert_eq!(told(minion, some), value("{site: {city: x}}"));
}

#[test]
fn what_hangs_on_more_than_files_is_for_once() {
    let lasts = |sls: &str| {
        let files = [("base/top.sls", "base: {'*': [a]}"), ("base/a.sls", sls)];
        with_world(&files, "{}", |world| compile_once(&world.ctx(&NoMaster), &Asked::default()).unwrap().lasts)
    };
    assert_eq!(lasts("a: {{ grains.os }} {{ salt['grains.get']('os') }}"), Lasts::UntilSourcesChange);
    for sls in
        ["a: {{ salt['cmd.run']('date') }}", "a: {{ None | strftime }}", "a: {{ [1, 2] | random }}", "a: {{ none"]
    {
        assert_eq!(lasts(sls), Lasts::Once, "{sls}");
    }
}

#[test]
fn environments_are_names() {
    for asked in [
        Asked { pillarenv: Some("../etc".to_owned()), ..Asked::default() },
        Asked { saltenv: Some("/etc".to_owned()), ..Asked::default() },
    ] {
        with_world(&[], "{}", |world| assert!(compile(&world.ctx(&NoMaster), &asked).is_err()));
    }
}
