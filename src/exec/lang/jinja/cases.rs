//! Every case of tests/data/jinja.json: what jinja2 and Salt's renderer say of the same templates.

use super::*;
use halite_value::parse_json;

struct World(Map);

impl Loader for World {
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault> {
        Ok(self.0.str_at(name).map(|text| Loaded { text: text.to_owned(), path: name.to_owned() }))
    }
}

/// The functions that the templates of the cases call.
struct Host {
    pillar: Value,
    grains: Value,
}

const NAMES: [&str; 5] = ["cmd.run", "pillar.get", "grains.get", "grains.filter_by", "test.raise"];

impl Functions for Host {
    fn call(&self, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
        let Arguments { positional, keywords } = arguments;
        let first = positional.first().cloned().unwrap_or_default();
        let path = first.as_str().unwrap_or("").to_owned();
        let found = |data: &Value| {
            let default = positional.get(1).or_else(|| keywords.at("default")).cloned().unwrap_or("".into());
            data.traverse(&path, ":").cloned().unwrap_or(default)
        };
        match fun {
            "pillar.get" => Ok(found(&self.pillar)),
            "grains.get" => Ok(found(&self.grains)),
            "grains.filter_by" => {
                let grain = keywords.str_at("grain").unwrap_or("os");
                let mine = self.grains.at(grain).and_then(Value::as_str).unwrap_or("default");
                let mut chosen = first.at(mine).or_else(|| first.at("default")).cloned().unwrap_or_default();
                if let (Value::Map(chosen), Some(Value::Map(more))) = (&mut chosen, keywords.at("merge")) {
                    chosen.extend(more.clone());
                }
                Ok(chosen)
            }
            "test.raise" => Err(Fault::Raised { kind: "ValueError".into(), message: "boom from module".into() }),
            _ => {
                let mut names: Vec<Value> = keywords.keys().cloned().collect();
                names.sort_by_key(|name| name.to_text());
                let shown: Vec<String> = names
                    .iter()
                    .map(|name| {
                        format!("({}, {})", name.repr(), keywords.at_value(name).map(Value::repr).unwrap_or_default())
                    })
                    .collect();
                let comma = if positional.len() == 1 { "," } else { "" };
                let args: Vec<String> = positional.iter().map(Value::repr).collect();
                Ok(format!("ran ({}{comma}) [{}]", args.join(", "), shown.join(", ")).into())
            }
        }
    }

    fn exists(&self, fun: &str) -> bool {
        NAMES.contains(&fun)
    }

    fn names(&self) -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }
}

fn json(text: &str) -> Value {
    parse_json(text).unwrap()
}

fn map(text: &str) -> Map {
    json(text).as_map().cloned().unwrap()
}

/// Whether a case speaks of Salt's renderer.
fn is_salt(name: &str) -> bool {
    name.strip_prefix("salt_").is_some_and(|number| number.len() == 3 && number.bytes().all(|c| c.is_ascii_digit()))
}

fn run(case: &Value) -> Result<String, Box<TemplateError>> {
    let name = case.at("name").and_then(Value::as_str).unwrap();
    let template = case.at("template").and_then(Value::as_str).unwrap();
    if is_salt(name) {
        let files = World(map(r#"{"d.yaml": "a: 1\nb: [x, y]\n", "t.txt": "text here", "j.json": "{\"k\": [1, 2]}"}"#));
        let context = map(r#"{"grains": {"id": "m1"}, "pillar": {}}"#);
        return Environment::new(Options::default(), &files, &NoFunctions).render("template", template, &context);
    }
    let files = World(case.at("templates").and_then(Value::as_map).cloned().unwrap_or_default());
    let host = Host {
        pillar: json(r#"{"a": {"b": "deep"}, "apache": null}"#),
        grains: json(r#"{"os": "Debian", "id": "m1", "x": "gx"}"#),
    };
    let globals = Map::from_iter([("pillar", host.pillar.clone()), ("grains", host.grains.clone())]);
    let context =
        map(r#"{"name": "NAME", "x": "X", "tree": [{"name": "r", "children": [{"name": "c", "children": []}]}]}"#);
    let options = Options { dialect: Dialect::Plain, ..Options::default() };
    Environment::new(options, &files, &host).with_globals(globals).render("template", template, &context)
}

#[test]
fn every_case_agrees() {
    let cases = json(include_str!("../../../../tests/data/jinja.json"));
    let cases = cases.as_list().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let name = case.at("name").and_then(Value::as_str).unwrap();
        let answer = run(case);
        let agrees = match (case.at("output").and_then(Value::as_str), case.at("error").and_then(Value::as_str)) {
            (Some(output), _) => answer.as_ref().is_ok_and(|text| text == output),
            (None, Some(error)) => {
                let (class, message) = error.split_once(": ").unwrap();
                answer.as_ref().is_err_and(|got| match is_salt(name) {
                    // Where Salt adds a trace of its own code, the record ends before it.
                    true => got.to_string() == message || got.to_string().strip_suffix("\n---") == Some(message),
                    false => got.kind.class() == class && got.message == message,
                })
            }
            _ => false,
        };
        if !agrees {
            let wanted = case.at("output").or_else(|| case.at("error")).unwrap();
            let got = answer.unwrap_or_else(|error| format!("{:?} {error}", error.kind));
            wrong.push(format!("{name}:\n  wanted {wanted}\n  got    {got}"));
        }
    }
    let agreed = cases.len() - wrong.len();
    assert!(wrong.is_empty(), "{agreed} of {} agree; not these:\n{}", cases.len(), wrong.join("\n"));
}

fn salt(template: &str) -> Result<String, Box<TemplateError>> {
    Environment::new(Options::default(), &NoTemplates, &NoFunctions).render("t.sls", template, &Map::new())
}

/// With a bound that is soon reached.
fn bounded(template: &str) -> Result<String, Box<TemplateError>> {
    let environment = Environment::new(Options::default(), &NoTemplates, &NoFunctions).with_work_limit(1_000_000);
    environment.render("t.sls", template, &Map::new())
}

/// What must end in an error, and not in a dead process.
#[test]
fn a_bad_template_ends_in_an_error() {
    let nested = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
    let tags = "{% if 1 %}".repeat(5000);
    let sum = format!("{{{{ 1{} }}}}", " + 1".repeat(50_000));
    let path = format!("{{{{ x{} }}}}", ".x".repeat(50_000));
    let bars = format!("{{{{ x{} }}}}", "|d".repeat(50_000));
    let laughs = |last: &str| {
        let more = "{% set n.l = [n.l, n.l, n.l, n.l, n.l, n.l, n.l, n.l, n.l, n.l] %}".repeat(12);
        format!("{{% set n = namespace(l=['ha']) %}}{more}{last}")
    };
    let printed = laughs("{{ n.l }}");
    let json = laughs("{{ n.l | json }}");
    let pretty = laughs("{{ n.l | pprint }}");
    let bytes = laughs("{{ n.l | to_bytes }}{{ n.l | json_encode_dict }}");
    let compared = laughs("{% set m = namespace(l=['ha']) %}").replace("{% set m", "{% set o = n.l %}{% set m")
        + "{% set m.l = [m.l, m.l, m.l, m.l, m.l, m.l, m.l, m.l, m.l, m.l] %}".repeat(12).as_str()
        + "{% for i in range(9000) %}{{ o == m.l }}{% endfor %}";
    for template in [
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}",
        "{{ 'a' * 10 ** 12 }}",
        "{{ [1] * 10 ** 12 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ range(10 ** 9) }}",
        "{% set l = [1] %}{% for i in range(99) %}{% do l.extend(l) %}{% endfor %}",
        "{% set s = namespace(t='aa') %}{% for i in range(99) %}{% set s.t = s.t ~ s.t %}{% endfor %}",
        "{{ '%999999999999d' % 1 }}{{ 'x'.zfill(10 ** 12) }}",
        "{% set l = [] %}{% do l.append(l) %}{{ l | json }}",
        "{{ ''.__class__ }}",
        "{% set l = [] %}{% do l.append(l) %}{% do l.append(l) %}{{ l | pprint }}{{ l | json }}",
        &nested,
        &tags,
        &sum,
        &path,
        &bars,
        &printed,
        &json,
        &pretty,
        &bytes,
        &compared,
    ] {
        assert!(bounded(template).is_err(), "{template:.60}");
    }
}

/// Lists inside of lists, and one inside itself: printed, compared and dropped without end of the stack.
#[test]
fn deep_and_circular_values_are_no_danger() {
    let deep = "{% set n = namespace(l=[]) %}{% for i in range(50000) %}{% set n.l = [n.l] %}{% endfor %}";
    let text = salt(&format!("{deep}{{{{ n.l == [n.l] }}}}{{{{ (n.l | string) is string }}}}")).unwrap();
    assert_eq!(text, "FalseTrue");
    assert_eq!(salt("{% set l = [1] %}{% do l.append(l) %}{{ l }}").unwrap(), "[1, [...]]");
}

#[test]
fn an_error_says_where_it_is_and_how_it_came_there() {
    let files = World(Map::from_iter([("lib.jinja", "{% macro m(x) %}\n{{ x.y }}\n{% endmacro %}")]));
    let environment = Environment::new(Options::default(), &files, &NoFunctions);
    let template = "{% from 'lib.jinja' import m %}\n{% if 1 %}\n  {{ m({}) }}\n{% endif %}\n";
    let error = environment.render("top.sls", template, &Map::new()).unwrap_err();
    assert_eq!((error.template.as_str(), error.line, error.column), ("lib.jinja", 2, 5));
    assert_eq!(error.chain, [("top.sls".to_owned(), 3)]);
    assert_eq!(
        error.to_string(),
        "Jinja variable 'dict object' has no attribute 'y'\nlib.jinja(2):\n---\n{% macro m(x) %}\n{{ x.y }}    \
         <======================\n{% endmacro %}\n---"
    );
}

#[test]
fn a_secret_of_the_pillar_is_in_no_error() {
    let context = || Map::from_iter([("pillar", Map::from_iter([("password", "hunter2"), ("port", "hunter3")]))]);
    let environment = Environment::new(Options::default(), &NoTemplates, &NoFunctions);
    for template in [
        "{{ pillar.nope }}",
        "{{ pillar.password.nope }}",
        "{{ pillar + 1 }}",
        "{{ pillar.password() }}",
        "{{ pillar.password | load_json }}",
    ] {
        let error = environment.render("t", template, &context()).unwrap_err();
        assert!(!error.to_string().contains("hunter"), "{error}");
    }
}

#[test]
fn a_file_can_choose_how_it_is_written() {
    let text = "#!jinja|yaml\n#jinja2: {\"line_statement_prefix\": \"%\", \"variable_start_string\": \"<<\", \
                \"variable_end_string\": \">>\"}\n% for i in [1, 2]:\nn: << i >>\n% endfor\n";
    assert_eq!(salt(text).unwrap(), "#!jinja|yaml\nn: 1\nn: 2\n\n");
    let text = "#jinja2: {\"trim_blocks\": true, \"lstrip_blocks\": true}\na\n  {% if 1 %}\nb\n  {% endif %}\nc";
    assert_eq!(salt(text).unwrap(), "a\nb\nc");
}

/// Pieces of templates put together at random, from a fixed seed: refused or rendered, but never a panic.
#[test]
fn no_template_panics() {
    const PIECES: [&str; 44] = [
        "{{ ",
        " }}",
        "{% ",
        " %}",
        "{%- ",
        "-%}",
        "{# ",
        " #}",
        "x",
        "'a'",
        "1",
        "2.5",
        "[1, 2]",
        "{'a': 1}",
        "(1,)",
        ".",
        "|",
        "|join",
        "|map('int')",
        "|list",
        " is ",
        "defined",
        " in ",
        "not ",
        " and ",
        " if ",
        " else ",
        "for ",
        "x in ",
        "endfor",
        "endif",
        "set x = ",
        "macro m(x)",
        "endmacro",
        "m(",
        ")",
        "[::-1]",
        "['a']",
        "~",
        "**",
        "//",
        "%",
        "é",
        "\n",
    ];
    let mut seed = 7_u64;
    for _ in 0..4000 {
        let mut template = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            template.push_str(PIECES[(seed >> 33) as usize % PIECES.len()]);
        }
        let _ = salt(&template);
    }
}
