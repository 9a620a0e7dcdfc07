use super::*;
use crate::exec::context::NoMaster;
use crate::exec::host::fake::Folder;
use crate::exec::modules::tests::World;
use crate::exec::renderers::yaml;
use std::fs;

/// The pillar that files, each a name and its text, give the minion `web1`; `options` are YAML.
fn pillar(files: &[(&str, &str)], options: &str, asked: &Asked) -> Value {
    let folder = Folder::new();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = folder.path().display();
    let mut opts = yaml::load(&format!(
        "{{id: web1, file_client: local, cachedir: {root}/cache, renderer: jinja|yaml, \
         pillar_roots: {{base: [{root}/base], dev: [{root}/dev]}}}}"
    ))
    .unwrap()
    .as_map()
    .unwrap()
    .clone();
    opts.extend(yaml::load(options).unwrap().as_map().cloned().unwrap_or_default());
    let grains = Map::from_iter([("os", "Debian"), ("id", "web1")]);
    let world = World { opts, grains, ..World::new() };
    compile(&world.ctx(&NoMaster), asked).unwrap().into()
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
