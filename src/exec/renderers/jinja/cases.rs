//! Every case of tests/data/jinja.json: what jinja2 and Salt's renderer say of the same templates.

use super::*;
use crate::wire::value::parse_json;

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

fn run(case: &Value) -> Result<String, TemplateError> {
    let name = case.at("name").and_then(Value::as_str).unwrap();
    let template = case.at("template").and_then(Value::as_str).unwrap();
    if is_salt(name) {
        let files = World(map(r#"{"d.yaml": "a: 1\nb: [x, y]\n", "t.txt": "text here", "j.json": "{\"k\": [1, 2]}"}"#));
        let context = map(r#"{"grains": {"id": "m1"}, "pillar": {}}"#);
        return Environment::new(Options::default(), &files, &NoFunctions).render("template", template, context);
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
    Environment::new(options, &files, &host).with_globals(globals).render("template", template, context)
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
            let got = answer.map_or_else(|error| format!("{:?} {error}", error.kind), |text| text);
            wrong.push(format!("{name}:\n  wanted {wanted}\n  got    {got}"));
        }
    }
    let agreed = cases.len() - wrong.len();
    assert!(wrong.is_empty(), "{agreed} of {} agree; not these:\n{}", cases.len(), wrong.join("\n"));
}
